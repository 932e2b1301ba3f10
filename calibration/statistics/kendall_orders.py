"""How many orders of values give as large a Kendall difference as the one observed, for thousands of orders.

Per order, a table of coarse values settles all pairs that differ in both of its bins, and bounds the rest.
That mostly decides; where it does not, a finer table is tried, and at last the pairs within bins are counted
as well. Nothing is approximated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import Floats, Ints

Flags = npt.NDArray[np.int8]
ROUNDING = 1e-12
BINS = ((16, 24), (64, 96), (64, 400))  # of x and y at most, one table after the other
FEW = (500, 5_000)  # values up to which one table will do, or two: pairs within bins are soon counted
AT_ONCE = 300_000  # cells of tables held at a time: they stay in cache
MOST_IN_INT32 = 60_000  # values whose pairs are counted in 32 bits
ROWS = 64  # orders whose pairs within bins are counted at a time


def extreme_orders(x: Floats, y: Floats, orders: Ints) -> int:
    """Count orders with |concordant - discordant| / pairs at least as large as of x and y as they are.

    ``x`` and ``y`` hold a value a place, NaN for none; an order gives place s the y of place order[s], each
    place at most once, but for a last one without a value. Orders that leave no pair count as well.
    """
    sizes = BINS[: 1 + sum(x.size > few for few in FEW)]
    tables = [_Sides(Bins.of(x, x_bins), Bins.of(y, y_bins)) for x_bins, y_bins in sizes]
    same = np.arange(len(x))[None, :]
    observed = tables[-1].exact(same, *tables[-1].coarse(same))[0] - ROUNDING
    step = max(1, AT_ONCE // max(x.size, *(table.size for table in tables)))
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
    """Values in order, in at most so many bins; places without a value are in bin n, with code -1.

    ``order`` lists the places with a value by it; ``mixed`` counts the pairs of different values within bins.
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
        """Per distance in the order: whether a value and the one so far before it share a bin and differ."""
        codes, bins = self.codes[self.order], self.bins[self.order]
        found = []
        for distance in range(1, self.widest):
            counted = (bins[distance:] == bins[:-distance]) & (codes[distance:] != codes[:-distance])
            if counted.any():
                found.append((distance, counted.view(np.int8)))
        return tuple(found)

    @staticmethod
    def of(values: Floats, most: int) -> Bins:
        """Give each value a bin of its own where they are few; equal values always share one."""
        given = ~np.isnan(values)
        _, code, counted = np.unique(values[given], return_inverse=True, return_counts=True)
        bin_of = np.arange(len(counted))
        if len(counted) > most:
            middle = np.cumsum(counted) - counted / 2
            bin_of = np.unique((middle * most / counted.sum()).astype(np.int64), return_inverse=True)[
                1
            ].ravel()
        codes = np.full(values.shape, -1, dtype=np.int64)
        codes[given] = code.ravel()
        n = int(bin_of.max(initial=-1)) + 1
        bins = np.full(values.shape, n, dtype=np.int64)
        bins[given] = bin_of[code.ravel()]
        order = np.flatnonzero(given)[np.argsort(code.ravel(), kind="stable")]
        mixed = (np.bincount(bin_of, weights=counted) ** 2).sum() - (counted.astype(np.float64) ** 2).sum()
        return Bins(bins, codes, n, order, int(mixed) // 2)


@dataclass(frozen=True)
class _Sides:
    """Both sides, and what an order makes of them."""

    x: Bins
    y: Bins

    @cached_property
    def mixed(self) -> int:
        """Pairs at most that a table does not settle."""
        return self.x.mixed + self.y.mixed

    @property
    def size(self) -> int:
        """Cells of one order's table."""
        return (self.x.n + 1) * (self.y.n + 1)

    def coarse(self, orders: Ints) -> tuple[Floats, Floats]:
        """Return concordant less discordant pairs among those that differ in both bins, and all pairs."""
        cells = self.y.bins[orders] + self.x.bins * (self.y.n + 1)
        cells += self.size * np.arange(len(orders))[:, None]
        tables = np.bincount(cells.ravel(), minlength=len(orders) * self.size)
        shaped = tables.reshape(len(orders), self.x.n + 1, self.y.n + 1)
        whole = np.int32 if self.x.bins.size < MOST_IN_INT32 else np.int64
        told = shaped[:, : self.x.n, : self.y.n].astype(whole)
        beside = told.cumsum(
            axis=2, dtype=whole
        )  # of each row, what lies left of a cell less what lies right
        n = beside[:, :, -1].sum(axis=1) if self.y.n else np.zeros(len(orders))
        beside = 2 * beside - told - beside[:, :, -1:]
        below = beside.cumsum(axis=1, dtype=whole)
        below -= beside
        return (told * below).sum(axis=(1, 2), dtype=np.float64), n * (n - 1.0) / 2

    def exact(self, orders: Ints, difference: Floats, pairs: Floats) -> Floats:
        """Return |concordant - discordant| / pairs, from the coarse difference; infinite for no pair."""
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
    """Sum the signs of the later of two values less the earlier, over the pairs of one bin.

    ``values`` are in the order of the bins, places x orders, small whole numbers, `missing` for none.
    """
    width, above_all = (np.int8, 127) if values.max(initial=0) < 127 else (np.int32, 2**31 - 1)
    low: npt.NDArray[np.signedinteger] = values.astype(width)
    high = low
    if (values == missing).any():  # what is missing is neither above nor below anything
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
