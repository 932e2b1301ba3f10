"""Evidence of answers in the form that statistics compare: turns and character spans."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from django.db.models.functions import Length

from annotation.models import Item, Question, Turn, turn_numbers
from annotation.records import Passage
from annotation.schemes.definitions import takes_evidence
from annotation.text import references
from calibration.ratings.ratings import CHUNK, Place
from calibration.ratings.scope import Census, QuestionInfo, Scope
from calibration.statistics.evidence import Asks, Pointing, Stretch

# Evidence in comparable form: turns counted from the rated one, and character spans of a turn.

KINDS = ("turn", "dialogue")
DIALOGUES = 500
"""Number of dialogues whose turns are read per query."""


@dataclass(frozen=True)
class Evidence:
    """Evidence cited in the answers to a question: whole turns, or spans of their text (`asks`)."""

    question: QuestionInfo
    asks: Asks
    pointings: tuple[Pointing, ...]

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the evidence, independent of the reading order."""
        lines = sorted(repr(tuple(asdict(pointing).items())) for pointing in self.pointings)
        return hashlib.sha256("\n".join([self.question.ref, self.asks, *lines]).encode()).hexdigest()


def evidence(
    scope: Scope,
    questions: Iterable[QuestionInfo],
    counted: Census,
    where: Mapping[int, Place],
    names: Collection[str] = (),
) -> tuple[Evidence, ...]:
    """Return the evidence of answers on the items of `where`, for the questions that require evidence.

    Only for raters in `names`, if given. Of a rater's repeated answers the first counts.
    """
    infos = {question.id: question for question in questions if question.item_kind in KINDS}
    asking = Question.objects.filter(pk__in=infos).exclude(evidence="").in_bulk()
    if not asking:
        return ()
    answers = _answers(scope, asking, counted, where, names)
    stretches = _stretches(answers)
    pointings: dict[int, list[Pointing]] = {pk: [] for pk in asking}
    for place, (answer, _) in answers.items():
        item, question, rater = place
        info = counted.raters[rater]
        pointing = Pointing(
            where[item].key, info.name, answer, stretches.get(place, ()), where[item].cluster, info.kind
        )
        pointings[question].append(pointing)
    return tuple(
        Evidence(infos[pk], cast(Asks, asking[pk].evidence), tuple(pointings[pk]))
        for pk in infos
        if pk in asking
    )


Answers = dict[tuple[int, int, int], tuple[float | str, tuple[Passage, ...]]]
"""(item, question, rater): the answer and its evidence."""


def _answers(
    scope: Scope,
    asking: Mapping[int, Question],
    counted: Census,
    where: Mapping[int, Place],
    names: Collection[str],
) -> Answers:
    """Return the answers that may carry evidence."""
    rows = (
        scope.labels()
        .filter(question__in=asking, missing="")
        .order_by("sample", "pk")
        .values_list("item_id", "question_id", "rater_id", "number", "text", "evidence")
    )
    first: dict[tuple[int, int, int], Any] = {}
    for item, question, rater, number, text, raw_evidence in rows.iterator(chunk_size=CHUNK):
        info = counted.raters.get(rater)
        if item in where and info is not None and (not names or info.name in names):
            first.setdefault((item, question, rater), (text if number is None else number, raw_evidence))
    return {
        place: (answer, references.read(raw_evidence))
        for place, (answer, raw_evidence) in first.items()
        if takes_evidence(asking[place[1]], answer)
    }


def _stretches(answers: Answers) -> dict[tuple[int, int, int], tuple[Stretch, ...]]:
    """Return the spans cited; turns are counted back from the rated one, or from the start of a dialogue."""
    pointing = {
        place: references_found for place, (_, references_found) in answers.items() if references_found
    }
    items = {
        pk: (dialogue, turn)
        for pk, dialogue, turn in Item.objects.filter(pk__in={item for item, _, _ in pointing}).values_list(
            "pk", "continuation__dialogue_id", "turn_id"
        )
    }
    places = {(items[item][0], p.continuation, p.turn) for (item, _, _), ps in pointing.items() for p in ps}
    turns = _turns(places)
    rated = [turn for _, turn in items.values() if turn is not None]
    numbers = turn_numbers.numbers_of({*rated, *(pk for pk, _ in turns.values())})
    stretches_of = {}
    for place, some in pointing.items():
        dialogue, turn = items[place[0]]
        stretches = []
        for reference in some:
            at = turns.get((dialogue, reference.continuation, reference.turn))
            if at is not None:
                number = numbers[at[0]] if turn is None else numbers[turn] - numbers[at[0]]
                stretches.append(_stretch(reference, number, at[1]))
        stretches_of[place] = tuple(stretches)
    return stretches_of


def _stretch(passage: Passage, number: int, length: int) -> Stretch:
    """Return the span of a passage; a turn without text, cited as a whole, counts as one character."""
    if passage.start is None or passage.end is None:
        return Stretch(number, 0, max(1, length))
    return Stretch(number, passage.start, passage.end)


def _turns(places: Collection[tuple[int, str, int]]) -> dict[tuple[int, str, int], tuple[int, int]]:
    """Return (id, length in characters) of turns by (dialogue, continuation's key, position)."""
    dialogues = sorted({dialogue for dialogue, _, _ in places})
    keys, positions = {key for _, key, _ in places}, {position for _, _, position in places}
    turns = {}
    for start in range(0, len(dialogues), DIALOGUES):
        rows = Turn.objects.filter(
            continuation__dialogue__in=dialogues[start : start + DIALOGUES],
            continuation__key__in=keys,
            position__in=positions,
        ).values_list("continuation__dialogue_id", "continuation__key", "position", "pk", Length("text"))
        for dialogue, key, position, pk, length in rows.iterator(chunk_size=CHUNK):
            if (dialogue, key, position) in places:
                turns[dialogue, key, position] = (pk, length)
    return turns
