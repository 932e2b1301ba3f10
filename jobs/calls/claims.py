"""Claims of calls and batches: leases in PostgreSQL, so that a lost worker loses no work."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from jobs import errors, runs
from jobs.endpoints import endpoint_actions
from jobs.models import Batch, Call, Endpoint, Run, Share
from jobs.queue import timing

# Claiming calls and giving them back: leases in PostgreSQL, so that a lost worker loses no work.
#
# A claim takes pending calls with FOR UPDATE SKIP LOCKED and leases them to a worker, who renews the leases
# as long as it lives. The sweeper returns calls with expired leases. Cap reservations of a call that was
# given back or lost are released by its next claim.

# Open requests: noted before they are sent, so that requests of a lost worker count as sent.
#
# The usage of a lost reply is unknown; it counts with the estimate that was noted with its request. A note is
# deleted with its call's result (`jobs.calls.outcomes`).

_NOTE = """
INSERT INTO jobs_openrequest AS o (call_id, requests, tokens_in, tokens_out)
SELECT g.id, 1, g.tokens_in, g.tokens_out
  FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS g(id, tokens_in, tokens_out)
    ON CONFLICT (call_id) DO UPDATE
   SET requests = o.requests + 1, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out
"""
_COUNT_LOST = """
WITH lost AS (DELETE FROM jobs_openrequest WHERE call_id = ANY(%s) RETURNING *)
UPDATE jobs_call c
   SET sent = c.sent + l.requests, asked = c.asked + 1, lost = c.lost + 1,
       tokens_in = coalesce(c.tokens_in, 0) + l.tokens_in,
       tokens_out = coalesce(c.tokens_out, 0) + l.tokens_out,
       cost = coalesce(
         coalesce(c.cost, 0) + (e.price_in * l.tokens_in + e.price_out * l.tokens_out) / 1000000, c.cost)
  FROM lost l, jobs_run r,
       unnest(%s::bigint[], %s::numeric[], %s::numeric[]) AS e(id, price_in, price_out)
 WHERE c.id = l.call_id AND r.id = c.run_id AND e.id = r.endpoint_id
"""
_SWEEP = """
DELETE FROM jobs_openrequest o WHERE NOT EXISTS (SELECT FROM jobs_call c WHERE c.id = o.call_id)
"""


def note(requests: Sequence[tuple[int, int, int]]) -> None:
    """Note requests that are about to be sent: call id, estimated input and output tokens.

    The commit does not wait for the disk: a note has to outlive the worker, not the database.
    """
    is_new = connection.connection is None
    with connection.cursor() as cursor:
        if is_new:
            cursor.execute("SET synchronous_commit = off")
        cursor.execute(_NOTE, [list(column) for column in zip(*requests, strict=True)])


def count_lost(calls: Collection[int]) -> None:
    """Count the open requests of calls whose replies will never be stored, in the transaction that returns
    them.
    """
    ids = list(calls)
    endpoints = Endpoint.objects.filter(run__calls__in=ids).distinct()
    rows = [(endpoint.pk, *(endpoint.prices or (None, None))) for endpoint in endpoints]
    columns = [[row[place] for row in rows] for place in range(3)]
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_LOST, [ids, *columns])


def sweep_open_requests() -> None:
    """Delete the notes of deleted calls."""
    with connection.cursor() as cursor:
        cursor.execute(_SWEEP)


_READY = """
  SELECT c.id, r.state = 'queued' OR r.started_at IS NULL AS is_first
    FROM jobs_call c JOIN jobs_run r ON r.id = c.run_id
   WHERE c.state = 'pending' AND r.queue = %(queue)s AND r.state IN ('queued', 'running')
     AND r.mode = %(mode)s AND r.endpoint_id IS NOT DISTINCT FROM %(endpoint)s
     AND (%(only)s::bigint[] IS NULL OR r.id = ANY(%(only)s))
     AND (c.not_before IS NULL OR c.not_before <= now()) AND {}
   ORDER BY c.run_id, c.id LIMIT {} FOR UPDATE OF c SKIP LOCKED
"""
# Calls that somebody waits for come first. With one order over both, each claim would sort all pending calls.
_CLAIM_CALLS = f"""
WITH urgent AS ({_READY.format("r.urgent", "%(limit)s")}),
usual AS ({_READY.format("NOT r.urgent", "%(limit)s - (SELECT count(*) FROM urgent)")}),
ready AS (SELECT * FROM urgent UNION ALL SELECT * FROM usual)
UPDATE jobs_call c
   SET state = 'leased', worker = %(worker)s, attempts = c.attempts + 1, not_before = NULL, batch_id = NULL,
       reserved_tokens = NULL, reserved_cost = NULL,
       lease_expires = now() + make_interval(secs => %(seconds)s)
  FROM ready WHERE c.id = ready.id RETURNING c.id, c.run_id, ready.is_first
"""  # noqa: S608  (conditions of ours)

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
    endpoint_id: int | None = None,
    only: Sequence[int] | None = None,
    mode: str = Run.Mode.AT_ONCE,
) -> list[int]:
    """Lease up to `limit` ready calls of an endpoint (None for work without an endpoint); return their ids.

    Calls of urgent runs come first. `only` limits the claim to some runs (None: all); `mode` is the mode of
    the runs.
    """
    if limit < 1:
        return []
    values = {
        "queue": queue,
        "mode": mode,
        "endpoint": endpoint_id,
        "only": None if only is None else list(only),
        "limit": limit,
        "worker": worker,
        "seconds": timing.lease(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_CALLS, values)
        rows = cursor.fetchall()
    # Not in one transaction with the claim: other code locks the run first and then its calls.
    if begun := {run for _, run, is_first in rows if is_first}:
        Run.objects.filter(pk__in=begun, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
        Run.objects.filter(pk__in=begun, started_at=None).update(started_at=timezone.now())
    return sorted(pk for pk, _, _ in rows)


def ready_endpoints(queue: str, only: Sequence[int] | None = None) -> list[int | None]:
    """Return the ids of endpoints with ready calls in a queue, including None for work without an
    endpoint.
    """
    ready = Call.objects.filter(run=OuterRef("pk"), state=Call.State.PENDING).filter(
        Q(not_before=None) | Q(not_before__lte=timezone.now())
    )
    active = Run.objects.filter(Exists(ready), queue=queue, mode=Run.Mode.AT_ONCE, state__in=runs.ACTIVE)
    if only is not None:
        active = active.filter(pk__in=only)
    return list(active.order_by("endpoint").values_list("endpoint", flat=True).distinct())


def renew(*, worker: str, calls: Collection[int]) -> None:
    """Extend the leases that a worker still holds on its calls: the heartbeat.

    A locked call is being written and needs no lease; waiting for it could cause a deadlock.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, [timing.lease(), list(calls), worker])


@transaction.atomic
def give_back(*, worker: str, calls: Collection[int]) -> None:
    """Return calls: pending again, as if never claimed; cancelled if their run is cancelled.

    Requests already sent, whose reply the worker did not wait for, still count.
    """
    leased = Call.objects.filter(pk__in=calls, worker=worker, state=Call.State.LEASED)
    count_lost(leased.values_list("pk", flat=True))
    cancelled = leased.filter(run__state=Run.State.CANCELLED)
    cancelled.update(state=Call.State.CANCELLED, lease_expires=None, worker="")
    leased.update(state=Call.State.PENDING, lease_expires=None, worker="", attempts=F("attempts") - 1)


def sweep() -> int:
    """Return calls with expired leases to pending, fail those out of attempts, and settle runs.

    Returns the number of expired calls. Safe to run at any time and in several processes.
    """
    returned = _take_back(lease_expires__lt=timezone.now())
    sweep_open_requests()
    _settle_all()
    return returned


def release(*, worker: str) -> int:
    """Take back at once the calls of a worker whose process is gone; return their number."""
    Share.objects.filter(worker=worker).delete()
    returned = _take_back(worker=worker)
    _settle_all()
    return returned


def _take_back(**lost: Any) -> int:
    with transaction.atomic():
        call_ids = list(
            Call.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(state=Call.State.LEASED, **lost)
            .values_list("pk", flat=True)
        )
        count_lost(call_ids)
        calls = Call.objects.filter(pk__in=call_ids)
        calls.filter(attempts__gte=F("run__max_attempts")).update(
            state=Call.State.FAILED,
            error="Its worker was lost each time it was tried.",
            error_kind=errors.LOST_WORKER,
            lease_expires=None,
            finished_at=timezone.now(),
        )
        leased = calls.filter(state=Call.State.LEASED)
        leased.filter(run__state=Run.State.CANCELLED).update(state=Call.State.CANCELLED, lease_expires=None)
        leased.update(state=Call.State.PENDING, lease_expires=None, worker="")
    return len(call_ids)


def _settle_all() -> None:
    """Close open runs without unfinished calls, such as those whose worker died right after its last call."""
    unfinished = Call.objects.filter(run=OuterRef("pk"), state__in=runs.UNFINISHED)
    for pk in Run.objects.filter(~Exists(unfinished), state__in=runs.OPEN).values_list("pk", flat=True):
        runs.settle(pk)


# Leases of batch steps, renewed with the worker's heartbeat.
#
# Exception
#   Lost     another worker has the lease now: the current step ends

DUE = (Batch.State.MAKING, Batch.State.SENDING, Batch.State.UNDER_WAY, Batch.State.COLLECTING)
"""States with a next step; a batch that has ended also has one while its files still exist."""
_CLAIM = """
UPDATE jobs_batch b SET worker = %s, lease_expires = now() + make_interval(secs => %s)
  FROM (SELECT id FROM jobs_batch
         WHERE (state IN ('making', 'sending', 'under_way', 'collecting') OR files = 'there')
           AND next_look <= now()
           AND (lease_expires IS NULL OR lease_expires <= now())
           AND (%s::bigint[] IS NULL OR run_id = ANY(%s)) AND NOT endpoint_id = ANY(%s)
         ORDER BY next_look, id LIMIT 1 FOR UPDATE SKIP LOCKED) AS due
 WHERE b.id = due.id RETURNING b.id
"""
_batch_workers: dict[int, str] = {}
_lock = threading.Lock()


class Lost(Exception):
    """Another worker has the lease."""


def due(only: Sequence[int] | None = None) -> QuerySet[Batch]:
    """Return the batches whose next step is due; `only` limits them to some runs."""
    now = timezone.now()
    batches = Batch.objects.filter(Q(state__in=DUE) | Q(files=Batch.Files.THERE), next_look__lte=now)
    batches = batches.filter(Q(lease_expires=None) | Q(lease_expires__lte=now))
    batches = batches.exclude(endpoint__in=endpoint_actions.lacking())
    return batches if only is None else batches.filter(run__in=only)


def claim_batch(*, worker: str, only: Sequence[int] | None = None) -> Batch | None:
    """Lease the batch that has been due longest to a worker; None if none is due."""
    run_ids = None if only is None else list(only)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [worker, timing.lease(), run_ids, run_ids, endpoint_actions.lacking()])
        row = cursor.fetchone()
    return None if row is None else loaded(row[0])


def loaded(pk: int) -> Batch:
    """Return a batch with the related objects that its steps need."""
    return Batch.objects.select_related("run__rater", "endpoint").get(pk=pk)


@contextmanager
def hold_batch(batch: Batch, worker: str) -> Iterator[None]:
    """Keep the lease of a batch during its step, and release it afterwards."""
    with _lock:
        _batch_workers[batch.pk] = worker
    try:
        yield
    finally:
        with _lock:
            _batch_workers.pop(batch.pk, None)
        Batch.objects.filter(pk=batch.pk, worker=worker).update(worker="", lease_expires=None)


def renew_batches() -> None:
    """Extend the leases of this process's batches: with every heartbeat."""
    with _lock:
        mine = list(_batch_workers.items())
    expires = timezone.now() + timedelta(seconds=timing.lease())
    for pk, worker in mine:
        Batch.objects.filter(pk=pk, worker=worker).update(lease_expires=expires)


def release_batches(*, worker: str) -> None:
    """Take back at once the batches of a worker whose process is gone."""
    Batch.objects.filter(worker=worker).update(worker="", lease_expires=None)


def change(batch: Batch, worker: str, **to: Any) -> None:
    """Change a batch that a worker holds; raise Lost if it no longer holds the lease."""
    to = {name: storable(value) if isinstance(value, str) else value for name, value in to.items()}
    mine = Batch.objects.filter(pk=batch.pk, worker=worker, state=batch.state)
    if not mine.filter(lease_expires__gt=timezone.now()).update(**to):
        raise Lost(f"{batch} went to another worker")
    for name, value in to.items():
        setattr(batch, name, value)


def storable(text: str) -> str:
    """Make external text storable in PostgreSQL."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
