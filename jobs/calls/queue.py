"""Queues of calls: requests to endpoints and metrics to compute, one slice of work at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from jobs.calls import claims
from jobs.calls.outcomes import Counts, Outcome, write
from jobs.endpoints import client, endpoint_actions
from jobs.errors import JobError
from jobs.kinds import CALLS, never, run_kind
from jobs.models.run import Call, Run
from jobs.queue.worker import Heartbeat
from jobs.runs import ACTIVE

# One slice of work: the claim-and-work function that both the plain loop and Celery tasks call.

# Metric calls: one continuation after another, with the texts of a batch embedded together.

QUEUE = "metrics"
BATCH = 24


def compute_all(
    heartbeat: Heartbeat, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Work on the queue until no call is ready, `until` (monotonic) is past or `stopping` returns True."""
    counts = Counts()
    while not stopping() and time.monotonic() < until:
        ids = claims.claim(queue=QUEUE, worker=heartbeat.name, limit=BATCH, only=only)
        if not ids:
            break
        heartbeat.hold(ids)
        counts.add(_batch(ids, heartbeat, stopping))
    return counts


def _outcomes(calls: Sequence[Call]) -> Iterator[list[Outcome]]:
    for kind, kind_calls in groupby(calls, key=lambda call: call.run.kind):
        yield from run_kind(kind).outcomes(list(kind_calls))


def _batch(ids: list[int], heartbeat: Heartbeat, stopping: Callable[[], bool]) -> Counts:
    counts = Counts()
    calls = list(Call.objects.select_related("run__rater").filter(pk__in=ids).order_by("run_id", "pk"))
    unfinished = {call.pk for call in calls}
    for outcomes in _outcomes(calls):
        counts.add(write(outcomes))
        done = {outcome.call for outcome in outcomes}
        unfinished -= done
        heartbeat.let_go(done)
        if stopping():
            break
    if unfinished:
        claims.give_back(worker=heartbeat.name, calls=unfinished)
        heartbeat.let_go(unfinished)
    return counts


def work_slice(
    queue: str,
    *,
    seconds: float,
    heartbeat: Heartbeat,
    stopping: Callable[[], bool] = never,
    only: Sequence[int] | None = None,
) -> Counts:
    """Claim calls of a queue and do them until none is ready, time is up or `stopping` returns True.

    Calls in progress when time is up still finish. `only` limits the work to some runs. Returns the totals.
    """
    until = time.monotonic() + seconds
    if queue == Run.Queue.CALLS:
        from jobs.calls import batch_steps
        from jobs.calls.dispatcher import ask_all  # imports the openai client: only where calls are made

        counts = batch_steps.work(heartbeat, until, stopping, only)
        if claims.ready_endpoints(queue, only):  # otherwise only batches were due
            counts.add(ask_all(heartbeat, until, stopping, only))
        return counts
    if queue == Run.Queue.METRICS:
        return compute_all(heartbeat, until, stopping, only)
    raise JobError(f"There is no queue {queue!r}; there are {', '.join(Run.Queue.values)}.")


# Queues of calls, in the interface of `jobs.kinds`: requests to endpoints, and metrics to compute.

if TYPE_CHECKING:
    from jobs.queue.worker import Heartbeat

__all__ = ["beat", "ready", "release", "renew", "sweep", "waiting", "work"]


def ready(queue: str) -> bool:
    """Whether a call can be claimed now."""
    if queue == CALLS:
        from jobs import webhooks
        from jobs.calls import (
            batch_steps,
            dispatcher,  # noqa: F401  (a second to import, while nothing waits for it yet)
        )

        lacks = endpoint_actions.lacking()
        servable = any(endpoint_id not in lacks for endpoint_id in claims.ready_endpoints(queue))
        return servable or batch_steps.is_due() or webhooks.is_due()
    return bool(claims.ready_endpoints(queue))


def work(queue: str, *, seconds: float, heartbeat: Heartbeat, stopping: Callable[[], bool] = never) -> int:
    """Claim calls and do them for a slice of time, with webhooks in parallel; return how many were
    touched.
    """
    _tell_webhooks(queue)
    counts = work_slice(queue, seconds=seconds, heartbeat=heartbeat, stopping=stopping)
    return counts.done + counts.failed + counts.again


def renew(*, worker: str, ids: Sequence[int]) -> None:
    """Extend the leases of calls that a worker holds."""
    claims.renew(worker=worker, calls=ids)


def beat(queue: str) -> None:
    """Run at every heartbeat of a call worker: requested endpoint tests, webhooks, batch leases."""
    client.begin(queue)
    _tell_webhooks(queue)
    claims.renew_batches()


def _tell_webhooks(queue: str) -> None:
    """Send due webhook deliveries in a separate thread."""
    if queue == CALLS:
        from jobs import webhooks

        webhooks.begin(queue)


def release(*, worker: str) -> int:
    """Take back at once the work of a worker whose process is gone; return the number of calls."""
    claims.release_batches(worker=worker)
    return claims.release(worker=worker)


def sweep() -> int:
    """Take back calls whose lease expired; return their number. Leases of batches expire by themselves."""
    return claims.sweep()


def waiting(queue: str) -> str:
    """Return `ready` if a call can be claimed now, `later` if one waits for its time, else ''."""
    if queue == CALLS:
        from jobs.calls import batch_steps

        if batch_steps.is_due():
            return "ready"
    pending = Call.objects.filter(run__queue=queue, run__state__in=ACTIVE, state=Call.State.PENDING)
    pending = pending.filter(run__mode=Run.Mode.AT_ONCE)
    ready_now = pending.filter(Q(not_before=None) | Q(not_before__lte=timezone.now()))
    if ready_now.exclude(run__endpoint__in=endpoint_actions.lacking()).exists():
        return "ready"
    return "later" if pending.exists() else ""
