"""Permutation of whole rows of a grid: does x go with y beyond what any order of the rows would give?

Rows are what is exchangeable (systems, or dialogues with their mean value), columns are places that rows
share (the turns of dialogues). A permutation gives row s, in every column, the y of row pi(s). Cells without
a value on either side do not count.
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

Correlation = Literal["pearson", "spearman", "kendall_tau_b"]
ROUNDING = 1e-12


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
    """Orders of n rows: random ones, or all there are where these are no more than wanted."""

    rows: Ints
    is_exact: bool

    @staticmethod
    def of(n: int, wanted: int, seed: int) -> Orders:
        """Draw from a seed. ValueError below three rows: any order of two looks alike."""
        if n < 3:
            raise ValueError(f"{n} to permute; a test needs three")
        if n < 20 and factorial(n) <= wanted:
            return Orders(np.array(list(every_order(range(n))), dtype=np.int64), True)
        rng = np.random.default_rng(seed)
        return Orders(np.array([rng.permutation(n) for _ in range(wanted)], dtype=np.int64), False)


def permuted(x: Floats, y: Floats, correlation: Correlation, orders: Orders) -> Permuted:
    """Test x against y, both rows x columns with NaN for no value.

    Spearman's ranks are those among all values of a side. Kendall's statistic is the difference of concordant
    and discordant pairs as a share of all pairs. Without empty cells both order the permutations as the
    coefficients themselves do. A permutation that leaves the statistic undefined counts as extreme.
    """
    if correlation == "kendall_tau_b":
        extreme = extreme_orders(x, y, orders.rows)
    elif correlation == "spearman":
        extreme = _linear(_ranks(x), _ranks(y), orders.rows)
    else:
        extreme = _linear(x, y, orders.rows)
    return Permuted(extreme, len(orders.rows), orders.is_exact)


def _ranks(values: Floats) -> Floats:
    out = np.full(values.shape, np.nan)
    given = ~np.isnan(values)
    out[given] = rankdata(values[given])
    return out


def _linear(x: Floats, y: Floats, orders: Ints) -> int:
    """Count extreme values of Pearson's r: its sums are sums over rows of one number per pair of rows."""
    (a, has_a), (b, has_b) = _filled(x), _filled(y)
    pairs = (
        has_a @ has_b.T,
        a @ has_b.T,
        has_a @ b.T,
        (a * a) @ has_b.T,
        has_a @ (b * b).T,
        a @ b.T,
    )
    places = np.arange(len(x))
    values = np.abs(_pearson([m[places, orders].sum(axis=1) for m in pairs]))
    observed = np.abs(_pearson([np.array([np.trace(m)]) for m in pairs]))[0]
    return int((~(values < observed - ROUNDING)).sum())


def _filled(side: Floats) -> tuple[Floats, Floats]:
    """Return the values less their mean, 0 where there is none, and where there is one."""
    given = ~np.isnan(side)
    return np.where(given, side - np.nanmean(side), 0.0), given.astype(np.float64)


def _pearson(sums: list[Floats]) -> Floats:
    n, x, y, xx, yy, xy = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (yy - y * y / n)
        return np.where(spread > ROUNDING * xx * yy, (xy - x * y / n) / np.sqrt(np.abs(spread)), np.nan)
