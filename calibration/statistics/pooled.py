"""Agreement of several people, and of a judge with them, from one table of all pairs of ratings.

Every pair of ratings of one item by two different people counts once, half each way round, so that the order
of raters does not matter; beside a judge, every rating by a person counts once against the judge's. A mean
over pairs of raters would read many small tables instead, and small tables pull kappa down.

Kappa is 1 - observed / expected disagreement. Observed: over the pairs of ratings of one item. Expected: over
pairs of ratings of any items by two *different* raters, which is Conger's (1980) chance and Cohen's for two
raters. A rater's agreement with itself is never part of it, on neither side: else people who differ in
severity would look worse with each other than with a judge who is one of them. MCC and F1 are those of the
table; Scott's pi takes chance from the table's pooled margins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from calibration.statistics.core.base import MOST_CELLS
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.features import pairs_once
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.samples import Additive, Sample, tabulated
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.pairwise import disagreement_weights, mcc_of, pi_of, ratio

WEIGHTS = {
    "cohen_kappa": "unweighted",
    "cohen_kappa_linear": "linear",
    "cohen_kappa_quadratic": "quadratic",
}


@dataclass(frozen=True)
class Tables:
    """Pairs of ratings of one item, and those chance would give (rows x k x k); the positive class."""

    observed: Floats
    expected: Floats
    positive: int


def kappa(tables: Tables, weights: Floats) -> Floats:
    """Return 1 - observed / expected disagreement with k x k disagreement weights; NaN without variation."""
    observed = ratio((tables.observed * weights).sum(axis=(1, 2)), tables.observed.sum(axis=(1, 2)))
    expected = ratio((tables.expected * weights).sum(axis=(1, 2)), tables.expected.sum(axis=(1, 2)))
    value = 1 - ratio(observed, expected)
    return np.where(np.abs(value) < 1e-14, 0.0, value)


def _kappa(key: str) -> Callable[[Tables], Floats]:
    return lambda t: kappa(t, disagreement_weights(t.observed.shape[1], WEIGHTS[key]))  # type: ignore[arg-type]


def percent(tables: Tables) -> Floats:
    """Return the share of pairs that are equal."""
    return ratio(np.trace(tables.observed, axis1=1, axis2=2), tables.observed.sum(axis=(1, 2)))


def f1(tables: Tables) -> Floats:
    """Return 2 TP / (2 TP + FP + FN) of the positive class."""
    at = tables.positive
    marked = tables.observed[:, at, :].sum(axis=1) + tables.observed[:, :, at].sum(axis=1)
    return ratio(2 * tables.observed[:, at, at], marked)


POOLED: dict[str, Callable[[Tables], Floats]] = {
    "percent_agreement": percent,
    **{key: _kappa(key) for key in WEIGHTS},
    "scott_pi": lambda tables: pi_of(tables.observed),
    "mcc": lambda tables: mcc_of(tables.observed),
    "f1": f1,
}


class People:
    """The pairs of people: their table, and the chance of different people, per row of weights."""

    def __init__(self, ratings: Ratings, columns: Sequence[int], resampling: Resampling) -> None:
        """Take the items that two of the columns rated or more; columns without such an item are left out."""
        whole = Sample(ratings, columns, resampling)
        rated = whole.present[whole.used].any(axis=0)
        self.sample = Sample(ratings, [c for c, any_ in zip(columns, rated, strict=True) if any_], resampling)
        sample, self.k = self.sample, len(self.sample.grid)
        self.positive = int(np.searchsorted(sample.grid, ratings.positive or 0.0)) % max(self.k, 1)
        self.table = _directed(sample) if len(sample.columns) == 2 else pairs_once(sample)
        items, raters = np.nonzero(sample.present[sample.used])
        values = np.searchsorted(sample.grid, sample.values[items, raters])
        others = (sample.per_item[sample.used][items] - 1).astype(np.float64)
        self.margins = sparse.csr_array(
            (others, (sample.units[items], raters * self.k + values)),
            shape=(resampling.n_units, len(sample.columns) * self.k),
        )

    def tables(self, weights: Floats) -> Tables:
        """Return the tables of rows of weights (rows x units)."""
        own = (weights @ self.margins).reshape(len(weights), -1, self.k)
        total = own.sum(axis=1)
        same = np.matmul(own.transpose(0, 2, 1), own)
        different = total[:, :, None] * total[:, None, :] - same
        return Tables(self.table.totals(weights), different, self.positive)

    @property
    def cells(self) -> int:
        """Cells held per row of weights."""
        return len(self.sample.columns) * self.k + 3 * self.k**2


class Beside:
    """A judge's pairs with people: rows are the people's values, columns the judge's."""

    def __init__(self, people: People, judge: Floats, resampling: Resampling) -> None:
        """Take the judge's ratings (one an item) of the items that the people's pairs come from."""
        sample, k = people.sample, people.k
        items, raters = np.nonzero(sample.present[sample.used])
        x = np.searchsorted(sample.grid, sample.values[items, raters])
        y = np.searchsorted(sample.grid, judge[sample.used][items])
        self.table = tabulated(sample.units[items], resampling.n_units, x * k + y, (k, k))
        self.positive, self.k = people.positive, k

    def tables(self, weights: Floats) -> Tables:
        """Return the tables of rows of weights; chance is that of the table's two margins."""
        table = self.table.totals(weights)
        return Tables(table, table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :], self.positive)

    @property
    def cells(self) -> int:
        """Cells held per row of weights."""
        return 2 * self.k**2


def _directed(sample: Sample) -> Additive:
    """Count (x, y) of two raters: their own joint table."""
    k = len(sample.grid)
    cells: Ints = np.searchsorted(sample.grid, sample.x) * k + np.searchsorted(sample.grid, sample.y)
    return tabulated(sample.units, sample.resampling.n_units, cells, (k, k))


def evaluated(side: People | Beside, keys: Sequence[str], weights: Iterable[Floats]) -> dict[str, Floats]:
    """Return each statistic's value per row of the chunks of weights, as many at a time as fit in memory."""
    rows = max(1, MOST_CELLS // max(1, side.cells))
    parts: dict[str, list[Floats]] = {key: [] for key in keys}
    for chunk in weights:
        for start in range(0, len(chunk), rows):
            tables = side.tables(chunk[start : start + rows])
            for key in keys:
                parts[key].append(POOLED[key](tables))
    return {key: np.concatenate(found) if found else np.empty(0) for key, found in parts.items()}
