"""What a judge's answers point at: numbers of turns as they stand in brackets in the prompt.

Asked in JSON about one item. A number that no turn in the prompt has is left aside and flagged, and so is an
answer that had to point at something and does not: the answer itself stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import SELF, Passage, Turn
from annotation.schemes.base import QuestionDefinition, takes_evidence
from annotation.text.passages import MOST, in_order
from annotation.text.views import visible
from jobs.prompt import Unparseable
from judges.protocols.answer_fields import Answered, free
from judges.protocols.base import Case

NO_EVIDENCE = "no_evidence"
"""The flag of an answer that had to point at turns, and names none that the prompt shows."""
NO_TURN = "no_such_turn"
"""The flag of evidence that names a turn which the prompt does not show."""
NOTE = (
    "A list that ends in _evidence holds the numbers, as they stand in brackets before the turns, of those "
    "that the answer refers to, [] where it refers to none."
)


def asking(questions: Sequence[QuestionDefinition]) -> list[QuestionDefinition]:
    """Return the questions whose answers may point at turns."""
    return [one for one in questions if one.evidence]


def field_of(question: QuestionDefinition, questions: Sequence[QuestionDefinition]) -> str:
    """Return the name of the field that holds the numbers."""
    return free(f"{question.key}_evidence", (one.key for one in questions))


def numbers_of(case: Case) -> dict[int, Passage]:
    """Return the turns that a prompt numbers: those before and of a rated turn, else the judged ones."""
    own = case.continuation.id
    if case.turn is None:
        return {number: Passage(own, index) for number, index in enumerate(case.judged(), start=1)}
    places: dict[int, Passage] = {id(turn): Passage(own, n) for n, turn in enumerate(case.continuation.turns)}
    if own != SELF:
        places |= {id(turn): Passage(SELF, n) for n, turn in enumerate(case.dialogue.turns)}
    shown: tuple[Turn, ...] = visible(case.dialogue, case.continuation, case.turn)
    passages = [*(places[id(turn)] for turn in shown), Passage(own, case.turn)]
    return dict(enumerate(passages, start=1))


def schema_fields(questions: Sequence[QuestionDefinition]) -> dict[str, Any]:
    """Return the JSON schemas of the fields."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    return {field_of(one, questions): numbers for one in asking(questions)}


def read_fields(
    data: Mapping[str, Any], questions: Sequence[QuestionDefinition], found: Answered, case: Case
) -> tuple[dict[str, tuple[Passage, ...]], list[str]]:
    """Return what answers point at, by question, and flags; raise Unparseable where a field is no list."""
    known = numbers_of(case)
    read: dict[str, tuple[Passage, ...]] = {}
    flags: list[str] = []
    for one in asking(questions):
        listed = data.get(name := field_of(one, questions))
        if not isinstance(listed, list):
            raise Unparseable(f"the field {name[:80]} is missing or no list")
        if one.key not in found or not takes_evidence(one, found[one.key][0]):
            continue
        numbers = [number for number in listed if isinstance(number, int) and not isinstance(number, bool)]
        read[one.key] = in_order(known[number] for number in numbers if number in known)[:MOST]
        if strange := [number for number in listed if number not in known]:
            flags.append(f"{NO_TURN}: {one.key[:80]} points at {str(strange[0])[:40]}, no turn shown")
        if one.evidence_required and not read[one.key]:
            flags.append(f"{NO_EVIDENCE}: {one.key[:80]} points at no turn")
    return read, flags


def written(
    questions: Sequence[QuestionDefinition], pointed: Mapping[str, tuple[Passage, ...]], case: Case
) -> dict[str, list[int]]:
    """Return the fields that say what answers point at; places in a text are said as whole turns."""
    numbers = {passage: number for number, passage in numbers_of(case).items()}
    return {
        field_of(one, questions): sorted(
            {
                numbers[place]
                for passage in pointed.get(one.key, ())
                if (place := Passage(passage.continuation, passage.turn)) in numbers
            }
        )
        for one in asking(questions)
    }
