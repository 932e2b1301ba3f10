"""User actions on batches: poll now, adopt a provider's batch, give up."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from config.models import Event
from jobs import runs
from jobs.calls import batch_results
from jobs.calls.batch_provider import is_id
from jobs.errors import JobError
from jobs.kinds import CALLS
from jobs.models.run import UNCLEAR, Batch, Run
from jobs.queue import timing
from jobs.queue.waking import wake

# User actions on batches: poll now, adopt a provider's batch, give up.

# Batches of a run as plain data for pages, commands and the API.

ROW_FIELDS = (
    *("id", "run_id", "state", "provider_id", "provider_state", "size", "completed_there", "failed_there"),
    *("answered", "failed", "returned", "share", "created_at", "submitted_at", "looked_at", "next_look"),
    *("cancel_sent_at", "ended_at", "error", "files", "files_note"),
)


def as_row(batch: Batch) -> dict[str, Any]:
    """Return a batch as plain data, with times in ISO format."""
    row = {name: getattr(batch, name) for name in ROW_FIELDS}
    times = {name: value.isoformat() for name, value in row.items() if hasattr(value, "isoformat")}
    return row | times | {"share": float(batch.share)}


def of_run(run: Run) -> list[dict[str, Any]]:
    """Return the batches of a run, oldest first; empty for a run that never used batches."""
    return [as_row(batch) for batch in run.batches.all()]


def batch_note(run: Run) -> str:
    """Return the problem with the latest batch of an active run and the next step, or '' without a
    problem.
    """
    if run.state not in runs.ACTIVE or run.mode != Run.Mode.BATCH:
        return ""
    begun = (Batch.State.MAKING, Batch.State.SENDING)
    batch = run.batches.exclude(state__in=begun, error="").order_by("-pk").first()
    if batch is None or not batch.error:
        return ""
    if batch.state == Batch.State.REFUSED and batch.ended_at is not None:
        return _refusal(run, batch, batch.ended_at)
    if batch.is_live and batch.next_look is not None:
        return (
            f"Trouble with batch {batch.pk}, which is {batch.get_state_display()}: {_sentence(batch.error)} "
            f"It is tried again at {_time(batch.next_look)}."
        )
    return ""


def _refusal(run: Run, batch: Batch, ended_at: datetime) -> str:
    refused = batch_results.refused_in_a_row(run)
    again = _time(ended_at + timing.wait(refused))
    return (
        f"The endpoint {batch.endpoint.name} did not take batch {batch.pk}: {_sentence(batch.error)} "
        f"Its {batch.size:,} calls wait and go into another batch at {again}; after {batch_results.REFUSALS} "
        f"refusals in a row ({refused} so far) the run pauses. If this server takes no batches, start the "
        "run again at once: it goes on there."
    )


def _sentence(error: str) -> str:
    return error if error.endswith((".", "!", "?")) else f"{error}."


def _time(moment: datetime) -> str:
    return f"{moment:%H:%M:%S} UTC"


@transaction.atomic
def look_now(*, by: User | None, batch: Batch) -> Batch:
    """Make a batch due for polling at once, ahead of its scheduled time.

    For a batch that has ended, its files that were kept or could not be deleted are deleted.
    """
    batch = _locked(batch)
    if batch.files in (Batch.Files.KEPT, Batch.Files.LEFT):
        batch.files, batch.tries, batch.next_look = Batch.Files.THERE, 0, timezone.now()
    if batch.next_look is None:
        raise JobError(f"Batch {batch.pk} is {batch.get_state_display()}: there is nothing to look at.")
    batch.next_look = timezone.now()
    batch.save(update_fields=["next_look", "files", "tries"])
    _log(by, "look at batch", batch)
    wake(CALLS)
    return batch


@transaction.atomic
def adopt(*, by: User | None, batch: Batch, provider_id: str) -> Batch:
    """Set the provider's id of an unclear batch, so that it is polled and collected.

    A run that paused because of this batch resumes. Raises JobError if the batch is not unclear, or the id is
    malformed or belongs to another batch.
    """
    batch, batch_id = _unclear(batch), provider_id.strip()
    if not is_id(batch_id):
        raise JobError(f"{batch_id[:80]!r} is not the id of a batch, such as batch_68a1f0.")
    now = timezone.now()
    batch.provider_id, batch.state, batch.next_look = batch_id, Batch.State.UNDER_WAY, now
    batch.submitted_at, batch.tries, batch.error = batch.submitted_at or batch.posted_at or now, 0, ""
    try:
        with transaction.atomic():
            batch.save()
    except IntegrityError:
        raise JobError(f"{batch_id} is another batch of this endpoint.") from None
    _log(by, "adopt batch", batch)
    _go_on(batch)
    return batch


@transaction.atomic
def give_up(*, by: User | None, batch: Batch) -> Batch:
    """Give up a batch in an unclear state: its calls become pending again, and may be paid for twice.

    A run that paused because of this batch resumes. Raises JobError for a batch that is not unclear.
    """
    from jobs.calls.batch_results import return_calls  # imports the openai client: only where it is needed

    batch = _unclear(batch)
    return_calls(batch, unbegun=False)
    batch.state, batch.ended_at = Batch.State.GIVEN_UP, timezone.now()
    batch.answered = batch.calls.filter(state="done").count()
    batch.failed = batch.calls.filter(state="failed").count()
    batch.returned = batch.size - batch.answered - batch.failed
    batch.save()
    _log(by, "give up batch", batch)
    _go_on(batch)
    return batch


def _unclear(batch: Batch) -> Batch:
    batch = _locked(batch)
    if batch.state != Batch.State.UNCLEAR:
        raise JobError(
            f"Batch {batch.pk} is {batch.get_state_display()}: only one of which it is unclear what became "
            "can be adopted or given up. To end one that is under way, cancel its run."
        )
    return batch


def _locked(batch: Batch) -> Batch:
    Run.objects.select_for_update().get(pk=batch.run_id)
    return Batch.objects.select_for_update(of=("self",)).select_related("run").get(pk=batch.pk)


def _go_on(batch: Batch) -> None:
    """Resume a run that paused because of an unclear batch."""
    run = Run.objects.get(pk=batch.run_id)
    if run.state == Run.State.PAUSED and run.pause_reason.startswith(UNCLEAR):
        runs.reopen(run)
    wake(CALLS)


def _log(by: User | None, verb: str, batch: Batch) -> None:
    detail = {"run": batch.run_id, "provider_id": batch.provider_id}
    Event.objects.create(by=by, verb=verb, subject=f"batch {batch.pk}", detail=detail)
