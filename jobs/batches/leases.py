"""Which worker does the next step of a batch: a lease, renewed with the worker's heartbeat.

Exception
  Lost     the lease is another worker's now: what is being done here ends
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.endpoints import keys
from jobs.models import Batch
from jobs.queue import timing

DUE = (Batch.State.MAKING, Batch.State.SENDING, Batch.State.UNDER_WAY, Batch.State.COLLECTING)
"""Batches that have a next step by themselves; one that has ended has one where its files are there still."""
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
_held: dict[int, str] = {}
_lock = threading.Lock()


class Lost(Exception):
    """The lease went to another worker."""


def due(only: Sequence[int] | None = None) -> QuerySet[Batch]:
    """Return the batches whose next step may be done now; `only` names the runs."""
    now = timezone.now()
    found = Batch.objects.filter(Q(state__in=DUE) | Q(files=Batch.Files.THERE), next_look__lte=now)
    found = found.filter(Q(lease_expires=None) | Q(lease_expires__lte=now))
    found = found.exclude(endpoint__in=keys.lacking())
    return found if only is None else found.filter(run__in=only)


def claim(*, worker: str, only: Sequence[int] | None = None) -> Batch | None:
    """Lease the batch that is due longest to a worker; None where none is due."""
    chosen = None if only is None else list(only)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [worker, timing.lease(), chosen, chosen, keys.lacking()])
        row = cursor.fetchone()
    return None if row is None else loaded(row[0])


def loaded(pk: int) -> Batch:
    """Return a batch as its steps need it."""
    return Batch.objects.select_related("run__rater", "endpoint").get(pk=pk)


@contextmanager
def held(batch: Batch, worker: str) -> Iterator[None]:
    """Keep a batch leased while its step is done, and give the lease back."""
    with _lock:
        _held[batch.pk] = worker
    try:
        yield
    finally:
        with _lock:
            _held.pop(batch.pk, None)
        Batch.objects.filter(pk=batch.pk, worker=worker).update(worker="", lease_expires=None)


def renew() -> None:
    """Extend the leases of what this process does: with every heartbeat."""
    with _lock:
        mine = list(_held.items())
    expires = timezone.now() + timedelta(seconds=timing.lease())
    for pk, worker in mine:
        Batch.objects.filter(pk=pk, worker=worker).update(lease_expires=expires)


def release(*, worker: str) -> None:
    """Take back at once what a worker held whose process is gone."""
    Batch.objects.filter(worker=worker).update(worker="", lease_expires=None)


def change(batch: Batch, worker: str, **to: Any) -> None:
    """Change a batch that a worker holds; raise Lost where it holds it no more."""
    to = {name: storable(value) if isinstance(value, str) else value for name, value in to.items()}
    mine = Batch.objects.filter(pk=batch.pk, worker=worker, state=batch.state)
    if not mine.filter(lease_expires__gt=timezone.now()).update(**to):
        raise Lost(f"{batch} went to another worker")
    for name, value in to.items():
        setattr(batch, name, value)


def storable(text: str) -> str:
    """Return what somebody else said so that PostgreSQL can hold it."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
