"""What judges were asked and failed to answer: by question, item and sample, from their failed calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from calibration.reading.census import Census
from calibration.reading.ratings import Place, SubjectData, placed, recorded
from calibration.reading.scope import Scope, items_of
from calibration.reading.subjects import rater_names
from calibration.statistics import Record
from jobs.models import Call

JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed call of a judge: one item or a whole continuation, one of the judge's parts or all."""

    rater: int
    item: int | None
    continuation: int
    part: str
    sample: int


def with_unanswered(
    scope: Scope, loaded: Sequence[SubjectData], counted: Census, clusters: frozenset[str] | None
) -> tuple[SubjectData, ...]:
    """Return the subjects with what failed calls left unanswered; three queries, one where none failed."""
    judges = {info.id for data in loaded for info in data.raters if info.kind == JUDGE}
    calls = _failed(scope, judges)
    if not calls:
        return tuple(loaded)
    places, kinds, within = _items(scope, calls, clusters)
    found = []
    for data in loaded:
        kind = data.subject.question.item_kind
        about = {pk: place for pk, place in places.items() if kinds[pk] == kind}
        found.append(replace(data, unanswered=tuple(_records(data, calls, counted, about, within))))
    return tuple(found)


def _failed(scope: Scope, judges: Iterable[int]) -> list[Failed]:
    rows = Call.objects.filter(run__corpus=scope.corpus, rater__in=list(judges), state=Call.State.FAILED)
    rows = rows.order_by("pk")
    return [Failed(*row) for row in rows.values_list("rater", "item", "continuation", "part", "sample")]


def _items(
    scope: Scope, calls: Sequence[Failed], clusters: frozenset[str] | None
) -> tuple[dict[int, Place], dict[int, str], dict[int, list[int]]]:
    """Return where the items of calls are, of which kind, and those of each continuation asked as a whole."""
    single = {call.item for call in calls if call.item is not None}
    whole = {call.continuation for call in calls if call.item is None}
    items = items_of(scope).filter(Q(pk__in=single) | Q(continuation__in=whole))
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
    """Yield an answer without a value for each that a call should have given and nothing else gave."""
    given = {(record.item, record.rater, record.sample) for record in data.records}
    names = defaultdict(list)
    here = {info.name for info in data.raters}
    for (question, rater), info in rater_names(data.subject, counted).items():
        if info.name in here:
            names[rater].append((counted.questions[question].key, info))
    for call in calls:
        asked = [call.item] if call.item is not None else within.get(call.continuation, ())
        for key, info in names.get(call.rater, ()):
            if call.part not in ("", key):
                continue
            for item in asked:
                place = about.get(item)
                if place is not None and (place.key, info.name, call.sample) not in given:
                    yield recorded(place, info, call.sample, None)
