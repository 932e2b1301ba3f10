"""A threshold that makes marks of scores: learned from labelled items by a named rule.

Candidates lie midway between neighbouring scores. The rule is the best balanced accuracy (the same as the
best of Youden's J, 1950) or the best MCC. Of equally good thresholds the one is taken that marks most nearly
as many items as people do, and of those the lowest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import Floats
from calibration.statistics.cross_fitting import complete, direction

SAME = 1e-12


def balanced_accuracy(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Return the mean of recall and specificity: (Youden's J + 1) / 2."""
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def matthews(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Return Matthews' correlation coefficient."""
    bottom = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return np.asarray((tp * tn - fp * fn) / bottom)


@dataclass(frozen=True)
class Rule:
    """What makes a threshold the best: its key, its name in a sentence, and its quality per 2 x 2 table."""

    key: str
    name: str
    quality: Callable[[Floats, Floats, Floats, Floats], Floats]


RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        Rule("balanced_accuracy", "best balanced accuracy", balanced_accuracy),
        Rule("mcc", "best MCC", matthews),
    )
}


@dataclass(frozen=True)
class Threshold:
    """A threshold: items are marked whose score is at least (falling: at most) the value."""

    value: float
    rising: bool

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return 1 where a score is marked, 0 where it is not; missing (NaN) stays missing."""
        x = np.asarray(scores, np.float64)
        marked = x >= self.value if self.rising else x <= self.value
        return np.where(np.isnan(x), np.nan, marked.astype(np.float64))


def learned(scores: npt.ArrayLike, truth: npt.ArrayLike, rule: str = "balanced_accuracy") -> Threshold:
    """Return the threshold that is best on these items by a rule, whichever way the scores run.

    ``scores`` (n) are numbers, ``truth`` (n) is 0 or 1. KeyError for a rule that does not exist; ValueError
    where all scores are the same, or all truths.
    """
    x, y = complete(scores, truth)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("the truth is 0 or 1")
    if y.min() == y.max():
        raise ValueError(f"no threshold can be learned: people say {'yes' if y[0] else 'no'} throughout")
    sign = direction(x, y)
    values, place = np.unique(sign * x, return_inverse=True)
    if len(values) < 2:
        raise ValueError("no threshold can be learned: the score is the same throughout")
    items = np.bincount(place.ravel(), minlength=len(values)).astype(np.float64)
    positive = np.bincount(place.ravel(), weights=y, minlength=len(values))
    tp = (positive.sum() - np.cumsum(positive))[:-1]
    marked = (items.sum() - np.cumsum(items))[:-1]
    fp, fn = marked - tp, positive.sum() - tp
    tn = len(y) - positive.sum() - fp
    quality = RULES[rule].quality(tp, fp, fn, tn)
    good = np.flatnonzero(quality >= quality.max() - SAME)
    off = np.abs(marked[good] - positive.sum())
    best = int(good[np.flatnonzero(off == off.min())[0]])
    return Threshold(float(sign * (values[best] + values[best + 1]) / 2), sign > 0)
