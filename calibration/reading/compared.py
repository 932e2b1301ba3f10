"""Answers that compare responses, as a study reads them: votes on pairs and rankings, by question."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from annotation.kinds import KINDS
from calibration.preferences import reading
from calibration.reading.census import Census, QuestionInfo, RaterInfo
from calibration.reading.definitions import Definition
from calibration.reading.scope import Scope
from calibration.reading.subjects import METRIC, TEXT, Subject, found_question
from calibration.statistics.preferences.votes import Vote

# The questions that a study compares nothing on, why that is, and which map of questions would mend it.

PEOPLE = ("human", "key")


@dataclass(frozen=True, slots=True)
class Uncompared:
    """An answered question that no comparison reads: who answered it, and why it is left out.

    `maps_to` is the question that its answers could be read as answers to (empty where there is none), `map`
    how their scales would meet.
    """

    ref: str
    title: str
    scheme_title: str
    item_kind: str
    raters: tuple[str, ...]
    reason: str
    maps_to: str
    map: str


def uncompared(
    definition: Definition, counted: Census, subjects: Sequence[Subject], voted: Collection[int] = ()
) -> list[Uncompared]:
    """Return each answered question that no comparison reads; `voted` are those read as preferences."""
    compared = {question for subject in subjects for question in subject.question_ids} | set(voted)
    found = []
    for question in counted.questions.values():
        raters = _raters(question, counted, definition.raters)
        if question.id in compared or not raters:
            continue
        target = _target(question, counted, definition.raters)
        found.append(
            Uncompared(
                question.ref,
                question.title,
                question.scheme_title,
                question.item_kind,
                tuple(rater.name for rater in raters),
                _reason(question, raters, definition),
                target.ref if target else "",
                "identity" if target and _scale(target) == _scale(question) else "rank",
            )
        )
    return found


def _raters(question: QuestionInfo, counted: Census, names: Collection[str]) -> list[RaterInfo]:
    return [rater for rater in counted.raters_of(question.id) if not names or rater.name in names]


def _reason(question: QuestionInfo, raters: Sequence[RaterInfo], definition: Definition) -> str:
    if question.level == TEXT:
        return "free text has no agreement statistics"
    if definition.questions:
        return "this study does not ask it"
    others = [rater.name for rater in raters if rater.kind != METRIC]
    if not others:
        about = KINDS[question.item_kind].plural
        return f"metrics are compared with people alone, who answered no question in order about {about}"
    return f"only {others[0]} answered it"


def _target(question: QuestionInfo, counted: Census, names: Collection[str]) -> QuestionInfo | None:
    """Return the question that others answered about such items: people's, of the same scale first.

    People's answers are read as answers to an earlier question of people; so one link is offered, not two.
    """
    mine = {rater.id for rater in _raters(question, counted, names)}
    own, earlier, fitting = _has_people(question, counted, names), True, []
    for place, other in enumerate(counted.questions.values()):
        earlier = earlier and other.id != question.id
        theirs = {rater.id for rater in _raters(other, counted, names) if rater.kind != METRIC}
        if (
            other.item_kind != question.item_kind
            or TEXT in (other.level, question.level)
            or not theirs - mine
        ):
            continue
        leads = _has_people(other, counted, names)
        if (leads and earlier) if own else (leads or earlier):
            unlike = (not leads, _scale(other) != _scale(question), other.key != question.key, place)
            fitting.append((unlike, other))
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _has_people(question: QuestionInfo, counted: Census, names: Collection[str]) -> bool:
    return any(rater.kind in PEOPLE for rater in _raters(question, counted, names))


def _scale(question: QuestionInfo) -> tuple[str, list[Any]]:
    return question.level, question.values


@dataclass(frozen=True)
class Compared:
    """The votes of a question that asks which of several responses is better."""

    question: QuestionInfo
    votes: tuple[Vote, ...]

    @property
    def raters(self) -> frozenset[str]:
        """The names of those who voted."""
        return frozenset(vote.rater for vote in self.votes)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the votes, whatever the order in which they were read."""
        lines = sorted(repr(astuple(vote)[1:]) for vote in self.votes)
        return hashlib.sha256("\n".join([self.question.ref, *lines]).encode()).hexdigest()


def compared(
    scope: Scope, definition: Definition, counted: Census, clusters: Collection[str] | None
) -> tuple[Compared, ...]:
    """Return the votes on every question that a study asks and that compares responses.

    A study that names no questions asks all. Only of its raters, where it names some.
    """
    asked = reading.comparing(counted)
    if definition.questions:
        named = {found_question(one.question, counted).id for one in definition.questions}
        asked = [one for one in asked if one.id in named]
    if not asked:
        return ()
    votes = reading.votes(scope, asked, counted, clusters)
    found = []
    for one in asked:
        kept = tuple(v for v in votes[one.id] if not definition.raters or v.rater in definition.raters)
        if any(vote.label is not None for vote in kept):
            found.append(Compared(one, kept))
    return tuple(found)
