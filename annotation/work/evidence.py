"""What answers point at: lines of the screen, as annotators and programs name them, and the turns they are.

A line is numbered from 1 over the whole screen; places in its text count Unicode code points of what is
shown. Labels keep places in what is stored (`annotation.text.traced`), so nothing here says which system
spoke. Without evidence in a request, nothing is read from the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from annotation.errors import AnswerRefused
from annotation.models import Continuation
from annotation.records import SELF, Passage
from annotation.scheme_versions.store import Asked, Questionnaire
from annotation.schemes.base import TURNS, takes_evidence
from annotation.text import passages
from annotation.text.blinding import Blind
from annotation.text.traced import Traced, spoken, untouched
from annotation.work.checking import Given, place_of
from annotation.work.screens import turns_of
from annotation.work.transcripts import Row

Evidence = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
"""Item (its number in the task) to question key to [{line, start, end}]; no start and end: all of it."""
FIELDS = frozenset(["line", "start", "end"])


class Places:
    """The lines of a task's screen, as the turns that are stored; `continuation` is the rated one's key."""

    def __init__(self, rows: Sequence[Row], hide: Blind, continuation: str) -> None:
        self.rows, self.hide, self.continuation = rows, hide, continuation

    def passage(self, told: Any, question: Asked, where: str) -> Passage:
        """Return what one entry points at; raise AnswerRefused, saying what is wrong with it and `where`."""
        if not isinstance(told, Mapping) or set(told) - FIELDS:
            raise AnswerRefused(
                f"{where} evidence names a line, and start and end within it: {_shown(told)}."
            )
        number, start, end = told.get("line"), told.get("start"), told.get("end")
        if not _whole(number) or not 1 <= number <= len(self.rows):
            raise AnswerRefused(
                f"{where} there is no line {_shown(number)}: there are 1 to {len(self.rows)}."
            )
        row = self.rows[number - 1]
        continuation = SELF if row.own else self.continuation
        if start is None and end is None:
            return Passage(continuation, row.position)
        if question.evidence == TURNS:
            raise AnswerRefused(
                f"{where} it points at whole turns: leave start and end of line {number} out."
            )
        traced = self.traced(row)
        if not (_whole(start) and _whole(end) and 0 <= start < end <= len(traced.text)):
            raise AnswerRefused(
                f"{where} from {_shown(start)} to {_shown(end)} is no stretch of line {number}, "
                f"which has {len(traced.text)} characters."
            )
        return Passage(continuation, row.position, *traced.stored(start, end))

    def shown(self, passage: Passage) -> dict[str, int] | None:
        """Return the line that a passage is on, as requests name it; None where it is on none."""
        own = passage.continuation == SELF and self.continuation != SELF
        for number, row in enumerate(self.rows, start=1):
            if (row.own, row.position) != (own, passage.turn):
                continue
            if passage.start is None or passage.end is None:
                return {"line": number}
            if (place := self.traced(row).shown(passage.start, passage.end)) is not None:
                return {"line": number, "start": place[0], "end": place[1]}
        return None

    def traced(self, row: Row) -> Traced:
        """Return what a turn's line shows, traced to what is stored; a blank text is not shown."""
        traced = spoken(row.text, self.hide)
        return traced if traced.text.strip() else untouched("")


def places_of(task: int) -> Places:
    """Return the lines of a task's screen: three queries."""
    rows, hide, continuation = turns_of(task)
    return Places(rows, hide, Continuation.objects.values_list("key", flat=True).get(pk=continuation))


def with_evidence(
    *,
    plan: Questionnaire,
    items: Mapping[int, int],
    given: list[Given],
    evidence: Evidence | None,
    task: int,
) -> list[Given]:
    """Return checked answers with what each points at; `items` are ids by number.

    Raises AnswerRefused, naming the place: for evidence that a question or an answer does not take, a line
    that is not on the screen, a stretch beyond its text, or where evidence is required and missing. Evidence
    of a question that was not asked is left out, as its answer is.
    """
    told = _by_place(plan, items, evidence)
    if not told and not plan.takes_evidence:
        return given
    places = places_of(task) if told else None
    asked = {question.id: question for question in plan.questions}
    numbers = {item: number for number, item in enumerate(items.values())}
    found = []
    for one in given:
        question = asked[one.question]
        where = f"{place_of(plan, numbers[one.item], len(items))}“{question.wording}”:"
        pieces = told.get((one.item, question.key), ())
        if pieces and not takes_evidence(question, one.value):
            raise AnswerRefused(f"{where} the answer {_shown(one.value)} points at nothing.")
        if len(pieces) > passages.MOST:
            raise AnswerRefused(f"{where} at most {passages.MOST} places, not {len(pieces)}.")
        if places and pieces:
            pointed = passages.in_order(places.passage(piece, question, where) for piece in pieces)
            one = one._replace(evidence=pointed)
        elif question.evidence_required and takes_evidence(question, one.value):
            raise AnswerRefused(f"{where} say which turns the answer refers to.")
        found.append(one)
    return found


def as_shown(kept: Iterable[tuple[str, str, tuple[Passage, ...]]], task: int) -> Evidence:
    """Return (item, question key, passages) as requests have them, by the lines of a task's screen."""
    kept = list(kept)
    places = places_of(task) if kept else None
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for item, key, pointed in kept:
        lines: list[Mapping[str, Any]] = [
            line for passage in pointed if places and (line := places.shown(passage))
        ]
        if lines:
            found.setdefault(item, {})[key] = lines
    return found


def _by_place(
    plan: Questionnaire, items: Mapping[int, int], evidence: Any
) -> dict[tuple[int, str], Sequence[Any]]:
    """Return the entries by (item id, question key), without empty ones."""
    if not evidence:
        return {}
    if not isinstance(evidence, Mapping):
        raise AnswerRefused("Evidence must be an object of items, each with its questions.")
    named = {str(name): item for pair in items.items() for name, item in ((pair[1], pair[1]), pair)}
    found: dict[tuple[int, str], Sequence[Any]] = {}
    for name, questions in evidence.items():
        if name not in named:
            raise AnswerRefused(f"Item {_shown(name)} is not part of this task.")
        if not isinstance(questions, Mapping):
            raise AnswerRefused(f"Evidence for item {_shown(name)} must be an object of questions.")
        for key, pieces in questions.items():
            if not pieces:
                continue
            question = plan.by_key.get(key)
            if question is None or not question.evidence:
                raise AnswerRefused(f"No question “{_shown(key)}” of this campaign asks for evidence.")
            if not isinstance(pieces, list):
                raise AnswerRefused(f"Evidence for “{question.wording}” must be a list of lines.")
            found[named[name], key] = pieces
    return found


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
