"""The batches of a run as pages, commands and the API tell them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobs import runs
from jobs.batches import ending
from jobs.models import Batch, Run
from jobs.queue import timing

SHOWN = (
    *("id", "run_id", "state", "provider_id", "provider_state", "size", "completed_there", "failed_there"),
    *("answered", "failed", "returned", "share", "created_at", "submitted_at", "looked_at", "next_look"),
    *("cancel_sent_at", "ended_at", "error", "files", "files_note"),
)


def as_row(batch: Batch) -> dict[str, Any]:
    """Return a batch as plain data; times in ISO format."""
    row = {name: getattr(batch, name) for name in SHOWN}
    times = {name: value.isoformat() for name, value in row.items() if hasattr(value, "isoformat")}
    return row | times | {"share": float(batch.share)}


def of_run(run: Run) -> list[dict[str, Any]]:
    """Return the batches of a run, oldest first; none where it never asked in batches."""
    return [as_row(batch) for batch in run.batches.all()]


def batch_note(run: Run) -> str:
    """Say of an active run what is wrong with its latest batch and what happens next; '' where nothing is."""
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
    refused = ending.refused_in_a_row(run)
    again = _time(ended_at + timing.wait(refused))
    return (
        f"The endpoint {batch.endpoint.name} did not take batch {batch.pk}: {_sentence(batch.error)} "
        f"Its {batch.size:,} calls wait and go into another batch at {again}; after {ending.MOST_TRIES} "
        f"refusals in a row ({refused} so far) the run pauses. If this server takes no batches, start the "
        "run again at once: it goes on there."
    )


def _sentence(error: str) -> str:
    return error if error.endswith((".", "!", "?")) else f"{error}."


def _time(moment: datetime) -> str:
    return f"{moment:%H:%M:%S} UTC"
