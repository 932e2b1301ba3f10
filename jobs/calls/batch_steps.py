"""Steps of batches (create, submit once, poll), done by call workers between other work."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import IO, Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from jobs import errors, runs
from jobs.calls import batch_provider, batch_results, budgets, claims, prepared
from jobs.calls.batch_provider import NotOffered, RemoteBatch, request_line
from jobs.calls.batch_results import Working, collect
from jobs.calls.dispatcher import Taker
from jobs.calls.outcomes import DEFECTS, Counts, Outcome, write
from jobs.calls.prepared import PreparedCall
from jobs.endpoints import endpoint_actions
from jobs.endpoints.client import FakeModelAnswers, Refused
from jobs.endpoints.costs import request_body
from jobs.endpoints.endpoint_actions import remember
from jobs.endpoints.parameters import TEXT, forms_for
from jobs.endpoints.responses import Again, CallError
from jobs.kinds import CALLS
from jobs.models import Call
from jobs.models.run import Batch, Run
from jobs.queue import timing
from jobs.queue.worker import Heartbeat

# Submission of a batch, exactly once: the intent to send is committed before the request is sent.
#
# If the response is lost (worker killed, connection broken), the next step searches the provider's batches
# for the batch's own key and adopts a match. A batch is sent again only if it is still missing some time
# later. If the endpoint lists no batches, a user decides.

LOOK_AGAIN = timedelta(seconds=5)
SKEW = timedelta(days=1)
"""Maximum difference between a provider's clock and ours."""
MOST_SENDING_TRIES = 10


def send(batch: Batch, at: Working) -> Counts:
    """Submit a batch, or find out whether it was submitted."""
    if batch.posted_at is not None:
        _find(batch, at)
    elif batch.run.state not in runs.ACTIVE:
        batch_results.dissolve(batch, at.worker, f"Its run was {batch.run.state} before it was submitted.")
    else:
        _post(batch, at)
    return Counts()


def _post(batch: Batch, at: Working) -> None:
    claims.change(batch, at.worker, posted_at=timezone.now())
    try:
        remote = batch_provider.create(
            batch.endpoint, file=batch.input_file, key=str(batch.key), run=batch.run_id
        )
    except Refused as error:
        claims.change(batch, at.worker, posted_at=None)
        batch_results.refuse(batch, at.worker, error)
    except CallError as error:
        _not_now(batch, at, error)
    else:
        _submitted(batch, at, remote)


def _not_now(batch: Batch, at: Working, error: CallError) -> None:
    """After a rate limit, wait and send again; after any other error, search for the batch first."""
    tries, now = batch.tries + 1, timezone.now()
    if error.kind != errors.RATE_LIMIT:
        claims.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=now)
        return
    requested = timedelta(seconds=error.delay or 0.0) if isinstance(error, Again) else timedelta()
    wait = requested or timing.wait(tries)
    claims.change(
        batch, at.worker, posted_at=None, tries=tries, error=str(error)[:1000], next_look=now + wait
    )
    if tries >= MOST_SENDING_TRIES:
        batch_results.refuse(batch, at.worker, error)


def _find(batch: Batch, at: Working) -> None:
    try:
        since = batch.created_at - SKEW
        matches = at.beside(lambda: batch_provider.find(batch.endpoint, key=str(batch.key), since=since))
    except NotOffered as error:
        batch_results.unclear(
            batch,
            at.worker,
            "it may have been submitted, and the endpoint does not list its batches, so nobody can tell from "
            f"here ({error}). Look it up at the provider: adopt it by its id, or give it up.",
        )
        return
    except CallError as error:
        _look_later(batch, at, error)
        return
    now = timezone.now()
    assert batch.posted_at is not None
    sure = batch.posted_at + timedelta(seconds=timing.SURE_AFTER)
    if matches:
        _drop(batch, matches[1:])
        _submitted(batch, at, matches[0])
    elif now < sure:
        claims.change(batch, at.worker, next_look=min(sure, now + LOOK_AGAIN))
    else:
        claims.change(batch, at.worker, posted_at=None, next_look=now)


def _look_later(batch: Batch, at: Working, error: CallError) -> None:
    tries = batch.tries + 1
    later = timezone.now() + timing.wait(tries)
    claims.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_SENDING_TRIES:
        why = f"it may have been submitted, and the endpoint does not tell ({error}). "
        batch_results.unclear(batch, at.worker, f"{why}Adopt it by its id at the provider, or give it up.")


def _drop(batch: Batch, others: list[RemoteBatch]) -> None:
    """Cancel other batches with the same key: only a server that took one submission twice has them."""
    for other in others:
        try:
            batch_provider.cancel(batch.endpoint, other.id)
        except CallError:
            continue  # it has ended, or continues without a reader


def _submitted(batch: Batch, at: Working, remote: RemoteBatch) -> None:
    now = timezone.now()
    try:
        with transaction.atomic():
            claims.change(
                batch,
                at.worker,
                state=Batch.State.UNDER_WAY,
                provider_id=remote.id,
                provider_state=remote.state,
                submitted_at=batch.posted_at or now,
                next_look=now + timedelta(seconds=timing.LOOK_FIRST),
                tries=0,
                error="",
            )
    except IntegrityError:
        batch_results.unclear(
            batch, at.worker, f"the endpoint calls it {remote.id}, as it has called another batch before."
        )


# Steps of batches, done by call workers between other work, which goes on while a step takes long.
#
# A batch in progress belongs to no worker; the next free worker polls it when it is due.

# Creation of a batch: the ready calls of a run, as many as fit and its caps allow, in one file.
#
# Calls are prepared as for direct requests: outcomes that need no request are written, cached replies are
# used, and the expected usage of the rest is reserved from the caps.

STEP = 200
"""Calls that are prepared together."""
MOST_BYTES = 90_000_000
"""Maximum size of a file; providers accept 100 or 200 MB."""
BLOCKING = (Batch.State.MAKING, Batch.State.SENDING, Batch.State.COLLECTING, Batch.State.UNCLEAR)
"""A run with a batch in one of these states gets no other batch: its calls may come back, or it may be
refused.
"""
_PUT = """
UPDATE jobs_call c
   SET state = 'batched', batch_id = %s, worker = '', lease_expires = NULL, prompt_hash = g.prompt,
       request_hash = g.request
  FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS g(id, prompt, request)
 WHERE c.id = g.id AND c.state = 'leased' AND c.worker = %s RETURNING c.id
"""


def ready(only: Sequence[int] | None = None) -> QuerySet[Run]:
    """Return the runs that are ready for a new batch; `only` limits them by id."""
    waiting = Call.objects.filter(run=OuterRef("pk"), state=Call.State.PENDING).filter(
        Q(not_before=None) | Q(not_before__lte=timezone.now())
    )
    blocking = Batch.objects.filter(run=OuterRef("pk"), state__in=BLOCKING)
    runs_ready = Run.objects.filter(mode=Run.Mode.BATCH, queue=CALLS, state__in=runs.ACTIVE)
    runs_ready = runs_ready.filter(Exists(waiting), ~Exists(blocking)).exclude(
        endpoint__in=endpoint_actions.lacking()
    )
    return runs_ready if only is None else runs_ready.filter(pk__in=only)


@transaction.atomic
def begin(*, worker: str, only: Sequence[int] | None = None) -> Batch | None:
    """Begin a batch for a run with ready calls, leased to the worker; None if there is no such run."""
    free = ready(only).select_for_update(skip_locked=True, of=("self",)).order_by("pk")
    run = free.select_related("endpoint", "rater").first()
    if run is None or run.endpoint is None:
        return None
    if run.endpoint.batch_share is None:
        runs.stop_with_error(run.pk, f"The endpoint {run.endpoint.name} takes no batches any more.")
        return None
    if moved := run.moved:
        runs.stop_with_error(run.pk, moved)
        return None
    now = timezone.now()
    return claims.loaded(
        Batch.objects.create(
            run=run,
            endpoint=run.endpoint,
            share=run.endpoint.batch_share,
            form=run.endpoint.reply_form,
            worker=worker,
            lease_expires=now + timedelta(seconds=timing.lease()),
            next_look=now,
        ).pk
    )


def make(batch: Batch, at: Working) -> Counts:
    """Fill a batch and upload its file, so that it can be submitted. A batch without calls is deleted."""
    counts = Counts()
    with tempfile.TemporaryFile() as file:
        try:
            _fill(batch, at, file, counts)
            if not batch.size:
                Batch.objects.filter(pk=batch.pk, worker=at.worker, size=0).delete()
                return counts
            file.seek(0)
            name, model = f"concord-{batch.key}.jsonl", str(batch.run.identity["model"])
            sent = at.beside(lambda: batch_provider.upload(batch.endpoint, file, name, model))
        except CallError as error:
            if isinstance(error, FakeModelAnswers):
                remember({}, [batch.endpoint_id])
            batch_results.refuse(batch, at.worker, error)
            return counts
    claims.change(
        batch, at.worker, state=Batch.State.SENDING, input_file=sent, next_look=timezone.now(), tries=0
    )
    return counts


def remake(batch: Batch, at: Working) -> Counts:
    """Give up a batch whose worker was lost before its file was uploaded; a new batch replaces it."""
    batch_results.dissolve(
        batch, at.worker, "Its worker was lost before it was submitted; its calls wait again."
    )
    return Counts()


def _fill(batch: Batch, at: Working, file: IO[bytes], counts: Counts) -> None:
    more = True
    while more and file.tell() < MOST_BYTES and not at.stopping():
        ids = claims.claim(
            queue=CALLS,
            worker=at.worker,
            limit=min(STEP, batch.endpoint.batch_most - batch.size),
            endpoint_id=batch.endpoint_id,
            only=[batch.run_id],
            mode=Run.Mode.BATCH,
        )
        at.heartbeat.hold(ids)
        try:
            more = bool(ids) and _add(batch, at, ids, file, counts)
        finally:
            claims.give_back(worker=at.worker, calls=ids)  # in case of an error before they were added
            at.heartbeat.let_go(ids)
        at.breathe()


def _add(batch: Batch, at: Working, ids: list[int], file: IO[bytes], counts: Counts) -> bool:
    """Add claimed calls to a batch and its file; return whether more calls may fit."""
    prepared_calls = prepared.looked_up(prepared.hashed(at.taker.prepared(ids)))
    ended = [(job, _ended(job)) for job in prepared_calls]
    if outcomes := [outcome for _, outcome in ended if outcome is not None]:
        counts.add(write(outcomes))
    to_send = [job for job, outcome in ended if outcome is None]
    affordable, refused = budgets.within_caps(to_send, at.worker)
    if refused:  # no more calls fit until this batch is collected, or for some time
        later = timezone.now() + timedelta(seconds=timing.LOOK_MOST)
        Call.objects.filter(pk__in=refused, state=Call.State.PENDING).update(not_before=later)
    lines = {job.call.pk: _line(batch, at, job) for job in affordable}
    sizes = accumulate((len(line) for line in lines.values()), initial=file.tell())
    ends = dict(zip(lines, list(sizes)[1:], strict=True))
    alone = next(iter(lines), None) if not file.tell() else None  # a single call over the limit is sent alone
    fits = [job for job in affordable if ends[job.call.pk] <= MOST_BYTES or job.call.pk == alone]
    for call in _put(batch, at, fits):
        file.write(lines[call])
    return not refused and len(fits) == len(affordable)


def _ended(job: PreparedCall) -> Outcome | None:
    """Outcome of a call that needs no request: prepared, or from the cache."""
    if job.prompt is None:
        return job.ready_outcome
    outcome = prepared.from_cache(job) if job.cached is not None else None
    if outcome is None:
        return None
    return replace(outcome, prompt_hash=job.prompt_hash, request_hash=job.request_hash)


def _line(batch: Batch, at: Working, job: PreparedCall) -> bytes:
    assert job.prompt is not None
    if job.prompt.schema is not None and not batch.form:
        form = batch_provider.learn_form(batch.endpoint, job.model) or forms_for(job.prompt, "")[0]
        claims.change(batch, at.worker, form=form)
    form = TEXT if job.prompt.schema is None else batch.form
    return request_line(job.call.pk, request_body(job.model, job.prompt, job.parameters, form))


@transaction.atomic
def _put(batch: Batch, at: Working, calls: Sequence[PreparedCall]) -> list[int]:
    """Bind leased calls to the batch, unless another worker has it now; return the ids of the bound calls."""
    claims.change(batch, at.worker, size=batch.size + len(calls))
    columns: list[list[Any]] = [
        [job.call.pk for job in calls],
        [job.prompt_hash for job in calls],
        [job.request_hash for job in calls],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_PUT, [batch.pk, *columns, at.worker])
        bound = sorted(pk for (pk,) in cursor.fetchall())
    if len(bound) < len(calls):
        claims.change(batch, at.worker, size=batch.size - len(calls) + len(bound))
    return bound


# Polling a batch in progress, at growing intervals; cancelling it if its run was cancelled.

ENDED = frozenset({"completed", "expired", "cancelled"})
FAILED = "failed"
FULL = frozenset({"token_limit_exceeded", "rate_limit_exceeded", "quota_exceeded", "batch_limit_exceeded"})
"""Provider error codes for a full queue."""
MOST_TRIES = 5


def interval(age: timedelta) -> timedelta:
    """Return the time until the next poll of a batch of this age."""
    tenth = age.total_seconds() / 10
    return timedelta(seconds=min(max(tenth, timing.LOOK_FIRST), timing.LOOK_MOST))


def look(batch: Batch, at: Working) -> Counts:
    """Poll a batch; a batch that has ended becomes ready to collect."""
    Run.objects.filter(pk=batch.run_id, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    now = timezone.now()
    try:
        if batch.run.state == Run.State.CANCELLED and batch.cancel_sent_at is None:
            _cancel(batch, at, now)
        remote = at.beside(lambda: batch_provider.look(batch.endpoint, batch.provider_id))
    except NotOffered as error:
        _unknown(batch, at, error, now)
    except CallError as error:
        seen = {"looked_at": now, "error": str(error)[:1000], "tries": batch.tries + 1}
        claims.change(batch, at.worker, next_look=now + timing.wait(batch.tries + 1), **seen)
    else:
        _seen(batch, at, remote, now)
    return Counts()


def _seen(batch: Batch, at: Working, remote: RemoteBatch, now: datetime) -> None:
    seen: dict[str, Any] = {
        "looked_at": now,
        "provider_state": remote.state,
        "completed_there": remote.completed,
        "failed_there": remote.failed,
        "tries": 0,
        "error": "",
    }
    if remote.key and remote.key != str(batch.key):
        batch_results.unclear(
            batch, at.worker, f"{batch.provider_id} is another batch: its key is not this one's."
        )
    elif remote.state in ENDED:
        files = {"output_file": remote.output, "error_file": remote.errors}
        claims.change(batch, at.worker, state=Batch.State.COLLECTING, next_look=now, **files, **seen)
    elif remote.state == FAILED:
        claims.change(batch, at.worker, **seen)
        batch_results.refuse(batch, at.worker, _failure(remote))
    else:
        age = timedelta() if batch.cancel_sent_at else now - (batch.submitted_at or now)
        claims.change(batch, at.worker, next_look=now + interval(age), **seen)


def _failure(remote: RemoteBatch) -> CallError:
    why = remote.trouble or "it says only that it failed"
    return Again(why, kind=errors.RATE_LIMIT) if remote.code in FULL else Refused(why)


def _cancel(batch: Batch, at: Working, now: datetime) -> None:
    """Request the cancellation of a batch; if the provider refuses, the batch has ended or is about to
    end.
    """
    try:
        batch_provider.cancel(batch.endpoint, batch.provider_id)
    except NotOffered:
        raise
    except Refused as error:
        claims.change(batch, at.worker, error=str(error)[:1000])
    claims.change(batch, at.worker, cancel_sent_at=now)


def _unknown(batch: Batch, at: Working, error: CallError, now: datetime) -> None:
    tries = batch.tries + 1
    later = now + timing.wait(tries)
    claims.change(batch, at.worker, looked_at=now, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_TRIES:
        why = f"the endpoint knows no batch {batch.provider_id} ({error}). "
        batch_results.unclear(batch, at.worker, f"{why}Adopt it by another id, or give it up.")


logger = logging.getLogger(__name__)
SLICE = 10.0
"""Seconds after which direct calls get their turn."""
STEPS: Mapping[str, Callable[[Batch, Working], Counts]] = {
    Batch.State.MAKING: remake,
    Batch.State.SENDING: send,
    Batch.State.UNDER_WAY: look,
    Batch.State.COLLECTING: collect,
}
"""Next step of a batch by state; for a batch that has ended, its files are deleted."""


def is_due(only: Sequence[int] | None = None) -> bool:
    """Whether a batch step can be done now."""
    return claims.due(only).exists() or ready(only).exists()


def work(
    heartbeat: Heartbeat, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Do batch steps until none is due, `until` (monotonic) is past or `stopping` returns True."""
    counts, at = Counts(), Working(heartbeat, Taker(heartbeat, only), stopping, only)
    end = min(until, time.monotonic() + SLICE)
    while not stopping() and time.monotonic() < end:
        batch, step = _next(heartbeat.name, only)
        if batch is None:
            break
        try:
            with claims.hold_batch(batch, heartbeat.name):
                counts.add(_done(step, batch, at))
        except claims.Lost as lost:
            logger.warning("%s", lost)
    counts.add(at.meanwhile)
    return counts


def _done(step: Callable[[Batch, Working], Counts], batch: Batch, at: Working) -> Counts:
    """Do a step; a bug in it affects only this batch, not others or the worker."""
    try:
        if moved := batch.run.moved:
            # The ids of the batch and its files belong to the server that it was sent to.
            later = timezone.now() + timedelta(seconds=timing.LOOK_MOST)
            claims.change(batch, at.worker, error=moved[:1000], next_look=later)
            return Counts()
        return step(batch, at)
    except DEFECTS as error:
        logger.exception("%s: a defect", batch)
        batch_results.defect(
            batch, at.worker, f"a defect in Concord: {type(error).__name__}: {str(error)[:300]}"
        )
        return Counts()


def _next(worker: str, only: Sequence[int] | None) -> tuple[Batch | None, Callable[[Batch, Working], Counts]]:
    """Return the batch that is due, or a new one, and its next step."""
    if (batch := claims.claim_batch(worker=worker, only=only)) is not None:
        return batch, STEPS.get(batch.state, batch_results.clear)
    return begin(worker=worker, only=only), make
