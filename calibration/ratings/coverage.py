"""Behaviours outside a scheme's list: turns that raters marked with `another_behaviour`, with their notes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from annotation.corpora import splits
from annotation.models import Item, Question, turn_numbers
from annotation.text.references import item_key
from calibration.ratings.ratings import CHUNK
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, Scope
from calibration.statistics.core.engine import Result

# Behaviours outside a scheme's list, marked with `another_behaviour`.

ANOTHER = "another_behaviour"
"""Key of the question whether a turn shows a behaviour that the scheme does not list."""
MACHINES = frozenset({"metric", "key"})


@dataclass(frozen=True, slots=True)
class Marked:
    """A turn that a rater marked, with the rater's note and the turn's position.

    `item` is its key, `dialogue` the dialogue's id, `number` the turn number that annotators see, `position`
    its index in the continuation.
    """

    rater: str
    item: str
    dialogue: int
    continuation: str
    number: int
    position: int
    note: str


@dataclass(frozen=True, slots=True)
class Looked:
    """Number of turns that a rater answered, and of those that it marked."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    n: int
    marked: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Behaviours marked in addition to a scheme's list.

    `turns` and `found` count the turns that a person answered, and those that at least one person marked.
    """

    ref: str
    title: str
    scheme_title: str
    raters: tuple[Looked, ...]
    turns: int
    found: int
    notes: tuple[Marked, ...]


def coverage(
    scope: Scope,
    counted: Census,
    schemes: Collection[str] | None,
    clusters: Collection[str] | None = None,
    names: Collection[str] = (),
) -> list[Coverage]:
    """Return the coverage of each answered question `another_behaviour`.

    Limited to questions of `schemes` (None means all), items in `clusters` and raters in `names`, if given.
    """
    questions = [
        question
        for question in counted.questions.values()
        if question.key == ANOTHER
        and question.level == "binary"
        and question.item_kind == "turn"
        and (schemes is None or question.scheme in schemes)
    ]
    coverages = [_of_question(scope, counted, question, clusters, names) for question in questions]
    return [row for row in coverages if row.raters]


def _of_question(
    scope: Scope,
    counted: Census,
    question: QuestionInfo,
    clusters: Collection[str] | None,
    names: Collection[str],
) -> Coverage:
    raters = {
        info.id: info
        for info in counted.raters_of(question.id)
        if info.kind not in MACHINES and (not names or info.name in names)
    }
    positive = 1.0 if question.positive is None else question.positive
    answers: dict[tuple[int, int], tuple[float, str]] = {}
    for item, rater, number, text in _answers(scope, question.id, raters, clusters):
        answers.setdefault((item, rater), (number, text))
    marked = {place: text for place, (number, text) in answers.items() if number == positive}
    people = {place for place in answers if raters[place[1]].kind == "human"}
    return Coverage(
        question.ref,
        question.title,
        question.scheme_title,
        tuple(looked for info in raters.values() if (looked := _looked(info, answers, marked)).n),
        len({item for item, _ in people}),
        len({item for item, rater in marked if (item, rater) in people}),
        _notes(scope, question, raters, marked),
    )


def _answers(scope: Scope, question: int, raters: Collection[int], clusters: Collection[str] | None) -> Any:
    """Return (item, rater, number, explanation) of answers in scope, a rater's first sample first."""
    labels = scope.labels().filter(question=question, rater__in=raters, number__isnull=False)
    if clusters is not None:
        labels = labels.filter(splits.within(clusters, "item__"))
    rows = labels.order_by("sample", "pk").values_list("item_id", "rater_id", "number", "explanation")
    return rows.iterator(chunk_size=CHUNK)


def _looked(
    info: RaterInfo, answers: Collection[tuple[int, int]], positives: Collection[tuple[int, int]]
) -> Looked:
    n, marked = (sum(rater == info.id for _, rater in places) for places in (answers, positives))
    return Looked(info.name, info.kind, info.identified, info.simulated, n, marked)


def _notes(
    scope: Scope, question: QuestionInfo, raters: dict[int, RaterInfo], marked: dict[tuple[int, int], str]
) -> tuple[Marked, ...]:
    """Return each marked turn with its rater's note, or else with the judge's explanation."""
    if not marked:
        return ()
    items = Item.objects.select_related("continuation__dialogue", "turn").in_bulk(
        {item for item, _ in marked}
    )
    turn_numbers.number(item.turn for item in items.values())
    texts = _written_texts(scope, question, {rater for _, rater in marked})
    notes = []
    for (item, rater), reason in marked.items():
        row = items[item]
        own, turn = row.continuation, row.turn
        assert turn is not None
        notes.append(
            Marked(
                raters[rater].name,
                item_key(own.dialogue.key, own.key, turn.position),
                own.dialogue_id,
                own.key,
                turn.number,
                turn.position,
                texts.get((item, rater)) or reason,
            )
        )
    return tuple(sorted(notes, key=lambda note: (note.item, note.rater)))


def _written_texts(
    scope: Scope, question: QuestionInfo, raters: Collection[int]
) -> dict[tuple[int, int], str]:
    """Return the raters' answers to the text question that follows a marked turn."""
    text_questions = Question.objects.filter(
        version__questions=question.id, level=Question.Level.TEXT, show_if__question=question.key
    )
    rows = (
        scope.labels()
        .filter(question__in=text_questions, rater__in=raters, text__isnull=False)
        .order_by("pk")
        .values_list("item_id", "rater_id", "text")
    )
    texts: dict[tuple[int, int], str] = {}
    for item, rater, text in rows.iterator(chunk_size=CHUNK):
        texts.setdefault((item, rater), text or "")
    return texts


# The same as reports store it.


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """A rater: the turns it marked, and their share of the turns it answered, with Wilson's interval."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    marked: int
    share: Result


@dataclass(frozen=True, slots=True)
class CoverageTable:
    """A question `another_behaviour`: the number of turns that people marked, the raters, and every note.

    `share` is the share of turns marked by at least one person among those that a person answered; None if no
    person was asked.
    """

    ref: str
    title: str
    scheme_title: str
    marked: int
    share: Result | None
    rows: tuple[CoverageLine, ...]
    notes: tuple[Marked, ...]
