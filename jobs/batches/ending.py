"""How a batch ends otherwise than by its results: refused, given up, or unclear until a person decides."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs import runs
from jobs.batches import clearing, leases
from jobs.endpoints.client import Again, CallError, Refused
from jobs.models import Batch, Call, Run
from jobs.models.batch import LIVE, UNCLEAR
from jobs.queue import timing

MOST_TRIES = 6
"""So many batches of a run that are refused for now, one after the other, pause it."""


@transaction.atomic
def dissolve(batch: Batch, worker: str, why: str) -> None:
    """Give up a batch that was not submitted; its calls wait again as if it had never been."""
    Run.objects.select_for_update().get(pk=batch.run_id)
    _end(batch, worker, Batch.State.GIVEN_UP, why)
    return_calls(batch, unbegun=True)


@transaction.atomic
def refuse(batch: Batch, worker: str, error: CallError) -> None:
    """End a batch that the endpoint did not take: nothing of it was done or paid, its calls wait again.

    Where trying again may help, they wait for some time, and after several such batches in a row their run
    pauses; else the run fails as a whole.
    """
    run = Run.objects.select_for_update().get(pk=batch.run_id)
    _end(batch, worker, Batch.State.REFUSED, str(error))
    why = leases.storable(f"The endpoint {batch.endpoint.name} did not take batch {batch.pk}: {error}"[:1000])
    if not isinstance(error, Again):
        return_calls(batch, unbegun=True)
        runs.stop_with_error(run.pk, why)
        return
    refused = refused_in_a_row(run)
    return_calls(batch, unbegun=True, delay=timing.wait(refused))
    if refused >= MOST_TRIES:
        runs.pause_for(run, f"{why} That was the {refused}th in a row. Resume to try again.", STUCK)


STUCK = "run paused for a batch"
"""The event of a run that pauses because of a batch."""


@transaction.atomic
def unclear(batch: Batch, worker: str, why: str) -> None:
    """Leave a batch to a person: asking again might be paid for twice."""
    run, why = Run.objects.select_for_update().get(pk=batch.run_id), leases.storable(why)
    leases.change(batch, worker, state=Batch.State.UNCLEAR, error=why[:1000], next_look=None)
    runs.pause_for(run, f"{UNCLEAR} {batch.pk} is unclear, see below: {why}"[:1200], STUCK)


def defect(batch: Batch, worker: str, why: str) -> None:
    """End a batch that a defect keeps from being submitted; leave one that may be submitted to a person.

    The files of one that has ended stay.
    """
    batch.refresh_from_db(fields=["state", "posted_at", "files"])
    if batch.state == Batch.State.MAKING or (batch.state == Batch.State.SENDING and not batch.posted_at):
        refuse(batch, worker, Refused(why))
    elif batch.is_live:
        unclear(batch, worker, f"{why}. Adopt it by its id to try again, or give it up.")
    elif batch.files == Batch.Files.THERE:
        leases.change(batch, worker, files=Batch.Files.LEFT, files_note=why[:500], next_look=None)


def return_calls(batch: Batch, *, unbegun: bool, delay: timedelta | None = None) -> None:
    """Let a batch's calls wait again, in the caller's transaction; those of a cancelled run are cancelled.

    `unbegun` says that they were not asked: that is no attempt.
    """
    held = batch.calls.filter(state=Call.State.BATCHED)
    free = {"reserved_tokens": None, "reserved_cost": None}
    if Run.objects.filter(pk=batch.run_id, state=Run.State.CANCELLED).exists():
        held.update(state=Call.State.CANCELLED, **free)
        return
    begun = {"attempts": F("attempts") - 1, "batch": None} if unbegun else {}
    later = timezone.now() + delay if delay else None
    held.update(state=Call.State.PENDING, not_before=later, **free, **begun)


def _end(batch: Batch, worker: str, state: Batch.State, why: str) -> None:
    ended = {"state": state, "error": why[:1000], "ended_at": timezone.now(), **clearing.then(batch)}
    leases.change(batch, worker, **ended, answered=0, failed=0, returned=batch.calls.count())


def refused_in_a_row(run: Run) -> int:
    """Return how many of a run's latest batches that ended were refused, one after the other."""
    ended = run.batches.exclude(state__in=LIVE).order_by("-pk")
    latest = list(ended.values_list("state", flat=True)[:MOST_TRIES])
    return next((n for n, state in enumerate(latest) if state != Batch.State.REFUSED), len(latest))
