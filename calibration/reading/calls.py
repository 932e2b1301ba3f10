"""How a scope's labels came about: the calls of its judges and metrics, and those that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.corpora.parts import of_dialogues
from annotation.models import Campaign, ItemMember, Task
from calibration.reading.scope import Scope
from jobs.models import Call
from judges.rating.doubts import doubtful_values
from judges.rating.failures import by_rater

AT_ONCE, IN_BATCHES, CACHED = "at once", "in batches", "from the cache"


@dataclass(frozen=True, slots=True)
class Calls:
    """Finished calls of a judge or metric: those that failed, and those whose text it could hardly read.

    `kinds` are the failed ones by what went wrong, in words. `modes` are those that were answered by how they
    were asked (AT_ONCE, IN_BATCHES, CACHED), where that is known: a judge of rules is asked nothing.
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
    """Count the finished calls of judges (id to name) about what is in scope, and those that gave no label.

    `clusters` are those of the part that is read, None where all is.
    """
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
    """Return the calls of raters about what is in scope, in some clusters where these are named.

    Nothing is joined that narrows nothing.
    """
    found = Call.objects.filter(run__corpus=scope.corpus, run__rater__in=list(raters))
    if scope.campaign is not None:
        found = found.filter(_in_tasks(scope.campaign))
    if scope.corpus.has_training:
        found = found.filter(of_dialogues(scope.part, "continuation__dialogue__"))
    if clusters is not None:
        own = Q(item__cluster=None, continuation__dialogue__cluster__in=clusters)
        found = found.filter(own | Q(item__cluster__in=clusters))
    return found


def _in_tasks(campaign: Campaign) -> Q:
    """Whether a call is about an item of a campaign's tasks, or about a continuation with some."""
    tasks = Task.objects.filter(campaign=campaign)
    own = tasks.filter(continuation=OuterRef("continuation"))
    of_item = own.filter(Q(item__isnull=True) | Q(item=OuterRef("item")))
    about = Q(Exists(of_item)) | (Q(item=None) & Q(Exists(own)))
    if not campaign.side_by_side:
        return about
    members = ItemMember.objects.filter(item__in=tasks.values("item"))
    return about | Q(Exists(members.filter(continuation=OuterRef("continuation"))))


def _modes(within: QuerySet[Call]) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return per judge how its answered calls were asked; one that asked nothing has no reply."""
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
    """Count the continuations in scope whose text a metric could hardly read; of metrics that read all none.

    `clusters` are those of the part that is read, None where all is.
    """
    rows = doubtful_values(calls_of(scope, metrics, clusters))
    return tuple(
        Calls(metrics[rater], row.calls, 0, row.flagged, row.example) for rater, row in sorted(rows.items())
    )
