"""A permutation test of two raters by whole clusters, without a pass over the items per permutation.

Where cluster c is swapped, the sums that one rater's statistic reads lose what c gave and gain what c gives
for the other. So the totals of all permutations are one matrix product: totals of the first, plus swaps
(permutations x clusters) times the difference of the two raters' sums per cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from calibration.statistics.core.base import MOST_CELLS
from calibration.statistics.core.samples import MAX_TABLE, Additive, additive, tabulated
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.correlation import pearson_of, spearman_of
from calibration.statistics.strata import swaps

PERMUTATIONS = 2000
ROUNDING = 1e-12
KEPT = 4_000_000
"""Swaps that are kept from one test to the next."""
Compute = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Trial:
    """One reference and the two raters on the items of all three; ``clusters`` are codes from 0."""

    reference: Floats
    first: Floats
    second: Floats
    clusters: Ints


@dataclass(frozen=True)
class Permuted:
    """A test's p-value, how many swaps were tried, and whether these were all that there are."""

    p: float
    tried: int
    is_exact: bool

    def method(self, seed: int) -> str:
        """Say how it was made."""
        how = f"all {self.tried:,} swaps" if self.is_exact else f"{self.tried:,} random swaps, seed {seed}"
        return f"permutation of whole clusters, two-sided, {how}"


class Sums:
    """What a trial's statistics read, summed per cluster for both raters; its totals under rows of swaps.

    The totals of the last swaps are kept: several statistics read the same table.
    """

    def __init__(self, sums: Additive, n_clusters: int, clusters: Ints) -> None:
        """Take the sums of the first rater (rows up to n_clusters) above those of the second."""
        first, second = sums.sums[:n_clusters], sums.sums[n_clusters:]
        self.present = np.unique(clusters)
        self.everywhere = len(self.present) == n_clusters
        self.moved = Additive((second - first)[self.present], sums.cells, sums.shape)
        whole = np.ones((1, n_clusters))
        self.first = Additive(first, sums.cells, sums.shape).totals(whole)
        self.second = Additive(second, sums.cells, sums.shape).totals(whole)
        self.rows = max(1, MOST_CELLS // (2 * max(1, int(np.prod(sums.shape)))))
        self._last: tuple[Floats | None, Floats] = (None, np.empty(0))

    def totals(self, swapped: Floats) -> tuple[Floats, Floats]:
        """Return the totals of both raters per row of swaps (rows x clusters)."""
        if self._last[0] is not swapped:
            own = swapped if self.everywhere else swapped[:, self.present]
            self._last = (swapped, self.moved.totals(own))
        return self.first + self._last[1], self.second - self._last[1]


@dataclass(frozen=True)
class Swapped:
    """A trial's sums, and the statistic of their totals."""

    sums: Sums
    compute: Compute

    def differences(self, swapped: Floats) -> Floats:
        """Return the first rater's value less the second's per row of swaps (rows x clusters)."""
        rows = self.sums.rows
        chunks = [swapped] if len(swapped) <= rows else np.array_split(swapped, -(-len(swapped) // rows))
        parts = [self.sums.totals(chunk) for chunk in chunks]
        return np.concatenate([self.compute(one) - self.compute(other) for one, other in parts])


class Swaps:
    """Which clusters change places, by how many there are; few enough are kept for the next test."""

    def __init__(self, permutations: int, seed: int) -> None:
        self.permutations = permutations
        self.seed = seed
        self._kept: dict[int, tuple[list[Floats], bool]] = {}

    def of(self, n_clusters: int) -> tuple[Iterable[Floats], bool]:
        """Return rows of 0 and 1 (rows x clusters) part by part, and whether these are all there are."""
        if n_clusters in self._kept:
            return self._kept[n_clusters]
        parts, is_exact = swaps(n_clusters, self.permutations, self.seed)
        if n_clusters * self.permutations > KEPT:
            return parts, is_exact
        self._kept[n_clusters] = list(parts), is_exact
        return self._kept[n_clusters]


def tables_of(trial: Trial, n_clusters: int, grids: tuple[Floats, Floats]) -> Sums:
    """Return the joint tables of the reference and both raters, over the values that each may take."""
    xs, ys = grids
    x = np.searchsorted(xs, trial.reference) * len(ys)
    cells = np.concatenate([x + np.searchsorted(ys, y) for y in (trial.first, trial.second)])
    units = np.concatenate([trial.clusters, trial.clusters + n_clusters])
    found = tabulated(units, 2 * n_clusters, cells, (len(xs), len(ys)))
    return Sums(found, n_clusters, trial.clusters)


def of_moments(trial: Trial, n_clusters: int, *, alike: bool) -> Swapped:
    """Return a trial of Pearson's r. Raters of different scales change places as standard scores."""
    both = np.concatenate([trial.first, trial.second])
    spread = (both.mean(), both.std() or 1.0) if alike else None
    x = _standard(trial.reference)
    ys = [_standard(y, spread) for y in (trial.first, trial.second)]
    rows = np.concatenate([np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]) for y in ys])
    units = np.concatenate([trial.clusters, trial.clusters + n_clusters])
    return Swapped(Sums(additive(units, 2 * n_clusters, rows), n_clusters, trial.clusters), pearson_of)


def of_ranks(trial: Trial, n_clusters: int, *, alike: bool) -> Swapped:
    """Return a trial of Spearman's rho: of the table where raters share a scale of few values.

    Otherwise each rater's ranks are taken once and change places: values of different scales cannot.
    """
    xs, ys = np.unique(trial.reference), np.unique(np.concatenate([trial.first, trial.second]))
    if alike and len(xs) * len(ys) <= MAX_TABLE:
        return Swapped(tables_of(trial, n_clusters, (xs, ys)), spearman_of)
    x, first, second = (rankdata(v) for v in (trial.reference, trial.first, trial.second))
    ranked = Trial(x, first, second, trial.clusters)
    return of_moments(ranked, n_clusters, alike=False)


def _standard(values: Floats, spread: tuple[float, float] | None = None) -> Floats:
    centre, scale = spread or (values.mean(), values.std() or 1.0)
    return np.asarray((values - centre) / scale)


def permuted(trials: Sequence[Swapped], n_clusters: int, drawing: Swaps) -> Permuted:
    """Return the two-sided p-value of the mean over trials of the difference: (b + 1) / (B + 1).

    b counts the swaps, of B tried, with a difference at least as large as the one observed; where all swaps
    are few enough all are tried, and B counts the others beside the observed one. A swap that leaves the
    statistic undefined counts as one as large. At least one trial, over clusters 0 to n_clusters - 1.
    """
    observed = abs(float(_mean(trials, np.zeros((1, n_clusters)))[0]))
    limit = observed - ROUNDING * max(1.0, observed)
    chunks, is_exact = drawing.of(n_clusters)
    extreme, tried = 0, 0
    for chunk in chunks:
        values = np.abs(_mean(trials, chunk))
        extreme += int((~(values < limit)).sum())
        tried += len(chunk)
    p = extreme / tried if is_exact else (extreme + 1) / (tried + 1)
    return Permuted(float(p), tried, is_exact)


def _mean(trials: Sequence[Swapped], swapped: Floats) -> Floats:
    """Mean over trials of the defined differences per row; NaN where none is."""
    total, defined = np.zeros(len(swapped)), np.zeros(len(swapped))
    for trial in trials:
        found = trial.differences(swapped)
        total += np.where(np.isnan(found), 0.0, found)
        defined += ~np.isnan(found)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
