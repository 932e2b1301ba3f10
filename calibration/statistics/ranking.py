"""Pairwise ranking accuracy: the share of pairs of items that one rater orders as the other does.

Source: Deutsch, Foster and Freitag (2023), "Ties Matter". Two items that the first rater (people) ties are
right where the second ties them, too. A metric, or a judge on another scale, seldom ties exactly, so there
differences of at most a threshold count as ties; the threshold is the one of highest accuracy on the same
items, which is slightly optimistic, and the result's method names it. On a shared scale a tie is the same
value.
"""

from __future__ import annotations

import numpy as np

from calibration.statistics.core.base import (
    CORRELATION_LEVELS,
    InReports,
    Statistic,
    Verdict,
    constant_undefined,
)
from calibration.statistics.core.features import Draw
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.ranks import by_rows, right_of_many

MOST_VALUES = 200  # of the first rater; one with more hardly ties anything, so there is no threshold to find
MOST_FOR_THRESHOLD = 2000  # items (evenly spread over the second rater's values) that a threshold is found on
WORK = 400_000  # items x resamples worked on at a time


def ranking_accuracy(draw: Draw) -> Floats:
    """(pairs ordered alike + pairs tied by both) / pairs, for rows of weights."""
    sample = draw.sample
    if len(np.unique(sample.x)) > MOST_VALUES:
        right = by_rows(draw, right_of_many)
    else:
        right = _by_values(draw)
    n = draw.weights @ np.bincount(sample.units, minlength=draw.weights.shape[1])
    pairs = n * (n - 1) / 2
    return np.where(pairs > 0, right / np.where(pairs > 0, pairs, 1.0), np.nan)


class Places:
    """The distinct (x, y) of a sample in the order of y, and where y's differences exceed the threshold.

    ``members`` are the places of each value of x, from the lowest; ``before`` counts, per place, those whose
    y lies below its own by more than the threshold.
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
    right = -weights.sum(axis=1) / 2  # an item makes no pair with itself
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
    chosen = order[np.linspace(0, len(order) - 1, MOST_FOR_THRESHOLD).astype(np.int64)]
    return sample.x[chosen], sample.y[chosen]


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


def _said(sample: Sample) -> str:
    threshold = threshold_of(sample)
    return f"differences of up to {threshold:g} count as ties" if threshold else ""


RANKING = Statistic(
    key="ranking_accuracy",
    title="Ranking accuracy",
    compute=ranking_accuracy,
    levels=CORRELATION_LEVELS,
    symmetric=False,
    needs_scale=False,
    bounds=(0.0, 1.0),
    checks=(two_items, constant_undefined),
    source="Deutsch, Foster and Freitag (2023)",
    remark=_said,
    in_reports=InReports("Ranking accuracy", "Ranked alike"),
)
