"""Intraclass correlations ICC(1,1) to ICC(3,k), with or without missing cells.

Source: Shrout and Fleiss (1979), McGraw and Wong (1996). Variance components come from Henderson's third
method, which equals the analysis of variance when every rater rated every item and stays unbiased when
cells are missing; no item is dropped for a missing cell. With y = item + rater + error:
ICC(1) = item / (item + within), ICC(2) = item / (item + rater + error), ICC(3) = item / (item + error);
the k forms divide the noise by the number of raters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from calibration.statistics.core.engine import InReports, Statistic, Verdict, as_numbers, constant_flag
from calibration.statistics.core.ratings import ORDERED, Floats, Ints
from calibration.statistics.core.samples import Draw, Sample

Form = Literal[1, 2, 3]
CELLS = 10_000_000  # of totals at a time: each row has a matrix of raters x raters
FEW_RATERS = 30
TOUCHING = 1e-9  # a rater shares an item where the diagonal of the matrix is above 0 by more than rounding


def components(totals: Floats, raters: int) -> dict[str, Floats]:
    """Return the variance components per row of totals, and the pieces the one-way form needs."""
    k = raters
    matrix = totals[:, 6 + 3 * k :].reshape(-1, k, k)
    raters_after_items, links = _explained_by_axes(matrix, totals[:, 6 + 2 * k : 6 + 3 * k])
    return _components(totals, k, raters_after_items, links)


def _components(totals: Floats, k: int, raters_after_items: Floats, links: Ints) -> dict[str, Floats]:
    items, n, n_squared, total, within, item_squares = totals[:, :6].T
    per_rater, rater_sums = (totals[:, 6 + i * k : 6 + (i + 1) * k] for i in range(2))
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


# The sum of squares of raters after items, and its degrees of freedom. The latter are the raters present
# minus the groups of raters not joined by any item: two groups who share no item cannot be compared, and each
# uses up a degree of its own.


def _explained_by_axes(matrix: Floats, reduced: Floats) -> tuple[Floats, Ints]:
    """Solve the normal equations of the raters by eigenvectors."""
    sizes, axes = np.linalg.eigh(matrix)
    real = sizes > 1e-10 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300)
    along = np.einsum("bij,bi->bj", axes, reduced)
    return np.where(real, along**2 / np.where(real, sizes, 1.0), 0.0).sum(axis=1), real.sum(axis=1)


def _product(matrix: sparse.csr_array, columns: Floats) -> Floats:
    return np.asarray(matrix @ columns)


class Crowd:
    """The normal equations of many raters under rows of weights, without their matrices.

    A matrix is the Laplacian of which raters share items: that of an item is 1 for each of its raters, minus
    1 / (number of raters) for each pair.
    """

    def __init__(self, present: npt.NDArray[np.bool_], weights: Floats) -> None:
        """Take items x raters, and rows x items."""
        self.presence = sparse.csr_array(present.astype(np.float64))
        self.raters = self.presence.T.tocsr()
        self.weights = np.ascontiguousarray(weights.T)
        self.shares = self.weights / present.sum(axis=1)[:, None]
        self.answers = _product(self.raters, self.weights)

    def times(self, columns: Floats) -> Floats:
        """Return each row's matrix times its column of a raters x rows array."""
        return self.answers * columns - _product(self.raters, self.shares * _product(self.presence, columns))

    def matrix(self, row: int) -> Floats:
        """Return the matrix of one row."""
        weighted = self.presence.multiply(self.shares[:, [row]])
        return np.diag(self.answers[:, row]) - (self.raters @ weighted).toarray()

    def links(self) -> Ints:
        """Return the raters present minus the groups of raters who share items, per row."""
        is_weighted = (self.weights > 0).astype(np.float64)
        seen = _product(self.raters, is_weighted) > 0
        reached = np.zeros(seen.shape, np.bool_)
        reached[seen.argmax(axis=0), np.arange(seen.shape[1])] = True
        while True:  # from one rater to all those joined to it
            joined = _product(self.presence, reached.astype(np.float64))
            further = _product(self.raters, is_weighted * joined) > 0
            if (further == reached).all():
                break
            reached = further
        links = seen.sum(axis=0) - 1
        for row in np.flatnonzero((reached != seen).any(axis=0)):
            graph = self.raters @ self.presence.multiply(is_weighted[:, [row]])
            links[row] = len(seen) - connected_components(graph, directed=False)[0]
        return np.asarray(links)

    def explained(self, reduced: Floats) -> tuple[Floats, Ints]:
        """Solve the equations for rows x raters by conjugate gradients, all rows at once.

        The reduced vector sums to 0 in each group of raters, so they reach the solution. Rows that do not
        converge are left to the eigenvectors.
        """
        right = np.ascontiguousarray(reduced.T)
        links = self.links()
        diagonal = self.answers - _product(self.raters, self.shares)
        scale = np.where(diagonal > TOUCHING, diagonal, 1.0)
        solution, residual = np.zeros_like(right), right.copy()
        towards = residual / scale
        size = (residual * towards).sum(axis=0)
        enough = 1e-24 * size
        for _ in range(2 * len(right)):
            if (size <= enough).all():
                break
            turned = self.times(towards)
            step = _ratio(size, (towards * turned).sum(axis=0))
            solution, residual = solution + step * towards, residual - step * turned
            smaller = (residual * residual / scale).sum(axis=0)
            towards = residual / scale + _ratio(smaller, size) * towards
            size = smaller
        squares = (right * solution).sum(axis=0)
        for row in np.flatnonzero(size > 1e-18 * np.maximum(enough * 1e24, 1e-300)):
            by_axes = _explained_by_axes(self.matrix(int(row))[None], reduced[[row]])
            squares[row], links[row] = by_axes[0][0], by_axes[1][0]
        return squares, links


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.where(denominator > 0, numerator / np.where(denominator > 0, denominator, 1.0), 0.0)


def _components_of(draw: Draw) -> dict[str, Floats]:
    """Return the components under each row of weights, computed once for all forms."""
    sample, k = draw.sample, draw.sample.n_raters

    def compute() -> dict[str, Floats]:
        if k > FEW_RATERS:
            parts = list(_of_crowd(draw))
        else:
            parts = [components(totals, k) for totals in draw.blocks("anova", CELLS)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _of_crowd(draw: Draw) -> Iterator[dict[str, Floats]]:
        totals = draw.totals("anova_of_crowd")
        present = ~np.isnan(sample.values)
        step = max(1, CELLS // 4 // max(1, len(present)))
        for start in range(0, len(totals), step):
            rows = totals[start : start + step]
            crowd = Crowd(present, draw.weights[start : start + step][:, sample.units])
            yield _components(rows, k, *crowd.explained(rows[:, 6 + 2 * k :]))

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
    links = Crowd(~np.isnan(sample.values), np.ones((1, sample.n_items))).links()
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
        weighted=False,
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
