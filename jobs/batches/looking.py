"""Looking at a batch under way: seldom, and ever more seldom; cancelling it where its run was."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from jobs import error_kinds
from jobs.asking.outcomes import Counts
from jobs.batches import ending, leases, provider
from jobs.batches.provider import NotOffered, There
from jobs.batches.working import Working
from jobs.endpoints.client import Again, CallError, Refused
from jobs.models import Batch, Run
from jobs.queue import timing

ENDED = frozenset({"completed", "expired", "cancelled"})
FAILED = "failed"
FULL = frozenset({"token_limit_exceeded", "rate_limit_exceeded", "quota_exceeded", "batch_limit_exceeded"})
"""What providers call a queue that has no room for a batch now."""
MOST_TRIES = 5


def interval(age: timedelta) -> timedelta:
    """Return in how long a batch of this age is looked at again."""
    tenth = age.total_seconds() / 10
    return timedelta(seconds=min(max(tenth, timing.LOOK_FIRST), timing.LOOK_MOST))


def look(batch: Batch, at: Working) -> Counts:
    """Ask how far a batch is; one that has ended is to be collected."""
    Run.objects.filter(pk=batch.run_id, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    now = timezone.now()
    try:
        if batch.run.state == Run.State.CANCELLED and batch.cancel_sent_at is None:
            _cancel(batch, at, now)
        told = at.beside(lambda: provider.look(batch.endpoint, batch.provider_id))
    except NotOffered as error:
        _unknown(batch, at, error, now)
    except CallError as error:
        seen = {"looked_at": now, "error": str(error)[:1000], "tries": batch.tries + 1}
        leases.change(batch, at.worker, next_look=now + timing.wait(batch.tries + 1), **seen)
    else:
        _seen(batch, at, told, now)
    return Counts()


def _seen(batch: Batch, at: Working, told: There, now: datetime) -> None:
    seen: dict[str, Any] = {
        "looked_at": now,
        "provider_state": told.state,
        "completed_there": told.completed,
        "failed_there": told.failed,
        "tries": 0,
        "error": "",
    }
    if told.key and told.key != str(batch.key):
        ending.unclear(batch, at.worker, f"{batch.provider_id} is another batch: its key is not this one's.")
    elif told.state in ENDED:
        files = {"output_file": told.output, "error_file": told.errors}
        leases.change(batch, at.worker, state=Batch.State.COLLECTING, next_look=now, **files, **seen)
    elif told.state == FAILED:
        leases.change(batch, at.worker, **seen)
        ending.refuse(batch, at.worker, _failure(told))
    else:
        age = timedelta() if batch.cancel_sent_at else now - (batch.submitted_at or now)
        leases.change(batch, at.worker, next_look=now + interval(age), **seen)


def _failure(told: There) -> CallError:
    why = told.trouble or "it says only that it failed"
    return Again(why, kind=error_kinds.RATE_LIMIT) if told.code in FULL else Refused(why)


def _cancel(batch: Batch, at: Working, now: datetime) -> None:
    """Ask the provider to end a batch; one that it will not end has ended, or is about to."""
    try:
        provider.cancel(batch.endpoint, batch.provider_id)
    except NotOffered:
        raise
    except Refused as error:
        leases.change(batch, at.worker, error=str(error)[:1000])
    leases.change(batch, at.worker, cancel_sent_at=now)


def _unknown(batch: Batch, at: Working, error: CallError, now: datetime) -> None:
    tries = batch.tries + 1
    later = now + timing.wait(tries)
    leases.change(batch, at.worker, looked_at=now, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_TRIES:
        why = f"the endpoint knows no batch {batch.provider_id} ({error}). "
        ending.unclear(batch, at.worker, f"{why}Adopt it by another id, or give it up.")
