"""Which question about turns, and which about whole continuations, are put side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign, Corpus
from calibration.errors import LevelsRefused
from calibration.reading.census import Census, QuestionInfo, RaterInfo, census
from calibration.reading.scope import Scope, scope_of

HUMAN, TURN, DIALOGUE = "human", "turn", "dialogue"
NUMBERS = frozenset({"binary", "ordinal", "interval", "ratio"})
PAIRS = (("comperdial_turn", "comperdial_dialogue"), ("fed_turn", "fed_dialogue"))
"""Schemes about turns, and about whole continuations, that ask for the same under the same key."""


@dataclass(frozen=True)
class Asked:
    """A question about turns and one about whole continuations, and the people who answered either."""

    scope: Scope
    turns: QuestionInfo
    whole: QuestionInfo
    people: tuple[RaterInfo, ...]

    @property
    def same_scale(self) -> bool:
        """Whether the two have the same least and greatest value, so that a difference means something."""
        ends = [(min(q.values), max(q.values)) if q.values else None for q in (self.turns, self.whole)]
        return ends[0] == ends[1]


def offered(counted: Census) -> tuple[list[QuestionInfo], list[QuestionInfo]]:
    """Return the questions about turns, and about whole continuations, that people answered in numbers."""
    answered = {question for question, rater in counted.counts if counted.raters[rater].kind == HUMAN}
    found = [q for q in counted.questions.values() if q.id in answered and q.level in NUMBERS]
    return [q for q in found if q.item_kind == TURN], [q for q in found if q.item_kind == DIALOGUE]


def read(corpus: Corpus, campaign: Campaign | None, given: Mapping[str, str]) -> Asked:
    """Return what an address asks for by `turns` and `whole`; left out, the two that fit best.

    Raises LevelsRefused, in one line, where people did not answer such questions.
    """
    scope = scope_of(corpus, campaign)
    counted = census(scope)
    turns, whole = offered(counted)
    if not turns or not whole:
        lacking = "single turns" if not turns else "whole dialogues"
        raise LevelsRefused(f"nobody has rated {lacking} in numbers in {scope.name} yet")
    by_default = _fitting(turns, whole)
    first = _named(given.get("turns", ""), turns, by_default[0])
    second = _named(given.get("whole", ""), whole, _like(first, whole) or by_default[1])
    asked = {first.id, second.id}
    people = [
        info
        for info in counted.raters.values()
        if info.kind == HUMAN and any((question, info.id) in counted.counts for question in asked)
    ]
    return Asked(scope, first, second, tuple(people))


def _named(ref: str, among: Sequence[QuestionInfo], by_default: QuestionInfo) -> QuestionInfo:
    if not ref:
        return by_default
    found = next((question for question in among if question.ref == ref), None)
    if found is None:
        known = ", ".join(question.ref for question in among)
        raise LevelsRefused(f"people answered no question {ref!r} of this kind; there are {known}")
    return found


def _fitting(
    turns: Sequence[QuestionInfo], whole: Sequence[QuestionInfo]
) -> tuple[QuestionInfo, QuestionInfo]:
    """Return the pair that asks for the same: overall first, else any of one key, else the first of each."""
    pairs = [(one, other) for one in turns if (other := _like(one, whole))]
    overall = [pair for pair in pairs if pair[0].key == "overall"]
    return (overall or pairs or [(turns[0], whole[0])])[0]


def _like(question: QuestionInfo, among: Sequence[QuestionInfo]) -> QuestionInfo | None:
    """Return the question of the same key: of the scheme that goes with this one's, else of any."""
    same = [other for other in among if other.key == question.key]
    scheme = question.scheme.rsplit("@", 1)[0]
    partner = next((whole for turns, whole in PAIRS if turns == scheme), None)
    matched = [other for other in same if other.scheme.rsplit("@", 1)[0] == partner]
    return next(iter(matched or same), None)
