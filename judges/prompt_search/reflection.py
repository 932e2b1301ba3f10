"""What the improving model is asked, and how its proposal is read.

It sees the judge's present text and cases in which the judge and the people differ: what the judge saw, what
it answered, what people answered. All of it is quoted. It answers with both parts of a new text.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from annotation.schemes.base import Level
from jobs.prompt import Prompt, Unparseable
from judges.protocols.notice import NOTICE
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from judges.protocols.wording import Variable, Wording, released

# Dev clusters in three parts: to learn from, to choose by, and held back until the end.

LEAST = 6
"""Clusters that a search needs, two for each part."""
SHARES = (0.4, 0.3, 0.3)


class TooFew(ValueError):
    """Fewer clusters than a search needs."""


@dataclass(frozen=True, slots=True)
class Folds:
    """The clusters of each part; no cluster is in two.

    `learn`: their disagreements are shown to the improving model. `choose`: which text the search goes on
    with is decided on them. `held_back`: nothing of the search sees them; what a proposal is worth is
    measured on them.
    """

    learn: frozenset[str]
    choose: frozenset[str]
    held_back: frozenset[str]

    def part_of(self, cluster: str) -> str:
        """Return the name of a cluster's part."""
        return next(name for name in self.__slots__ if cluster in getattr(self, name))


def folds(clusters: Iterable[str], seed: int) -> Folds:
    """Return the parts: 40, 30 and 30% of the clusters, shuffled with a seed; each has at least two.

    The same clusters and seed give the same parts, in whatever order the clusters come. Raises TooFew.
    """
    found = sorted(set(clusters))
    if len(found) < LEAST:
        raise TooFew(
            f"a search needs people's answers in at least {LEAST} clusters of dialogues, two for each part; "
            f"there are {len(found)}"
        )
    random.Random(f"folds {seed}").shuffle(found)
    held_back = max(2, round(SHARES[2] * len(found)))
    choose = max(2, round(SHARES[1] * len(found)))
    return Folds(
        frozenset(found[held_back + choose :]),
        frozenset(found[held_back : held_back + choose]),
        frozenset(found[:held_back]),
    )


# How near a judge's answers are to people's, target by target: what the search climbs by.
#
# What a proposal is worth is another matter: that is measured with the statistics of reports, on dialogues
# that the search has never seen. Here every target (what one call is about) needs a number whose mean can
# be climbed.

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


NAME, VERSION = "improve", 1
FIELDS = ("diagnosis", "system", "user")
LONGEST_DIAGNOSIS = 10_000
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in FIELDS},
    "required": list(FIELDS),
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case in which the judge and the people differ.

    `key` is the item's, for those who read the proposal later (the model does not see it). `shown` are quoted
    blocks as the judge saw them. `judge` and `people` are lines that say who answered what to which question.
    """

    key: str
    shown: tuple[str, ...]
    judge: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text that a model proposes, and what it says was wrong with the one before."""

    wording: Wording
    diagnosis: str


def request(
    wording: Wording, known: Mapping[str, Variable], cases: Sequence[Disagreement], trouble: str = ""
) -> Prompt:
    """Return what the improving model is asked. `trouble` says why its last proposal could not be used."""
    values = {
        "notice": NOTICE,
        "system": quote("SYSTEM PART", wording.system.split("\n")),
        "user": quote("USER PART", wording.user.split("\n")),
        "variables": "\n".join(_line(one) for one in known.values()),
        "cases": "\n\n".join(_case(number, case) for number, case in enumerate(cases, start=1)),
    }
    prompt = released(NAME, VERSION).fill(values, SCHEMA)
    if not trouble:
        return prompt
    again = f"\n\nYour last proposal could not be used: {trouble} Write it again without that mistake."
    return Prompt(prompt.system, prompt.user + again, SCHEMA)


def read(reply: str, wording: Wording, known: Mapping[str, Variable]) -> Proposal:
    """Return the proposal of a reply to `request(wording, ...)`; its reply form and worked examples stay.

    Raises Unparseable where it is not a proposal, or its text cannot be a prompt; the message says why.
    """
    data = json_object(reply)
    for name in FIELDS:
        if not isinstance(data.get(name), str):
            raise Unparseable(f"the field {name} is missing or not a text")
    if extra := sorted(set(data) - set(FIELDS)):
        raise Unparseable(f"the field {extra[0][:80]} was not asked for")
    text = replace(wording, system=data["system"].strip(), user=data["user"].strip())
    if problems := text.problems(known):
        raise Unparseable(" ".join(problems))
    return Proposal(text, data["diagnosis"].strip()[:LONGEST_DIAGNOSIS])


def _line(variable: Variable) -> str:
    return f"- ${variable.name}: {variable.help}{' (it must stay)' if variable.required else ''}"


def _case(number: int, case: Disagreement) -> str:
    parts = [
        f"Case {number}",
        *case.shown,
        quote("JUDGE", case.judge),
        quote("PEOPLE", case.people),
    ]
    return "\n\n".join(parts)
