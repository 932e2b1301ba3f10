"""What a statistic reads: the items that some raters share, summed per resampling unit.

Every feature is additive over units, so that a resample's totals are one matrix product of the weights with
the per-unit sums. Totals are computed once per resample and shared by all statistics of the same raters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.types import Floats, Ints

Made = TypeVar("Made")
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


def tabulated(units: Ints, n_units: int, cells: Ints, shape: tuple[int, ...]) -> Additive:
    """Count items per unit and cell of a table, keeping only the cells that occur."""
    occurring, local = np.unique(cells, return_inverse=True)
    k = len(occurring)
    counts = np.bincount(units * k + local, minlength=n_units * k).reshape(n_units, k)
    return Additive(counts.astype(np.float64), occurring, shape)


class Sample:
    """The ratings of a pair or a panel; ``x`` and ``y`` are the pair's values on the items both rated."""

    def __init__(self, ratings: Ratings, columns: Sequence[int], resampling: Resampling) -> None:
        self.ratings = ratings
        self.columns = tuple(columns)
        self.resampling = resampling
        values = ratings.values[:, list(columns)]
        self.present = ~np.isnan(values)
        self.per_item = self.present.sum(axis=1)
        self.used = self.per_item >= 2
        self.values = values[self.used]
        self.units = resampling.units[self.used]
        self.n_missing = int(self.present.size - self.present.sum())
        self.n_items = int(self.used.sum())
        self.clusters = ratings.clusters[self.used]
        self.n_clusters = len(np.unique(self.clusters))
        self.features: dict[str, Additive] = {}
        self._made: dict[Callable[..., Any], Any] = {}

    def once(self, make: Callable[[Sample], Made]) -> Made:
        """Return what `make` makes of the sample, made once however many resamples ask for it."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(Made, self._made[make])

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
        """The values that x and y may take, in order."""
        if self.on_scale and self.ratings.scale is not None:
            grid = np.array(self.ratings.scale)
            return grid, grid
        return np.unique(self.x), np.unique(self.y)

    @cached_property
    def grid(self) -> Floats:
        """The values the whole panel may take, in order."""
        if self.on_scale and self.ratings.scale is not None:
            return np.array(self.ratings.scale)
        return np.unique(self.values[~np.isnan(self.values)])

    @cached_property
    def tabular(self) -> bool:
        """Whether a joint table of the pair is small enough to resample as a table."""
        return len(self.grids[0]) * len(self.grids[1]) <= MAX_TABLE

    @property
    def table_cells(self) -> int:
        """Cells of a table of the declared scale by itself, 1 where there is no scale."""
        return len(self.ratings.scale or (0.0,)) ** 2

    @cached_property
    def counts(self) -> Floats:
        """Ratings per item and value of the grid."""
        k = len(self.grid)
        rows, columns = np.nonzero(~np.isnan(self.values))
        codes = np.searchsorted(self.grid, self.values[rows, columns])
        return np.bincount(rows * k + codes, minlength=self.n_items * k).reshape(-1, k).astype(np.float64)

    def common_share(self) -> float:
        """Share of the most common value among the ratings used."""
        _, counted = np.unique(self.values[~np.isnan(self.values)], return_counts=True)
        return float(counted.max() / counted.sum()) if counted.size else 0.0

    def name(self, position: int) -> str:
        """Name of the rater at a position of the sample."""
        return self.ratings.raters[self.columns[position]]


def _is_constant(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return present.size > 0 and bool((present == present[0]).all())
