"""How a scope's labels came about: the calls of its judges and metrics, and those that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.corpora.parts import of_dialogues
from calibration.reading.scope import Scope
from jobs.models import Call
from judges.rating.doubts import doubtful_values
from judges.rating.failures import in_corpus

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


def calls(scope: Scope, judges: Mapping[int, str]) -> tuple[Calls, ...]:
    """Count the finished calls of judges (id to name) on the corpus, and those that gave no label."""
    states = _calls(scope, judges).values_list("run__rater", "state")
    counted, kinds = Counter(states), in_corpus(scope.corpus, list(judges))
    modes = _modes(scope, judges)
    rows = []
    for rater, name in sorted(judges.items()):
        failed = counted[rater, Call.State.FAILED]
        total = failed + counted[rater, Call.State.DONE]
        if total:
            why = tuple((kind.replace("_", " "), n) for kind, n in kinds.get(rater, {}).items() if kind)
            rows.append(Calls(name, total, failed, kinds=why, modes=modes.get(rater, ())))
    return tuple(rows)


def _calls(scope: Scope, judges: Mapping[int, str]) -> QuerySet[Call]:
    """Return the calls of judges on the dialogues of a scope's part, without a join where that is all."""
    found = Call.objects.filter(run__corpus=scope.corpus, run__rater__in=judges)
    if not scope.corpus.has_training:
        return found
    return found.filter(of_dialogues(scope.part, "continuation__dialogue__"))


def _modes(scope: Scope, judges: Mapping[int, str]) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return per judge how its answered calls were asked; one that asked nothing has no reply."""
    answered = _calls(scope, judges).filter(state=Call.State.DONE)
    own = ~Q(reply="") & Q(cached=False)
    ways = {AT_ONCE: own & Q(batch=None), IN_BATCHES: own & Q(batch__isnull=False), CACHED: Q(cached=True)}
    counts = {f"way_{n}": Count("pk", filter=way) for n, way in enumerate(ways.values())}
    rows: Any = answered.values("run__rater").annotate(**counts)
    return {
        row["run__rater"]: tuple((way, row[f"way_{n}"]) for n, way in enumerate(ways) if row[f"way_{n}"])
        for row in rows
    }


def doubtful(scope: Scope, metrics: Mapping[int, str]) -> tuple[Calls, ...]:
    """Count the continuations whose text a metric could hardly read; metrics that read all are left out."""
    rows = doubtful_values(scope.corpus, dict(metrics))
    return tuple(
        Calls(metrics[rater], row.calls, 0, row.flagged, row.example) for rater, row in sorted(rows.items())
    )
