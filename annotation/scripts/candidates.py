"""A question with all the places where it is asked, before letters are drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.scripts.records import Question


class Spot(NamedTuple):
    """A session (its number) in which a question is asked, whether it has an answer there, and why.

    `sessions` are ids; `since` is the last own turn that has to be heard before.
    """

    number: int
    answerable: bool
    type: str
    sessions: tuple[str, ...]
    rule: str
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, whether it was made for the set, and its spots in the order of sessions, one at least."""

    question: Question
    made: bool
    spots: list[Spot]


@dataclass(frozen=True, slots=True)
class Tally:
    """What came to nothing: questions (and facts) `dropped`, by reason, and uses `excluded`, by rule."""

    dropped: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
