"""The least and the greatest value of a ratio of two sums over items, whatever each open item is answered.

Kappa with any weights is one: 1 - N O / E, where O (observed disagreement) and E (expected disagreement,
from a people's margin that no answer changes) are sums over items. Dinkelbach (1967): the greatest ratio is
the parameter at which the greatest value of top - parameter * bottom is 0, and that value falls apart into
one choice an item. In whole numbers throughout, so what is returned is the ratio of an actual way to answer,
and none is beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from calibration.statistics.pairwise import disagreement_weights
from calibration.statistics.pooled import WEIGHTS
from calibration.statistics.unanswered.fills import Fills

Ends = tuple[float, float]


@dataclass(frozen=True)
class Sum:
    """A sum over items: `base` over those answered; an item of group g answered k adds `each[g][k]`."""

    base: int
    each: list[list[int]]

    def at(self, fills: Fills, choices: list[int]) -> int:
        """Return the sum where every item of a group is answered alike."""
        added = (row[k] * int(n) for row, k, n in zip(self.each, choices, fills.times, strict=True))
        return self.base + sum(added)

    def times(self, factor: int) -> Sum:
        """Return a multiple of the sum."""
        return Sum(self.base * factor, [[factor * n for n in row] for row in self.each])


def ends_of(fills: Fills, top: Sum, bottom: Sum) -> tuple[Fraction, Fraction] | None:
    """Return the least and greatest top / bottom over all ways to answer in which the bottom is not 0.

    The bottom is never negative, and the top is 0 where the bottom is. None where it is 0 in every way.
    """
    low, high = _greatest(fills, top.times(-1), bottom), _greatest(fills, top, bottom)
    return None if low is None or high is None else (-low, high)


def _greatest(fills: Fills, top: Sum, bottom: Sum) -> Fraction | None:
    best = _first(fills, top, bottom)
    while best is not None:
        p, q = best.numerator, best.denominator
        choices = [
            max(range(fills.k), key=lambda k, n=number: q * top.each[n][k] - p * bottom.each[n][k])  # type: ignore[misc]
            for number in range(len(fills.times))
        ]
        above, below = top.at(fills, choices), bottom.at(fills, choices)
        if q * above - p * below <= 0:
            return best
        best = Fraction(above, below)
    return None


def _first(fills: Fills, top: Sum, bottom: Sum) -> Fraction | None:
    """Return the ratio of some way that answers all items alike; None where none has one.

    A bottom that is 0 in all of these is 0 in every way: it is a sum of what each answer adds.
    """
    for k in range(fills.k):
        alike = [k] * len(fills.times)
        if below := bottom.at(fills, alike):
            return Fraction(top.at(fills, alike), below)
    return None


def kappa(fills: Fills, key: str) -> Ends | None:
    """Return the ends of Cohen's kappa with the weights of a key: all 0 or 1, linear or quadratic."""
    weights = disagreement_weights(fills.k, WEIGHTS[key]).astype(np.int64)  # type: ignore[arg-type]
    expected = np.array(fills.margin) @ weights
    sizes = fills.people.sum(axis=1)
    observed = Sum(int((fills.table * weights).sum()), (fills.people @ weights).tolist())
    chance = Sum(int(fills.table.sum(axis=0) @ expected), np.outer(sizes, expected).tolist())
    found = ends_of(fills, observed.times(fills.pairs), chance)
    return None if found is None else (float(1 - found[1]), float(1 - found[0]))


def percent(fills: Fills) -> Ends | None:
    """Return the ends of the share of equal answers."""
    same = Sum(int(np.trace(fills.table)), fills.people.tolist())
    return _plain(ends_of(fills, same, _constant(fills, fills.pairs)))


def precision(fills: Fills) -> Ends | None:
    """Return the ends of the share of the rater's positives that are people's."""
    return _plain(ends_of(fills, _hits(fills), _marked(fills)))


def recall(fills: Fills) -> Ends | None:
    """Return the ends of the share of people's positives that the rater finds."""
    return _plain(ends_of(fills, _hits(fills), _constant(fills, fills.margin[fills.positive])))


def f1(fills: Fills) -> Ends | None:
    """Return the ends of 2 TP / (people's positives + the rater's)."""
    marked = _marked(fills)
    both = Sum(marked.base + fills.margin[fills.positive], marked.each)
    return _plain(ends_of(fills, _hits(fills).times(2), both))


def _hits(fills: Fills) -> Sum:
    at = fills.positive
    each = [[int(row[at]) if k == at else 0 for k in range(fills.k)] for row in fills.people]
    return Sum(int(fills.table[at, at]), each)


def _marked(fills: Fills) -> Sum:
    at = fills.positive
    each = [[int(row.sum()) if k == at else 0 for k in range(fills.k)] for row in fills.people]
    return Sum(int(fills.table[:, at].sum()), each)


def _constant(fills: Fills, number: int) -> Sum:
    return Sum(number, [[0] * fills.k for _ in fills.people])


def _plain(found: tuple[Fraction, Fraction] | None) -> Ends | None:
    return None if found is None else (float(found[0]), float(found[1]))


def specificity(fills: Fills) -> Ends | None:
    """Return the ends of the share of people's negatives that the rater leaves alone."""
    return recall(_negatives(fills))


def negative_agreement(fills: Fills) -> Ends | None:
    """Return the ends of 2 TN / (people's negatives + the rater's)."""
    return f1(_negatives(fills))


def pabak(fills: Fills) -> Ends | None:
    """Return the ends of twice the share of equal answers, less 1."""
    found = percent(fills)
    return None if found is None else (2 * found[0] - 1, 2 * found[1] - 1)


def _negatives(fills: Fills) -> Fills:
    """Return a binary table with the other class as the positive one."""
    return replace(fills, positive=1 - fills.positive)


RATIOS: dict[str, Callable[[Fills], Ends | None]] = {
    "percent_agreement": percent,
    **{key: (lambda fills, key=key: kappa(fills, key)) for key in WEIGHTS},  # type: ignore[misc]
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "specificity": specificity,
    "positive_agreement": f1,
    "negative_agreement": negative_agreement,
    "pabak": pabak,
}
