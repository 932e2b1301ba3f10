"""Correlation of two raters: Pearson's r, Spearman's rho, Kendall's tau-b.

Raters need not share a scale, only an order (Pearson: equally spaced numbers). With few distinct values the
joint table suffices; with many, see ``ranks``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from calibration.statistics.core.engine import (
    CORRELATION_LEVELS,
    InReports,
    Statistic,
    Verdict,
    as_numbers,
    constant_undefined,
)
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.samples import Draw, Sample

# Rank correlation of two raters with many distinct values, under rows of item weights.
#
# Items are sorted once; a resample only changes their weights. A value's mid-rank is the weight below it plus
# half its own weight, and concordant pairs are counted bit by bit of the rank of y (a merge sort that serves
# all resamples at once), in O(items x log values) per resample.

# Kendall's tau-b of many resamples at once, from pairs of units.
#
# All items of a unit have the same weight, so that the difference of concordant and discordant pairs is a
# quadratic form of the units' weights. Its matrix is computed once from all pairs of items; a resample then
# costs units x units, by matrix product.

MOST_ITEMS, MOST_UNITS = 30_000, 3_000
FEW_ROWS = 32  # resamples below which computing the matrix does not pay
BLOCK = 32  # units whose items are compared with all later ones at a time
GROUPS = 4_000_000  # groups of equal values x resamples held at a time


def pays(draw: Draw) -> bool:
    """Whether the matrix is small enough to compute, and there are enough resamples to need it."""
    n_units = draw.sample.resampling.n_units
    if draw.sample.weights is not None:  # items of a unit then differ in weight
        return False
    return len(draw.weights) >= FEW_ROWS and draw.sample.n_items <= MOST_ITEMS and n_units <= MOST_UNITS


def kendall_by_unit(draw: Draw) -> Floats:
    """Kendall's tau-b for rows of weights; NaN where x or y has a single value."""
    if not draw.sample.n_items:
        return np.full(len(draw.weights), np.nan)
    pairs = draw.sample.once(UnitPairs)
    weights = draw.weights if pairs.all_units else draw.weights[:, pairs.units]
    n = weights @ pairs.sizes
    # All numbers are integers: 32 bits hold them exactly where no sum can exceed 2 to the power of 24.
    bits = np.float32 if n.max(initial=0.0) * pairs.sizes.max() < 2**24 else np.float64
    beside = weights.astype(bits, copy=False) @ pairs.differences.astype(bits, copy=False)
    difference = np.einsum("ru,ru->r", beside, weights) / 2
    square = n**2
    x_free, y_free = ((square - side.tied(weights)) / 2 for side in (pairs.x_values, pairs.y_values))
    undefined = (x_free <= 0) | (y_free <= 0)
    bottom = np.sqrt(np.where(undefined, 1.0, x_free)) * np.sqrt(np.where(undefined, 1.0, y_free))
    return np.where(undefined, np.nan, np.clip(difference / bottom, -1, 1))


class UnitPairs:
    """Units with items: how many items each has, their differences pair by pair, and the values they hold.

    ``differences`` (units x units) holds concordant minus discordant pairs, each counted from both sides.
    """

    def __init__(self, sample: Sample) -> None:
        order = np.argsort(sample.units, kind="stable")
        self.units, starts, sizes = np.unique(sample.units[order], return_index=True, return_counts=True)
        self.sizes = sizes.astype(np.float64)
        x, y = (np.unique(side[order], return_inverse=True)[1].ravel() for side in (sample.x, sample.y))
        self.differences = _differences(x, y, np.append(starts, len(order)))
        unit = np.repeat(np.arange(len(starts)), sizes)
        self.x_values, self.y_values = (_Values.of(side, unit, len(starts)) for side in (x, y))
        self.all_units = len(self.units) == sample.resampling.n_units


def _differences(x: Ints, y: Ints, starts: Ints) -> Floats:
    """Sum sign(x - x') sign(y - y') over the pairs of items of two units; ``starts`` ends with all items."""
    n_units = len(starts) - 1
    small = np.int16 if len(x) <= np.iinfo(np.int16).max else np.int32
    x, y = x.astype(small), y.astype(small)
    out = np.empty((n_units, n_units))
    for first in range(0, n_units, BLOCK):
        last = min(first + BLOCK, n_units)
        block, after = slice(starts[first], starts[last]), slice(starts[first], None)
        signs = _signs(x[after], x[block]) * _signs(y[after], y[block])
        by_unit = np.add.reduceat(signs, starts[first:-1] - starts[first], axis=0, dtype=np.int32)
        sums = np.add.reduceat(by_unit, starts[first:last] - starts[first], axis=1)
        out[first:, first:last] = sums
        out[first:last, first:] = sums.T
    return out


def _signs(after: Ints, block: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    following, current = after[:, None], block[None, :]
    return (following > current).view(np.int8) - (following < current).view(np.int8)


@dataclass(frozen=True)
class _Values:
    """Number of items per unit whose value no other item holds, and the units that hold shared values."""

    alone: Floats
    shared: sparse.csr_array

    @staticmethod
    def of(codes: Ints, unit: Ints, n_units: int) -> _Values:
        several = np.bincount(codes)[codes] > 1
        alone = np.bincount(unit[~several], minlength=n_units).astype(np.float64)
        local = np.unique(codes[several], return_inverse=True)[1].ravel()
        shape = (int(local.max(initial=-1)) + 1, n_units)
        return _Values(alone, sparse.csr_array((np.ones(len(local)), (local, unit[several])), shape=shape))

    def tied(self, weights: Floats) -> Floats:
        """Sum the squared weight of each value's items."""
        total = np.einsum("ru,ru,u->r", weights, weights, self.alone)
        if self.shared.shape[0]:
            step = max(1, GROUPS // self.shared.shape[0])
            for start in range(0, len(weights), step):
                unit_weights = self.shared @ np.ascontiguousarray(weights[start : start + step].T)
                total[start : start + step] += np.einsum("gr,gr->r", unit_weights, unit_weights)
        return np.asarray(total)


LEAST_ROWS = 8  # resamples processed at a time however many the items: their weights lie side by side
ROWS = 400_000  # items x resamples processed at a time: small enough to stay in cache


def spearman_by_item(draw: Draw) -> Floats:
    """Spearman's rho for rows of weights; NaN where x or y has a single value."""
    return by_rows(draw, _spearman_rows)


def kendall_by_item(draw: Draw) -> Floats:
    """Kendall's tau-b for rows of weights; NaN where x or y has a single value."""
    return kendall_by_unit(draw) if pays(draw) else by_rows(draw, _kendall_rows)


class Order:
    """A sample sorted by x and by y: units of the items, where groups of equal values start, rank codes."""

    def __init__(self, sample: Sample) -> None:
        by_x = np.lexsort((-sample.y, sample.x))
        x, y = sample.x[by_x], sample.y[by_x]
        self.units = sample.units[by_x]
        self.x_starts = _starts(x)
        self.y_codes: Ints = np.unique(y, return_inverse=True)[1].ravel()
        by_y = np.argsort(self.y_codes, kind="stable")
        self.units_by_y = self.units[by_y]
        self.weights = None if sample.weights is None else sample.weights[by_x][:, None]
        self.weights_by_y = None if self.weights is None else self.weights[by_y]
        self.y_starts = _starts(self.y_codes[by_y].astype(np.float64))
        self.x_codes_by_y: Ints = np.unique(x, return_inverse=True)[1].ravel()[by_y]
        self.pair_starts = _pair_starts(x, y)

    def by_x(self, weights: Floats) -> Floats:
        """Return the items' weights in the order of x, from the units' (units x resamples)."""
        return weights[self.units] if self.weights is None else weights[self.units] * self.weights

    def by_y(self, weights: Floats) -> Floats:
        """Return the items' weights in the order of y."""
        by_unit = weights[self.units_by_y]
        return by_unit if self.weights_by_y is None else by_unit * self.weights_by_y


def by_rows(draw: Draw, compute: Callable[[Order, Floats], Floats]) -> Floats:
    """Return compute's values; it reads weights of units x resamples, so that items are rows in memory."""
    order = draw.sample.once(Order)
    step = max(LEAST_ROWS, ROWS // max(1, draw.sample.n_items))
    parts = [
        compute(order, np.ascontiguousarray(draw.weights[start : start + step].T))
        for start in range(0, len(draw.weights), step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _spearman_rows(order: Order, weights: Floats) -> Floats:
    by_y = order.by_y(weights)
    x_group, x_dev = _group_ranks(order.by_x(weights), order.x_starts)
    y_group, y_dev = _group_ranks(by_y, order.y_starts)
    weighted = by_y * x_dev[order.x_codes_by_y]
    covariance = _dot(_grouped(weighted, order.y_starts), y_dev)
    x_spread, y_spread = _dot(x_group * x_dev, x_dev), _dot(y_group * y_dev, y_dev)
    return _correlation(covariance, x_spread, y_spread)


def _kendall_rows(order: Order, weights: Floats) -> Floats:
    by_x = order.by_x(weights)
    n = by_x.sum(axis=0)
    pairs = n * (n - 1) / 2
    x_group, y_group = _grouped(by_x, order.x_starts), _grouped(order.by_y(weights), order.y_starts)
    x_ties, y_ties = _tied(x_group), _tied(y_group)
    both_ties = _tied(_grouped(by_x, order.pair_starts))
    concordant = _concordant(order.y_codes, by_x)
    difference = 2 * concordant - (pairs - x_ties - y_ties + both_ties)
    x_free, y_free = pairs - x_ties, pairs - y_ties
    if order.weights is not None:  # sums of fractions: what should be 0 is rounding noise
        noise = 1e-12 * n**2
        x_free, y_free = (np.where(free > noise, free, 0.0) for free in (x_free, y_free))
    return _correlation(difference, x_free, y_free)


def right_of_many(order: Order, weights: Floats) -> Floats:
    """Return the weight of pairs that x and y order the same way or both tie."""
    by_x = weights[order.units]
    return _concordant(order.y_codes, by_x) + _tied(_grouped(by_x, order.pair_starts))


def concordance(x: Floats, y: Floats) -> int:
    """Return concordant minus discordant pairs: the numerator of every tau (Knight 1966)."""
    order = np.lexsort((-y, x))
    x, y = x[order], y[order]
    codes: Ints = np.unique(y, return_inverse=True)[1].ravel()
    n = len(x)
    tied = [
        float(_tied(np.diff(np.append(starts, n)).astype(np.float64)[:, None])[0])
        for starts in (_starts(x), _starts(np.sort(y)), _pair_starts(x, y))
    ]
    untied = n * (n - 1) / 2 - tied[0] - tied[1] + tied[2]
    return round(2 * float(_concordant(codes, np.ones((n, 1)))[0]) - untied)


def _concordant(codes: Ints, weights: Floats) -> Floats:
    """Weight of pairs that rise in both; items are sorted by x, and by falling y where x is tied."""
    total = np.zeros(weights.shape[1])
    for bit in range(int(codes.max()).bit_length() if codes.size else 0):
        order = np.argsort(codes >> (bit + 1), kind="stable")
        block = codes[order] >> (bit + 1)
        upper = ((codes[order] >> bit) & 1).astype(np.float64)[:, None]
        weighted = weights[order]
        lower_before = np.cumsum(weighted * (1 - upper), axis=0)
        starts = _starts(block.astype(np.float64))
        before_block = np.where((starts > 0)[:, None], lower_before[starts - 1], 0.0)
        weighted *= upper
        total += _dot(weighted, lower_before) - _dot(_grouped(weighted, starts), before_block)
    return total


def _group_ranks(weights: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """Return each group's weight, and its mid-rank minus the mean rank, so that nothing large cancels."""
    group = _grouped(weights, starts)
    ranks = np.cumsum(group, axis=0)
    half = ranks[-1] / 2 if len(ranks) else np.zeros(weights.shape[1])
    ranks -= group / 2
    ranks -= half
    return group, ranks


def _grouped(weights: Floats, starts: Ints) -> Floats:
    """Sum the rows of each group of items."""
    return weights if len(starts) == len(weights) else np.add.reduceat(weights, starts, axis=0)


def _dot(first: Floats, second: Floats) -> Floats:
    return np.asarray(np.einsum("ir,ir->r", first, second))


def _correlation(top: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
    """Return the ratio; NaN where a side has a single value, whose spread is then exactly 0."""
    undefined = (x_spread <= 0) | (y_spread <= 0)
    bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
    return np.where(undefined, np.nan, np.clip(top / bottom, -1, 1))


def _tied(group: Floats) -> Floats:
    return _dot(group, group - 1) / 2


def _starts(values: Floats) -> Ints:
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


def _pair_starts(x: Floats, y: Floats) -> Ints:
    changed = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return np.flatnonzero(np.concatenate([[True], changed]))


# Pairwise ranking accuracy: the share of pairs of items that both raters order the same way.
#
# Source: Deutsch, Foster and Freitag (2023), "Ties Matter". Two items that the first rater (people) ties are
# right where the second ties them, too. A metric, or a judge on another scale, seldom ties exactly, so their
# differences of at most a threshold count as ties; the threshold is the one of highest accuracy on the same
# items, which is slightly optimistic, and the result's method names it. On a shared scale a tie is the same
# value.

MOST_VALUES = 200  # of the first rater; with more values there are hardly any ties, so no threshold to find
MOST_FOR_THRESHOLD = 2000  # items (evenly spread over the second rater's values) used to find a threshold
WORK = 400_000  # items x resamples processed at a time


def ranking_accuracy(draw: Draw) -> Floats:
    """(pairs ordered the same way + pairs tied by both) / pairs, for rows of weights."""
    sample = draw.sample
    if len(np.unique(sample.x)) > MOST_VALUES:
        right = by_rows(draw, right_of_many)
    else:
        right = _by_values(draw)
    n = draw.weights @ np.bincount(sample.units, minlength=draw.weights.shape[1])
    pairs = n * (n - 1) / 2
    return np.where(pairs > 0, right / np.where(pairs > 0, pairs, 1.0), np.nan)


class Places:
    """Distinct (x, y) of a sample in the order of y, and where y's differences exceed the threshold.

    ``members`` are the places of each value of x, from the lowest; ``before`` counts, per place, those whose
    y is below its own by more than the threshold.
    """

    def __init__(self, sample: Sample) -> None:
        pairs, self.which = np.unique(np.column_stack([sample.y, sample.x]), axis=0, return_inverse=True)
        y, x = pairs.T
        self.members = [np.flatnonzero(x == value) for value in np.unique(x)]
        self.before = _before(y, threshold_of(sample))


def threshold_of(sample: Sample) -> float:
    """Return the difference up to which the second rater's values count as a tie."""
    if sample.on_scale or len(np.unique(sample.x)) > MOST_VALUES:
        return 0.0
    return sample.once(_best_threshold)


def _by_values(draw: Draw) -> Floats:
    """Return the weight of pairs that are right, value by value of the first rater."""
    places = draw.sample.once(Places)
    if draw.sample.tabular:
        xs, ys = draw.sample.grids
        cells = np.searchsorted(xs, draw.sample.x) * len(ys) + np.searchsorted(ys, draw.sample.y)
        first = np.zeros(int(places.which.max()) + 1, np.int64)
        first[places.which.ravel()] = cells
        return _right(draw.totals("joint").reshape(len(draw.weights), -1)[:, first], places)
    order = np.argsort(places.which.ravel(), kind="stable")
    starts = np.searchsorted(places.which.ravel()[order], np.arange(int(places.which.max()) + 1))
    step = max(1, WORK // max(1, draw.sample.n_items))
    parts = []
    for start in range(0, len(draw.weights), step):
        weights = draw.weights[start : start + step][:, draw.sample.units[order]]
        parts.append(_right(np.add.reduceat(weights, starts, axis=1), places))
    return np.concatenate(parts) if parts else np.empty(0)


def _right(weights: Floats, places: Places) -> Floats:
    """Sum over x's values the pairs with a lower x and a clearly lower y, and the ties of both."""
    n_rows, n_places = weights.shape
    lower = np.zeros((n_rows, n_places))  # weight at each place of the values of x before this one
    right = -weights.sum(axis=1) / 2  # an item forms no pair with itself
    for members in places.members:
        mine, before = weights[:, members], places.before[members]
        below = np.cumsum(np.pad(lower, ((0, 0), (1, 0))), axis=1)[:, before]
        own = np.cumsum(np.pad(mine, ((0, 0), (1, 0))), axis=1)[:, np.searchsorted(members, before)]
        right += (mine * (below - own)).sum(axis=1) + mine.sum(axis=1) ** 2 / 2
        lower[:, members] = mine
    return right


def _before(y: Floats, threshold: float) -> Ints:
    """Count, per value of a sorted y, the values that it exceeds by more than the threshold."""
    before: Ints = np.searchsorted(y, y - threshold, side="left")
    while (near := (before > 0) & (y - y[before - 1] <= threshold)).any():  # the subtraction above rounds
        before[near] -= 1
    while (far := y - y[before] > threshold).any():
        before[far] += 1
    return before


def _spread(sample: Sample) -> tuple[Floats, Floats]:
    """Return x and y of the sample's items, or of MOST_FOR_THRESHOLD of them evenly spread over y."""
    if sample.n_items <= MOST_FOR_THRESHOLD:
        return sample.x, sample.y
    order = np.argsort(sample.y, kind="stable")
    positions = order[np.linspace(0, len(order) - 1, MOST_FOR_THRESHOLD).astype(np.int64)]
    return sample.x[positions], sample.y[positions]


def _best_threshold(sample: Sample) -> float:
    """Return the smallest threshold of highest accuracy, over all pairs."""
    x, y = _spread(sample)
    i, j = np.triu_indices(len(x), 1)
    people, difference = np.sign(x[i] - x[j]), y[i] - y[j]
    size = np.abs(difference)
    order = np.argsort(size, kind="stable")
    tied = (people == 0)[order]
    ordered = ((np.sign(difference) == people) & (difference != 0))[order]
    gained = np.cumsum(tied) + ordered.sum() - np.cumsum(ordered)
    candidates = np.flatnonzero(np.append(size[order][1:] != size[order][:-1], True))
    start = int((tied & (size[order] == 0)).sum() + ordered.sum())
    best = candidates[np.argmax(gained[candidates])]
    return float(size[order][best]) if gained[best] > start else 0.0


def two_items(sample: Sample) -> Verdict | None:
    """A pair needs two items."""
    if sample.n_items < 2:
        return Verdict("insufficient", "a ranking needs two items, there is one")
    return None


def _tie_remark(sample: Sample) -> str:
    threshold = threshold_of(sample)
    return f"differences of up to {threshold:g} count as ties" if threshold else ""


RANKING = Statistic(
    key="ranking_accuracy",
    title="Ranking accuracy",
    compute=ranking_accuracy,
    levels=CORRELATION_LEVELS,
    symmetric=False,
    needs_scale=False,
    weighted=False,
    bounds=(0.0, 1.0),
    checks=(two_items, constant_undefined),
    source="Deutsch, Foster and Freitag (2023)",
    remark=_tie_remark,
    in_reports=InReports("Ranking accuracy", "Ranked alike"),
)


def pearson(draw: Draw) -> Floats:
    """Pearson's product-moment correlation from weighted moments."""
    return pearson_of(draw.totals("moments"))


def pearson_of(totals: Floats) -> Floats:
    """Pearson's r of n, sums of x, y, x*x, y*y and x*y (rows x 6); NaN where x or y has a single value."""
    n, x, y, xx, yy, xy = totals.T
    safe = np.where(n > 0, n, 1.0)
    x_spread, y_spread = xx - x * x / safe, yy - y * y / safe
    # A resample with a single value left has a spread of rounding noise only.
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
