"""Krippendorff's alpha: 1 - observed / expected disagreement over all pairable values, missing ones allowed.

Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. With coincidences o and their
margins n_c, alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d), where d is the squared difference of the level:
nominal 0/1, interval (c - k)^2, ratio ((c - k) / (c + k))^2, ordinal the squared difference of mid-ranks.
"""

from __future__ import annotations

import krippendorff
import numpy as np

from calibration.statistics.core.base import (
    InReports,
    Statistic,
    Verdict,
    constant_flag,
    few_of_either,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Level

LIBRARY_CELLS = 5_000_000
MAX_VALUES = 101  # distinct values kept as a table of coincidences


def krippendorff_alpha(draw: Draw) -> Floats:
    """Alpha at the ratings' own level."""
    level = draw.sample.ratings.level
    return alpha_at(draw, "nominal" if level == "binary" else level)


def alpha_at(draw: Draw, level: Level) -> Floats:
    """Alpha at a level; NaN where fewer than two values are left."""
    if level == "interval" and len(draw.sample.grid) > MAX_VALUES:
        return _interval_by_moments(draw)
    tables = draw.totals("coincidence")
    used = tables.sum(axis=2)
    n = used.sum(axis=1)
    if level == "ordinal":
        observed, expected = _ordinal(tables, used)
    else:
        distance = distances(draw.sample.grid, level)
        observed = (tables * distance).sum(axis=(1, 2))
        expected = ((used @ distance) * used).sum(axis=1)
    undefined = (used > 1e-9).sum(axis=1) <= 1
    return np.where(undefined, np.nan, 1 - (n - 1) * observed / np.where(undefined, 1.0, expected))


def distances(grid: Floats, level: Level) -> Floats:
    """Return squared differences between the values of the grid, at a level blind to how often they occur."""
    difference = grid[:, None] - grid[None, :]
    if level == "ratio":
        total = grid[:, None] + grid[None, :]
        return (difference / np.where(total == 0, 1.0, total)) ** 2
    return (difference != 0).astype(np.float64) if level == "nominal" else difference**2


def _ordinal(tables: Floats, used: Floats) -> tuple[Floats, Floats]:
    """Observed and expected disagreement with mid-ranks of this resample as the values."""
    ranks = np.cumsum(used, axis=1) - used / 2
    ranks -= used.sum(axis=1, keepdims=True) / 2  # centred on the mean rank
    squares = (used * ranks**2).sum(axis=1)
    products = ((tables @ ranks[:, :, None])[:, :, 0] * ranks).sum(axis=1)
    total = (used * ranks).sum(axis=1)
    return 2 * (squares - products), 2 * (used.sum(axis=1) * squares - total**2)


def _interval_by_moments(draw: Draw) -> Floats:
    """Interval alpha from sums of squares, for more distinct values than a table holds."""
    n, total, squares, within = draw.totals("spread").T
    safe = np.where(n > 0, n, 1.0)
    spread = squares - total**2 / safe
    undefined = spread <= 1e-12 * np.maximum(squares, 1e-300)
    expected = 2 * n * np.where(undefined, 1.0, spread)
    return np.where(undefined, np.nan, 1 - (n - 1) * within / expected)


def too_many_values(sample: Sample) -> Verdict | None:
    """Coincidences of many distinct values do not fit a table; interval alpha does not need one."""
    if sample.ratings.level != "interval" and len(sample.grid) > 20 * MAX_VALUES:
        return Verdict(
            "rejected", f"{len(sample.grid)} distinct values: use the interval level, or round them"
        )
    return None


def library_alpha(sample: Sample) -> float | None:
    """Return alpha by the library krippendorff; None where its table of items x values x values is large."""
    if len(sample.counts) * len(sample.grid) ** 2 > LIBRARY_CELLS:
        return None
    level = sample.ratings.level
    return float(
        krippendorff.alpha(
            value_counts=sample.counts,
            value_domain=sample.grid,
            level_of_measurement="nominal" if level == "binary" else level,
        )
    )


ALPHA = Statistic(
    key="krippendorff_alpha",
    title="Krippendorff's alpha",
    compute=krippendorff_alpha,
    raters="panel",
    exchangeable=True,
    checks=(no_variation, too_many_values, constant_flag, prevalence, few_of_either, too_few_of_either),
    source="Krippendorff (2011)",
    library=library_alpha,
    in_reports=InReports("Krippendorff’s alpha", "α", "α"),
)
