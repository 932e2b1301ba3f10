"""Permutation: is x as strongly correlated with y where each x meets the y of another place?

A permutation names for each x the place whose y it meets. Pairs without a value on either side do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations as every_order
from math import factorial
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.ranks import concordance

# How many orders of values give as large a Kendall difference as the one observed, for thousands of orders.
#
# Per order, a table of coarse values settles all pairs that differ in both of its bins, and bounds the
# rest. That mostly decides; where it does not, a finer table is tried, and at last the pairs within bins
# are counted as well. Nothing is approximated.

Flags = npt.NDArray[np.int8]
ROUNDING = 1e-12
BINS = ((16, 24), (64, 96), (64, 400))  # of x and y at most, one table after the other
FEW = (500, 5_000)  # values up to which one table will do, or two: pairs within bins are soon counted
CELLS_AT_ONCE = 300_000  # cells of tables held at a time: they stay in cache
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


Correlation = Literal["pearson", "spearman", "kendall_tau_b"]
AT_ONCE = 100_000  # values met that are held at a time: they stay in cache


@dataclass(frozen=True)
class Permuted:
    """How many of the orders tried are as far from 0 as the one observed, and the two-sided p-value."""

    extreme: int
    tried: int
    is_exact: bool

    @property
    def p(self) -> float:
        """(b + 1) / (B + 1), or b / B where all orders were tried."""
        return self.extreme / self.tried if self.is_exact else (self.extreme + 1) / (self.tried + 1)

    @property
    def said(self) -> str:
        """How many orders were tried."""
        return f"all {self.tried} permutations" if self.is_exact else f"{self.tried} permutations"


@dataclass(frozen=True)
class Orders:
    """Orders of n values: random ones, or all there are where these are no more than wanted."""

    rows: Ints
    is_exact: bool

    @staticmethod
    def of(n: int, wanted: int, seed: int) -> Orders:
        """Draw from a seed. ValueError below three values: any order of two looks alike."""
        if n < 3:
            raise ValueError(f"{n} to permute; a test needs three")
        if n < 20 and factorial(n) <= wanted:
            return Orders(np.array(list(every_order(range(n))), dtype=np.int64), True)
        rng = np.random.default_rng(seed)
        return Orders(np.array([rng.permutation(n) for _ in range(wanted)], dtype=np.int64), False)


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
    given = ~np.isnan(values)
    out[given] = rankdata(values[given])
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
    """Return Pearson's r of x and the y it meets, a value a permutation; NaN where it is undefined."""
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
        if is_bijective:  # every y is met once, in whatever order
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
    """Return the sum of each row times the other side, in this thread: rows are tested side by side."""
    return np.asarray(np.einsum("...v,v->...", rows, side))


def _filled(side: Floats) -> tuple[Floats, Floats]:
    """Return the values less their mean, 0 where there is none, and where there is one."""
    given = ~np.isnan(side)
    return np.where(given, side - np.nanmean(side), 0.0), given.astype(np.float64)
