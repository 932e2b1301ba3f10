"""What a question set holds: candidates per session by source, hops and type, answerable or not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scripts.records import Question, Source, Use
from annotation.scripts.sessions import Sessions


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many uses of one kind there are: either answerable or not, by their type."""

    source: Source
    hops: int
    type: str
    answerable: int
    unanswerable: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A set in numbers, as table 2 of LongDialQA has it: beside sessions and turns, uses are counted.

    `asked` are the sessions with the main character, in which alone questions are asked; means are over them.
    `tests` is the logarithm to base 10 of how many series of one question per session there are.
    """

    sessions: int
    asked: int
    turns: int
    rows: tuple[TypeCount, ...]
    tests: float

    def uses(self, source: str = "", hops: int | None = None) -> int:
        """Return how many uses there are, of a source or a number of hops where one is named."""
        return self.answerable(source, hops) + self.unanswerable(source, hops)

    def answerable(self, source: str = "", hops: int | None = None) -> int:
        """Return how many uses can be answered."""
        return sum(row.answerable for row in self._rows(source, hops))

    def unanswerable(self, source: str = "", hops: int | None = None) -> int:
        """Return how many uses cannot be answered."""
        return sum(row.unanswerable for row in self._rows(source, hops))

    def per_session(self, count: int) -> float | None:
        """Return a count over the sessions in which questions are asked; None where there are none."""
        return count / self.asked if self.asked else None

    def _rows(self, source: str, hops: int | None) -> list[TypeCount]:
        return [row for row in self.rows if source in ("", row.source) and hops in (None, row.hops)]


def overview(dialogue: Dialogue, questions: Iterable[Question], uses: Iterable[Use]) -> Overview:
    """Count the uses of a script's question set; `questions` are all that are used, made and other ones.

    Raises ValueError for a use of a question that is not among them.
    """
    sessions = Sessions(dialogue)
    kinds = {question.id: (question.source, question.hops) for question in questions}
    counts: Counter[tuple[str, str, bool]] = Counter()
    by_session: Counter[str] = Counter()
    for use in uses:
        counts[use.question, use.type, use.answerable] += 1
        by_session[use.session] += 1
    unknown = next((question for question, _, _ in counts if question not in kinds), None)
    if unknown is not None:
        raise ValueError(f"there is no question {unknown!r}")
    return Overview(
        sessions=len(sessions),
        asked=len(sessions.heard),
        turns=len(dialogue.turns),
        rows=_rows(kinds, counts),
        tests=sum(math.log10(count) for count in by_session.values()),
    )


def _rows(
    kinds: dict[str, tuple[Source, int]], counts: Counter[tuple[str, str, bool]]
) -> tuple[TypeCount, ...]:
    answerable: Counter[tuple[Source, int, str]] = Counter()
    unanswerable: Counter[tuple[Source, int, str]] = Counter()
    for (question, kind, right), count in counts.items():
        (answerable if right else unanswerable)[(*kinds[question], kind)] += count
    keys = sorted(answerable.keys() | unanswerable.keys())
    return tuple(TypeCount(*key, answerable[key], unanswerable[key]) for key in keys)
