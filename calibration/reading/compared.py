"""Answers that compare responses, as a study reads them: votes on pairs and rankings, by question."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import astuple, dataclass

from calibration.preferences import reading
from calibration.reading.census import Census, QuestionInfo
from calibration.reading.definitions import Definition
from calibration.reading.scope import Scope
from calibration.reading.subjects import found_question
from calibration.statistics.preferences.votes import Vote


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
