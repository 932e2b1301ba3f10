"""How far raters are apart on each item, and which answers met which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from calibration.statistics import Ratings
from calibration.statistics.core.types import CATEGORIES, Floats

PEOPLE = "kind:human"
"""Stands for all people at once, where a rater is named."""
LARGEST_TABLE = 11


@dataclass(frozen=True)
class Comparison:
    """Two raters, or one rater with all people, or the people among themselves, as pairs of columns."""

    ratings: Ratings
    pairs: tuple[tuple[int, int], ...]
    ordered: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """The raters that take part, in the order of the ratings."""
        return tuple(sorted({column for pair in self.pairs for column in pair}))

    @property
    def by_rank(self) -> bool:
        """Whether the raters share no scale, so that only the order of their answers can be compared."""
        return not all(self.ratings.on_scale[column] for column in self.columns)


def comparison(ratings: Ratings, first: str, second: str) -> Comparison:
    """Return who is compared: `first` and `second` name a rater or are PEOPLE.

    One rater with the people is that rater with each of them; the people alone are all their pairs.
    Of repeated answers whose mean left the scale the first is read. Raises KeyError for a stranger.
    """
    ratings = ratings.as_answered()
    people = ratings.of_kind("human")
    if first == second == PEOPLE:
        return Comparison(ratings, tuple(combinations(people, 2)), ordered=False)
    if PEOPLE in (first, second):
        one = ratings.column(second if first == PEOPLE else first)
        pairs = tuple((one, other) if second == PEOPLE else (other, one) for other in people if other != one)
        return Comparison(ratings, pairs, ordered=True)
    pair = ratings.column(first), ratings.column(second)
    return Comparison(ratings, (pair,) if pair[0] != pair[1] else (), ordered=True)


def distances(compared: Comparison) -> Floats:
    """Return per item how far the raters are apart, NaN where no pair of them rated it.

    The mean over pairs of: 1 for different categories, the difference on a shared scale (in its units), the
    difference of percentile ranks (0 to 1) where the scales are not shared.
    """
    ratings = compared.ratings
    values = _ranks(ratings.values) if compared.by_rank else ratings.values
    total, counted = np.zeros(len(values)), np.zeros(len(values))
    for a, b in compared.pairs:
        apart = np.abs(values[:, a] - values[:, b])
        if ratings.level in CATEGORIES and not compared.by_rank:
            apart = np.where(np.isnan(apart), apart, (apart > 0).astype(float))
        both = ~np.isnan(apart)
        total[both] += apart[both]
        counted[both] += 1
    return np.divide(total, counted, out=np.full(len(values), np.nan), where=counted > 0)


def table(compared: Comparison) -> list[list[int]] | None:
    """Return how often each answer of the first met each of the second, over all pairs.

    None for people among themselves, without a shared scale, or with more than LARGEST_TABLE values.
    """
    scale = compared.ratings.scale
    if not compared.ordered or compared.by_rank or not scale or len(scale) > LARGEST_TABLE:
        return None
    return [[int(sum(hits.sum() for hits in _hits(compared, x, y))) for y in scale] for x in scale]


def in_cell(compared: Comparison, row: int, column: int) -> npt.NDArray[np.bool_]:
    """Return which items some pair answered with the row-th and the column-th value of the scale."""
    scale = compared.ratings.scale or ()
    hits: Sequence[npt.NDArray[np.bool_]] = _hits(compared, scale[row], scale[column])
    return np.logical_or.reduce(hits) if hits else np.zeros(compared.ratings.n_items, dtype=bool)


def _hits(compared: Comparison, x: float, y: float) -> list[npt.NDArray[np.bool_]]:
    values = compared.ratings.values
    return [(values[:, a] == x) & (values[:, b] == y) for a, b in compared.pairs]


def _ranks(values: Floats) -> Floats:
    """Return each rater's answers as percentile mid-ranks (0 to 1), NaN where missing."""
    ranked = np.full(values.shape, np.nan)
    for column in range(values.shape[1]):
        given = ~np.isnan(values[:, column])
        _, place, counts = np.unique(values[given, column], return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - counts / 2
        ranked[given, column] = middle[place] / max(1, counts.sum())
    return ranked
