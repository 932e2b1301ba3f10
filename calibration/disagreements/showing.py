"""Items with what was said before them and what each rater answered, ready for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.corpora import dialogue_view
from annotation.models import Item, Turn, turn_numbers
from annotation.work.labels import Pointed, pointed
from calibration.disagreements.reading import Comparison, RatedQuestion
from calibration.reading.census import QuestionInfo
from calibration.statistics import Ratings

BEFORE = 2
BEGINNING = 3
LONGEST = 280
WORDS = {"0": "no", "1": "yes"}
OF_DIALOGUE = ("pk", "continuation__dialogue")
Place = tuple[int, str, str]
"""An item, a tag of a pooled set ('' otherwise), and the name of a rater."""


class Voice(NamedTuple):
    """A rater of an answer, the reason that was written down, and what the answer points at."""

    name: str
    reason: str
    points: tuple[Pointed, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """An answer and who gave it."""

    value: str
    raters: tuple[Voice, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """An item that raters answered: `lines` are its turn with those just before it, or how it begins."""

    item: Item
    tag: str
    distance: float
    said: tuple[Said, ...]
    lines: list[dialogue_view.Line] = field(default_factory=list)


def value_name(asked: RatedQuestion, value: float) -> str:
    """Return an answer in words: its category, its anchor where it is yes or no, else the number."""
    return named_value(asked.data.subject.question, asked.ratings, value)


def named_value(question: QuestionInfo, ratings: Ratings, value: float) -> str:
    """Return an answer to a question, as its ratings hold it, in words."""
    names = ratings.names
    if names is not None and value == int(value):
        return names[int(value)]
    if ratings.level == "binary":
        return question.anchors.get(f"{value:g}") or WORDS.get(f"{value:g}", f"{value:g}")
    return f"{value:.3g}"


def shown(
    asked: RatedQuestion, compared: Comparison, rows: Sequence[int], apart: Sequence[float]
) -> list[Shown]:
    """Return some rows of the ratings as items with text, answers, reasons and evidence, in a few queries."""
    ids = [asked.items[row] for row in rows]
    related = ("continuation__dialogue", "continuation__system", "turn")
    items = Item.objects.select_related(*related).in_bulk(ids)
    reasons, points = _reasons(asked, ids), points_of(asked, ids)
    lines = lines_of([items[pk] for pk in dict.fromkeys(ids)])
    return [
        Shown(
            items[pk],
            asked.tags[row].replace("_", " ").capitalize(),
            distance,
            _said(asked, compared, row, reasons, points),
            lines[pk],
        )
        for pk, row, distance in zip(ids, rows, apart, strict=True)
    ]


def _said(
    asked: RatedQuestion,
    compared: Comparison,
    row: int,
    reasons: Mapping[Place, str],
    points: Mapping[Place, tuple[Pointed, ...]],
) -> tuple[Said, ...]:
    """Return the answers to one row, highest first, with the raters who gave each."""
    by_value: dict[float, list[Voice]] = {}
    for column in compared.columns:
        value, name = float(asked.ratings.values[row, column]), asked.ratings.raters[column]
        if not math.isnan(value):
            place = (asked.items[row], asked.tags[row], name)
            voice = Voice(name, reasons.get(place, ""), points.get(place, ()))
            by_value.setdefault(value, []).append(voice)
    return tuple(Said(value_name(asked, v), tuple(by_value[v])) for v in sorted(by_value, reverse=True))


def _reasons(asked: RatedQuestion, ids: Sequence[int]) -> dict[Place, str]:
    """Return what judges (and people) wrote down, by place: of the first sample that has any."""
    return _told(asked, ids, Q(explanation=""), "explanation")


def points_of(asked: RatedQuestion, ids: Sequence[int]) -> dict[Place, tuple[Pointed, ...]]:
    """Return what answers point at, by place: of the first sample that points at something."""
    kept = _told(asked, ids, Q(evidence__isnull=True), "evidence")
    dialogue = dict(Item.objects.filter(pk__in={place[0] for place in kept}).values_list(*OF_DIALOGUE))
    return pointed({place: (dialogue[place[0]], found) for place, found in kept.items()})


def _told(asked: RatedQuestion, ids: Sequence[int], without: Q, column: str) -> dict[Place, Any]:
    """Return a column of the labels on items, by place, where it holds something.

    A rater who answers through two questions is left out: which answer it belongs to is not told.
    """
    names: dict[int, list[str]] = {}
    for info in asked.data.raters:
        if info.kind != "metric":
            names.setdefault(info.id, []).append(info.name)
    rows = (
        asked.scope.labels()
        .filter(item__in=set(ids), question__in=asked.questions, rater__in=names)
        .exclude(without)
        .order_by("sample", "pk")
        .values_list("item_id", "question__key", "rater_id", column)
    )
    pooled = any(asked.tags)
    found: dict[Place, Any] = {}
    for item, key, rater, told in rows:
        if len(names[rater]) == 1:
            found.setdefault((item, key if pooled else "", names[rater][0]), told)
    return found


def lines_of(items: Sequence[Item]) -> dict[int, list[dialogue_view.Line]]:
    """Return each item's turn with the BEFORE turns before it, or the first turns of a whole continuation."""
    spans = {item.pk: _span(item) for item in items}
    wanted = [
        Q(continuation=item.continuation_id, position__gte=spans[item.pk][0], position__lte=spans[item.pk][1])
        for item in items
    ]
    turns: dict[int, list[Turn]] = {}
    for turn in Turn.objects.filter(reduce(or_, wanted)).order_by("position") if wanted else ():
        turns.setdefault(turn.continuation_id, []).append(turn)
    turn_numbers.number([*(turn for around in turns.values() for turn in around), *(i.turn for i in items)])
    found = {}
    for item in items:
        low, high = spans[item.pk]
        around = [turn for turn in turns.get(item.continuation_id, []) if low <= turn.position <= high]
        dialogue = item.continuation.dialogue
        found[item.pk] = dialogue_view.lines(dialogue, around, dialogue_view.speakers(dialogue, around))
    return found


def _span(item: Item) -> tuple[int, int]:
    """Return the first and last position shown. Static turns answer fixed points: none leads to the next."""
    if item.turn is None:
        return 0, BEGINNING - 1
    last = item.turn.position
    return (last if item.continuation.mode == "static" else max(0, last - BEFORE)), last
