"""Correlation of two raters: Pearson's r, Spearman's rho, Kendall's tau-b.

Raters need not share a scale, only an order (Pearson: equally spaced numbers). With few distinct values the
joint table says everything; with many, see ``ranks``.
"""

from __future__ import annotations

import numpy as np

from calibration.statistics.core.base import (
    CORRELATION_LEVELS,
    InReports,
    Statistic,
    Verdict,
    as_numbers,
    constant_undefined,
)
from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats
from calibration.statistics.ranks import kendall_by_item, spearman_by_item


def pearson(draw: Draw) -> Floats:
    """Pearson's product-moment correlation from weighted moments."""
    return pearson_of(draw.totals("moments"))


def pearson_of(totals: Floats) -> Floats:
    """Pearson's r of n, sums of x, y, x*x, y*y and x*y (rows x 6); NaN where x or y has one value."""
    n, x, y, xx, yy, xy = totals.T
    safe = np.where(n > 0, n, 1.0)
    x_spread, y_spread = xx - x * x / safe, yy - y * y / safe
    # A resample with one value left has a spread of rounding noise only.
    undefined = (x_spread <= 1e-12 * np.maximum(xx, 1e-300)) | (y_spread <= 1e-12 * np.maximum(yy, 1e-300))
    undefined |= n < 2
    bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
    return np.where(undefined, np.nan, np.clip((xy - x * y / safe) / bottom, -1, 1))


def spearman(draw: Draw) -> Floats:
    """Pearson's correlation of mid-ranks."""
    if not draw.sample.tabular:
        return spearman_by_item(draw)
    return spearman_of(draw.totals("joint"))


def spearman_of(tables: Floats) -> Floats:
    """Spearman's rho of joint tables (rows x values of x x values of y), values in rising order."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    x = np.cumsum(rows, axis=1) - rows / 2 - n[:, None] / 2
    y = np.cumsum(columns, axis=1) - columns / 2 - n[:, None] / 2
    covariance = ((tables @ y[:, :, None])[:, :, 0] * x).sum(axis=1)
    return _scaled(covariance, (rows * x**2).sum(axis=1), (columns * y**2).sum(axis=1), rows, columns)


def kendall_tau_b(draw: Draw) -> Floats:
    """(concordant - discordant) / sqrt((pairs - ties in x) (pairs - ties in y))."""
    if not draw.sample.tabular:
        return kendall_by_item(draw)
    tables = draw.totals("joint")
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    below_left = _strictly_before(tables)
    below_right = _strictly_before(tables[:, :, ::-1])[:, :, ::-1]
    difference = (tables * (below_left - below_right)).sum(axis=(1, 2))
    pairs = n * (n - 1) / 2
    x_free = pairs - (rows * (rows - 1)).sum(axis=1) / 2
    y_free = pairs - (columns * (columns - 1)).sum(axis=1) / 2
    return _scaled(difference, x_free, y_free, rows, columns)


def _strictly_before(tables: Floats) -> Floats:
    """Sum of the table over smaller rows and smaller columns of each cell."""
    out = np.zeros_like(tables)
    out[:, 1:, 1:] = tables.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1]
    return out


def _scaled(top: Floats, x_spread: Floats, y_spread: Floats, rows: Floats, columns: Floats) -> Floats:
    undefined = ((rows > 0).sum(axis=1) <= 1) | ((columns > 0).sum(axis=1) <= 1)
    bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
    return np.where(undefined, np.nan, np.clip(top / bottom, -1, 1))


def three_items(sample: Sample) -> Verdict | None:
    """Two points always lie on a line."""
    if sample.n_items < 3:
        return Verdict("insufficient", f"correlation needs three items, there are {sample.n_items} (n<3)")
    return None


CORRELATION: tuple[Statistic, ...] = (
    Statistic(
        key="pearson",
        title="Pearson's r",
        compute=pearson,
        levels=CORRELATION_LEVELS,
        needs_scale=False,
        checks=(three_items, constant_undefined, as_numbers),
        in_reports=InReports("Pearson’s correlation", "r", "r"),
    ),
    Statistic(
        key="spearman",
        title="Spearman's rho",
        compute=spearman,
        levels=CORRELATION_LEVELS,
        needs_scale=False,
        checks=(three_items, constant_undefined),
        in_reports=InReports("Spearman’s rank correlation", "ρ", "ρ"),
    ),
    Statistic(
        key="kendall_tau_b",
        title="Kendall's tau-b",
        compute=kendall_tau_b,
        levels=CORRELATION_LEVELS,
        needs_scale=False,
        checks=(three_items, constant_undefined),
        in_reports=InReports("Kendall’s tau-b", "τ", "τ"),
    ),
)
