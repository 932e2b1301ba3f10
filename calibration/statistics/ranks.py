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
from calibration.statistics.unit_pairs import kendall_by_unit, pays

LEAST_ROWS = 8  # resamples worked on at a time however many the items: their weights lie side by side
ROWS = 400_000  # items x resamples worked on at a time: small enough to stay in cache


def spearman_by_item(draw: Draw) -> Floats:
    """Spearman's rho for rows of weights; NaN where x or y has one value."""
    return by_rows(draw, _spearman_rows)


def kendall_by_item(draw: Draw) -> Floats:
    """Kendall's tau-b for rows of weights; NaN where x or y has one value."""
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
        self.y_starts = _starts(self.y_codes[by_y].astype(np.float64))
        self.x_codes_by_y: Ints = np.unique(x, return_inverse=True)[1].ravel()[by_y]
        self.pair_starts = _pair_starts(x, y)


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
    by_y = weights[order.units_by_y]
    x_group, x_dev = _group_ranks(weights[order.units], order.x_starts)
    y_group, y_dev = _group_ranks(by_y, order.y_starts)
    weighted = by_y * x_dev[order.x_codes_by_y]
    covariance = _dot(_grouped(weighted, order.y_starts), y_dev)
    x_spread, y_spread = _dot(x_group * x_dev, x_dev), _dot(y_group * y_dev, y_dev)
    return _correlation(covariance, x_spread, y_spread)


def _kendall_rows(order: Order, weights: Floats) -> Floats:
    by_x = weights[order.units]
    n = by_x.sum(axis=0)
    pairs = n * (n - 1) / 2
    x_group, y_group = _grouped(by_x, order.x_starts), _grouped(weights[order.units_by_y], order.y_starts)
    x_ties, y_ties = _tied(x_group), _tied(y_group)
    both_ties = _tied(_grouped(by_x, order.pair_starts))
    concordant = _concordant(order.y_codes, by_x)
    difference = 2 * concordant - (pairs - x_ties - y_ties + both_ties)
    return _correlation(difference, pairs - x_ties, pairs - y_ties)


def right_of_many(order: Order, weights: Floats) -> Floats:
    """Return the weight of pairs that x and y order alike or both tie."""
    by_x = weights[order.units]
    return _concordant(order.y_codes, by_x) + _tied(_grouped(by_x, order.pair_starts))


def concordance(x: Floats, y: Floats) -> int:
    """Return concordant less discordant pairs: the numerator of every tau (Knight 1966)."""
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
        here = weights[order]
        lower_before = np.cumsum(here * (1 - upper), axis=0)
        starts = _starts(block.astype(np.float64))
        before_block = np.where((starts > 0)[:, None], lower_before[starts - 1], 0.0)
        here *= upper
        total += _dot(here, lower_before) - _dot(_grouped(here, starts), before_block)
    return total


def _group_ranks(weights: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """Return each group's weight, and its mid-rank less the mean rank, so that nothing large cancels."""
    group = _grouped(weights, starts)
    ranks = np.cumsum(group, axis=0)
    half = ranks[-1] / 2 if len(ranks) else np.zeros(weights.shape[1])
    ranks -= group / 2
    ranks -= half
    return group, ranks


def _grouped(weights: Floats, starts: Ints) -> Floats:
    """Sum the rows of each group of items."""
    return weights if len(starts) == len(weights) else np.add.reduceat(weights, starts, axis=0)


def _dot(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("ir,ir->r", one, other))


def _correlation(top: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
    """Return the ratio; NaN where a side has one value, whose spread is then exactly 0."""
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
