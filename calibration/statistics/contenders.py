"""Who is compared by ``judges_compared``: judges and metrics, each read by one policy of repeated answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats

KINDS = ("judge", "panel", "metric")
METRIC = "metric"
MOST = 12
"""Contenders of a question up to which metrics are compared with each other as well."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A rater as it is compared: one value an item (NaN where it has none).

    ``samples`` is `first` or `mean` of a rater with several answers an item, empty of any other. ``calls`` is
    how many it gave. ``scale`` names what its values are measured on: contenders of one scale may be swapped
    as they are. ``on_scale`` says that its values are those of the question.
    """

    rater: str
    kind: str
    values: Floats
    on_scale: bool
    scale: str = ""
    samples: str = ""
    calls: int = 1

    @property
    def name(self) -> str:
        """Return how it is called beside the others: `gpt-4 (mean of 3 calls)`."""
        if not self.samples:
            return self.rater
        return f"{self.rater} ({self.samples} of {self.calls} calls)"


def contenders_of(first: Ratings, mean: Ratings | None, calls: Mapping[str, int]) -> tuple[Contender, ...]:
    """Return the judges and metrics of a question, those with several answers an item twice.

    ``first`` and ``mean`` are the same ratings by the two policies of repeated answers; without ``mean``
    (categories have none) only the first answer is there. ``calls`` counts each rater's answers an item.
    """
    found: list[Contender] = []
    for kind in KINDS:
        for column in first.of_kind(kind):
            found += _readings(first, mean, column, calls.get(first.raters[column], 1))
    return tuple(found)


def _readings(first: Ratings, mean: Ratings | None, column: int, calls: int) -> list[Contender]:
    name, kind = first.raters[column], first.kinds[column]
    on_scale = first.on_scale[column]
    scale = "" if on_scale else name
    values = first.values[:, column]
    if calls < 2:
        return [Contender(name, kind, values, on_scale, scale)]
    out = [Contender(name, kind, values, on_scale, scale, "first", calls)]
    if mean is not None:
        averaged = mean.values[:, mean.column(name)]
        out.append(Contender(name, kind, averaged, mean.on_scale[mean.column(name)], scale, "mean", calls))
    return out


def pairs_of(contenders: Sequence[Contender]) -> tuple[list[tuple[Contender, Contender]], int]:
    """Return the pairs that are compared, and how many pairs of metrics are left out where there are many."""
    every = list(combinations(contenders, 2))
    if len(contenders) <= MOST:
        return every, 0
    kept = [pair for pair in every if any(one.kind != METRIC for one in pair)]
    return kept, len(every) - len(kept)


def answered(one: Contender, other: Contender) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which items both answered."""
    return ~np.isnan(one.values) & ~np.isnan(other.values)
