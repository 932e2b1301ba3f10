"""The batches of a run as pages, commands and the API tell them."""

from __future__ import annotations

from typing import Any

from jobs.models import Batch, Run

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
