"""Deleting a batch's files at the provider, once it has ended and they are of no more use.

That they are to be deleted is committed with the batch's end, so a lost worker leaves it to the next one. A
file that is gone already counts as deleted, so doing it twice changes nothing. No run fails for it.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from jobs.asking.outcomes import Counts
from jobs.batches import leases, provider
from jobs.batches.working import Working
from jobs.endpoints.client import CallError, Refused
from jobs.models import Batch
from jobs.queue import timing

MOST_TRIES = 8


def then(batch: Batch) -> dict[str, Any]:
    """Return what a batch's end says of its files: to be deleted, unless its endpoint's are kept."""
    if not _files(batch):
        return {"next_look": None}
    if batch.endpoint.keep_batch_files:
        return {"files": Batch.Files.KEPT, "next_look": None}
    return {"files": Batch.Files.THERE, "next_look": timezone.now()}


def clear(batch: Batch, at: Working) -> Counts:
    """Delete a batch's files; note what the provider will not delete."""
    troubles = [trouble for name in _files(batch) if (trouble := _deleted(batch, at, name)) is not None]
    passing = [trouble for trouble in troubles if not isinstance(trouble, Refused)]
    if not troubles:
        _ended(batch, at, Batch.Files.DELETED)
    elif passing and batch.tries + 1 < MOST_TRIES:
        note, later = str(passing[0])[:500], timezone.now() + timing.wait(batch.tries + 1)
        leases.change(batch, at.worker, tries=batch.tries + 1, files_note=note, next_look=later)
    else:
        _ended(batch, at, Batch.Files.LEFT, str(troubles[0])[:500])
    return Counts()


def _files(batch: Batch) -> list[str]:
    return [name for name in (batch.input_file, batch.output_file, batch.error_file) if name]


def _deleted(batch: Batch, at: Working, name: str) -> CallError | None:
    """Delete one file; return what went wrong, None where it is gone."""
    try:
        at.beside(lambda: provider.delete(batch.endpoint, name))
    except CallError as error:
        return error
    return None


def _ended(batch: Batch, at: Working, files: Batch.Files, note: str = "") -> None:
    leases.change(batch, at.worker, files=files, files_note=note, next_look=None, tries=0)
