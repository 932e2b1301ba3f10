"""Doing metrics' calls: one continuation after another, with the texts of a batch embedded together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from jobs.queue.heartbeat import Heart
from judges import metric_runs
from judges.models import Call
from judges.work import claiming
from judges.work.outcomes import Counts, write

QUEUE = "metrics"
BATCH = 24


def compute_all(
    heart: Heart, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Work on the queue until nothing is ready, `until` (monotonic) is past or `stopping` says so."""
    counts = Counts()
    while not stopping() and time.monotonic() < until:
        ids = claiming.claim(queue=QUEUE, worker=heart.name, limit=BATCH, only=only)
        if not ids:
            break
        heart.hold(ids)
        counts.add(_batch(ids, heart, stopping))
    return counts


def _batch(ids: list[int], heart: Heart, stopping: Callable[[], bool]) -> Counts:
    counts = Counts()
    calls = list(Call.objects.select_related("run__rater").filter(pk__in=ids).order_by("run_id", "pk"))
    left = {call.pk for call in calls}
    for outcomes in metric_runs.outcomes(calls):
        counts.add(write(outcomes))
        done = {outcome.call for outcome in outcomes}
        left -= done
        heart.let_go(done)
        if stopping():
            break
    if left:
        claiming.give_back(worker=heart.name, calls=left)
        heart.let_go(left)
    return counts
