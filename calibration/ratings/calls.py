"""Calls of judges and metrics behind a scope's labels, with failed and doubtful ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.corpora import splits
from annotation.corpora.splits import of_dialogues
from annotation.models import Campaign, ItemMember, Label, Task
from calibration.ratings.ratings import Place, SubjectData, placed, rater_names, recorded
from calibration.ratings.scope import Census, Scope, items_of
from calibration.statistics import Record
from jobs.fake_models import CONDITION_KEYS, MODEL_PREFIX
from jobs.models.run import MOST_SAMPLES, Call

# Calls of judges and metrics in a scope, and failures among them.

# Answers that judges failed to give, by question, item and sample, read from their failed calls.

JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed call of a judge, for one item or a whole continuation, for one of the judge's parts or all."""

    rater: int
    item: int | None
    continuation: int
    part: str
    sample: int


def with_unanswered(
    scope: Scope, loaded: Sequence[SubjectData], counted: Census, clusters: frozenset[str] | None
) -> tuple[SubjectData, ...]:
    """Add answers missing because a call failed to the subjects; three queries, or one if none failed."""
    judges = {info.id for data in loaded for info in data.raters if info.kind == JUDGE}
    calls = _failed(scope, judges)
    if not calls:
        return tuple(loaded)
    places, kinds, within = _items(scope, calls, clusters)
    subjects = []
    for data in loaded:
        kind = data.subject.question.item_kind
        about = {pk: place for pk, place in places.items() if kinds[pk] == kind}
        subjects.append(replace(data, unanswered=tuple(_records(data, calls, counted, about, within))))
    return tuple(subjects)


def _failed(scope: Scope, judges: Iterable[int]) -> list[Failed]:
    rows = Call.objects.filter(run__corpus=scope.corpus, rater__in=list(judges), state=Call.State.FAILED)
    rows = rows.filter(scope.subset.of_days("finished_at"))
    rows = rows.order_by("pk")
    return [Failed(*row) for row in rows.values_list("rater", "item", "continuation", "part", "sample")]


def _items(
    scope: Scope, calls: Sequence[Failed], clusters: frozenset[str] | None
) -> tuple[dict[int, Place], dict[int, str], dict[int, list[int]]]:
    """Return places and kinds of the calls' items, and the items of continuations rated as a whole."""
    single = {call.item for call in calls if call.item is not None}
    continuations = {call.continuation for call in calls if call.item is None}
    items = items_of(scope).filter(Q(pk__in=single) | Q(continuation__in=continuations))
    kinds: dict[int, str] = {}
    within: dict[int, list[int]] = defaultdict(list)
    for pk, kind, continuation in items.values_list("pk", "kind", "continuation"):
        kinds[pk] = kind
        within[continuation].append(pk)
    return placed(items, clusters), kinds, within


def _records(
    data: SubjectData,
    calls: Sequence[Failed],
    counted: Census,
    about: Mapping[int, Place],
    within: Mapping[int, Sequence[int]],
) -> Iterable[Record]:
    """Yield a record without a value for each answer that failed and that no label holds."""
    existing = {(record.item, record.rater, record.sample) for record in data.records}
    names = defaultdict(list)
    rater_set = {info.name for info in data.raters}
    for (question, rater), info in rater_names(data.subject, counted).items():
        if info.name in rater_set:
            names[rater].append((counted.questions[question].key, info))
    for call in calls:
        items = [call.item] if call.item is not None else within.get(call.continuation, ())
        for key, info in names.get(call.rater, ()):
            if call.part not in ("", key):
                continue
            for item in items:
                place = about.get(item)
                if place is not None and (place.key, info.name, call.sample) not in existing:
                    yield recorded(place, info, call.sample, None)


# Systems that used a fake model, according to their conditions.


def fake_systems(labels: QuerySet[Label], clusters: Collection[str] | None = None) -> list[str]:
    """Return the sorted names of systems with a labelled continuation by a fake model.

    Only dialogues in `clusters` count, if given. One query.
    """
    names = [f"item__continuation__condition__{key}__istartswith" for key in CONDITION_KEYS]
    fake_labels = labels.filter(Q(*((name, MODEL_PREFIX) for name in names), _connector=Q.OR))
    if clusters is not None:
        fake_labels = fake_labels.filter(splits.within(clusters, "item__"))
    return sorted(
        set(fake_labels.order_by().values_list("item__continuation__system__name", flat=True).distinct())
    )


AT_ONCE, IN_BATCHES, CACHED = "at once", "in batches", "from the cache"


@dataclass(frozen=True, slots=True)
class Calls:
    """Number of finished calls of a judge or metric: all, failed, and with text it could hardly read.

    `kinds` counts failed calls by cause, in words. `modes` counts answered calls by mode (AT_ONCE,
    IN_BATCHES, CACHED), where known: a rule-based judge calls no model.
    """

    rater: str
    calls: int
    failed: int
    doubtful: int = 0
    why: str = ""
    kinds: tuple[tuple[str, int], ...] = ()
    modes: tuple[tuple[str, int], ...] = ()


def calls(
    scope: Scope, judges: Mapping[int, str], clusters: Collection[str] | None = None
) -> tuple[Calls, ...]:
    """Count the finished calls of judges (id to name) about items in scope, and the failed ones.

    `clusters` are those of the part that is read; None means all.
    """
    from judges.runs.estimates import by_rater  # loads the providers' clients, which take longer than `agree`

    within = calls_of(scope, judges, clusters)
    counted, kinds = Counter(within.values_list("run__rater", "state")), by_rater(within)
    modes = _modes(within)
    rows = []
    for rater, name in sorted(judges.items()):
        failed = counted[rater, Call.State.FAILED]
        total = failed + counted[rater, Call.State.DONE]
        if total:
            why = tuple((kind.replace("_", " "), n) for kind, n in kinds.get(rater, {}).items() if kind)
            rows.append(Calls(name, total, failed, kinds=why, modes=modes.get(rater, ())))
    return tuple(rows)


def calls_of(
    scope: Scope, raters: Collection[int], clusters: Collection[str] | None = None
) -> QuerySet[Call]:
    """Return the calls of raters about items in scope, in the given clusters only; none of a recheck.

    Joins are added only for filters that narrow the result.
    """
    calls = Call.objects.filter(
        run__corpus=scope.corpus, run__rater__in=list(raters), sample__lt=MOST_SAMPLES
    )
    if scope.campaign is not None:
        calls = calls.filter(_in_tasks(scope.campaign))
    if scope.corpus.has_training:
        calls = calls.filter(of_dialogues(scope.part, "continuation__dialogue__"))
    if scope.subset:
        complete = Q(item=None) & scope.subset.of_continuations("continuation__")
        of_item = Q(item__isnull=False) & scope.subset.of_items("item__")
        calls = calls.filter(complete | of_item, scope.subset.of_days("finished_at"))
    if clusters is not None:
        own = Q(item__cluster=None, continuation__dialogue__cluster__in=clusters)
        calls = calls.filter(own | Q(item__cluster__in=clusters))
    return calls


def _in_tasks(campaign: Campaign) -> Q:
    """Condition: a call concerns an item of a campaign's tasks, or a continuation with such items."""
    tasks = Task.objects.filter(campaign=campaign)
    own = tasks.filter(continuation=OuterRef("continuation"))
    of_item = own.filter(Q(item__isnull=True) | Q(item=OuterRef("item")))
    about = Q(Exists(of_item)) | (Q(item=None) & Q(Exists(own)))
    if not campaign.side_by_side:
        return about
    members = ItemMember.objects.filter(item__in=tasks.values("item"))
    return about | Q(Exists(members.filter(continuation=OuterRef("continuation"))))


def _modes(within: QuerySet[Call]) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return the modes of each judge's answered calls; a judge that calls no model has no replies."""
    answered = within.filter(state=Call.State.DONE)
    own = ~Q(reply="") & Q(cached=False)
    ways = {AT_ONCE: own & Q(batch=None), IN_BATCHES: own & Q(batch__isnull=False), CACHED: Q(cached=True)}
    counts = {f"way_{n}": Count("pk", filter=way) for n, way in enumerate(ways.values())}
    rows: Any = answered.values("run__rater").annotate(**counts)
    return {
        row["run__rater"]: tuple((way, row[f"way_{n}"]) for n, way in enumerate(ways) if row[f"way_{n}"])
        for row in rows
    }


def doubtful(
    scope: Scope, metrics: Mapping[int, str], clusters: Collection[str] | None = None
) -> tuple[Calls, ...]:
    """Count the continuations in scope whose text a metric could hardly read, if it had any.

    `clusters` are those of the part that is read; None means all.
    """
    from judges.runs.estimates import doubtful_values

    rows = doubtful_values(calls_of(scope, metrics, clusters))
    return tuple(
        Calls(metrics[rater], row.calls, 0, row.flagged, row.example) for rater, row in sorted(rows.items())
    )
