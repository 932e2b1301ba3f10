"""Rank correlation of two raters with many distinct values, under rows of item weights.

Items are sorted once; a resample only changes how much each weighs. A value's mid-rank is the weight below
it plus half its own weight, and concordant pairs are counted bit by bit of the rank of y (a merge sort that
serves all resamples at once), in O(items x log values) per resample.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints

ROWS = 400_000  # items x resamples worked on at a time: small enough to stay in cache


def spearman_by_item(draw: Draw) -> Floats:
    """Spearman's rho for rows of weights; NaN where x or y has one value."""
    return by_rows(draw, _spearman_rows)


def kendall_by_item(draw: Draw) -> Floats:
    """Kendall's tau-b for rows of weights; NaN where x or y has one value."""
    return by_rows(draw, _kendall_rows)


class Order:
    """A sample sorted by x: group starts of x, rank codes of y, and where y's groups lie."""

    def __init__(self, sample: Sample) -> None:
        self.by_x = np.lexsort((-sample.y, sample.x))
        x, y = sample.x[self.by_x], sample.y[self.by_x]
        self.units = sample.units[self.by_x]
        self.x_starts = _starts(x)
        self.y_codes: Ints = np.unique(y, return_inverse=True)[1].ravel()
        self.by_y = np.argsort(self.y_codes, kind="stable")
        self.y_starts = _starts(self.y_codes[self.by_y].astype(np.float64))
        self.pair_starts = _pair_starts(x, y)


def by_rows(draw: Draw, compute: Callable[[Order, Floats], Floats]) -> Floats:
    """Return a value per row of weights, a few rows at a time, from the sample sorted once."""
    order = draw.sample.__dict__.setdefault("_order", Order(draw.sample))
    step = max(1, ROWS // max(1, draw.sample.n_items))
    parts = [
        compute(order, draw.weights[start : start + step][:, order.units])
        for start in range(0, len(draw.weights), step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _spearman_rows(order: Order, weights: Floats) -> Floats:
    n = weights.sum(axis=1)
    x_group, x_rank = _group_ranks(weights, order.x_starts)
    in_y = weights[:, order.by_y]
    y_group, y_rank = _group_ranks(in_y, order.y_starts)
    # Deviations from the mean rank (n + 1) / 2, so that nothing large cancels.
    x_dev, y_dev = x_rank - n[:, None] / 2, y_rank - n[:, None] / 2
    x_spread, y_spread = (x_group * x_dev**2).sum(axis=1), (y_group * y_dev**2).sum(axis=1)
    x_of_item = _spread_out(x_dev, order.x_starts, weights.shape[1])
    y_sums = np.add.reduceat((weights * x_of_item)[:, order.by_y], order.y_starts, axis=1)
    covariance = (y_sums * y_dev).sum(axis=1)
    return _correlation(covariance, x_spread, y_spread, _one_group(x_group), _one_group(y_group))


def _kendall_rows(order: Order, weights: Floats) -> Floats:
    n = weights.sum(axis=1)
    pairs = n * (n - 1) / 2
    x_group = np.add.reduceat(weights, order.x_starts, axis=1)
    y_group = np.add.reduceat(weights[:, order.by_y], order.y_starts, axis=1)
    both = np.add.reduceat(weights, order.pair_starts, axis=1)
    x_ties, y_ties, both_ties = (_tied(group) for group in (x_group, y_group, both))
    concordant = _concordant(order.y_codes, weights)
    difference = 2 * concordant - (pairs - x_ties - y_ties + both_ties)
    return _correlation(difference, pairs - x_ties, pairs - y_ties, _one_group(x_group), _one_group(y_group))


def right_of_many(order: Order, weights: Floats) -> Floats:
    """Return the weight of pairs that x and y order alike or both tie."""
    both = np.add.reduceat(weights, order.pair_starts, axis=1)
    return _concordant(order.y_codes, weights) + _tied(both)


def _concordant(codes: Ints, weights: Floats) -> Floats:
    """Weight of pairs that rise in both; items are sorted by x, and by falling y where x is tied."""
    total = np.zeros(len(weights))
    for bit in range(int(codes.max()).bit_length() if codes.size else 0):
        order = np.argsort(codes >> (bit + 1), kind="stable")
        block = codes[order] >> (bit + 1)
        upper = (codes[order] >> bit) & 1
        here = weights[:, order]
        lower_before = np.cumsum(here * (1 - upper), axis=1)
        starts = _starts(block.astype(np.float64))
        before_block = np.where(starts > 0, lower_before[:, starts - 1], 0.0)
        inside = lower_before - _spread_out(before_block, starts, len(codes))
        total += (here * upper * inside).sum(axis=1)
    return total


def _group_ranks(weights: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """Return each group's weight, and its mid-rank less one half."""
    group = np.add.reduceat(weights, starts, axis=1)
    return group, np.cumsum(group, axis=1) - group / 2


def _correlation(top: Floats, x_spread: Floats, y_spread: Floats, x_one: Floats, y_one: Floats) -> Floats:
    undefined = (x_one + y_one) > 0
    bottom = np.sqrt(np.where(undefined, 1.0, x_spread)) * np.sqrt(np.where(undefined, 1.0, y_spread))
    return np.where(undefined, np.nan, np.clip(top / bottom, -1, 1))


def _one_group(group: Floats) -> Floats:
    return ((group > 0).sum(axis=1) <= 1).astype(np.float64)


def _tied(group: Floats) -> Floats:
    return (group * (group - 1)).sum(axis=1) / 2


def _starts(values: Floats) -> Ints:
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


def _pair_starts(x: Floats, y: Floats) -> Ints:
    changed = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    return np.flatnonzero(np.concatenate([[True], changed]))


def _spread_out(per_group: Floats, starts: Ints, n: int) -> Floats:
    """Return group values per item."""
    if len(starts) == n:
        return per_group
    lengths = np.diff(np.append(starts, n))
    return np.repeat(per_group, lengths, axis=1)
