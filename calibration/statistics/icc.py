"""Intraclass correlations ICC(1,1) to ICC(3,k), with or without missing cells.

Source: Shrout and Fleiss (1979), McGraw and Wong (1996). Variance components come from Henderson's third
method, which equals the analysis of variance when every rater rated every item and stays unbiased when
cells are missing; no item is dropped for a missing cell. With y = item + rater + error:
ICC(1) = item / (item + within), ICC(2) = item / (item + rater + error), ICC(3) = item / (item + error);
the k forms divide the noise by the number of raters.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from calibration.statistics.core.engine import InReports, Statistic, Verdict, as_numbers, constant_flag
from calibration.statistics.core.ratings import ORDERED, Floats, Ints
from calibration.statistics.core.samples import Draw, Sample

Form = Literal[1, 2, 3]
CELLS = 10_000_000  # of totals at a time: each row has a matrix of raters x raters
FEW_RATERS = 30
TOUCHING = 1e-9  # raters share an item where their cell of the matrix is below 0 by more than rounding


def components(totals: Floats, raters: int) -> dict[str, Floats]:
    """Return the variance components per row of totals, and the pieces the one-way form needs."""
    k = raters
    items, n, n_squared, total, within, item_squares = totals[:, :6].T
    per_rater, rater_sums, reduced = (totals[:, 6 + i * k : 6 + (i + 1) * k] for i in range(3))
    matrix = totals[:, 6 + 3 * k :].reshape(-1, k, k)
    raters_after_items, links = _explained(matrix, reduced)
    seen = (per_rater > 0).sum(axis=1)
    rater_squares = (rater_sums**2 / np.where(per_rater > 0, per_rater, 1.0)).sum(axis=1)
    items_after_raters = item_squares + raters_after_items - rater_squares
    error_df = n - items - links
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(error_df > 0, (within - raters_after_items) / error_df, np.nan)
        item = (items_after_raters - (items + links - seen) * error) / (n - seen)
        rater = (raters_after_items - links * error) / (n - items)
        one_within = within / (n - items)
        effective = (n - n_squared / n) / (items - 1)
        one_item = ((item_squares - total**2 / n) / (items - 1) - one_within) / effective
    return {"item": item, "rater": rater, "error": error, "one_item": one_item, "one_within": one_within}


def _explained(matrix: Floats, reduced: Floats) -> tuple[Floats, Ints]:
    """Return the sum of squares of raters after items, and its degrees of freedom.

    The latter are the raters present minus the groups of raters not joined by any item: two groups who share
    no item cannot be compared, and each uses up a degree of its own.
    """
    if matrix.shape[1] > FEW_RATERS:
        return _explained_by_crowd(matrix, reduced)
    return _explained_by_axes(matrix, reduced)


def _explained_by_axes(matrix: Floats, reduced: Floats) -> tuple[Floats, Ints]:
    sizes, axes = np.linalg.eigh(matrix)
    real = sizes > 1e-10 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300)
    along = np.einsum("bij,bi->bj", axes, reduced)
    return np.where(real, along**2 / np.where(real, sizes, 1.0), 0.0).sum(axis=1), real.sum(axis=1)


def _explained_by_crowd(matrix: Floats, reduced: Floats) -> tuple[Floats, Ints]:
    """Return the same for many raters, whose eigenvectors would take minutes.

    The matrix is the Laplacian of which raters share items, and the reduced vector sums to 0 in each group:
    conjugate gradients reach the solution, all rows at once. Rows that do not converge are left to the
    eigenvectors.
    """
    n_rows, k = reduced.shape
    rows, left, right = np.nonzero(matrix < -TOUCHING)
    edges = (np.ones(len(rows)), (rows * k + left, rows * k + right))
    graph = sparse.coo_array(edges, shape=(n_rows * k, n_rows * k))
    _, group = connected_components(graph, directed=False)
    first = np.unique(group, return_index=True)[1] // k
    links = k - np.bincount(first, minlength=n_rows)
    diagonal = np.einsum("bii->bi", matrix)
    scale = np.where(diagonal > TOUCHING, diagonal, 1.0)
    solution, residual = np.zeros_like(reduced), reduced.copy()
    towards = residual / scale
    size = (residual * towards).sum(axis=1)
    enough = 1e-24 * size
    for _ in range(2 * k):
        if (size <= enough).all():
            break
        turned = np.einsum("bij,bj->bi", matrix, towards)
        step = _ratio(size, (towards * turned).sum(axis=1))[:, None]
        solution, residual = solution + step * towards, residual - step * turned
        smaller = (residual * residual / scale).sum(axis=1)
        towards = residual / scale + _ratio(smaller, size)[:, None] * towards
        size = smaller
    squares = (reduced * solution).sum(axis=1)
    if (slow := size > 1e-18 * np.maximum(enough * 1e24, 1e-300)).any():
        squares[slow], links[slow] = _explained_by_axes(matrix[slow], reduced[slow])
    return squares, links


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1.0), 0.0)


def _components_of(draw: Draw) -> dict[str, Floats]:
    """Return the components under each row of weights, computed once for all forms."""

    def compute() -> dict[str, Floats]:
        parts = [components(totals, draw.sample.n_raters) for totals in draw.blocks("anova", CELLS)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    return draw.once("anova", compute)


def icc(draw: Draw, form: Form, average: bool) -> Floats:
    """ICC of one form, for a single rater or the average of all.

    Undefined where the estimated total variance is zero or less, as missing cells can make it.
    """
    part = _components_of(draw)
    raters = int((~np.isnan(draw.sample.values)).any(axis=0).sum())
    if form == 1:
        signal, noise = part["one_item"], part["one_within"]
    elif form == 2:
        signal, noise = part["item"], part["rater"] + part["error"]
    else:
        signal, noise = part["item"], part["error"]
    bottom = signal + noise / (raters if average else 1)
    with np.errstate(invalid="ignore"):
        nothing = ~(bottom > 1e-12)
        value = np.where(nothing, np.nan, signal / np.where(nothing, 1.0, bottom))
    return np.where(np.isfinite(value), value, np.nan)


def enough_items(sample: Sample) -> Verdict | None:
    """Two items at least, and some variation between their means."""
    if sample.n_items < 2:
        return Verdict("insufficient", "ICC needs two items or more")
    means = np.nanmean(sample.values, axis=1)
    if np.ptp(means) == 0:
        return Verdict("undefined", "no variation between items")
    return None


def missing_cells(sample: Sample) -> Verdict | None:
    """Flag a table with missing cells."""
    return Verdict(flags=("missing_cells",)) if np.isnan(sample.values).any() else None


def enough_cells(sample: Sample) -> Verdict | None:
    """Reject a table with too few ratings to separate raters from error."""
    present = (~np.isnan(sample.values)).astype(np.float64)
    matrix = np.diag(present.sum(axis=0)) - present.T @ (present / present.sum(axis=1)[:, None])
    _, links = _explained(matrix[None], np.zeros((1, sample.n_raters)))
    if present.sum() - sample.n_items - links[0] <= 0:
        return Verdict("insufficient", "too few ratings for an error term")
    return None


def _form(form: Form, average: bool) -> Statistic:
    unit = "k" if average else "1"

    def compute(draw: Draw) -> Floats:
        return icc(draw, form, average)

    return Statistic(
        key=f"icc_{form}_{unit}",
        title=f"ICC({form},{unit})",
        compute=compute,
        levels=ORDERED,
        raters="panel",
        exchangeable=form == 1,
        bounds=(-np.inf, 1.0),
        checks=(
            enough_items,
            *(() if form == 1 else (enough_cells,)),
            *(missing_cells, constant_flag, as_numbers),
        ),
        source="Shrout and Fleiss (1979)",
        in_reports=InReports(f"Intraclass correlation ICC({form},{unit})", f"ICC({form},{unit})", "ICC"),
    )


_FORMS: tuple[tuple[Form, bool], ...] = ((1, False), (2, False), (3, False), (1, True), (2, True), (3, True))
ICC: tuple[Statistic, ...] = tuple(_form(form, average) for form, average in _FORMS)
