"""Samples that statistics read: the items that some raters share, summed per resampling unit.

Every feature is additive over units, so that a resample's totals are one matrix product of the weights with
the per-unit sums. Totals are computed once per resample and shared by all statistics of the same raters.
Where items were drawn with unequal probabilities, each item's row counts by its weight (1 / probability): a
ratio of two totals is then a Hajek estimate (Särndal, Swensson and Wretman 1992, section 5.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Resampling

Cached = TypeVar("Cached")
MAX_TABLE = 2500  # cells of a joint table; above, ranks are kept per item


@dataclass(frozen=True)
class Additive:
    """Per-unit sums (units x cells that occur), and the shape they fill."""

    sums: Floats
    cells: Ints
    shape: tuple[int, ...]

    def totals(self, weights: Floats) -> Floats:
        """Return weighted totals, rows x shape."""
        size = int(np.prod(self.shape))
        product = weights @ self.sums
        if len(self.cells) == size:
            return product.reshape(len(weights), *self.shape)
        full = np.zeros((len(weights), size))
        full[:, self.cells] = product
        return full.reshape(len(weights), *self.shape)


def additive(units: Ints, n_units: int, rows: Floats) -> Additive:
    """Sum item rows (items x d, or items x a x b) per unit."""
    flat = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
    sums = np.empty((n_units, flat.shape[1]))
    for column in range(flat.shape[1]):
        sums[:, column] = np.bincount(units, weights=flat[:, column], minlength=n_units)
    return Additive(sums, np.arange(flat.shape[1]), rows.shape[1:])


def tabulated(
    units: Ints, n_units: int, cells: Ints, shape: tuple[int, ...], weights: Floats | None = None
) -> Additive:
    """Count items per unit and cell of a table, by their weights, keeping only the cells that occur."""
    occurring, local = np.unique(cells, return_inverse=True)
    k = len(occurring)
    counts = np.bincount(units * k + local, weights, minlength=n_units * k).reshape(n_units, k)
    return Additive(counts.astype(np.float64), occurring, shape)


class Sample:
    """The ratings of a pair or a panel; ``x`` and ``y`` are the pair's values on the items both rated.

    ``weights`` are those of the items used, with mean 1; None where all count alike. ``rated`` marks the
    items with a rating that count, ``used`` those of them with two ratings or more.
    """

    def __init__(self, ratings: Ratings, columns: Sequence[int], resampling: Resampling) -> None:
        self.ratings = ratings
        self.columns = tuple(columns)
        self.resampling = resampling
        values = ratings.values[:, list(columns)]
        self.present = ~np.isnan(values)
        self.per_item = self.present.sum(axis=1)
        self.rated, self.all_weights = _weighed(ratings.weights, self.present)
        self.used = self.rated & (self.per_item >= 2)
        self.weights = None if self.all_weights is None else self.all_weights[self.used]
        self.values = values[self.used]
        self.units = resampling.units[self.used]
        self.n_missing = int(self.present.size - self.present.sum())
        self.n_items = int(self.used.sum())
        self.clusters = ratings.clusters[self.used]
        self.n_clusters = len(np.unique(self.clusters))
        self.features: dict[str, Additive] = {}
        self._cached: dict[Callable[..., Any], Any] = {}

    def once(self, make: Callable[[Sample], Cached]) -> Cached:
        """Cached `make(sample)`: computed once for all resamples."""
        if make not in self._cached:
            self._cached[make] = make(self)
        return cast(Cached, self._cached[make])

    def weighted(self, rows: Floats) -> Floats:
        """Return rows of the items used (items x d), each times its item's weight."""
        return rows if self.weights is None else rows * self.weights[:, None]

    @property
    def effective_items(self) -> float:
        """Kish's effective number of the items used: (sum w)^2 / sum w^2; their number if all weigh alike."""
        return float(self.n_items) if self.weights is None else kish(self.weights)

    @property
    def n_raters(self) -> int:
        """Number of raters compared."""
        return len(self.columns)

    @property
    def x(self) -> Floats:
        """The first rater's values on the items used."""
        return self.values[:, 0]

    @property
    def y(self) -> Floats:
        """The second rater's values on the items used."""
        return self.values[:, 1]

    @cached_property
    def constant(self) -> tuple[bool, ...]:
        """Per rater, whether all values on the items used are the same."""
        return tuple(_is_constant(self.values[:, j]) for j in range(self.n_raters))

    @cached_property
    def all_same(self) -> bool:
        """Whether there is a single value in the whole sample."""
        return _is_constant(self.values.ravel())

    @cached_property
    def on_scale(self) -> bool:
        """Whether all raters answered on the shared scale."""
        return all(self.ratings.on_scale[j] for j in self.columns)

    @cached_property
    def grids(self) -> tuple[Floats, Floats]:
        """Values that x and y may take, in order."""
        if self.on_scale and self.ratings.scale is not None:
            grid = np.array(self.ratings.scale)
            return grid, grid
        return np.unique(self.x), np.unique(self.y)

    @cached_property
    def grid(self) -> Floats:
        """Values that the whole panel may take, in order."""
        if self.on_scale and self.ratings.scale is not None:
            return np.array(self.ratings.scale)
        return np.unique(self.values[~np.isnan(self.values)])

    @cached_property
    def tabular(self) -> bool:
        """Whether a joint table of the pair is small enough to resample as a table."""
        return len(self.grids[0]) * len(self.grids[1]) <= MAX_TABLE

    @property
    def table_cells(self) -> int:
        """Number of cells in a table of the declared scale, 1 without a scale; of sets their number."""
        size = len(self.ratings.scale or (0.0,))
        return size**2 if self.ratings.sets is None else size

    @cached_property
    def counts(self) -> Floats:
        """Ratings per item and value of the grid."""
        k = len(self.grid)
        rows, columns = np.nonzero(~np.isnan(self.values))
        codes = np.searchsorted(self.grid, self.values[rows, columns])
        return np.bincount(rows * k + codes, minlength=self.n_items * k).reshape(-1, k).astype(np.float64)

    def common_share(self) -> float:
        """Share of the most common value among the ratings used, by weight."""
        items, columns = np.nonzero(~np.isnan(self.values))
        _, codes = np.unique(self.values[items, columns], return_inverse=True)
        counted = np.bincount(codes, None if self.weights is None else self.weights[items])
        return float(counted.max() / counted.sum()) if counted.size else 0.0

    def name(self, position: int) -> str:
        """Name of the rater at a position of the sample."""
        return self.ratings.raters[self.columns[position]]


def kish(weights: Floats) -> float:
    """Return the effective number of items of these weights: (sum w)^2 / sum w^2 (Kish 1965, sec. 11.7)."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if weights.size else 0.0


def averaged_weights(samples: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the weights of items that several samples of the same items drew, averaged over the samples.

    A sample has 1 / probability of each of its items, and counts by its share of the effective number of
    items; an item has the sum over the samples that drew it (Hartley 1962, Multiple Frame Surveys).
    """
    sizes = [kish(np.array(list(sample.values()))) for sample in samples]
    weights: dict[int, float] = {}
    for sample, size in zip(samples, sizes, strict=True):
        for item, weight in sample.items():
            weights[item] = weights.get(item, 0.0) + weight * size / sum(sizes)
    return weights


def _weighed(
    weights: Floats | None, present: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], Floats | None]:
    """Return which items with a rating count, and the items' weights with mean 1 over the items compared.

    Raters who all rated items that were not drawn do not depend on the draw: everything counts once. With a
    rater who rated only drawn items, only these count. No weights where all items that count weigh alike.
    """
    per_item = present.sum(axis=1)
    rated = per_item >= 1
    if weights is None:
        return rated, None
    is_drawn = ~np.isnan(weights)
    if present[~is_drawn].any(axis=0).all():
        return rated, None
    rated &= is_drawn
    compared = rated & (per_item >= 2)
    if not compared.any() or np.ptp(weights[rated]) == 0:
        return rated, None
    return rated, weights / weights[compared].mean()


def _is_constant(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return present.size > 0 and bool((present == present[0]).all())


# Additive features that statistics read, in one table, and a weighted sample that totals them.

BLOCK = 5_000_000  # cells of item matrices (raters x raters) that `anova` processes at a time


def joint(sample: Sample) -> Additive:
    """Counts of (x, y) over the two grids: the joint table of a pair."""
    xs, ys = sample.grids
    cells = np.searchsorted(xs, sample.x) * len(ys) + np.searchsorted(ys, sample.y)
    return tabulated(sample.units, sample.resampling.n_units, cells, (len(xs), len(ys)), sample.weights)


def moments(sample: Sample) -> Additive:
    """n, sums of x, y, x*x, y*y and x*y, with x and y standardised (mean 0, unit spread) for precision."""
    x, y = _standard(sample.x), _standard(sample.y)
    rows = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    return additive(sample.units, sample.resampling.n_units, sample.weighted(rows))


def equality(sample: Sample) -> Additive:
    """Number of items, and the share of each item's pairs of ratings that are equal."""
    items, columns = np.nonzero(~np.isnan(sample.values))
    values, codes = np.unique(sample.values[items, columns], return_inverse=True)
    cells, alike = np.unique(items * len(values) + codes, return_counts=True)
    pairs = alike * (alike - 1) / 2
    equal = np.bincount(cells // max(1, len(values)), weights=pairs, minlength=sample.n_items)
    n_ratings = sample.per_item[sample.used].astype(np.float64)
    rows = np.column_stack([np.ones(sample.n_items), equal / (n_ratings * (n_ratings - 1) / 2)])
    return additive(sample.units, sample.resampling.n_units, sample.weighted(rows))


def agreement(sample: Sample) -> Additive:
    """Per item with two ratings or more, the share of its ordered pairs in each cell of the table."""
    n_ratings = sample.per_item[sample.used].astype(np.float64)
    return _pairs_of_patterns(sample, n_ratings * (n_ratings - 1))


def coincidence(sample: Sample) -> Additive:
    """Krippendorff's coincidences: an item's ordered pairs of values, each weighted by 1 / (ratings - 1)."""
    n_ratings = sample.per_item[sample.used].astype(np.float64)
    return _pairs_of_patterns(sample, n_ratings - 1)


def pairs_once(sample: Sample) -> Additive:
    """Every pair of ratings of one item, counted once: half in each of its two cells."""
    return _pairs_of_patterns(sample, np.full(sample.n_items, 2.0))


def _pairs_of_patterns(sample: Sample, divisor: Floats) -> Additive:
    """Sum pair tables over the distinct patterns of counts: items share few of them."""
    k = sample.counts.shape[1]
    if not sample.n_items:
        return Additive(np.zeros((sample.resampling.n_units, 0)), np.empty(0, np.int64), (k, k))
    patterns, first, which = np.unique(sample.counts, axis=0, return_index=True, return_inverse=True)
    n_units = sample.resampling.n_units
    membership = sparse.csr_array(
        (sample.weighted(np.ones((sample.n_items, 1))).ravel(), (sample.units, which.ravel())),
        shape=(n_units, len(patterns)),
    )
    flat = pair_tables(patterns, divisor[first])
    cells = np.unique(flat.indices).astype(np.int64)
    return Additive((membership @ flat[:, cells]).toarray(), cells, (k, k))


def pair_tables(patterns: Floats, divisor: Floats) -> sparse.csr_array:
    """Return each pattern's ordered pairs of values over its divisor, as patterns x (k * k)."""
    k = patterns.shape[1]
    rows, values = np.nonzero(patterns)
    starts = np.searchsorted(rows, np.arange(len(patterns) + 1))
    lengths = np.diff(starts)
    most = int(lengths.max(initial=0))
    parts = []
    for step in range(most):  # pair each value of a pattern with the one `step` places further on, in a ring
        place = np.arange(len(rows)) - starts[rows]
        partner = starts[rows] + (place + step) % lengths[rows]
        in_pattern = step < lengths[rows]
        first, second = values[in_pattern], values[partner[in_pattern]]
        amount = patterns[rows[in_pattern], first] * (patterns[rows[in_pattern], second] - (step == 0))
        parts.append((amount / divisor[rows[in_pattern]], rows[in_pattern], first * k + second))
    data, where, cells = (np.concatenate([part[i] for part in parts]) for i in range(3))
    nonzero = data != 0
    return sparse.csr_array((data[nonzero], (where[nonzero], cells[nonzero])), shape=(len(patterns), k * k))


def shares(sample: Sample) -> Additive:
    """Items with a rating, and the sum over them of each value's share of the item's ratings.

    Items with a single rating count here (they say how often a value occurs), as in Gwet's coefficients.
    """
    rated = sample.rated
    values = sample.ratings.values[:, list(sample.columns)][rated]
    k = len(sample.grid)
    rows, columns = np.nonzero(~np.isnan(values))
    codes = np.minimum(np.searchsorted(sample.grid, values[rows, columns]), k - 1)
    counts = np.bincount(rows * k + codes, minlength=len(values) * k).reshape(-1, k)
    per_item = counts / sample.per_item[rated][:, None]
    units = sample.resampling.units[rated]
    weighted = np.column_stack([np.ones(len(values)), per_item])
    if sample.all_weights is not None:
        weighted *= sample.all_weights[rated][:, None]
    return additive(units, sample.resampling.n_units, weighted)


def equal_counts(sample: Sample) -> Additive:
    """For Fleiss: items with the usual number of ratings, their agreement, and their ratings per value."""
    n_ratings = sample.per_item[sample.used]
    usual = usual_count(sample)
    keep = n_ratings == usual
    counts = sample.counts[keep]
    agreeing = (
        (counts * (counts - 1)).sum(axis=1) / (usual * (usual - 1)) if usual > 1 else np.zeros(len(counts))
    )
    rows = np.column_stack([np.ones(len(counts)), agreeing, counts])
    if sample.weights is not None:
        rows *= sample.weights[keep][:, None]
    return additive(sample.units[keep], sample.resampling.n_units, rows)


def usual_count(sample: Sample) -> int:
    """The most common number of ratings per item; the larger of two equally common numbers."""
    counted = np.bincount(sample.per_item[sample.used], minlength=3)
    return int(len(counted) - 1 - counted[::-1].argmax())


def spread(sample: Sample) -> Additive:
    """For interval alpha of any numbers: n values, their sum and square sum, and within-item disagreement."""
    centre, scale = float(np.nanmean(sample.values)), float(np.nanstd(sample.values)) or 1.0
    z = (sample.values - centre) / scale
    n_ratings = sample.per_item[sample.used].astype(np.float64)
    within = np.nansum((z - np.nanmean(z, axis=1, keepdims=True)) ** 2, axis=1)
    total, squares = np.nansum(z, axis=1), np.nansum(z * z, axis=1)
    rows = np.column_stack([n_ratings, total, squares, 2 * n_ratings * within / (n_ratings - 1)])
    return additive(sample.units, sample.resampling.n_units, sample.weighted(rows))


def anova(sample: Sample) -> Additive:
    """Sums for the variance components.

    Per unit: items, ratings, sum of squared ratings per item, sum of values, of squares within items and of
    squared item means; then per rater the number of ratings and their sum; then the normal equations of the
    raters after items are removed: a vector and a matrix, of which only the cells of raters who share items
    are kept.
    """
    centre, scale = float(np.nanmean(sample.values)), float(np.nanstd(sample.values)) or 1.0
    n_units, k = sample.resampling.n_units, sample.n_raters
    z = (sample.values - centre) / scale
    vectors = additive(sample.units, n_units, _anova_rows(z)).sums
    present = ~np.isnan(z)
    meeting = sparse.csr_array(present.astype(np.float64))
    occurring = np.flatnonzero((meeting.T @ meeting).toarray().ravel() > 0)
    sums = np.hstack([vectors, _anova_matrix(present, sample.units, n_units, occurring)])
    width = vectors.shape[1]
    cells = np.concatenate([np.arange(width), width + occurring])
    return Additive(sums, cells, (width + k * k,))


def anova_of_crowd(sample: Sample) -> Additive:
    """As `anova`, without the matrix, which is large for many raters."""
    centre, scale = float(np.nanmean(sample.values)), float(np.nanstd(sample.values)) or 1.0
    rows = _anova_rows((sample.values - centre) / scale)
    return additive(sample.units, sample.resampling.n_units, rows)


def _anova_rows(z: Floats) -> Floats:
    """Return an item's terms per row, without the matrix, for standardised values (mean 0, unit spread)."""
    present = (~np.isnan(z)).astype(np.float64)
    filled = np.where(present > 0, z, 0.0)
    n = present.sum(axis=1)
    mean = filled.sum(axis=1) / n
    away = np.where(present > 0, filled - mean[:, None], 0.0)
    return np.column_stack(
        [np.ones_like(n), n, n**2, filled.sum(axis=1), (away**2).sum(axis=1), n * mean**2]
        + [present, filled, away]
    )


def _anova_matrix(present: npt.NDArray[np.bool_], units: Ints, n_units: int, occurring: Ints) -> Floats:
    """Sum each item's matrix per unit: 1 for each of its raters, minus 1 / (number of raters) for each pair.

    Only the raters of an item are visited: in a crowd they are few.
    """
    k, n_cells = present.shape[1], len(occurring)
    sums = np.zeros(n_units * n_cells)
    n = present.sum(axis=1)
    for size in np.unique(n):
        rows = np.flatnonzero(n == size)
        for start in range(0, len(rows), max(1, BLOCK // size**2)):
            block = rows[start : start + max(1, BLOCK // size**2)]
            raters = np.nonzero(present[block])[1].reshape(len(block), size)
            cells = raters[:, :, None] * k + raters[:, None, :]
            places = units[block][:, None, None] * n_cells + np.searchsorted(occurring, cells)
            each = np.broadcast_to(np.eye(size) - 1 / size, cells.shape)
            sums += np.bincount(places.ravel(), weights=each.ravel(), minlength=len(sums))
    return sums.reshape(n_units, n_cells)


def _standard(values: Floats) -> Floats:
    if not values.size:
        return values
    return (values - values.mean()) / (values.std() or 1.0)


FEATURES: dict[str, Callable[[Sample], Additive]] = {
    f.__name__: f
    for f in (
        joint,
        moments,
        equality,
        agreement,
        coincidence,
        shares,
        equal_counts,
        spread,
        anova,
        anova_of_crowd,
    )
}


class Draw:
    """A sample under rows of weights; totals of a feature are computed once."""

    def __init__(self, sample: Sample, weights: Floats) -> None:
        self.sample = sample
        self.weights = weights
        self._totals: dict[str, Floats] = {}
        self._cached: dict[str, object] = {}

    def totals(self, feature: str) -> Floats:
        """Return the weighted totals of a feature, rows x its shape."""
        if feature not in self._totals:
            cache = self.sample.features
            if feature not in cache:
                cache[feature] = FEATURES[feature](self.sample)
            self._totals[feature] = cache[feature].totals(self.weights)
        return self._totals[feature]

    def blocks(self, feature: str, cells: int) -> Iterator[Floats]:
        """Yield the totals of a wide feature a few rows (about this many cells) at a time, uncached."""
        cache = self.sample.features
        if feature not in cache:
            cache[feature] = FEATURES[feature](self.sample)
        step = max(1, cells // int(np.prod(cache[feature].shape)))
        for start in range(0, len(self.weights), step):
            yield cache[feature].totals(self.weights[start : start + step])

    def once(self, name: str, make: Callable[[], Cached]) -> Cached:
        """Cached `make()`, shared by the statistics that read these rows."""
        if name not in self._cached:
            self._cached[name] = make()
        return self._cached[name]  # type: ignore[return-value]
