"""One slice of work: the claim-and-work function that the plain loop and Celery's tasks both call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from jobs.asking.outcomes import Counts, Outcome, write
from jobs.errors import JobError
from jobs.kinds import run_kind
from jobs.models import Call, Run
from jobs.queue import calls as claiming
from jobs.queue.heartbeat import Heart
from jobs.queue.progress import never

# Doing metrics' calls: one continuation after another, with the texts of a batch embedded together.

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


def _outcomes(calls: Sequence[Call]) -> Iterator[list[Outcome]]:
    for kind, found in groupby(calls, key=lambda call: call.run.kind):
        yield from run_kind(kind).outcomes(list(found))


def _batch(ids: list[int], heart: Heart, stopping: Callable[[], bool]) -> Counts:
    counts = Counts()
    calls = list(Call.objects.select_related("run__rater").filter(pk__in=ids).order_by("run_id", "pk"))
    left = {call.pk for call in calls}
    for outcomes in _outcomes(calls):
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


def work(
    queue: str,
    *,
    seconds: float,
    heart: Heart,
    stopping: Callable[[], bool] = never,
    only: Sequence[int] | None = None,
) -> Counts:
    """Claim calls of a queue and do them until none is ready, the time is over or `stopping` says so.

    What is under way when the time is over is still finished. `only` narrows it to some runs. Returns what
    was done.
    """
    until = time.monotonic() + seconds
    if queue == Run.Queue.CALLS:
        from jobs.asking.desk import ask_all  # the openai client, only where calls are made
        from jobs.batches import steps

        counts = steps.work(heart, until, stopping, only)
        if claiming.lanes(queue, only):  # else there was only something to do about batches
            counts.add(ask_all(heart, until, stopping, only))
        return counts
    if queue == Run.Queue.METRICS:
        return compute_all(heart, until, stopping, only)
    raise JobError(f"There is no queue {queue!r}; there are {', '.join(Run.Queue.values)}.")
