"""The contests of the alternative annotator test: a judge and one left-out annotator, item by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Resampling
from calibration.statistics.core.types import Floats, Ints

Score = Literal["accuracy", "neg_rmse", "similarity"]
Similarity = Callable[[Floats, Floats], Floats]
MIN_ITEMS, MIN_PEOPLE = 30, 3
TIE = 1e-12


@dataclass(frozen=True)
class Contest:
    """One left-out annotator: on each item, whether the judge and the annotator do at least as well."""

    annotator: str
    items: Ints
    units: Ints
    clusters: Ints
    judge_wins: Floats
    annotator_wins: Floats

    @property
    def difference(self) -> Floats:
        """The annotator's wins less the judge's, per item: -1, 0 or 1."""
        return self.annotator_wins - self.judge_wins


@dataclass(frozen=True)
class Constant:
    """The answer that scores best beside people where it is given to every item, and a judge's score there.

    Scores are those of the test, a mean over items. ``label`` is the answer as people write it.
    """

    label: str
    score: Score
    value: float
    judge: float

    @property
    def as_good(self) -> bool:
        """Whether the constant scores as well as the judge."""
        return self.value >= self.judge - TIE

    @property
    def in_words(self) -> str:
        """Say of a constant that scores as well: by accuracy, by error."""
        if self.score == "neg_rmse":
            how = f"answering {self.label} to every item is off by {-self.value:.3f} on average"
            return f"{how}, the judge by {-self.judge:.3f}"
        how = "agrees with" if self.score == "accuracy" else "is as similar to"
        scores = f"{how} people in {self.value:.3f}, the judge in {self.judge:.3f}"
        return f"answering {self.label} to every item {scores}"


def best_constant(
    ratings: Ratings, judge: int, people: Sequence[int], score: Score, similarity: Similarity | None
) -> Constant | None:
    """Return the best constant on the items that the judge and two people or more rated; None without any.

    Tried is each value of the scale, and of ordered scales without one the people's mean.
    """
    others, own = ratings.values[:, list(people)], ratings.values[:, judge]
    use = ~np.isnan(own) & ((~np.isnan(others)).sum(axis=1) >= 2)
    if not use.any():
        return None
    others, own = others[use], own[use]
    tried = list(ratings.scale or ())
    if ratings.level in ("interval", "ratio"):
        tried.append(float(np.nanmean(others)))
    scored = [(float(_scores(np.full(len(own), v), others, score, similarity).mean()), v) for v in tried]
    value, best = max(scored, key=lambda pair: pair[0])
    label = ratings.label(best) if best in (ratings.scale or ()) else f"{best:.3g}"
    return Constant(label, score, value, float(_scores(own, others, score, similarity).mean()))


def is_testable(ratings: Ratings, judge: int, people: Sequence[int], *, min_items: int = MIN_ITEMS) -> bool:
    """Whether a judge can have a winning rate: three people with enough items, and two values or more."""
    given = ~np.isnan(ratings.values)
    several = given[:, judge] & (given[:, list(people)].sum(axis=1) >= 2)
    tested = sum(int((several & given[:, j]).sum()) >= min_items for j in people)
    return tested >= MIN_PEOPLE and not is_constant(ratings, judge, people)


def is_constant(ratings: Ratings, judge: int, people: Sequence[int]) -> bool:
    """Whether a judge gave one value to all items that it can be tested on: those that two people rated."""
    shared = (~np.isnan(ratings.values[:, list(people)])).sum(axis=1) >= 2
    own = ratings.values[shared, judge]
    own = own[~np.isnan(own)]
    return bool(own.size) and bool((own == own[0]).all())


def contests_of(
    ratings: Ratings,
    judge: int,
    people: Sequence[int],
    score: Score,
    similarity: Similarity | None,
    resampling: Resampling,
) -> list[Contest]:
    """Return the contest of each person with the judge on items that another person rated as well."""
    values, f = ratings.values[:, list(people)], ratings.values[:, judge]
    out = []
    for position, column in enumerate(people):
        others = np.delete(values, position, axis=1)
        own = values[:, position]
        use = ~np.isnan(own) & ~np.isnan(f) & (~np.isnan(others)).any(axis=1)
        of_judge = _scores(f[use], others[use], score, similarity)
        of_person = _scores(own[use], others[use], score, similarity)
        out.append(
            Contest(
                ratings.raters[column],
                np.flatnonzero(use),
                resampling.units[use],
                ratings.clusters[use],
                (of_judge >= of_person - TIE).astype(np.float64),
                (of_person >= of_judge - TIE).astype(np.float64),
            )
        )
    return out


def _scores(one: Floats, others: Floats, score: Score, similarity: Similarity | None) -> Floats:
    """Alignment of one value per item with the others' values of that item."""
    given = ~np.isnan(others)
    n = given.sum(axis=1)
    filled = np.where(given, others, 0.0)
    if score == "accuracy":
        return ((filled == one[:, None]) & given).sum(axis=1) / n
    if score == "neg_rmse":
        return -np.sqrt((np.where(given, filled - one[:, None], 0.0) ** 2).sum(axis=1) / n)
    assert similarity is not None
    pairs = similarity(np.broadcast_to(one[:, None], others.shape)[given], others[given])
    out = np.zeros(others.shape)
    out[given] = pairs
    return out.sum(axis=1) / n
