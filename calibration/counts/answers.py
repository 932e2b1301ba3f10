"""Labels as voices: what each person, or each sample of a judge, answered on every turn or continuation.

Marks on turns are read as one row an item, with the answers to all questions in the bits of two numbers:
a corpus has hundreds of thousands of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.postgres.aggregates import BitOr
from django.db.models import BigIntegerField, Case, Q, QuerySet, Value, When

from annotation.models import Label
from calibration.counts.query import SamplesOf
from calibration.counts.units import CHUNK, Units
from calibration.reading.census import QuestionInfo, RaterInfo
from calibration.reading.scope import Scope
from calibration.statistics.core.types import Floats

Voice = tuple[int, int]
"""A rater's id and a sample."""


@dataclass(frozen=True)
class Marks:
    """Answers about turns: per voice the items, and in bits which questions it answered, and with yes."""

    voices: dict[Voice, list[tuple[int, int, int]]]
    continuations: frozenset[int]

    def of(self, units: Units, n: int) -> dict[Voice, Floats]:
        """Return each voice's marks, turns x questions: 1, 0, or NaN where it has not answered."""
        bits = np.int64(1) << np.arange(n, dtype=np.int64)
        order = np.argsort(units.turn_items)
        known = units.turn_items[order]
        found = {}
        for voice, rows in sorted(self.voices.items()):
            marks = np.full((len(known), n), np.nan)
            table = np.array(rows, dtype=np.int64).reshape(-1, 3)
            at = np.searchsorted(known, table[:, 0])
            there = (
                (at < len(known)) & (known[np.minimum(at, max(0, len(known) - 1))] == table[:, 0])
                if len(known)
                else at < 0
            )
            table, at = table[there], order[at[there]]
            answered = (table[:, 1, None] & bits) != 0
            marks[at] = np.where(answered, ((table[:, 2, None] & bits) != 0).astype(np.float64), np.nan)
            if answered.any():
                found[voice] = marks
        return found


def marks(
    scope: Scope,
    questions: Sequence[QuestionInfo],
    raters: Sequence[RaterInfo],
    within: frozenset[int] | None = None,
) -> Marks:
    """Read marks on turns in one query; of the continuations in ``within`` where these are given."""
    labels = _labels(scope, questions, raters)
    if within is not None:
        labels = labels.filter(item__continuation__in=list(within))
    bit = Case(
        *(When(question=question.id, then=Value(1 << at)) for at, question in enumerate(questions)),
        output_field=BigIntegerField(),
    )
    is_positive = Q()
    for question in questions:
        positive = 1.0 if question.positive is None else question.positive
        is_positive |= Q(question=question.id, number=positive)
    rows = (
        labels.order_by()
        .values("item__continuation_id", "item_id", "rater_id", "sample")
        .annotate(
            answered=BitOr(bit, filter=Q(number__isnull=False), default=Value(0)),
            positive=BitOr(bit, filter=is_positive, default=Value(0)),
        )
        .values_list("item__continuation_id", "item_id", "rater_id", "sample", "answered", "positive")
    )
    voices: dict[Voice, list[tuple[int, int, int]]] = defaultdict(list)
    continuations = set()
    for continuation, item, rater, sample, answered, positive in rows.iterator(chunk_size=CHUNK):
        continuations.add(continuation)
        voices[rater, sample].append((item, answered, positive))
    return Marks(dict(voices), frozenset(continuations))


@dataclass(frozen=True)
class Scores:
    """Answers about continuations: per voice and continuation, one value a question."""

    voices: dict[Voice, dict[int, list[float]]]
    continuations: frozenset[int]

    def of(self, units: Units, n: int) -> dict[Voice, Floats]:
        """Return each voice's answers, continuations x questions, NaN where missing."""
        place = {pk: at for at, pk in enumerate(units.ids)}
        found = {}
        for voice, rows in sorted(self.voices.items()):
            values = np.full((len(place), n), np.nan)
            for continuation, given in rows.items():
                if continuation in place:
                    values[place[continuation]] = given
            if not np.isnan(values).all():
                found[voice] = values
        return found


def scores(
    scope: Scope,
    questions: Sequence[QuestionInfo],
    raters: Sequence[RaterInfo],
    within: frozenset[int] | None = None,
) -> Scores:
    """Read answers about continuations in one query."""
    labels = _labels(scope, questions, raters)
    if within is not None:
        labels = labels.filter(item__continuation__in=list(within))
    places = {question.id: at for at, question in enumerate(questions)}
    voices: dict[Voice, dict[int, list[float]]] = defaultdict(dict)
    continuations = set()
    rows = labels.order_by("pk").values_list(
        "item__continuation_id", "question_id", "rater_id", "sample", "number"
    )
    for continuation, question, rater, sample, number in rows.iterator(chunk_size=CHUNK):
        continuations.add(continuation)
        given = voices[rater, sample].setdefault(continuation, [float("nan")] * len(questions))
        if number is not None:
            given[places[question]] = number
    return Scores(dict(voices), frozenset(continuations))


def _labels(scope: Scope, questions: Sequence[QuestionInfo], raters: Sequence[RaterInfo]) -> QuerySet[Label]:
    """Return the labels to read: of an answer given again elsewhere the first, as everywhere."""
    labels = scope.labels().filter(
        question__in=[question.id for question in questions], rater__in=[rater.id for rater in raters]
    )
    if not _given_twice(scope, questions, raters):
        return labels
    place = ("item_id", "question_id", "rater_id", "sample")
    return labels.filter(pk__in=labels.order_by(*place, "pk").distinct(*place).values("pk"))


def _given_twice(scope: Scope, questions: Sequence[QuestionInfo], raters: Sequence[RaterInfo]) -> bool:
    """Whether one rater may have answered the same in two places: campaigns, or a campaign and an import."""
    kept = scope.counts().filter(
        question__in=[question.id for question in questions], rater__in=[rater.id for rater in raters]
    )
    places = list(kept.values_list("rater", "occasion", "campaign").distinct())
    return len({rater for rater, _, _ in places}) < len(places)


def heard(voices: dict[Voice, Floats], samples: SamplesOf, first: bool) -> dict[int, list[Floats]]:
    """Return each rater's voices that count: the first sample alone, or all of them.

    ``first`` is what happens unless ``samples`` says otherwise. The first is the first that there is for
    an answer, so that a later sample stands in for one that failed.
    """
    by_rater: dict[int, list[Floats]] = defaultdict(list)
    for (rater, _), values in sorted(voices.items()):
        by_rater[rater].append(values)
    if samples == "mean" or (not samples and not first):
        return dict(by_rater)
    return {rater: [_first(several)] for rater, several in by_rater.items()}


def _first(several: Sequence[Floats]) -> Floats:
    found = several[0].copy()
    for other in several[1:]:
        found = np.where(np.isnan(found), other, found)
    return found
