"""Writing labels: the one way in which an answer enters the table.

A first answer is inserted; the same answer again changes nothing; another answer supersedes the live one.
Bulk imports of new labels copy rows instead (`annotation.importing`); the same constraints hold there.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Assignment, Campaign, Import, Item, Label, Question, Rater, Turn, turn_numbers
from annotation.records import Passage
from annotation.text import passages
from config import commands

# What labels point at, with the words and the numbers of the turns, ready for researchers' pages.

LONGEST = 200
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A passage with its turn's number, as annotators count it, and what stands there (cut where long)."""

    passage: Passage
    number: int
    quote: str

    @property
    def is_whole(self) -> bool:
        """Whether it is all of a turn."""
        return self.passage.start is None

    def __str__(self) -> str:
        return f"{self.number}" if self.is_whole else f"{self.number} “{self.quote}”"

    def as_json(self) -> dict[str, Any]:
        """Return the passage as files have it, with its turn's number and the words."""
        own = {name: getattr(self.passage, name) for name in passages.FIELDS}
        return own | {"turn_number": self.number, "quote": self.quote}


def pointed(
    kept: Mapping[Key, tuple[int, Iterable[Mapping[str, Any]]]],
) -> dict[Key, tuple[Pointed, ...]]:
    """Return what labels point at, by any key: each comes as (id of its dialogue, evidence as it is kept).

    Two queries, none where nothing points at anything.
    """
    read = {key: (dialogue, passages.read(found)) for key, (dialogue, found) in kept.items() if found}
    turns = _turns({(dialogue, one) for dialogue, found in read.values() for one in found})
    return {
        key: tuple(
            Pointed(one, turn.number, _cut(passages.quoted(one, turn.text)))
            for one in found
            if (turn := turns.get((dialogue, one.continuation, one.turn)))
        )
        for key, (dialogue, found) in read.items()
    }


def _turns(wanted: set[tuple[int, Passage]]) -> dict[tuple[int, str, int], Any]:
    positions: dict[tuple[int, str], set[int]] = {}
    for dialogue, passage in wanted:
        positions.setdefault((dialogue, passage.continuation), set()).add(passage.turn)
    if not positions:
        return {}
    places = [
        Q(continuation__dialogue=dialogue, continuation__key=key, position__in=found)
        for (dialogue, key), found in positions.items()
    ]
    rows = list(Turn.objects.filter(reduce(or_, places)).select_related("continuation"))
    turn_numbers.number(rows)
    return {(row.continuation.dialogue_id, row.continuation.key, row.position): row for row in rows}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to be recorded. `value` is None exactly when `missing` says why.

    An answer about a comparison speaks of its members in the item's own order; `shown` are their numbers in
    the order in which the rater saw them. That of an assignment is known and need not be said.
    """

    item: Item | int
    question: Question | int
    value: float | str | None
    missing: str = ""
    sample: int = 0
    explanation: str = ""
    shown: tuple[int, ...] | None = None
    evidence: tuple[Passage, ...] = ()

    @property
    def place(self) -> tuple[int, int, int]:
        """What the answer is to: (item id, question id, sample)."""
        item = self.item if isinstance(self.item, int) else self.item.pk
        question = self.question if isinstance(self.question, int) else self.question.pk
        return item, question, self.sample


@transaction.atomic
def record(
    *,
    rater: Rater,
    answers: Sequence[Answer],
    occasion: str,
    campaign: Campaign | None = None,
    assignment: Assignment | None = None,
    imported: Import | None = None,
    compared: bool = True,
) -> list[Label]:
    """Record a rater's answers and return the labels that are new.

    `compared` is false where an assignment showed several in an order and the answers are about each alone.

    Raises IntegrityError where an answer is off its question's scale or to a question for another kind of
    item, or where another transaction recorded the same place at the same moment; nothing is kept then.
    """
    live = _live(rater, answers, occasion, campaign)
    changed = [answer for answer in answers if not _same(live.get(answer.place), answer)]
    replaced = [live[answer.place].pk for answer in changed if answer.place in live]
    if replaced:
        Label.objects.filter(pk__in=replaced).update(superseded_at=timezone.now())
    return Label.objects.bulk_create(
        _label(
            rater, answer, occasion, campaign, assignment, imported, live.get(answer.place), compared=compared
        )
        for answer in changed
    )


INSERT = """
INSERT INTO annotation_label (item_id, question_id, number, text, rater_id, occasion, campaign_id,
                              assignment_id, shown, sample, missing, explanation, created_at)
SELECT new.item, new.question, new.number, new.text, %s, %s, %s, %s,
       (SELECT a.shown FROM annotation_assignment a WHERE a.id = %s), %s, '', '', now()
  FROM unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::text[]) AS new (item, question, number, text)
"""

INSERT_WITH_EVIDENCE = (
    INSERT.replace("explanation, created_at)", "explanation, created_at, evidence)")
    .replace("now()", "now(), new.evidence::jsonb")
    .replace("%s::text[])", "%s::text[], %s::text[])")
    .replace("number, text)\n", "number, text, evidence)\n")
)
"""The same with what the answers point at: a submit without any pays nothing for it."""


def insert(
    *,
    rater: int,
    answers: Sequence[tuple[int, int, float | str, tuple[Passage, ...]]],
    occasion: str,
    campaign: int | None = None,
    assignment: int | None = None,
    sample: int = 0,
    compared: bool = True,
) -> None:
    """Record (item id, question id, value, evidence) answers where none can be live yet, in one statement.

    The caller knows that the rater has not answered these before, as at a first submit; where that is not
    so, IntegrityError, and nothing is kept. `compared` is as `record` takes it.
    """
    ordered = assignment if compared else None
    values = [answer[2] for answer in answers]
    columns: list[list[Any]] = [
        [answer[0] for answer in answers],
        [answer[1] for answer in answers],
        [None if isinstance(value, str) else float(value) for value in values],
        [value if isinstance(value, str) else None for value in values],
    ]
    statement = INSERT
    if any(answer[3] for answer in answers):
        statement = INSERT_WITH_EVIDENCE
        columns.append([json.dumps(passages.stored(answer[3])) if answer[3] else None for answer in answers])
    with commands.cursor() as cursor:
        cursor.execute(statement, [rater, occasion, campaign, assignment, ordered, sample, *columns])


def _live(
    rater: Rater, answers: Sequence[Answer], occasion: str, campaign: Campaign | None
) -> dict[tuple[int, int, int], Label]:
    labels = Label.objects.select_for_update().filter(
        rater=rater,
        item__in={answer.place[0] for answer in answers},
        occasion=occasion,
        campaign=campaign,
        superseded_at__isnull=True,
    )
    return {(label.item_id, label.question_id, label.sample): label for label in labels}


def _same(label: Label | None, answer: Answer) -> bool:
    return (
        label is not None
        and label.value == answer.value
        and label.missing == answer.missing
        and label.explanation == answer.explanation
        and label.evidence == passages.stored(answer.evidence)
    )


def _label(
    rater: Rater,
    answer: Answer,
    occasion: str,
    campaign: Campaign | None,
    assignment: Assignment | None,
    imported: Import | None,
    before: Label | None,
    *,
    compared: bool,
) -> Label:
    item, question, sample = answer.place
    number = None if answer.value is None or isinstance(answer.value, str) else float(answer.value)
    return Label(
        item_id=item,
        question_id=question,
        rater=rater,
        occasion=occasion,
        campaign=campaign,
        sample=sample,
        number=number,
        text=answer.value if isinstance(answer.value, str) else None,
        missing=answer.missing,
        explanation=answer.explanation,
        shown=_shown(answer, assignment if compared else None),
        evidence=passages.stored(answer.evidence),
        assignment=assignment,
        imported=imported,
        supersedes=before,
    )


def _shown(answer: Answer, assignment: Assignment | None) -> list[int] | None:
    if assignment is not None:
        return assignment.shown
    return None if answer.shown is None else list(answer.shown)
