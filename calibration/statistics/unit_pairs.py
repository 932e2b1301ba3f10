"""Kendall's tau-b of many resamples at once, from pairs of units.

All items of a unit weigh alike, so that the difference of concordant and discordant pairs is a quadratic form
of the units' weights. Its matrix is made once from all pairs of items; a resample then costs units x units,
by matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints

MOST_ITEMS, MOST_UNITS = 30_000, 3_000
FEW_ROWS = 32  # resamples below which making the matrix does not pay
BLOCK = 32  # units whose items are compared with all later ones at a time
GROUPS = 4_000_000  # groups of equal values x resamples held at a time


def pays(draw: Draw) -> bool:
    """Whether the matrix is small enough to be made, and there are resamples enough to need it."""
    n_units = draw.sample.resampling.n_units
    return len(draw.weights) >= FEW_ROWS and draw.sample.n_items <= MOST_ITEMS and n_units <= MOST_UNITS


def kendall_by_unit(draw: Draw) -> Floats:
    """Kendall's tau-b for rows of weights; NaN where x or y has one value."""
    if not draw.sample.n_items:
        return np.full(len(draw.weights), np.nan)
    known = draw.sample.once(UnitPairs)
    weights = draw.weights if known.all_units else draw.weights[:, known.units]
    n = weights @ known.sizes
    # All numbers are whole: half the bits hold them exactly where no sum can pass 2 to the power of 24.
    bits = np.float32 if n.max(initial=0.0) * known.sizes.max() < 2**24 else np.float64
    beside = weights.astype(bits, copy=False) @ known.differences.astype(bits, copy=False)
    difference = np.einsum("ru,ru->r", beside, weights) / 2
    square = n**2
    x_free, y_free = ((square - side.tied(weights)) / 2 for side in (known.x_values, known.y_values))
    undefined = (x_free <= 0) | (y_free <= 0)
    bottom = np.sqrt(np.where(undefined, 1.0, x_free)) * np.sqrt(np.where(undefined, 1.0, y_free))
    return np.where(undefined, np.nan, np.clip(difference / bottom, -1, 1))


class UnitPairs:
    """The units with items: how many each has, their differences pair by pair, and what values they hold.

    ``differences`` (units x units) holds concordant less discordant pairs, each counted from both sides.
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
        here, after = slice(starts[first], starts[last]), slice(starts[first], None)
        signs = _signs(x[after], x[here]) * _signs(y[after], y[here])
        by_unit = np.add.reduceat(signs, starts[first:-1] - starts[first], axis=0, dtype=np.int32)
        sums = np.add.reduceat(by_unit, starts[first:last] - starts[first], axis=1)
        out[first:, first:last] = sums
        out[first:last, first:] = sums.T
    return out


def _signs(after: Ints, here: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    one, other = after[:, None], here[None, :]
    return (one > other).view(np.int8) - (one < other).view(np.int8)


@dataclass(frozen=True)
class _Values:
    """How many items of each unit hold a value that no other item holds, and which units hold shared ones."""

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
                held = self.shared @ np.ascontiguousarray(weights[start : start + step].T)
                total[start : start + step] += np.einsum("gr,gr->r", held, held)
        return np.asarray(total)
