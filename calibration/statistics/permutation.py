"""Permutation tests: is x as strongly correlated with y when each x is paired with the y of another place?

A permutation gives for each x the place whose y it is paired with. Pairs without a value on either side do
not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations as every_order
from math import factorial
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from calibration.statistics.core.engine import MOST_CELLS
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.samples import MAX_TABLE, Additive, additive, tabulated
from calibration.statistics.correlation import concordance, pearson_of, spearman_of
from calibration.statistics.strata import swaps

# A permutation test of two raters by whole clusters, without a pass over the items per permutation.
#
# Where cluster c is swapped, the sums that one rater's statistic reads lose the contribution of c and gain
# that of c for the other. So the totals of all permutations are one matrix product: totals of the first, plus
# swaps (permutations x clusters) times the difference of the two raters' sums per cluster.

PERMUTATIONS = 2000
ROUNDING = 1e-12
MOST_STORED_CELLS = 4_000_000
"""Most cells of swaps that are kept from one test to the next."""
Compute = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Trial:
    """One reference and the two raters on the items of all three; ``clusters`` are codes from 0."""

    reference: Floats
    first: Floats
    second: Floats
    clusters: Ints


@dataclass(frozen=True)
class SwappedClusters:
    """A test's p-value, the number of swaps tried, and whether these were all possible ones."""

    p: float
    tried: int
    is_exact: bool

    def method(self, seed: int) -> str:
        """Describe the method."""
        how = f"all {self.tried:,} swaps" if self.is_exact else f"{self.tried:,} random swaps, seed {seed}"
        return f"permutation of whole clusters, two-sided, {how}"


class Sums:
    """Sums that a trial's statistics read, per cluster for both raters; its totals under rows of swaps.

    The totals of the last swaps are kept: several statistics read the same table.
    """

    def __init__(self, sums: Additive, n_clusters: int, clusters: Ints) -> None:
        """Take the sums of the first rater (rows up to n_clusters) above those of the second."""
        first, second = sums.sums[:n_clusters], sums.sums[n_clusters:]
        self.present = np.unique(clusters)
        self.everywhere = len(self.present) == n_clusters
        self.moved = Additive((second - first)[self.present], sums.cells, sums.shape)
        unit_weights = np.ones((1, n_clusters))
        self.first = Additive(first, sums.cells, sums.shape).totals(unit_weights)
        self.second = Additive(second, sums.cells, sums.shape).totals(unit_weights)
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
        """Return the first rater's value minus the second's per row of swaps (rows x clusters)."""
        rows = self.sums.rows
        chunks = [swapped] if len(swapped) <= rows else np.array_split(swapped, -(-len(swapped) // rows))
        parts = [self.sums.totals(chunk) for chunk in chunks]
        return np.concatenate([self.compute(first) - self.compute(second) for first, second in parts])


class Swaps:
    """Clusters that swap places, by number of clusters; small sets are kept for the next test."""

    def __init__(self, permutations: int, seed: int) -> None:
        self.permutations = permutations
        self.seed = seed
        self._stored: dict[int, tuple[list[Floats], bool]] = {}

    def of(self, n_clusters: int) -> tuple[Iterable[Floats], bool]:
        """Return rows of 0 and 1 (rows x clusters) part by part, and whether these are all possible swaps."""
        if n_clusters in self._stored:
            return self._stored[n_clusters]
        parts, is_exact = swaps(n_clusters, self.permutations, self.seed)
        if n_clusters * self.permutations > MOST_STORED_CELLS:
            return parts, is_exact
        self._stored[n_clusters] = list(parts), is_exact
        return self._stored[n_clusters]


def tables_of(trial: Trial, n_clusters: int, grids: tuple[Floats, Floats]) -> Sums:
    """Return the joint tables of the reference and both raters, over the values that each may take."""
    xs, ys = grids
    x = np.searchsorted(xs, trial.reference) * len(ys)
    cells = np.concatenate([x + np.searchsorted(ys, y) for y in (trial.first, trial.second)])
    units = np.concatenate([trial.clusters, trial.clusters + n_clusters])
    tables = tabulated(units, 2 * n_clusters, cells, (len(xs), len(ys)))
    return Sums(tables, n_clusters, trial.clusters)


def of_moments(trial: Trial, n_clusters: int, *, alike: bool) -> Swapped:
    """Return a trial of Pearson's r. Raters of different scales swap places as standard scores."""
    both = np.concatenate([trial.first, trial.second])
    spread = (both.mean(), both.std() or 1.0) if alike else None
    x = _standard(trial.reference)
    ys = [_standard(y, spread) for y in (trial.first, trial.second)]
    rows = np.concatenate([np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]) for y in ys])
    units = np.concatenate([trial.clusters, trial.clusters + n_clusters])
    return Swapped(Sums(additive(units, 2 * n_clusters, rows), n_clusters, trial.clusters), pearson_of)


def of_ranks(trial: Trial, n_clusters: int, *, alike: bool) -> Swapped:
    """Return a trial of Spearman's rho: of the table where raters share a scale of few values.

    Otherwise each rater's ranks are computed once and swapped: values of different scales cannot be.
    """
    xs, ys = np.unique(trial.reference), np.unique(np.concatenate([trial.first, trial.second]))
    if alike and len(xs) * len(ys) <= MAX_TABLE:
        return Swapped(tables_of(trial, n_clusters, (xs, ys)), spearman_of)
    x, first, second = (scipy.stats.rankdata(v) for v in (trial.reference, trial.first, trial.second))
    ranked = Trial(x, first, second, trial.clusters)
    return of_moments(ranked, n_clusters, alike=False)


def _standard(values: Floats, spread: tuple[float, float] | None = None) -> Floats:
    centre, scale = spread or (values.mean(), values.std() or 1.0)
    return np.asarray((values - centre) / scale)


def permute_clusters(trials: Sequence[Swapped], n_clusters: int, drawing: Swaps) -> SwappedClusters:
    """Return the two-sided p-value of the mean over trials of the difference: (b + 1) / (B + 1).

    b counts the swaps, of B tried, with a difference at least as large as the one observed; where all
    possible swaps are few enough, all are tried, and B counts those other than the observed one. A swap that
    leaves the statistic undefined counts as equally large. Needs at least one trial, over clusters 0 to
    n_clusters - 1.
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
    return SwappedClusters(float(p), tried, is_exact)


def _mean(trials: Sequence[Swapped], swapped: Floats) -> Floats:
    """Mean over trials of the defined differences per row; NaN where none is."""
    total, defined = np.zeros(len(swapped)), np.zeros(len(swapped))
    for trial in trials:
        values = trial.differences(swapped)
        total += np.where(np.isnan(values), 0.0, values)
        defined += ~np.isnan(values)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)


# Count of orders of values with a Kendall difference as large as the one observed, for thousands of orders.
#
# Per order, a table of coarse values settles all pairs that differ in both of its bins, and bounds the rest.
# That is mostly enough; where it is not, a finer table is tried, and finally the pairs within bins are
# counted as well. Nothing is approximated.

Flags = npt.NDArray[np.int8]
BINS = ((16, 24), (64, 96), (64, 400))  # of x and y at most, one table after the other
FEW = (500, 5_000)  # values up to which one table suffices, or two: pairs within bins are soon counted
CELLS_AT_ONCE = 300_000  # cells of tables held at a time: they stay in cache
MOST_IN_INT32 = 60_000  # values whose pairs are counted in 32 bits
ROWS = 64  # orders whose pairs within bins are counted at a time


def extreme_orders(x: Floats, y: Floats, orders: Ints) -> int:
    """Count orders with |concordant - discordant| / pairs at least as large as that of x and y as given.

    ``x`` and ``y`` hold a value per place, NaN for none; an order gives place s the y of place order[s], each
    place at most once, except for a last one without a value. Orders that leave no pair count as well.
    """
    sizes = BINS[: 1 + sum(x.size > few for few in FEW)]
    tables = [_Sides(Bins.of(x, x_bins), Bins.of(y, y_bins)) for x_bins, y_bins in sizes]
    same = np.arange(len(x))[None, :]
    observed = tables[-1].exact(same, *tables[-1].coarse(same))[0] - ROUNDING
    step = max(1, CELLS_AT_ONCE // max(x.size, *(table.size for table in tables)))
    parts = (orders[start : start + step] for start in range(0, len(orders), step))
    return sum(_extreme(tables, part, observed) for part in parts)


def _extreme(tables: list[_Sides], orders: Ints, observed: float) -> int:
    """Count the orders that reach the share observed, with one table after the other."""
    count = 0
    for table in tables:
        difference, pairs = table.coarse(orders)
        size, bar = np.abs(difference), observed * pairs
        reaches = (size - table.mixed >= bar) | (pairs == 0)
        count += int(reaches.sum())
        open_still = ~reaches & (size + table.mixed >= bar)
        orders, difference, pairs = orders[open_still], difference[open_still], pairs[open_still]
        if not len(orders):
            return count
    return count + int((tables[-1].exact(orders, difference, pairs) >= observed).sum())


@dataclass(frozen=True)
class Bins:
    """Values in order, in a limited number of bins; places without a value are in bin n, with code -1.

    ``order`` sorts the places with a value; ``mixed`` counts the pairs of different values within bins.
    """

    bins: Ints
    codes: Ints
    n: int
    order: Ints
    mixed: int

    @property
    def widest(self) -> int:
        """The number of values in the fullest bin."""
        return int(np.bincount(self.bins[self.order]).max(initial=0))

    @cached_property
    def within(self) -> tuple[tuple[int, Flags], ...]:
        """Per distance in the order: whether a value and the one that far before share a bin and differ."""
        codes, bins = self.codes[self.order], self.bins[self.order]
        flags_by_distance = []
        for distance in range(1, self.widest):
            counted = (bins[distance:] == bins[:-distance]) & (codes[distance:] != codes[:-distance])
            if counted.any():
                flags_by_distance.append((distance, counted.view(np.int8)))
        return tuple(flags_by_distance)

    @staticmethod
    def of(values: Floats, most: int) -> Bins:
        """Give each value a bin of its own where values are few; equal values always share one."""
        present = ~np.isnan(values)
        _, code, counted = np.unique(values[present], return_inverse=True, return_counts=True)
        bin_of = np.arange(len(counted))
        if len(counted) > most:
            middle = np.cumsum(counted) - counted / 2
            bin_of = np.unique((middle * most / counted.sum()).astype(np.int64), return_inverse=True)[
                1
            ].ravel()
        codes = np.full(values.shape, -1, dtype=np.int64)
        codes[present] = code.ravel()
        n = int(bin_of.max(initial=-1)) + 1
        bins = np.full(values.shape, n, dtype=np.int64)
        bins[present] = bin_of[code.ravel()]
        order = np.flatnonzero(present)[np.argsort(code.ravel(), kind="stable")]
        mixed = (np.bincount(bin_of, weights=counted) ** 2).sum() - (counted.astype(np.float64) ** 2).sum()
        return Bins(bins, codes, n, order, int(mixed) // 2)


@dataclass(frozen=True)
class _Sides:
    """Both sides, and the result of an order for them."""

    x: Bins
    y: Bins

    @cached_property
    def mixed(self) -> int:
        """Upper bound of the pairs that a table does not settle."""
        return self.x.mixed + self.y.mixed

    @property
    def size(self) -> int:
        """Cells of one order's table."""
        return (self.x.n + 1) * (self.y.n + 1)

    def coarse(self, orders: Ints) -> tuple[Floats, Floats]:
        """Return concordant minus discordant pairs among those that differ in both bins, and all pairs."""
        cells = self.y.bins[orders] + self.x.bins * (self.y.n + 1)
        cells += self.size * np.arange(len(orders))[:, None]
        tables = np.bincount(cells.ravel(), minlength=len(orders) * self.size)
        shaped = tables.reshape(len(orders), self.x.n + 1, self.y.n + 1)
        integer = np.int32 if self.x.bins.size < MOST_IN_INT32 else np.int64
        counts = shaped[:, : self.x.n, : self.y.n].astype(integer)
        beside = counts.cumsum(
            axis=2, dtype=integer
        )  # of each row, what lies left of a cell less what lies right
        n = beside[:, :, -1].sum(axis=1) if self.y.n else np.zeros(len(orders))
        beside = 2 * beside - counts - beside[:, :, -1:]
        below = beside.cumsum(axis=1, dtype=integer)
        below -= beside
        return (counts * below).sum(axis=(1, 2), dtype=np.float64), n * (n - 1.0) / 2

    def exact(self, orders: Ints, difference: Floats, pairs: Floats) -> Floats:
        """Return |concordant - discordant| / pairs, from the coarse difference; infinite without a pair."""
        total = difference.copy()
        for start in range(0, len(orders), ROWS):
            part = orders[start : start + ROWS]
            in_x = self.y.bins[part[:, self.x.order]].T  # pairs of one bin of y are left to what follows
            total[start : start + ROWS] += _signs(in_x, self.x, self.y.n)
            met_by = np.full_like(part, part.shape[1] - 1)  # not met: as the last place, which has no value
            np.put_along_axis(met_by, part, np.arange(part.shape[1], dtype=part.dtype)[None, :], axis=1)
            in_y = self.x.codes[met_by[:, self.y.order]].T
            total[start : start + ROWS] += _signs(in_y, self.y, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(pairs > 0, np.abs(total) / pairs, np.inf)


def _signs(values: Ints, bins: Bins, missing: int) -> Floats:
    """Sum the signs of the later of two values minus the earlier, over the pairs of one bin.

    ``values`` are in the order of the bins, places x orders, small integers, `missing` for none.
    """
    width, above_all = (np.int8, 127) if values.max(initial=0) < 127 else (np.int32, 2**31 - 1)
    low: npt.NDArray[np.signedinteger] = values.astype(width)
    high = low
    if (values == missing).any():  # missing values are neither above nor below anything
        none = values == missing
        low = np.where(none, -1, values).astype(width)
        high = np.where(none, above_all, values).astype(width)
    total = np.zeros(values.shape, dtype=np.int16 if bins.widest < np.iinfo(np.int16).max else np.int32)
    for distance, counted in bins.within:
        rises = (low[distance:] > high[:-distance]).view(np.int8)
        falls = (high[distance:] < low[:-distance]).view(np.int8)
        rises -= falls
        rises *= counted[:, None]
        total[distance:] += rises
    return np.asarray(total.sum(axis=0, dtype=np.float64))


Correlation = Literal["pearson", "spearman", "kendall_tau_b"]
AT_ONCE = 100_000  # paired values held at a time: they stay in cache


@dataclass(frozen=True)
class Permuted:
    """Number of tried orders at least as far from 0 as the observed one, and the two-sided p-value."""

    extreme: int
    tried: int
    is_exact: bool

    @property
    def p(self) -> float:
        """(b + 1) / (B + 1), or b / B where all orders were tried."""
        return self.extreme / self.tried if self.is_exact else (self.extreme + 1) / (self.tried + 1)

    @property
    def description(self) -> str:
        """Number of orders tried, in words."""
        return f"all {self.tried} permutations" if self.is_exact else f"{self.tried} permutations"


@dataclass(frozen=True)
class Orders:
    """Orders of n values: random ones, or all possible ones where these are no more than requested."""

    rows: Ints
    is_exact: bool

    @staticmethod
    def of(n: int, n_orders: int, seed: int) -> Orders:
        """Draw from a seed. Raises ValueError below three values: any order of two looks alike."""
        if n < 3:
            raise ValueError(f"{n} to permute; a test needs three")
        if n < 20 and factorial(n) <= n_orders:
            return Orders(np.array(list(every_order(range(n))), dtype=np.int64), True)
        rng = np.random.default_rng(seed)
        return Orders(np.array([rng.permutation(n) for _ in range(n_orders)], dtype=np.int64), False)


def permuted(x: Floats, y: Floats, correlation: Correlation, orders: Orders) -> Permuted:
    """Test x against y with each of the orders.

    Spearman's ranks are those among all values of a side. Kendall's statistic is the difference of concordant
    and discordant pairs as a share of all pairs. Without missing values both order the permutations as the
    coefficients themselves do. A permutation that leaves the statistic undefined counts as extreme.
    """
    return Permuted(extreme(x, y, correlation, orders.rows), len(orders.rows), orders.is_exact)


def extreme(
    x: Floats, y: Floats, correlation: Correlation, partners: Ints, *, is_bijective: bool = True
) -> int:
    """Count the permutations (rows of ``partners``) in which x and y correlate at least as strongly.

    ``is_bijective``: every permutation uses each place once.
    """
    if correlation == "kendall_tau_b":
        return extreme_orders(x, y, partners) if is_bijective else _concordant(x, y, partners)
    if correlation == "spearman":
        x, y = _ranks(x), _ranks(y)
    values, observed = (
        np.abs(_pearson(x, y, places, is_bijective)) for places in (partners, np.arange(len(x))[None])
    )
    return int((~(values < observed[0] - ROUNDING)).sum())


def _ranks(values: Floats) -> Floats:
    out = np.full(values.shape, np.nan)
    present = ~np.isnan(values)
    out[present] = scipy.stats.rankdata(values[present])
    return out


def _concordant(x: Floats, y: Floats, partners: Ints) -> int:
    """Count large Kendall differences, one permutation after the other."""

    def share(places: Ints) -> float:
        other = y[places]
        both = ~np.isnan(x) & ~np.isnan(other)
        n = int(both.sum())
        return abs(concordance(x[both], other[both])) / (n * (n - 1) / 2) if n > 1 else np.inf

    observed = share(np.arange(len(x)))
    return sum(share(places) >= observed - ROUNDING for places in partners)


def _pearson(x: Floats, y: Floats, partners: Ints, is_bijective: bool) -> Floats:
    """Return Pearson's r of x and the y it is paired with, per permutation; NaN where it is undefined."""
    sides = *_filled(x), *_filled(y)
    step = max(1, AT_ONCE // len(x))
    parts = [
        _met_pearson(*sides, partners[at : at + step], is_bijective) for at in range(0, len(partners), step)
    ]
    return np.concatenate(parts)


def _met_pearson(
    a: Floats, has_a: Floats, b: Floats, has_b: Floats, partners: Ints, is_bijective: bool
) -> Floats:
    met = b[partners]
    if has_a.all() and has_b.all():
        n, x_sum, xx = (np.full(len(met), total) for total in (float(len(a)), a.sum(), _dot(a, a)))
        if is_bijective:  # every y is used once, in whatever order
            y_sum, yy = (np.full(len(met), total) for total in (b.sum(), _dot(b, b)))
        else:
            y_sum, yy = met.sum(axis=1), np.einsum("pv,pv->p", met, met)
    else:
        present = has_b[partners]
        n, x_sum, xx = (_dot(present, side) for side in (has_a, a, a * a))
        y_sum, yy = _dot(met, has_a), np.einsum("pv,pv,v->p", met, met, has_a)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x_sum * x_sum / n) * (yy - y_sum * y_sum / n)
        r = (_dot(met, a) - x_sum * y_sum / n) / np.sqrt(np.abs(spread))
        return np.asarray(np.where(spread > ROUNDING * xx * yy, r, np.nan))


def _dot(rows: Floats, side: Floats) -> Floats:
    """Return the sum of each row times the other side, in this thread: rows are tested in parallel."""
    return np.asarray(np.einsum("...v,v->...", rows, side))


def _filled(side: Floats) -> tuple[Floats, Floats]:
    """Return the values minus their mean, 0 where missing, and the mask of present values."""
    present = ~np.isnan(side)
    return np.where(present, side - np.nanmean(side), 0.0), present.astype(np.float64)


# Correlations of values that differ from resample to resample, under rows of weights.
#
# For few values per row: signs of all pairs give both ranks (a value's centred mid-rank is half the weight
# below it minus half the weight above) and concordance. Values closer than rounding are tied.

EQUAL = 1e-12
WEIGHTS_AT_ONCE = 400_000  # pairs of values held at a time
Signs = npt.NDArray[np.float32]


def correlated(x: Floats, y: Floats, weights: Floats, names: tuple[Correlation, ...]) -> Floats:
    """Return correlations (rows x wanted) of x and y, all rows x values; NaN where x or y has a single value.

    A value that is NaN on either side, or has no weight, does not count.
    """
    step = max(1, WEIGHTS_AT_ONCE // max(1, x.shape[1] ** 2))
    parts = [
        _Rows.of(x[start : start + step], y[start : start + step], weights[start : start + step])
        for start in range(0, len(x), step)
    ]
    parts_of_rows = [np.column_stack([getattr(part, name) for name in names]) for part in parts]
    return np.concatenate(parts_of_rows) if parts_of_rows else np.empty((0, len(names)))


@dataclass(frozen=True)
class _Rows:
    """Some rows: values with 0 for those that do not count, and their weights."""

    x: Floats
    y: Floats
    weights: Floats

    @staticmethod
    def of(x: Floats, y: Floats, weights: Floats) -> _Rows:
        present = ~np.isnan(x) & ~np.isnan(y)
        return _Rows(np.where(present, x, 0.0), np.where(present, y, 0.0), np.where(present, weights, 0.0))

    @property
    def pearson(self) -> Floats:
        """Pearson's r of each row."""
        n = self.weights.sum(axis=1, keepdims=True)
        safe = np.where(n > 0, n, 1.0)
        x, y = (side - (self.weights * side).sum(axis=1, keepdims=True) / safe for side in (self.x, self.y))
        return self._ratio(_sum(self.weights, x, y), _sum(self.weights, x, x), _sum(self.weights, y, y))

    @property
    def spearman(self) -> Floats:
        """Pearson's r of the mid-ranks of each row."""
        x, y = (self._times_weights(signs) for signs in (self.x_signs, self.y_signs))
        return self._ratio(_sum(self.weights, x, y), _sum(self.weights, x, x), _sum(self.weights, y, y))

    @property
    def kendall_tau_b(self) -> Floats:
        """Concordant minus discordant pairs over the root of those untied in x times those untied in y."""
        sums = [
            (self.weights * self._times_weights(signs)).sum(axis=1)
            for signs in (self.x_signs * self.y_signs, np.abs(self.x_signs), np.abs(self.y_signs))
        ]
        return self._ratio(*sums)

    @cached_property
    def x_signs(self) -> Signs:
        """Signs of the differences of x, rows x values x values."""
        return _signs_of_weighted(self.x)

    @cached_property
    def y_signs(self) -> Signs:
        """Signs of the differences of y."""
        return _signs_of_weighted(self.y)

    @cached_property
    def _constant(self) -> npt.NDArray[np.bool_]:
        return np.asarray(_one_value(self.x, self.weights) | _one_value(self.y, self.weights))

    def _times_weights(self, signs: Signs) -> Floats:
        return np.matmul(signs, self.weights.astype(np.float32)[:, :, None])[:, :, 0].astype(np.float64)

    def _ratio(self, top: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
        undefined = self._constant | (x_spread <= 0) | (y_spread <= 0)
        bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
        return np.where(undefined, np.nan, np.clip(top / bottom, -1, 1))


def _sum(weights: Floats, x: Floats, y: Floats) -> Floats:
    return np.asarray(np.einsum("rv,rv,rv->r", weights, x, y))


def _signs_of_weighted(values: Floats) -> Signs:
    difference = values[:, :, None] - values[:, None, :]
    near = EQUAL * np.abs(values).max(initial=0.0)
    return np.subtract(difference > near, difference < -near, dtype=np.float32)


def _one_value(values: Floats, weights: Floats) -> npt.NDArray[np.bool_]:
    """Whether all values of a row with a weight are the same, up to rounding."""
    weighs = weights > 0
    low = np.where(weighs, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(weighs, values, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray(~(high - low > EQUAL * np.abs(values).max(initial=0.0)))
