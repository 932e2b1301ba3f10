"""Collecting a batch: each line's result is read and written as one that came at once, and counts once.

A result is written only for a call that is still in this batch, so a collection that was broken off goes on
where it was, and a line that comes twice, or of a call that is elsewhere, changes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

from django.utils import timezone

from jobs import errors, runs
from jobs.asking import reading
from jobs.asking.asked import Asked
from jobs.asking.outcomes import Counts, Outcome, write
from jobs.batches import clearing, ending, leases, provider
from jobs.batches.lines import NOT_DONE, Line, chunked, read_lines
from jobs.batches.working import Working
from jobs.endpoints.actions import key_of
from jobs.endpoints.client import Again, FormRefused, Malformed, Refused, Shut, Withheld, meaning
from jobs.endpoints.costs import request_body
from jobs.endpoints.keys import remember
from jobs.endpoints.parameters import FORMS, TEXT
from jobs.endpoints.receiving import CallError, Reply, completion
from jobs.errors import JobError
from jobs.models import Call
from jobs.models.batch import Batch
from jobs.queue import timing
from jobs.queue.waking import wake

# From a line of a batch's files to what its call came to: the same as if it had been asked at once.
#
# Only the price differs, by the batch's share, and there is no time that a reply took.

CHANGED = "what it reads changed while its batch was under way: the reply answers another request"


def outcome_of(job: Asked, line: Line, batch: Batch, key: str) -> Outcome:
    """Return what a call in a batch came to by its line; `key` is the one that it was asked with.

    A job that is made ready anew need not be what was asked: where the prompt is another now, its reply is
    paid for and not read, and it is asked for once more.
    """
    try:
        reply = replace(_reply(line, job, batch, key), form=_form(job, batch))
    except Malformed as error:
        outcome = reading.unread(job, _formed(error.reply, job, batch), str(error), error.kind)
    except Withheld as error:
        outcome = reading.failed(job, replace(error.reply, form=_form(job, batch)), str(error), error.kind)
    except CallError as error:
        outcome = _refused(job, error, batch)
    else:
        same = job.prompt is not None and job.prompt.digest() == job.call.prompt_hash
        outcome = reading.read(job, reply) if same else reading.unread(job, reply, CHANGED, errors.CHANGED)
    share = None if outcome.cost is None else outcome.cost * batch.share
    return replace(outcome, cost=share, latency_ms=None, sent=int(line.status is not None))


def _reply(line: Line, job: Asked, batch: Batch, key: str) -> Reply:
    """Return the reply that a line holds; raise CallError."""
    if line.status is None:
        told = f"batch {batch.pk}: {line.message} ({line.code})"
        raise _Unanswered(told, kind=errors.TRANSPORT if line.code in NOT_DONE else errors.SERVER)
    if line.status == 200:
        return completion(line.body, 0, key)
    error = line.body.get("error", line.body) if isinstance(line.body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    told = str(message)[:500]
    request: dict[str, Any] = {}
    if job.prompt is not None:
        request = request_body(job.model, job.prompt, job.parameters, _form(job, batch))
    raise meaning(line.status, error, told, None, batch.endpoint.name, request)


class _Unanswered(CallError):
    """A request that the provider did not do, or says nothing of."""


def _refused(job: Asked, error: CallError, batch: Batch) -> Outcome:
    """Return the outcome of a request without a completion: it waits once more where that may help."""
    call = job.call
    if isinstance(error, FormRefused) and (simpler := _simpler(batch.form)):
        remember({batch.endpoint_id: simpler})
        return Outcome(call.pk, "again", error=str(error), error_kind=error.kind)
    if isinstance(error, Shut):
        return Outcome(call.pk, "again", error=str(error), error_kind=error.kind, stop=True, unbegun=True)
    if isinstance(error, Refused):
        return Outcome(call.pk, "failed", error=str(error), error_kind=error.kind)
    if call.attempts >= call.run.max_attempts:
        why = f"{error} (tried {call.attempts} times)"
        return Outcome(call.pk, "failed", error=why, error_kind=error.kind)
    return Outcome(call.pk, "again", error=str(error), error_kind=error.kind)


def _form(job: Asked, batch: Batch) -> str:
    return TEXT if job.prompt is None or job.prompt.schema is None else batch.form


def _formed(reply: Reply | None, job: Asked, batch: Batch) -> Reply | None:
    return None if reply is None else replace(reply, form=_form(job, batch))


def _simpler(form: str) -> str:
    """Return the next form that asks for less; '' after the last."""
    order = list(FORMS)
    return order[order.index(form) + 1] if form in order[:-1] else ""


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
    once_more = Outcome(call.pk, "again", error=why, error_kind=errors.TRANSPORT)
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
