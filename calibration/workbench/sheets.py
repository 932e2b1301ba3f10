"""Sheets: a bench's questions with the answers of people, answer keys, drafts and judges on its items.

Drafts' answers are not labels; only here are they shown with labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from django.db.models import Q

from annotation.corpora import comparisons
from annotation.corpora.dialogue_view import Line
from annotation.models import Question, Rater, asks_about, turn_numbers
from annotation.models.corpora import ITEM_PARTS, Item
from annotation.models.labels import Label, live_labels
from annotation.text.references import item_key, key_of_item
from annotation.work.labels import Pointed, name_of, pointed
from calibration.errors import WorkbenchRefused
from calibration.ratings.ratings import Place
from calibration.ratings.scope import STATISTICS_READ, QuestionInfo, question_info, scope_of
from calibration.reports.figures import worded
from calibration.statistics import Plan, Result
from calibration.statistics.core.ratings import (
    Collector,
    Ints,
    RatingError,
    Ratings,
    Record,
    Samples,
    Value,
    default_samples,
)
from calibration.statistics.judges_compared import ACCURACY, Contender, contenders_of, each_alone
from calibration.studies.disagreements import lines_of, named_value
from jobs.models import Call
from judges.drafts import benches
from judges.models import Bench, BenchTarget, Draft, DraftAnswer
from judges.protocols.rubric import base_of

TEXT = "text"
NOBODY = "\0nobody"
"""Placeholder rater that gives every item a row; no real rater has that name, and it is removed again."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge compared with people: a draft, or a judge with its own labels on the bench's items."""

    name: str
    rater: Rater
    draft: Draft | None = None

    @property
    def key(self) -> str:
        """Name in URLs: `draft-3` by the draft's number, or `judge-17` by the rater's id."""
        return f"draft-{self.draft.number}" if self.draft else f"judge-{self.rater.pk}"

    @property
    def targets(self) -> int | None:
        """Number of the bench's targets it was run on; None for a judge that was not run here."""
        return self.draft.targets if self.draft else None


@dataclass(frozen=True)
class Sheet:
    """A question with all answers on the bench's items.

    `ratings` holds first answers, including people and keys; `items` the stored item of each row;
    `contenders` the readings with their judges; `separate` has every sample as its own rater (`draft 3#1`);
    `positions` the target of each row.
    """

    question: QuestionInfo
    ratings: Ratings
    items: tuple[int, ...]
    contenders: tuple[tuple[Judged, Contender], ...]
    separate: Ratings
    positions: Ints

    def of(self, judged: Judged) -> list[Contender]:
        """Return a judge's readings: its first answers, and the mean of repeated answers."""
        return [contender for owner, contender in self.contenders if owner.key == judged.key]

    def samples_of(self, judged: Judged) -> Ratings | None:
        """Return a judge's samples, one per column; None for fewer than two."""
        names = {contender.rater for contender in self.of(judged)}
        own = [j for j, name in enumerate(self.separate.raters) if name.rpartition("#")[0] in names]
        return self.separate.take(own) if len(own) > 1 else None

    def missing(self, judged: Judged, reading: Contender, against: str) -> int:
        """Count the items without an answer by the judge.

        Only items that people (or the key ``against``) answered and on which the judge was run.
        """
        columns = [j for j, name in enumerate(self.ratings.raters) if name == against]
        block = self.ratings.values[:, columns or list(self.ratings.of_kind("human"))]
        is_asked = np.ones(len(self.items), np.bool_)
        if judged.targets is not None:
            is_asked = self.positions < judged.targets
        return int((is_asked & ~np.isnan(block).all(axis=1) & np.isnan(reading.values)).sum())

    @property
    def unanswered(self) -> bool:
        """Whether neither people nor a key answered the question on these items."""
        columns = [*self.ratings.of_kind("human"), *self.ratings.of_kind("key")]
        return bool(np.isnan(self.ratings.values[:, columns]).all())

    @property
    def anonymous(self) -> bool:
        """Whether people answered, and none of them is identified."""
        people = self.ratings.of_kind("human")
        return bool(people) and not any(self.ratings.identified[j] for j in people)


def judged_on(bench: Bench, *, checks: bool = False, discarded: bool = False) -> list[Judged]:
    """Return the drafts of a bench that were run, latest first, then other judges with labels on it."""
    drafts = bench.drafts.select_related("rater", "kept_rater", "text", "endpoint", "bench").filter(
        targets__gt=0
    )
    if not checks:
        drafts = drafts.filter(of=None)
    if not discarded:
        drafts = drafts.filter(discarded_at=None)
    judged_drafts = [Judged(draft.name, draft.asker, draft) for draft in drafts]
    own = {judged.rater.pk for judged in judged_drafts}
    labels = Label.objects.filter(
        question__in=question_ids(bench),
        item__in=items_of(bench),
        superseded_at=None,
        occasion__in=STATISTICS_READ,
    )
    judges = Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=labels.values("rater")).exclude(pk__in=own)
    others = [Judged(judge.short_name or judge.name, judge) for judge in judges.order_by("name")]
    return judged_drafts + others


def items_of(bench: Bench) -> dict[int, int]:
    """Return the items of a bench's targets in order, mapped to their targets' positions."""
    rows = list(bench.targets.order_by("position").values_list("position", "item", "continuation"))
    continuations = [continuation for _, item, continuation in rows if item is None]
    of: dict[int, list[int]] = {}
    items = Item.objects.filter(continuation__in=continuations).order_by("turn__position")
    for pk, continuation in items.values_list("pk", "continuation"):
        of.setdefault(continuation, []).append(pk)
    return {
        pk: position
        for position, item, continuation in rows
        for pk in ([item] if item is not None else of.get(continuation, []))
    }


def question_ids(bench: Bench) -> list[int]:
    """Return the questions that a bench's judges answer, and the same questions in other scheme versions."""
    return [pk for linked in _linked(bench).values() for pk in linked]


def _linked(bench: Bench) -> dict[int, list[int]]:
    """Return, for each question of a bench, itself and its counterparts in other versions.

    An expected score is linked to the question whose answer it expects.
    """
    own = Question.objects.select_related("version__scheme").in_bulk(list(bench.questions.values()))
    linked: dict[int, list[int]] = {}
    for pk, question in own.items():
        same = Question.objects.filter(
            asks_about(question.about),
            version__scheme=question.version.scheme,
            key=question.key,
            level=question.level,
            values=question.values,
        )
        linked[pk] = [pk, *same.exclude(pk=pk).order_by("-version__version").values_list("pk", flat=True)]
        linked[pk] += _expected_of(question)
    return linked


def _expected_of(question: Question) -> list[int]:
    """Return the questions that an expected score refers to, newest version first; none for others."""
    base = base_of(question.version.scheme.key)
    if base == question.version.scheme.key:
        return []
    questions = Question.objects.filter(
        asks_about(question.about),
        version__scheme__key=base,
        key=question.key,
        level__in=("ordinal", "interval"),
    ).order_by("-version__version")
    ends = {float(value) for value in question.anchors}
    return [row.pk for row in questions if set(map(float, (*row.values[:1], *row.values[-1:]))) == ends]


def sheets(bench: Bench, judged: Sequence[Judged], only: Iterable[int] | None = None) -> list[Sheet]:
    """Return the sheets of a bench's questions in order, except free-text questions.

    `only` limits them to these items. Raises WorkbenchRefused if an answer is off its scale.
    """
    positions = items_of(bench)
    selected = set(positions if only is None else only)
    where = _places([pk for pk in positions if pk in selected])
    linked = _linked(bench)
    questions = Question.objects.select_related("version__scheme").in_bulk(list(linked))
    order = benches.protocol_of(bench).answers  # JSON objects have no reliable order
    infos = [question_info(questions[pk]) for key in order if (pk := bench.questions.get(key)) in questions]
    people = _people(bench, linked, where)
    answers = {judge.key: list(_answers(judge, linked, where)) for judge in judged}
    return [
        _sheet(info, where, positions, people.get(info.id, []), judged, answers)
        for info in infos
        if info.level != TEXT
    ]


POLICIES: tuple[Samples, ...] = ("first", "mean", "separate")


class ItemAnswer(NamedTuple):
    """An answer to a question on an item, both by id; `sample` numbers repeated answers."""

    question: int
    item: int
    sample: int
    value: Value


def _places(items: Sequence[int]) -> dict[int, Place]:
    names = (
        "dialogue_key",
        "continuation_key",
        "position",
        "kind",
        "record_key",
        "item_cluster",
        "system_name",
    )
    rows = (
        Item.objects.filter(pk__in=items)
        .annotate(**{name: part for name, part in ITEM_PARTS.items() if name != "cluster"})
        .annotate(item_cluster=ITEM_PARTS["cluster"])
        .values_list("pk", *names)
    )
    by_item = {
        pk: Place(
            key_of_item(dialogue, own, position, kind, record), cluster, system, item_key(dialogue, own, None)
        )
        for pk, dialogue, own, position, kind, record, cluster, system in rows
    }
    for pk, key in comparisons.keys_of(items).items():
        by_item[pk] = Place(key, by_item[pk].cluster, "", key)
    return {pk: by_item[pk] for pk in items if pk in by_item}


def _people(
    bench: Bench, linked: Mapping[int, Sequence[int]], where: Mapping[int, Place]
) -> dict[int, list[tuple[Rater, ItemAnswer]]]:
    """Return people's and keys' answers by the bench's question; the first listed version counts."""
    rows = (
        scope_of(bench.corpus, bench.campaign)
        .labels()
        .filter(question__in=[pk for ids in linked.values() for pk in ids], item__in=list(where))
        .filter(rater__kind__in=[Rater.Kind.HUMAN, Rater.Kind.KEY])
        .select_related("rater")
        .order_by("pk")
    )
    labels_by_place: dict[tuple[int, int, int, int], Label] = {}
    for label in rows:
        label.rater.name = name_of(label.rater, bench.corpus_id)  # as shown on pages and in files
        labels_by_place.setdefault((label.question_id, label.rater_id, label.item_id, label.sample), label)
    by_question: dict[int, list[tuple[Rater, ItemAnswer]]] = {}
    for own, ids in linked.items():
        seen: set[tuple[int, int, int]] = set()
        for question_id in ids:
            for (question, rater, item, sample), label in labels_by_place.items():
                if question == question_id and (rater, item, sample) not in seen:
                    seen.add((rater, item, sample))
                    answer = ItemAnswer(own, item, sample, label.value)
                    by_question.setdefault(own, []).append((label.rater, answer))
    return by_question


def _answers(
    judge: Judged, linked: Mapping[int, Sequence[int]], where: Mapping[int, Place]
) -> Iterator[ItemAnswer]:
    """Yield the answers of a draft or judge on these items, by the bench's question."""
    own_of = {pk: own for own, ids in linked.items() for pk in ids}
    fields = ("question", "item", "sample", "number", "text")
    if judge.draft is not None and not judge.draft.kept:
        rows = DraftAnswer.objects.filter(draft=judge.draft, item__in=list(where)).order_by("pk")
    else:
        rows = Label.objects.filter(  # type: ignore[assignment]
            rater=judge.rater,
            question__in=list(own_of),
            item__in=list(where),
            superseded_at=None,
            campaign=None,
            occasion__in=STATISTICS_READ,
        ).order_by("pk")
    seen: set[tuple[int, int, int]] = set()
    for question, item, sample, number, text in rows.values_list(*fields):
        place = (own_of[question], item, sample)
        if place not in seen:
            seen.add(place)
            yield ItemAnswer(*place, number if text is None else text)


def _sheet(
    info: QuestionInfo,
    where: Mapping[int, Place],
    positions: Mapping[int, int],
    people: Sequence[tuple[Rater, ItemAnswer]],
    judged: Sequence[Judged],
    answers: Mapping[str, Sequence[ItemAnswer]],
) -> Sheet:
    names = _names({rater.pk: rater for rater, _ in people}.values(), judged)
    collector = Collector()
    for place in where.values():  # gives every item a row, answered or not
        collector.add(_record(place, NOBODY, Rater.Kind.HUMAN, True, 0, None))
    for rater, answer in people:
        name = names[str(rater.pk)]
        place = where[answer.item]
        collector.add(_record(place, name, rater.kind, rater.identified, answer.sample, answer.value))
    for judge in judged:
        name = names[judge.key]
        for answer in answers[judge.key]:
            if answer.question == info.id:
                place = where[answer.item]
                collector.add(_record(place, name, Rater.Kind.JUDGE, True, answer.sample, answer.value))
    try:
        first, mean, separate = (_read(collector, info, how) for how in POLICIES)
    except RatingError as error:
        raise WorkbenchRefused(f"{info.title}: {error}") from error
    assert first is not None
    assert separate is not None
    by_name = {names[judge.key]: judge for judge in judged}
    contenders = contenders_of(first, mean, collector.answers)
    return Sheet(
        info,
        first,
        tuple(where),
        tuple((by_name[contender.rater], contender) for contender in contenders),
        separate,
        np.array([positions[pk] for pk in where], np.int64),
    )


def _read(collector: Collector, info: QuestionInfo, samples: Samples) -> Ratings | None:
    """Return the ratings for one policy on repeated answers; None if the level has no mean."""
    if samples == "mean" and default_samples(info.measured) != "mean":
        return None
    ratings = collector.ratings(
        level=info.measured,
        values=info.values or None,
        positive=1 if info.positive is None else info.positive,
        samples=samples,
    )
    return ratings.take([j for j, name in enumerate(ratings.raters) if name != NOBODY])


def _record(place: Place, rater: str, kind: str, identified: bool, sample: int, value: Value) -> Record:
    return Record(
        item=place.key,
        rater=rater,
        value=value,
        cluster=place.cluster,
        kind=str(kind),
        identified=identified,
        sample=sample,
        system=place.system,
        continuation=place.continuation,
    )


def _names(people: Iterable[Rater], judged: Sequence[Judged]) -> dict[str, str]:
    """Return unique names, by rater id for people and by key for judges."""
    names = {str(rater.pk): rater.name for rater in people} | {judge.key: judge.name for judge in judged}
    twice = {name for name, n in Counter(names.values()).items() if n > 1}
    return {key: f"{name} ({key})" if name in twice else name for key, name in names.items()}


# Cards of a bench's targets: the text, people's answers, and a draft's calls.


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to one question on one item.

    `people` are names with answers (after an arrow the cited turns' numbers and words), `judge` the judge's
    answers (the mean of its samples last, if there are several).
    """

    item: Item
    title: str
    people: tuple[tuple[str, str], ...]
    judge: tuple[str, ...]
    why: str
    differs: bool


@dataclass(slots=True)
class Card:
    """A target: its lines, its answers, and its calls."""

    target: BenchTarget
    items: list[Item]
    lines: list[Line] = field(default_factory=list)
    answers: list[Answers] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    left_out: int = 0

    @property
    def shown(self) -> Item:
        """Item whose turn is shown; for a whole continuation, its first turns are."""
        return self.items[-1] if self.target.item_id is None else self.items[0]

    @property
    def rated(self) -> int | None:
        """Position of the rated turn; None for a whole continuation or dialogue."""
        turn = self.items[0].turn if self.target.item_id is not None else None
        return turn.position if turn else None


def cards(bench: Bench, judged: Judged, targets: Sequence[BenchTarget]) -> list[Card]:
    """Return targets as cards, in order. Unanswered questions and unset tags are left out and counted."""
    empty_cards = _empty(targets)
    item_ids = [item.pk for card in empty_cards for item in card.items]
    read = sheets(bench, [judged], item_ids)
    why, points = explanations(judged, item_ids), _points(item_ids)
    items_by_id = {item.pk: item for card in empty_cards for item in card.items}
    answers: dict[int, list[Answers | None]] = {}
    for sheet in read:
        for row, pk in enumerate(sheet.items):
            answers.setdefault(pk, []).append(
                _answers_of_showing(sheet, judged, row, items_by_id[pk], why, points)
            )
    calls = _calls(judged, targets)
    turn_numbers.number(item.turn for card in empty_cards for item in card.items)
    lines = lines_of([card.shown for card in empty_cards])
    for card in empty_cards:
        all_answers = [answer for item in card.items for answer in answers.get(item.pk, [])]
        card.answers = [answer for answer in all_answers if answer is not None]
        card.left_out = len(all_answers) - len(card.answers)
        card.calls = calls.get((card.target.continuation_id, card.target.item_id), [])
        card.lines = lines[card.shown.pk]
    return empty_cards


def _empty(targets: Sequence[BenchTarget]) -> list[Card]:
    related = ("turn", "continuation__dialogue__corpus", "continuation__system")
    rows = Item.objects.select_related(*related)
    single = rows.in_bulk([target.item_id for target in targets if target.item_id is not None])
    continuations = [target.continuation_id for target in targets if target.item_id is None]
    of: dict[int, list[Item]] = {}
    for item in rows.filter(continuation__in=continuations).order_by("turn__position"):
        of.setdefault(item.continuation_id, []).append(item)
    return [
        Card(
            target,
            of.get(target.continuation_id, []) if target.item_id is None else [single[target.item_id]],
        )
        for target in targets
    ]


def _answers_of_showing(
    sheet: Sheet,
    judged: Judged,
    row: int,
    item: Item,
    why: Mapping[tuple[int, str], str],
    points: Mapping[tuple[int, str, str], tuple[Pointed, ...]],
) -> Answers | None:
    """Return the answers to a question on an item; None if there are none, or if all are negative."""
    ratings, question = sheet.ratings, sheet.question
    people = [
        (ratings.raters[j], float(ratings.values[row, j]))
        for j in (*ratings.of_kind("human"), *ratings.of_kind("key"))
        if not np.isnan(ratings.values[row, j])
    ]
    own = [
        float(contender.values[row]) for contender in sheet.of(judged) if not np.isnan(contender.values[row])
    ]
    values = [value for _, value in people] + own
    if not values or (ratings.level == "binary" and all(value != ratings.positive for value in values)):
        return None

    def with_places(name: str, value: float) -> str:
        pointed = ", ".join(map(str, points.get((item.pk, question.key, name), ())))
        return " → ".join(filter(None, [named_value(question, ratings, value), pointed]))

    return Answers(
        item,
        question.title,
        tuple((name, with_places(name, value)) for name, value in people),
        tuple(named_value(question, ratings, value) for value in own),
        why.get((item.pk, question.key), ""),
        bool(own and people and any(value != own[0] for _, value in people)),
    )


def _points(items: Sequence[int]) -> dict[tuple[int, str, str], tuple[Pointed, ...]]:
    """Return the evidence of people's answers, by item, question and name."""
    labels = live_labels().filter(item__in=items, evidence__isnull=False, rater__kind="human")
    related = ("question", "rater", "item__continuation")
    return pointed(
        {
            (label.item_id, label.question.key, name_of(label.rater, label.item.corpus_id)): (
                label.item.continuation.dialogue_id,
                label.evidence or (),
            )
            for label in labels.select_related(*related)
        }
    )


def explanations(judged: Judged, items: Iterable[int]) -> dict[tuple[int, str], str]:
    """Return a judge's explanations by item and question, from the first sample with any."""
    if judged.draft is not None and not judged.draft.kept:
        drafted = DraftAnswer.objects.filter(draft=judged.draft, item__in=items).order_by("pk")
        rows = list(drafted.values_list("item_id", "question__key", "explanation"))
    else:
        labels = Label.objects.filter(
            rater=judged.rater, item__in=items, superseded_at=None, occasion__in=STATISTICS_READ
        ).order_by("pk")
        rows = list(labels.values_list("item_id", "question__key", "explanation"))
    explanations: dict[tuple[int, str], str] = {}
    for item, key, explanation in rows:
        if explanation:
            explanations.setdefault((item, key), explanation)
    return explanations


def reasons_of_people(bench: Bench, items: Iterable[int]) -> dict[tuple[int, str, str], str]:
    """Return people's reasons by item, question and name: an answer's own, else the comment on its task."""
    labels = scope_of(bench.corpus, bench.campaign).labels().filter(rater__kind=Rater.Kind.HUMAN)
    has_reason = ~Q(explanation="") | ~Q(assignment__comment="")
    rows = labels.filter(has_reason, item__in=items, question__in=question_ids(bench))
    rows = rows.select_related("rater", "question", "assignment")
    return {
        (label.item_id, label.question.key, name_of(label.rater, bench.corpus_id)): label.explanation
        or (label.assignment.comment if label.assignment else "")
        for label in rows.order_by("pk")
    }


def _calls(judged: Judged, targets: Sequence[BenchTarget]) -> dict[tuple[int, int | None], list[Call]]:
    rows = Call.objects.filter(
        rater=judged.rater, continuation__in={target.continuation_id for target in targets}
    )
    by_place: dict[tuple[int, int | None], list[Call]] = {}
    for call in rows.order_by("sample", "part"):
        by_place.setdefault((call.rated, call.item_id), []).append(call)
    return by_place


# Agreement of a draft with people so far, by question.

BY_LEVEL: dict[str, tuple[str, ...]] = {
    "binary": ("cohen_kappa", "mcc"),
    "nominal": ("cohen_kappa", "mcc"),
    "ordinal": ("cohen_kappa_quadratic", "spearman"),
    "interval": ("spearman", "pearson"),
    "ratio": ("spearman", "pearson"),
}
"""Agreement statistics by level; with an answer key, accuracy against it is added."""
PLAN = Plan(resamples=1000)


@dataclass(frozen=True)
class Agreement:
    """A figure for one reading of a draft (its first answers, or their mean) on one question."""

    question: QuestionInfo
    reading: Contender
    against: str
    result: Result

    @property
    def title(self) -> str:
        """Title of the statistic."""
        return "Accuracy" if self.result.name == ACCURACY else worded(self.result.name).name


def agreement(sheet_list: Sequence[Sheet], judged: Judged, plan: Plan = PLAN) -> list[Agreement]:
    """Return a judge's figures; a question without a value gets a figure with the reason.

    Questions that nobody answered are in `unanswered`.
    """
    return [row for sheet in sheet_list if not sheet.unanswered for row in _of(sheet, judged, plan)]


def unanswered(sheet_list: Sequence[Sheet]) -> list[str]:
    """Return the questions that neither people nor a key answered on these items."""
    return [sheet.question.title for sheet in sheet_list if sheet.unanswered]


def statistics_of(sheet: Sheet) -> tuple[str, ...]:
    """Return a question's statistics; with anonymous people only correlations have a value."""
    return BY_LEVEL[sheet.question.level]


def _of(sheet: Sheet, judged: Judged, plan: Plan) -> list[Agreement]:
    readings = sheet.of(judged)
    if not readings:
        return []
    figures = each_alone(sheet.ratings, readings, statistics=statistics_of(sheet), plan=plan)
    if figures:
        return [
            Agreement(
                sheet.question,
                reading,
                against,
                replace(result, n_missing=sheet.missing(judged, reading, against)),
            )
            for reading, against, result in figures
        ]
    name = statistics_of(sheet)[0]
    result = Result(name, status="insufficient", reason=why_none(sheet), method=plan.method)
    return [Agreement(sheet.question, readings[0], "people", result)]


def why_none(sheet: Sheet) -> str:
    """Return why a question has no agreement figure."""
    if sheet.anonymous:
        return (
            "the people are anonymous: agreement with each is not defined, and there is no mean of categories"
        )
    return "nobody has answered this question on these items"
