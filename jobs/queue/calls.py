"""Claiming calls and giving them back: leases in PostgreSQL, so that a lost worker loses nothing.

A claim takes pending calls with FOR UPDATE SKIP LOCKED and leases them to a worker, who renews the leases as
long as it lives. The sweeper returns what expired. What was held back from caps for a call that was given
back or lost is free again with its next claim.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from jobs import error_kinds, runs
from jobs.models import Call, Run, Share
from jobs.queue import open_requests, timing

_CLAIM = """
WITH ready AS (
  SELECT c.id, r.state = 'queued' OR r.started_at IS NULL AS is_first
    FROM jobs_call c JOIN jobs_run r ON r.id = c.run_id
   WHERE c.state = 'pending' AND r.queue = %s AND r.state IN ('queued', 'running') AND r.mode = %s
     AND r.endpoint_id IS NOT DISTINCT FROM %s AND (%s::bigint[] IS NULL OR r.id = ANY(%s))
     AND (c.not_before IS NULL OR c.not_before <= now())
   ORDER BY c.run_id, c.id LIMIT %s FOR UPDATE OF c SKIP LOCKED)
UPDATE jobs_call c
   SET state = 'leased', worker = %s, attempts = c.attempts + 1, not_before = NULL, batch_id = NULL,
       reserved_tokens = NULL, reserved_cost = NULL,
       lease_expires = now() + make_interval(secs => %s)
  FROM ready WHERE c.id = ready.id RETURNING c.id, c.run_id, ready.is_first
"""

_RENEW = """
UPDATE jobs_call c SET lease_expires = now() + make_interval(secs => %s)
  FROM (SELECT id FROM jobs_call WHERE id = ANY(%s) AND worker = %s AND state = 'leased'
         ORDER BY id FOR UPDATE SKIP LOCKED) AS held
 WHERE c.id = held.id
"""


def claim(
    *,
    queue: str,
    worker: str,
    limit: int,
    lane: int | None = None,
    only: Sequence[int] | None = None,
    mode: str = Run.Mode.AT_ONCE,
) -> list[int]:
    """Lease up to `limit` ready calls of a lane (an endpoint's id, None without one); return their ids.

    `only` names the runs to work for; None means all. `mode` is that of the runs.
    """
    if limit < 1:
        return []
    chosen = None if only is None else list(only)
    values = [queue, mode, lane, chosen, chosen, limit, worker, timing.lease()]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        rows = cursor.fetchall()
    # Not in one transaction with the claim: others lock the run first and then its calls.
    if begun := {run for _, run, is_first in rows if is_first}:
        Run.objects.filter(pk__in=begun, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
        Run.objects.filter(pk__in=begun, started_at=None).update(started_at=timezone.now())
    return sorted(pk for pk, _, _ in rows)


def lanes(queue: str, only: Sequence[int] | None = None) -> list[int | None]:
    """Return the lanes of a queue in which a call is ready: endpoint ids, or None for work without one."""
    ready = Call.objects.filter(run=OuterRef("pk"), state=Call.State.PENDING).filter(
        Q(not_before=None) | Q(not_before__lte=timezone.now())
    )
    active = Run.objects.filter(Exists(ready), queue=queue, mode=Run.Mode.AT_ONCE, state__in=runs.ACTIVE)
    if only is not None:
        active = active.filter(pk__in=only)
    return list(active.order_by("endpoint").values_list("endpoint", flat=True).distinct())


def renew(*, worker: str, calls: Collection[int]) -> None:
    """Extend the leases that a worker still holds on its calls: the heartbeat.

    A call that is locked is being written, and needs no lease; waiting for it could be a deadlock.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, [timing.lease(), list(calls), worker])


@transaction.atomic
def give_back(*, worker: str, calls: Collection[int]) -> None:
    """Return calls: pending again, as if never claimed; cancelled where the run is.

    What was sent of them, because the worker would not wait for the reply, counts all the same.
    """
    held = Call.objects.filter(pk__in=calls, worker=worker, state=Call.State.LEASED)
    open_requests.count_lost(held.values_list("pk", flat=True))
    cancelled = held.filter(run__state=Run.State.CANCELLED)
    cancelled.update(state=Call.State.CANCELLED, lease_expires=None, worker="")
    held.update(state=Call.State.PENDING, lease_expires=None, worker="", attempts=F("attempts") - 1)


def sweep() -> int:
    """Return expired leases to pending, fail those claimed too often, and settle their runs; return how many.

    Safe to run at any time and by several processes.
    """
    returned = _take_back(lease_expires__lt=timezone.now())
    open_requests.sweep()
    _settle_all()
    return returned


def release(*, worker: str) -> int:
    """Take back at once what a worker held whose process is gone; return how many."""
    Share.objects.filter(worker=worker).delete()
    returned = _take_back(worker=worker)
    _settle_all()
    return returned


def _take_back(**lost: Any) -> int:
    with transaction.atomic():
        held = list(
            Call.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(state=Call.State.LEASED, **lost)
            .values_list("pk", flat=True)
        )
        open_requests.count_lost(held)
        calls = Call.objects.filter(pk__in=held)
        calls.filter(attempts__gte=F("run__max_attempts")).update(
            state=Call.State.FAILED,
            error="Its worker was lost each time it was tried.",
            error_kind=error_kinds.LOST_WORKER,
            lease_expires=None,
            finished_at=timezone.now(),
        )
        leased = calls.filter(state=Call.State.LEASED)
        leased.filter(run__state=Run.State.CANCELLED).update(state=Call.State.CANCELLED, lease_expires=None)
        leased.update(state=Call.State.PENDING, lease_expires=None, worker="")
    return len(held)


def _settle_all() -> None:
    """Close open runs that have nothing left, such as those whose worker died right after its last call."""
    left = Call.objects.filter(run=OuterRef("pk"), state__in=runs.UNFINISHED)
    for pk in Run.objects.filter(~Exists(left), state__in=runs.OPEN).values_list("pk", flat=True):
        runs.settle(pk)
