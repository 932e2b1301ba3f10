"""How near a judge's answers are to people's, target by target: what the search climbs by.

What a proposal is worth is another matter: that is measured with the statistics of reports, on dialogues that
the search has never seen. Here every target (what one call is about) needs a number whose mean can be
climbed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotation.schemes.base import Level

Value = float | str
Place = tuple[str, int]
"""A question's key (of the protocol's answers) and an item."""
ORDERED = frozenset({"ordinal", "interval", "ratio"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as scores read it: its level, and the ends of its scale (None where it has none)."""

    level: Level
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What one call is about: its key, its cluster, and people's answers by place."""

    key: str
    cluster: str
    people: Mapping[Place, tuple[Value, ...]]


class Scorer:
    """Scores a judge's answers about targets against people's.

    Binary and nominal: whether the judge says what a person says, averaged over the people, each answer
    weighted by 1 / (K n_v / N) for K values that occur and n_v of the N answers being v; so the mean over all
    answers is the balanced accuracy, and saying no to everything gains nothing where most answers are no.
    Ordered: 1 - |judge - people's mean| / range of the scale, 0 at least. What has no answer scores 0. Texts
    are not scored. The score of a target is the sum over its places, scaled so that the mean over all targets
    is the mean over all places.
    """

    def __init__(self, questions: Mapping[str, Asked], targets: Sequence[Target]) -> None:
        self.questions = {key: one for key, one in questions.items() if one.level != "text"}
        self.places = sum(len(self._scored(target)) for target in targets)
        self.share = len(targets) / self.places if self.places else 0.0
        self._counts: dict[str, Counter[Value]] = {key: Counter() for key in self.questions}
        self._ends: dict[str, tuple[float, float]] = {}
        for target in targets:
            for (question, _), answers in self._scored(target).items():
                self._counts[question].update(answers)
        for key, one in self.questions.items():
            seen = [value for value in self._counts[key] if not isinstance(value, str)]
            low = min(seen, default=0.0) if one.low is None else one.low
            high = max(seen, default=0.0) if one.high is None else one.high
            self._ends[key] = (low, high)

    def score(self, target: Target, answers: Mapping[Place, Value | None]) -> float:
        """Return a target's score: at least 0, its mean over all targets at most 1."""
        return self.share * sum(
            self.agreement(place[0], people, answers.get(place))
            for place, people in self._scored(target).items()
        )

    def agreement(self, question: str, people: Sequence[Value], judge: Value | None) -> float:
        """Return how near one answer is to people's answers to the same question about the same item."""
        if judge is None:
            return 0.0
        if self.questions[question].level in ORDERED:
            low, high = self._ends[question]
            distance = abs(float(judge) - fmean(float(value) for value in people))
            return max(0.0, 1.0 - distance / (high - low)) if high > low else float(distance == 0)
        return fmean(self._weight(question, value) * (value == judge) for value in people)

    def _weight(self, question: str, value: Value) -> float:
        counts = self._counts[question]
        return counts.total() / (len(counts) * counts[value])

    def _scored(self, target: Target) -> dict[Place, tuple[Value, ...]]:
        return {
            place: answers
            for place, answers in target.people.items()
            if place[0] in self.questions and answers
        }
