"""How a scope's labels came about: the calls of its judges and metrics, and those that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from calibration.reading.scope import Scope
from jobs.models import Call
from judges.rating.doubts import doubtful_values
from judges.rating.failures import in_corpus


@dataclass(frozen=True, slots=True)
class Calls:
    """Finished calls of a judge or metric: those that failed, and those whose text it could hardly read.

    `kinds` are the failed ones by what went wrong, in words.
    """

    rater: str
    calls: int
    failed: int
    doubtful: int = 0
    why: str = ""
    kinds: tuple[tuple[str, int], ...] = ()


def calls(scope: Scope, judges: Mapping[int, str]) -> tuple[Calls, ...]:
    """Count the finished calls of judges (id to name) on the corpus, and those that gave no label."""
    states = Call.objects.filter(run__corpus=scope.corpus, run__rater__in=judges).values_list(
        "run__rater", "state"
    )
    counted, kinds = Counter(states), in_corpus(scope.corpus, list(judges))
    rows = []
    for rater, name in sorted(judges.items()):
        failed = counted[rater, Call.State.FAILED]
        total = failed + counted[rater, Call.State.DONE]
        if total:
            why = tuple((kind.replace("_", " "), n) for kind, n in kinds.get(rater, {}).items() if kind)
            rows.append(Calls(name, total, failed, kinds=why))
    return tuple(rows)


def doubtful(scope: Scope, metrics: Mapping[int, str]) -> tuple[Calls, ...]:
    """Count the continuations whose text a metric could hardly read; metrics that read all are left out."""
    rows = doubtful_values(scope.corpus, dict(metrics))
    return tuple(
        Calls(metrics[rater], row.calls, 0, row.flagged, row.example) for rater, row in sorted(rows.items())
    )
