"""Permutation: is x as strongly correlated with y where each x meets the y of another place?

A permutation names for each x the place whose y it meets. Pairs without a value on either side do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations as every_order
from math import factorial
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.kendall_orders import extreme_orders
from calibration.statistics.ranks import concordance

Correlation = Literal["pearson", "spearman", "kendall_tau_b"]
ROUNDING = 1e-12
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
