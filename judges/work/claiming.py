"""Claiming calls and giving them back: leases in PostgreSQL, so that a lost worker loses nothing.

A claim takes pending calls with FOR UPDATE SKIP LOCKED and leases them to a worker, who renews the leases as
long as it lives. The sweeper returns what expired.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from judges import runs
from judges.models import Call, Run, Worker
from judges.work import identity

WORKER_SEEN = timedelta(seconds=30)

_CLAIM = """
WITH ready AS (
  SELECT c.id FROM judges_call c JOIN judges_run r ON r.id = c.run_id
   WHERE c.state = 'pending' AND r.queue = %s AND r.state IN ('queued', 'running')
     AND r.endpoint_id IS NOT DISTINCT FROM %s AND (%s::bigint[] IS NULL OR r.id = ANY(%s))
     AND (c.not_before IS NULL OR c.not_before <= now())
   ORDER BY c.run_id, c.id LIMIT %s FOR UPDATE OF c SKIP LOCKED)
UPDATE judges_call c
   SET state = 'leased', worker = %s, attempts = c.attempts + 1, not_before = NULL,
       lease_expires = now() + make_interval(secs => %s)
  FROM ready WHERE c.id = ready.id RETURNING c.id, c.run_id
"""


def claim(
    *, queue: str, worker: str, limit: int, lane: int | None = None, only: Sequence[int] | None = None
) -> list[int]:
    """Lease up to `limit` ready calls of a lane (an endpoint's id, None without one); return their ids.

    `only` names the runs to work for; None means all.
    """
    if limit < 1:
        return []
    chosen = None if only is None else list(only)
    values = [queue, lane, chosen, chosen, limit, worker, settings.LEASE_SECONDS]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        rows = cursor.fetchall()
    # Not in one transaction with the claim: others lock the run first and then its calls.
    begun = {run for _, run in rows}
    Run.objects.filter(pk__in=begun, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    Run.objects.filter(pk__in=begun, started_at=None).update(started_at=timezone.now())
    return sorted(pk for pk, _ in rows)


def lanes(queue: str, only: Sequence[int] | None = None) -> list[int | None]:
    """Return the lanes of a queue in which a call is ready: endpoint ids, or None for work without one."""
    ready = Call.objects.filter(run=OuterRef("pk"), state=Call.State.PENDING).filter(
        Q(not_before=None) | Q(not_before__lte=timezone.now())
    )
    active = Run.objects.filter(Exists(ready), queue=queue, state__in=runs.ACTIVE)
    if only is not None:
        active = active.filter(pk__in=only)
    return list(active.order_by("endpoint").values_list("endpoint", flat=True).distinct())


def renew(*, worker: str, calls: Collection[int]) -> None:
    """Extend the leases that a worker still holds on its calls: the heartbeat."""
    expires = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
    held = Call.objects.filter(pk__in=calls, worker=worker, state=Call.State.LEASED)
    held.update(lease_expires=expires)


def give_back(*, worker: str, calls: Collection[int]) -> None:
    """Return calls that were not begun: pending again, as if never claimed; cancelled where the run is."""
    held = Call.objects.filter(pk__in=calls, worker=worker, state=Call.State.LEASED)
    cancelled = held.filter(run__state=Run.State.CANCELLED)
    cancelled.update(state=Call.State.CANCELLED, lease_expires=None, worker="")
    held.update(state=Call.State.PENDING, lease_expires=None, worker="", attempts=F("attempts") - 1)


def sweep() -> int:
    """Return lost leases to pending, fail those claimed too often, and settle their runs; return how many.

    Lost are those that expired, and those of workers of this machine whose process is gone. Safe to run at
    any time and by several processes.
    """
    gone = _gone_workers()
    lost = Q(lease_expires__lt=timezone.now()) | Q(worker__in=gone)
    with transaction.atomic():
        expired = list(
            Call.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(lost, state=Call.State.LEASED)
            .values_list("pk", flat=True)
        )
        calls = Call.objects.filter(pk__in=expired)
        calls.filter(attempts__gte=F("run__max_attempts")).update(
            state=Call.State.FAILED,
            error="Its worker was lost each time it was tried.",
            lease_expires=None,
            finished_at=timezone.now(),
        )
        held = calls.filter(state=Call.State.LEASED)
        held.filter(run__state=Run.State.CANCELLED).update(state=Call.State.CANCELLED, lease_expires=None)
        held.update(state=Call.State.PENDING, lease_expires=None, worker="")
    Worker.objects.filter(name__in=gone).delete()
    _settle_all()
    return len(expired)


def _gone_workers() -> list[str]:
    """Return the names of workers that ran on this machine and run no longer."""
    if not (machine := identity.machine()):
        return []
    rows = Worker.objects.filter(machine=machine).values_list("name", "pid", "began")
    return [name for name, pid, began in rows if identity.is_gone(pid, began)]


def _settle_all() -> None:
    """Close active runs that have nothing left, such as those whose worker died right after its last call."""
    left = Call.objects.filter(run=OuterRef("pk"), state__in=runs.UNFINISHED)
    for pk in Run.objects.filter(~Exists(left), state__in=runs.ACTIVE).values_list("pk", flat=True):
        runs.settle(pk)


def share(concurrency: int, queue: str) -> int:
    """Return this worker's part of an endpoint's concurrency: all workers seen lately share it."""
    seen = Worker.objects.filter(queue=queue, last_seen__gte=timezone.now() - WORKER_SEEN).count()
    return max(1, concurrency // max(seen, 1))
