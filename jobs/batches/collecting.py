"""Collecting a batch: each line's result is read and written as one that came at once, and counts once.

A result is written only for a call that is still in this batch, so a collection that was broken off goes on
where it was, and a line that comes twice, or of a call that is elsewhere, changes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import IO

from django.utils import timezone

from jobs import error_kinds, runs
from jobs.asking.asked import Asked
from jobs.asking.outcomes import Counts, Outcome, write
from jobs.batches import clearing, ending, leases, provider
from jobs.batches.lines import Line, chunked, read_lines
from jobs.batches.results import outcome_of
from jobs.batches.working import Working
from jobs.endpoints.actions import key_of
from jobs.endpoints.client import Again, CallError
from jobs.errors import JobError
from jobs.models import Batch, Call
from jobs.queue import timing
from jobs.queue.waking import wake

STEP = 200
"""Results that are read and written together."""
MOST_TRIES = 8


class _Stopped(Exception):
    """The worker is told to stop: another one goes on."""


def collect(batch: Batch, at: Working) -> Counts:
    """Read a batch's files and write what came of its calls; what has no result waits again, or fails."""
    counts = Counts()
    try:
        _collect(batch, at, counts)
    except _Stopped:
        pass
    except CallError as error:
        _later(batch, at, error)
    return counts


def _collect(batch: Batch, at: Working, counts: Counts) -> None:
    answered: set[int] = set()
    for name in filter(None, (batch.output_file, batch.error_file)):
        with tempfile.TemporaryFile() as file:
            at.beside(partial(provider.download, batch.endpoint, name, file))
            file.seek(0)
            _read(batch, at, file, answered, counts)
    if len(answered) < (batch.completed_there or 0):
        raise Again(
            f"its files hold {len(answered):,} answers, and the endpoint says that it gave "
            f"{batch.completed_there:,}"
        )
    _return_the_rest(batch, at, counts)
    _close(batch, at)


def _read(batch: Batch, at: Working, file: IO[bytes], answered: set[int], counts: Counts) -> None:
    for lines in chunked(read_lines(file, _key(batch)), STEP):
        answered.update(line.call for line in lines if line.status is not None)
        outcomes = _outcomes(batch, at, lines)
        leases.change(batch, at.worker, error="")  # still this worker's
        if outcomes:
            counts.add(write(outcomes, batch.pk))
        if at.stopping():
            raise _Stopped
        at.breathe()


def _key(batch: Batch) -> str:
    """Return the key that the endpoint was asked with, which its results may repeat."""
    try:
        return key_of(batch.endpoint)
    except JobError as error:
        raise Again(str(error)) from None


def _outcomes(batch: Batch, at: Working, lines: Sequence[Line]) -> list[Outcome]:
    by_call = {line.call: line for line in lines}
    waiting = batch.calls.filter(pk__in=by_call, state=Call.State.BATCHED)
    jobs: list[Asked] = at.taker.prepared(list(waiting.values_list("pk", flat=True)))
    key = _key(batch)
    return [outcome_of(job, by_call[job.call.pk], batch, key) for job in jobs]


def _return_the_rest(batch: Batch, at: Working, counts: Counts) -> None:
    """Let calls without a result wait for another batch, those tried too often fail; cancelled ones end."""
    why = f"no result came for it with batch {batch.pk} ({batch.provider_state})"
    left = batch.calls.filter(state=Call.State.BATCHED).select_related("run").order_by("pk")
    while calls := list(left[:STEP]):
        leases.change(batch, at.worker, error="")
        counts.add(write([_without_result(call, why) for call in calls], batch.pk))


def _without_result(call: Call, why: str) -> Outcome:
    once_more = Outcome(call.pk, "again", error=why, error_kind=error_kinds.TRANSPORT)
    if call.attempts < call.run.max_attempts:
        return once_more
    return replace(once_more, kind="failed", error=f"{why} (tried {call.attempts} times)")


def _close(batch: Batch, at: Working) -> None:
    """Count what came of its calls; what waited for it because of a cap need wait no longer."""
    states = list(batch.calls.values_list("state", flat=True))
    done, failed = states.count(Call.State.DONE), states.count(Call.State.FAILED)
    leases.change(
        batch,
        at.worker,
        state=Batch.State.COLLECTED,
        answered=done,
        failed=failed,
        returned=batch.size - done - failed,
        ended_at=timezone.now(),
        tries=0,
        error="",
        **clearing.then(batch),
    )
    Call.objects.filter(run=batch.run_id, state=Call.State.PENDING).update(not_before=None)
    runs.settle(batch.run_id)
    wake(batch.run.queue)


def _later(batch: Batch, at: Working, error: CallError) -> None:
    tries = batch.tries + 1
    later = timezone.now() + timing.wait(tries)
    leases.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_TRIES:
        why = f"its results cannot be read ({error}). Adopt it by its id to try again, or give it up."
        ending.unclear(batch, at.worker, why)
