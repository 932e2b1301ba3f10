"""Items behind a figure of a report, largest disagreement first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from annotation.corpora import dialogue_view
from annotation.models import Item, Question, Turn, turn_numbers
from annotation.work.labels import Pointed, pointed
from calibration.errors import DefinitionError, ItemsRefused
from calibration.models import Study
from calibration.ratings.definitions import parse
from calibration.ratings.ratings import Subject, SubjectData, load, places, subjects_of
from calibration.ratings.scope import QuestionInfo, Scope, census, of_study
from calibration.reports.tables import PEOPLE
from calibration.statistics import RatingError
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ratings
from calibration.studies.parts import POOLED, clusters_of, pooled, split_of

# A question of a study, read as in its report but from the current labels.

# Distances between raters per item, and cross-tables of their answers.

LARGEST_TABLE = 11


@dataclass(frozen=True)
class Comparison:
    """Pairs of columns to compare: two raters, one rater with all people, or people among themselves."""

    ratings: Ratings
    pairs: tuple[tuple[int, int], ...]
    ordered: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of the raters compared, in the ratings' order."""
        return tuple(sorted({column for pair in self.pairs for column in pair}))

    @property
    def by_rank(self) -> bool:
        """Whether the raters share no scale, so that only the order of their answers can be compared."""
        return not all(self.ratings.on_scale[column] for column in self.columns)


def comparison(ratings: Ratings, first: str, second: str) -> Comparison:
    """Pair the columns to compare: `first` and `second` are raters' names or PEOPLE.

    A rater against PEOPLE is paired with each person; PEOPLE twice gives all pairs of people. If the mean of
    repeated answers is off the scale, the first answer is used. Raises KeyError for an unknown rater.
    """
    ratings = ratings.as_answered()
    people = ratings.of_kind("human")
    if first == second == PEOPLE:
        return Comparison(ratings, tuple(combinations(people, 2)), ordered=False)
    if PEOPLE in (first, second):
        rater = ratings.column(second if first == PEOPLE else first)
        pairs = tuple(
            (rater, other) if second == PEOPLE else (other, rater) for other in people if other != rater
        )
        return Comparison(ratings, pairs, ordered=True)
    pair = ratings.column(first), ratings.column(second)
    return Comparison(ratings, (pair,) if pair[0] != pair[1] else (), ordered=True)


def distances(compared: Comparison) -> Floats:
    """Return the distance between the raters per item; NaN if no pair rated it.

    Mean over pairs of: 1 for different categories; the difference on a shared scale (in its units); the
    difference of percentile ranks (0 to 1) if the scales are not shared.
    """
    ratings = compared.ratings
    values = _ranks(ratings.values) if compared.by_rank else ratings.values
    total, counted = np.zeros(len(values)), np.zeros(len(values))
    for a, b in compared.pairs:
        apart = np.abs(values[:, a] - values[:, b])
        if ratings.level in CATEGORIES and not compared.by_rank:
            apart = np.where(np.isnan(apart), apart, (apart > 0).astype(float))
        both = ~np.isnan(apart)
        total[both] += apart[both]
        counted[both] += 1
    return np.divide(total, counted, out=np.full(len(values), np.nan), where=counted > 0)


def table(compared: Comparison) -> list[list[int]] | None:
    """Cross-tabulate first by second answers, over all pairs.

    None for people among themselves, without a shared scale, or with more than LARGEST_TABLE values.
    """
    scale = compared.ratings.scale
    if not compared.ordered or compared.by_rank or not scale or len(scale) > LARGEST_TABLE:
        return None
    return [[int(sum(hits.sum() for hits in _hits(compared, x, y))) for y in scale] for x in scale]


def in_cell(compared: Comparison, row: int, column: int) -> npt.NDArray[np.bool_]:
    """Mask of the items that some pair answered with the row-th and the column-th value of the scale."""
    scale = compared.ratings.scale or ()
    hits: Sequence[npt.NDArray[np.bool_]] = _hits(compared, scale[row], scale[column])
    return np.logical_or.reduce(hits) if hits else np.zeros(compared.ratings.n_items, dtype=bool)


def _hits(compared: Comparison, x: float, y: float) -> list[npt.NDArray[np.bool_]]:
    values = compared.ratings.values
    return [(values[:, a] == x) & (values[:, b] == y) for a, b in compared.pairs]


def _ranks(values: Floats) -> Floats:
    """Return each rater's answers as percentile mid-ranks (0 to 1), NaN where missing."""
    ranked = np.full(values.shape, np.nan)
    for column in range(values.shape[1]):
        is_given = ~np.isnan(values[:, column])
        _, place, counts = np.unique(values[is_given, column], return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - counts / 2
        ranked[is_given, column] = middle[place] / max(1, counts.sum())
    return ranked


@dataclass(frozen=True)
class RatedQuestion:
    """A question's ratings, with the stored item of each row and the stored questions read.

    In a pooled set of tags, a row is a pair of item and tag: `tags` holds the tags' keys, empty strings
    otherwise.
    """

    data: SubjectData
    ratings: Ratings
    scope: Scope
    items: tuple[int, ...]
    tags: tuple[str, ...]
    questions: tuple[int, ...]


def read_question(study: Study, part: str, ref: str) -> RatedQuestion:
    """Read a question of a study (or a pooled set, `scheme@version/all`) on a part of its split.

    Raises DefinitionError for a question outside the study, RatingError for an answer off its scale.
    """
    scope, definition = of_study(study), parse(study.definition)
    counted = census(scope)
    subjects = _select_subjects(subjects_of(definition, counted), ref)
    where = places(scope, {s.question.item_kind for s in subjects}, clusters_of(split_of(study), part))
    only = frozenset(definition.raters)
    loaded = [load(scope, subject, counted, where, only) for subject in subjects]
    is_pooled = subjects[0].question.ref != ref
    data = next((loaded_subject for loaded_subject in (pooled(loaded) if is_pooled else loaded)), None)
    if data is None:
        raise DefinitionError(f"the study asks no question {ref!r}")
    ratings = data.ratings(definition.samples)
    ids = {place.key: pk for pk, place in where.items()}
    split = [key.rpartition("/") if is_pooled else (key, "", "") for key in ratings.items]
    return RatedQuestion(
        data,
        ratings,
        scope,
        tuple(ids[key] for key, _, _ in split),
        tuple(tag for _, _, tag in split),
        tuple(pk for subject in subjects for pk in subject.question_ids),
    )


def _select_subjects(subjects: Sequence[Subject], ref: str) -> list[Subject]:
    """Return the subject of a question, or the subjects of all tags in a pooled set."""
    matching = [subject for subject in subjects if subject.question.ref == ref]
    tags = [
        subject
        for subject in subjects
        if f"{subject.question.scheme}/{POOLED}" == ref
        and subject.question.level == "binary"
        and subject.question.group
    ]
    if not matching and not tags:
        raise DefinitionError(f"the study asks no question {ref!r}")
    return matching or tags


# Items behind a figure, in reading order.


@dataclass(frozen=True)
class Listing:
    """A question, the raters compared, and the rows of ratings to read, largest distance first.

    `both` counts the items shared by raters of a pair, `differ` those on which some pair differs; `cell` is
    the selected cell of the table (row, column), None if all differing items are listed.
    """

    question: RatedQuestion
    compared: Comparison
    first: str
    second: str
    cell: tuple[int, int] | None
    rows: tuple[int, ...]
    apart: Mapping[int, float]
    both: int
    differ: int

    def params(self, part: str) -> dict[str, str]:
        """Return the URL parameters of this list."""
        params = {"question": self.question.data.subject.question.ref, "a": self.first, "b": self.second}
        if part == "test":
            params["part"] = part
        if self.cell:
            params["cell"] = "{},{}".format(*self.cell)
        return params


def listing(study: Study, part: str, params: Mapping[str, str]) -> Listing:
    """List the items selected by `question`, `a`, `b` (raters' names; default PEOPLE) and `cell`.

    Raises DefinitionError or ItemsRefused for a question outside the study, KeyError for an unknown rater.
    """
    first, second = params.get("a") or PEOPLE, params.get("b") or PEOPLE
    try:
        read = read_question(study, part, params.get("question", ""))
        compared = comparison(read.ratings, first, second)
    except RatingError as error:
        raise ItemsRefused(str(error)) from error
    apart = distances(compared)
    cell = _cell(params.get("cell", ""), compared)
    is_listed = apart > 0 if cell is None else in_cell(compared, *cell)
    rows = np.flatnonzero(is_listed)
    ordered = rows[np.lexsort((np.array(read.items)[rows], -apart[rows]))]
    return Listing(
        read,
        compared,
        first,
        second,
        cell,
        tuple(ordered.tolist()),
        {int(row): float(apart[row]) for row in rows},
        int((~np.isnan(apart)).sum()),
        int((apart > 0).sum()),
    )


def _cell(text: str, compared: Comparison) -> tuple[int, int] | None:
    """Return the cell `row,column` of the table; None if the text is no valid cell."""
    row, _, column = text.partition(",")
    if not (row.isdecimal() and column.isdecimal() and text.isascii() and len(text) < 40):
        return None
    size = len(compared.ratings.scale or ())
    return (int(row), int(column)) if int(row) < size and int(column) < size else None


# Items with their preceding turns and each rater's answer, for a page.

BEFORE = 2
FIRST_TURNS = 3
LONGEST = 280
WORDS = {"0": "no", "1": "yes"}
OF_DIALOGUE = ("pk", "continuation__dialogue")
Place = tuple[int, str, str]
"""An item, a tag of a pooled set ('' otherwise), and a rater's name."""


class Voice(NamedTuple):
    """A rater who gave an answer, with the written reason and the evidence."""

    name: str
    reason: str
    points: tuple[Pointed, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer and the raters who gave it."""

    value: str
    raters: tuple[Voice, ...]


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """An item with its answers; `lines` are its turn and the turns just before, or the first turns."""

    item: Item
    tag: str
    distance: float
    answers: tuple[GivenAnswer, ...]
    lines: list[dialogue_view.Line] = field(default_factory=list)


def value_name(question: RatedQuestion, value: float) -> str:
    """Return an answer in words: its category, its anchor for yes or no, else the number."""
    return named_value(question.data.subject.question, question.ratings, value)


def named_value(question: QuestionInfo, ratings: Ratings, value: float) -> str:
    """Return an answer, as stored in a question's ratings, in words."""
    names = ratings.names
    if names is not None and value == int(value):
        return names[int(value)]
    if ratings.level == "binary":
        return question.anchors.get(f"{value:g}") or WORDS.get(f"{value:g}", f"{value:g}")
    return f"{value:.3g}"


def items_with_answers(
    question: RatedQuestion, compared: Comparison, rows: Sequence[int], apart: Sequence[float]
) -> list[ItemAnswers]:
    """Return rows of the ratings as items with text, answers, reasons and evidence, in a few queries."""
    ids = [question.items[row] for row in rows]
    related = ("continuation__dialogue__corpus", "continuation__system", "turn")
    items = Item.objects.select_related(*related).in_bulk(ids)
    reasons, points = _reasons(question, ids), points_of(question, ids)
    lines = lines_of([items[pk] for pk in dict.fromkeys(ids)])
    tags = Question.objects.filter(pk__in=question.questions if any(question.tags) else ())
    titles = {tag.key: tag.title for tag in tags}
    return [
        ItemAnswers(
            items[pk],
            titles.get(question.tags[row], ""),
            distance,
            _answers(question, compared, row, reasons, points),
            lines[pk],
        )
        for pk, row, distance in zip(ids, rows, apart, strict=True)
    ]


def _answers(
    question: RatedQuestion,
    compared: Comparison,
    row: int,
    reasons: Mapping[Place, str],
    points: Mapping[Place, tuple[Pointed, ...]],
) -> tuple[GivenAnswer, ...]:
    """Return the answers to one row, highest first, with the raters who gave each."""
    by_value: dict[float, list[Voice]] = {}
    for column in compared.columns:
        value, name = float(question.ratings.values[row, column]), question.ratings.raters[column]
        if not math.isnan(value):
            place = (question.items[row], question.tags[row], name)
            voice = Voice(name, reasons.get(place, ""), points.get(place, ()))
            by_value.setdefault(value, []).append(voice)
    return tuple(
        GivenAnswer(value_name(question, v), tuple(by_value[v])) for v in sorted(by_value, reverse=True)
    )


def _reasons(question: RatedQuestion, ids: Sequence[int]) -> dict[Place, str]:
    """Return the written reasons of judges (and people) by place, from the first sample with a reason."""
    return _label_contents(question, ids, Q(explanation=""), "explanation")


def points_of(question: RatedQuestion, ids: Sequence[int]) -> dict[Place, tuple[Pointed, ...]]:
    """Return the evidence of answers by place, from the first sample with evidence."""
    evidence_by_place = _label_contents(question, ids, Q(evidence__isnull=True), "evidence")
    dialogue = dict(
        Item.objects.filter(pk__in={place[0] for place in evidence_by_place}).values_list(*OF_DIALOGUE)
    )
    return pointed({place: (dialogue[place[0]], evidence) for place, evidence in evidence_by_place.items()})


def _label_contents(question: RatedQuestion, ids: Sequence[int], without: Q, column: str) -> dict[Place, Any]:
    """Return the non-empty values of a column of the labels on items, by place.

    A rater who answers through two questions is left out, because the value cannot be matched to an answer.
    """
    names: dict[int, list[str]] = {}
    for info in question.data.raters:
        if info.kind != "metric":
            names.setdefault(info.id, []).append(info.name)
    rows = (
        question.scope.labels()
        .filter(item__in=set(ids), question__in=question.questions, rater__in=names)
        .exclude(without)
        .order_by("sample", "pk")
        .values_list("item_id", "question__key", "rater_id", column)
    )
    pooled = any(question.tags)
    content_by_place: dict[Place, Any] = {}
    for item, key, rater, content in rows:
        if len(names[rater]) == 1:
            content_by_place.setdefault((item, key if pooled else "", names[rater][0]), content)
    return content_by_place


def lines_of(items: Sequence[Item]) -> dict[int, list[dialogue_view.Line]]:
    """Return each item's turn with the BEFORE turns before it, or the first turns of a whole continuation."""
    spans = {item.pk: _span(item) for item in items}
    spans_of_turns = [
        Q(continuation=item.continuation_id, position__gte=spans[item.pk][0], position__lte=spans[item.pk][1])
        for item in items
    ]
    turns: dict[int, list[Turn]] = {}
    for turn in (
        Turn.objects.filter(reduce(or_, spans_of_turns)).order_by("position") if spans_of_turns else ()
    ):
        turns.setdefault(turn.continuation_id, []).append(turn)
    turn_numbers.number([*(turn for around in turns.values() for turn in around), *(i.turn for i in items)])
    lines_by_item = {}
    for item in items:
        low, high = spans[item.pk]
        around = [turn for turn in turns.get(item.continuation_id, []) if low <= turn.position <= high]
        dialogue = item.continuation.dialogue
        lines_by_item[item.pk] = dialogue_view.lines(
            dialogue, around, dialogue_view.speakers(dialogue, around)
        )
    return lines_by_item


def _span(item: Item) -> tuple[int, int]:
    """Return the first and last position shown; a static turn answers fixed history, so it stands alone."""
    if item.turn is None:
        return 0, FIRST_TURNS - 1
    last = item.turn.position
    return (last if item.continuation.mode == "static" else max(0, last - BEFORE)), last
