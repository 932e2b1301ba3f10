"""End of a batch: results collected, refused, given up or unclear; files deleted."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import IO, Any, TypeVar

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs import errors, runs
from jobs.calls import batch_provider, claims, prepared
from jobs.calls.batch_provider import NOT_DONE, Line, chunked, read_lines
from jobs.calls.dispatcher import Taker
from jobs.calls.outcomes import Counts, Outcome, write
from jobs.calls.prepared import PreparedCall
from jobs.endpoints.client import FormRefused, Malformed, Refused, Shut, Withheld, meaning
from jobs.endpoints.costs import request_body
from jobs.endpoints.endpoint_actions import key_of, remember
from jobs.endpoints.parameters import FORMS, TEXT
from jobs.endpoints.responses import Again, CallError, Reply, completion, holds_mark
from jobs.errors import JobError
from jobs.kinds import CALLS
from jobs.models import Run
from jobs.models.run import LIVE, UNCLEAR, Batch, Call
from jobs.queue import timing
from jobs.queue.waking import wake
from jobs.queue.worker import Heartbeat

# Context of a batch step: the worker, the preparer of calls, and when to stop.
#
# Uploading a file takes minutes, and so does reading thousands of results: direct calls get turns in between.

T = TypeVar("T")
SHORT = 0.25
"""Seconds to wait for the provider before direct calls get a turn, and between two turns."""
TURN = 5.0
"""Seconds of a turn; requests in flight at its end still finish."""


@dataclass(slots=True)
class Working:
    """One slice of a worker's time for batches; `meanwhile` counts the outcomes of direct calls."""

    heartbeat: Heartbeat
    taker: Taker
    stopping: Callable[[], bool]
    only: Sequence[int] | None = None
    meanwhile: Counts = field(default_factory=Counts)
    _since: float = field(default_factory=time.monotonic)

    @property
    def worker(self) -> str:
        """Worker name, as in leases."""
        return self.heartbeat.name

    def beside(self, asking: Callable[[], T]) -> T:
        """Call the provider in a separate thread, which must not use the database."""
        with ThreadPoolExecutor(1, thread_name_prefix="provider") as pool:
            future: Future[T] = pool.submit(asking)
            while not wait([future], timeout=SHORT).done:
                self._turn()
        return future.result()

    def breathe(self) -> None:
        """Give direct calls a turn if the last one was more than two turns ago."""
        if time.monotonic() - self._since > 2 * TURN:
            self._turn()

    def _turn(self) -> None:
        from jobs.calls.dispatcher import ask_all  # imports the openai client: only where calls are made

        if not self.stopping() and claims.ready_endpoints(CALLS, self.only):
            self.meanwhile.add(ask_all(self.heartbeat, time.monotonic() + TURN, self.stopping, self.only))
        self._since = time.monotonic()


# Deletion of a batch's files at the provider, once it has ended and they are no longer needed.
#
# The pending deletion is committed with the batch's end, so that the next worker does it if this one is lost.
# A missing file counts as deleted, so repeating the deletion changes nothing. A failed deletion never fails a
# run.

MOST_CLEARING_TRIES = 8


def then(batch: Batch) -> dict[str, Any]:
    """File fields of a batch that has ended: to be deleted, unless its endpoint keeps files."""
    if not _files(batch):
        return {"next_look": None}
    if batch.endpoint.keep_batch_files:
        return {"files": Batch.Files.KEPT, "next_look": None}
    return {"files": Batch.Files.THERE, "next_look": timezone.now()}


def clear(batch: Batch, at: Working) -> Counts:
    """Delete a batch's files; note the files that the provider does not delete."""
    troubles = [trouble for name in _files(batch) if (trouble := _deleted(batch, at, name)) is not None]
    temporary = [trouble for trouble in troubles if not isinstance(trouble, Refused)]
    if not troubles:
        _ended(batch, at, Batch.Files.DELETED)
    elif temporary and batch.tries + 1 < MOST_CLEARING_TRIES:
        note, later = str(temporary[0])[:500], timezone.now() + timing.wait(batch.tries + 1)
        claims.change(batch, at.worker, tries=batch.tries + 1, files_note=note, next_look=later)
    else:
        _ended(batch, at, Batch.Files.LEFT, str(troubles[0])[:500])
    return Counts()


def _files(batch: Batch) -> list[str]:
    return [name for name in (batch.input_file, batch.output_file, batch.error_file) if name]


def _deleted(batch: Batch, at: Working, name: str) -> CallError | None:
    """Delete one file; return the error, or None if the file is gone."""
    try:
        at.beside(lambda: batch_provider.delete(batch.endpoint, name))
    except CallError as error:
        return error
    return None


def _ended(batch: Batch, at: Working, files: Batch.Files, note: str = "") -> None:
    claims.change(batch, at.worker, files=files, files_note=note, next_look=None, tries=0)


# Ends of a batch without results: refused, given up, or unclear until a user decides.

REFUSALS = 6
"""Consecutive temporarily refused batches after which a run pauses."""


@transaction.atomic
def dissolve(batch: Batch, worker: str, why: str) -> None:
    """Give up a batch that was not submitted; its calls become pending again without a counted attempt."""
    Run.objects.select_for_update().get(pk=batch.run_id)
    _end(batch, worker, Batch.State.GIVEN_UP, why)
    return_calls(batch, unbegun=True)


@transaction.atomic
def refuse(batch: Batch, worker: str, error: CallError) -> None:
    """End a batch that the endpoint refused: nothing was executed or paid for, its calls become pending
    again.

    If retrying may help, they wait for a backoff, and after several such batches in a row their run pauses;
    otherwise the whole run fails.
    """
    run = Run.objects.select_for_update().get(pk=batch.run_id)
    _end(batch, worker, Batch.State.REFUSED, str(error))
    why = claims.storable(f"The endpoint {batch.endpoint.name} did not take batch {batch.pk}: {error}"[:1000])
    if not isinstance(error, Again):
        return_calls(batch, unbegun=True)
        runs.stop_with_error(run.pk, why)
        return
    refused = refused_in_a_row(run)
    return_calls(batch, unbegun=True, delay=timing.wait(refused))
    if refused >= REFUSALS:
        runs.pause_for(run, f"{why} That was the {refused}th in a row. Resume to try again.", STUCK)


STUCK = "run paused for a batch"
"""Event of a run that pauses because of a batch."""


@transaction.atomic
def unclear(batch: Batch, worker: str, why: str) -> None:
    """Leave a batch for a user to decide: a retry might be paid for twice."""
    run, why = Run.objects.select_for_update().get(pk=batch.run_id), claims.storable(why)
    claims.change(batch, worker, state=Batch.State.UNCLEAR, error=why[:1000], next_look=None)
    runs.pause_for(run, f"{UNCLEAR} {batch.pk} is unclear, see below: {why}"[:1200], STUCK)


def defect(batch: Batch, worker: str, why: str) -> None:
    """End a batch that cannot be submitted because of a bug; mark a possibly submitted batch as unclear.

    Files of a batch that has ended are kept.
    """
    batch.refresh_from_db(fields=["state", "posted_at", "files"])
    if batch.state == Batch.State.MAKING or (batch.state == Batch.State.SENDING and not batch.posted_at):
        refuse(batch, worker, Refused(why))
    elif batch.is_live:
        unclear(batch, worker, f"{why}. Adopt it by its id to try again, or give it up.")
    elif batch.files == Batch.Files.THERE:
        claims.change(batch, worker, files=Batch.Files.LEFT, files_note=why[:500], next_look=None)


def return_calls(batch: Batch, *, unbegun: bool, delay: timedelta | None = None) -> None:
    """Make a batch's calls pending again, in the caller's transaction; calls of a cancelled run are
    cancelled.

    `unbegun`: they were not sent, so this is not counted as an attempt.
    """
    batched = batch.calls.filter(state=Call.State.BATCHED)
    free = {"reserved_tokens": None, "reserved_cost": None}
    if Run.objects.filter(pk=batch.run_id, state=Run.State.CANCELLED).exists():
        batched.update(state=Call.State.CANCELLED, **free)
        return
    begun = {"attempts": F("attempts") - 1, "batch": None} if unbegun else {}
    later = timezone.now() + delay if delay else None
    batched.update(state=Call.State.PENDING, not_before=later, **free, **begun)


def _end(batch: Batch, worker: str, state: Batch.State, why: str) -> None:
    ended = {"state": state, "error": why[:1000], "ended_at": timezone.now(), **then(batch)}
    claims.change(batch, worker, **ended, answered=0, failed=0, returned=batch.calls.count())


def refused_in_a_row(run: Run) -> int:
    """Return the number of consecutive refusals among a run's latest finished batches."""
    ended = run.batches.exclude(state__in=LIVE).order_by("-pk")
    latest = list(ended.values_list("state", flat=True)[:REFUSALS])
    return next((n for n, state in enumerate(latest) if state != Batch.State.REFUSED), len(latest))


# Collecting a batch: each result line is read and stored like a direct reply, and counts once.
#
# A result is written only for a call that is still in this batch. So an interrupted collection resumes where
# it stopped, and a duplicate line, or a line of a call that has moved elsewhere, changes nothing.

# From a result line to the outcome of its call, as for a direct request.
#
# Differences: the price has the batch's share, and there is no latency.

CHANGED = "what it reads changed while its batch was under way: the reply answers another request"


def outcome_of(job: PreparedCall, line: Line, batch: Batch, key: str) -> Outcome:
    """Return the outcome of a batched call from its result line; `key` is the API key that was used.

    The prompt of a call that is prepared again may differ from the prompt that was sent: then its reply is
    paid for but not read, and the call is sent once more.
    """
    try:
        reply = replace(_reply(line, job, batch, key), form=_form(job, batch))
    except Malformed as error:
        outcome = prepared.unread(job, _formed(error.reply, job, batch), str(error), error.kind)
    except Withheld as error:
        outcome = prepared.failed(job, replace(error.reply, form=_form(job, batch)), str(error), error.kind)
    except CallError as error:
        outcome = _refused(job, error, batch)
    else:
        same = job.prompt is not None and job.prompt.digest() == job.call.prompt_hash
        outcome = prepared.read(job, reply) if same else prepared.unread(job, reply, CHANGED, errors.CHANGED)
    share = None if outcome.cost is None else outcome.cost * batch.share
    return replace(outcome, cost=share, latency_ms=None, sent=int(line.status is not None))


def _reply(line: Line, job: PreparedCall, batch: Batch, key: str) -> Reply:
    """Return the reply in a line; raise CallError if it has none."""
    if line.status is None:
        reason = f"batch {batch.pk}: {line.message} ({line.code})"
        raise _Unanswered(reason, kind=errors.TRANSPORT if line.code in NOT_DONE else errors.SERVER)
    if line.status == 200:
        prompt_has_mark = job.prompt is not None and holds_mark(job.prompt.messages())
        return completion(line.body, 0, key, prompt_has_mark=prompt_has_mark)
    error = line.body.get("error", line.body) if isinstance(line.body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    reason = str(message)[:500]
    request: dict[str, Any] = {}
    if job.prompt is not None:
        request = request_body(job.model, job.prompt, job.parameters, _form(job, batch))
    raise meaning(line.status, error, reason, None, batch.endpoint.name, request)


class _Unanswered(CallError):
    """A request that the provider did not execute, or has no result for."""


def _refused(job: PreparedCall, error: CallError, batch: Batch) -> Outcome:
    """Return the outcome of a request without a completion: pending once more if that may help, else
    failed.
    """
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


def _form(job: PreparedCall, batch: Batch) -> str:
    return TEXT if job.prompt is None or job.prompt.schema is None else batch.form


def _formed(reply: Reply | None, job: PreparedCall, batch: Batch) -> Reply | None:
    return None if reply is None else replace(reply, form=_form(job, batch))


def _simpler(form: str) -> str:
    """Return the next simpler reply form; '' after the last."""
    order = list(FORMS)
    return order[order.index(form) + 1] if form in order[:-1] else ""


STEP = 200
"""Results that are read and written together."""
MOST_COLLECTING_TRIES = 8


class _Stopped(Exception):
    """The worker is stopping: another worker continues."""


def collect(batch: Batch, at: Working) -> Counts:
    """Read a batch's files and store the outcomes of its calls; calls without a result become pending, or
    fail.
    """
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
            at.beside(partial(batch_provider.download, batch.endpoint, name, file))
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
        claims.change(batch, at.worker, error="")  # raises Lost if another worker has the lease
        if outcomes:
            counts.add(write(outcomes, batch.pk))
        if at.stopping():
            raise _Stopped
        at.breathe()


def _key(batch: Batch) -> str:
    """Return the key that was used for the endpoint: its results may repeat it."""
    try:
        return key_of(batch.endpoint)
    except JobError as error:
        raise Again(str(error)) from None


def _outcomes(batch: Batch, at: Working, lines: Sequence[Line]) -> list[Outcome]:
    by_call = {line.call: line for line in lines}
    waiting = batch.calls.filter(pk__in=by_call, state=Call.State.BATCHED)
    jobs: list[PreparedCall] = at.taker.prepared(list(waiting.values_list("pk", flat=True)))
    key = _key(batch)
    return [outcome_of(job, by_call[job.call.pk], batch, key) for job in jobs]


def _return_the_rest(batch: Batch, at: Working, counts: Counts) -> None:
    """Make calls without a result pending again; fail those out of attempts; cancel those of a cancelled
    run.
    """
    why = f"no result came for it with batch {batch.pk} ({batch.provider_state})"
    remaining = batch.calls.filter(state=Call.State.BATCHED).select_related("run").order_by("pk")
    while calls := list(remaining[:STEP]):
        claims.change(batch, at.worker, error="")
        counts.add(write([_without_result(call, why) for call in calls], batch.pk))


def _without_result(call: Call, why: str) -> Outcome:
    once_more = Outcome(call.pk, "again", error=why, error_kind=errors.TRANSPORT)
    if call.attempts < call.run.max_attempts:
        return once_more
    return replace(once_more, kind="failed", error=f"{why} (tried {call.attempts} times)")


def _close(batch: Batch, at: Working) -> None:
    """Count the outcomes of its calls; calls that waited for this batch because of a cap become ready."""
    states = list(batch.calls.values_list("state", flat=True))
    done, failed = states.count(Call.State.DONE), states.count(Call.State.FAILED)
    claims.change(
        batch,
        at.worker,
        state=Batch.State.COLLECTED,
        answered=done,
        failed=failed,
        returned=batch.size - done - failed,
        ended_at=timezone.now(),
        tries=0,
        error="",
        **then(batch),
    )
    Call.objects.filter(run=batch.run_id, state=Call.State.PENDING).update(not_before=None)
    runs.settle(batch.run_id)
    wake(batch.run.queue)


def _later(batch: Batch, at: Working, error: CallError) -> None:
    tries = batch.tries + 1
    later = timezone.now() + timing.wait(tries)
    claims.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_COLLECTING_TRIES:
        why = f"its results cannot be read ({error}). Adopt it by its id to try again, or give it up."
        unclear(batch, at.worker, why)
