"""The steps of batches, done by workers of calls between other work, which goes on while one takes longer.

A batch that is under way is nobody's; the next worker that is free looks at it when its time has come.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import IO, Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from jobs import errors, runs
from jobs.asking import budgets, cache, reading
from jobs.asking.asked import Asked
from jobs.asking.outcomes import DEFECTS, Counts, Outcome, write
from jobs.asking.taking import Taker
from jobs.batches import clearing, ending, leases, provider
from jobs.batches.collecting import collect
from jobs.batches.lines import request_line
from jobs.batches.provider import NotOffered, There
from jobs.batches.sending import send
from jobs.batches.working import Working
from jobs.endpoints import keys
from jobs.endpoints.client import Again, FakeModelAnswers, Refused
from jobs.endpoints.costs import request_body
from jobs.endpoints.keys import remember
from jobs.endpoints.parameters import TEXT, forms_for
from jobs.endpoints.receiving import CallError
from jobs.kinds import CALLS
from jobs.models import Call
from jobs.models.batch import Batch
from jobs.models.run import Run
from jobs.queue import calls as claiming
from jobs.queue import timing
from jobs.queue.heartbeat import Heart

# Making a batch: the calls of a run that are ready, as many as fit and as its caps allow, in one file.
#
# Each call is made ready as one that is asked at once is: what needs no request is written, what the cache
# holds is taken, and what the rest may take is held back from the caps.

STEP = 200
"""Calls that are made ready together."""
MOST_BYTES = 90_000_000
"""Of a file; providers take 100 or 200 MB."""
BLOCKING = (Batch.State.MAKING, Batch.State.SENDING, Batch.State.COLLECTING, Batch.State.UNCLEAR)
"""While a run has such a batch no other is begun: its calls may come back, or the endpoint may refuse it."""
_PUT = """
UPDATE jobs_call c
   SET state = 'batched', batch_id = %s, worker = '', lease_expires = NULL, prompt_hash = g.prompt,
       request_hash = g.request
  FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS g(id, prompt, request)
 WHERE c.id = g.id AND c.state = 'leased' AND c.worker = %s RETURNING c.id
"""


def ready(only: Sequence[int] | None = None) -> QuerySet[Run]:
    """Return the runs for which a batch can be begun now; `only` names them."""
    waiting = Call.objects.filter(run=OuterRef("pk"), state=Call.State.PENDING).filter(
        Q(not_before=None) | Q(not_before__lte=timezone.now())
    )
    blocking = Batch.objects.filter(run=OuterRef("pk"), state__in=BLOCKING)
    found = Run.objects.filter(mode=Run.Mode.BATCH, queue=CALLS, state__in=runs.ACTIVE)
    found = found.filter(Exists(waiting), ~Exists(blocking)).exclude(endpoint__in=keys.lacking())
    return found if only is None else found.filter(pk__in=only)


@transaction.atomic
def begin(*, worker: str, only: Sequence[int] | None = None) -> Batch | None:
    """Begin a batch for a run that has calls ready, held by the worker; None where there is none."""
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
    return leases.loaded(
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
    """Fill a batch and send its file; then it can be submitted. One without calls is struck off."""
    counts = Counts()
    with tempfile.TemporaryFile() as file:
        try:
            _fill(batch, at, file, counts)
            if not batch.size:
                Batch.objects.filter(pk=batch.pk, worker=at.worker, size=0).delete()
                return counts
            file.seek(0)
            name, model = f"concord-{batch.key}.jsonl", str(batch.run.identity["model"])
            sent = at.beside(lambda: provider.upload(batch.endpoint, file, name, model))
        except CallError as error:
            if isinstance(error, FakeModelAnswers):
                remember({}, [batch.endpoint_id])
            ending.refuse(batch, at.worker, error)
            return counts
    leases.change(
        batch, at.worker, state=Batch.State.SENDING, input_file=sent, next_look=timezone.now(), tries=0
    )
    return counts


def remake(batch: Batch, at: Working) -> Counts:
    """Give up a batch whose worker was lost before its file was there: another one is made."""
    ending.dissolve(batch, at.worker, "Its worker was lost before it was submitted; its calls wait again.")
    return Counts()


def _fill(batch: Batch, at: Working, file: IO[bytes], counts: Counts) -> None:
    more = True
    while more and file.tell() < MOST_BYTES and not at.stopping():
        ids = claiming.claim(
            queue=CALLS,
            worker=at.worker,
            limit=min(STEP, batch.endpoint.batch_most - batch.size),
            lane=batch.endpoint_id,
            only=[batch.run_id],
            mode=Run.Mode.BATCH,
        )
        at.heart.hold(ids)
        try:
            more = bool(ids) and _add(batch, at, ids, file, counts)
        finally:
            claiming.give_back(worker=at.worker, calls=ids)  # where something went wrong before they were in
            at.heart.let_go(ids)
        at.breathe()


def _add(batch: Batch, at: Working, ids: list[int], file: IO[bytes], counts: Counts) -> bool:
    """Add claimed calls to a batch and its file; return whether there may be more."""
    asked = cache.looked_up(cache.hashed(at.taker.prepared(ids)))
    ended = [(job, _ended(job)) for job in asked]
    if outcomes := [outcome for _, outcome in ended if outcome is not None]:
        counts.add(write(outcomes))
    left = [job for job, outcome in ended if outcome is None]
    kept, refused = budgets.within_caps(left, at.worker)
    if refused:  # nothing more fits until this batch is back, or for some time
        later = timezone.now() + timedelta(seconds=timing.LOOK_MOST)
        Call.objects.filter(pk__in=refused, state=Call.State.PENDING).update(not_before=later)
    lines = {job.call.pk: _line(batch, at, job) for job in kept}
    sizes = accumulate((len(line) for line in lines.values()), initial=file.tell())
    ends = dict(zip(lines, list(sizes)[1:], strict=True))
    alone = next(iter(lines), None) if not file.tell() else None  # one that is too long by itself, too
    fits = [job for job in kept if ends[job.call.pk] <= MOST_BYTES or job.call.pk == alone]
    for call in _put(batch, at, fits):
        file.write(lines[call])
    return not refused and len(fits) == len(kept)


def _ended(job: Asked) -> Outcome | None:
    """Return what a call came to that needs no request: known beforehand, or from the cache."""
    if job.prompt is None:
        return job.known
    outcome = reading.from_cache(job) if job.cached is not None else None
    if outcome is None:
        return None
    return replace(outcome, prompt_hash=job.prompt_hash, request_hash=job.request_hash)


def _line(batch: Batch, at: Working, job: Asked) -> bytes:
    assert job.prompt is not None
    if job.prompt.schema is not None and not batch.form:
        form = provider.learn_form(batch.endpoint, job.model) or forms_for(job.prompt, "")[0]
        leases.change(batch, at.worker, form=form)
    form = TEXT if job.prompt.schema is None else batch.form
    return request_line(job.call.pk, request_body(job.model, job.prompt, job.parameters, form))


@transaction.atomic
def _put(batch: Batch, at: Working, kept: Sequence[Asked]) -> list[int]:
    """Bind leased calls to the batch, unless it is another worker's by now; return those that are in it."""
    leases.change(batch, at.worker, size=batch.size + len(kept))
    columns: list[list[Any]] = [
        [job.call.pk for job in kept],
        [job.prompt_hash for job in kept],
        [job.request_hash for job in kept],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_PUT, [batch.pk, *columns, at.worker])
        found = sorted(pk for (pk,) in cursor.fetchall())
    if len(found) < len(kept):
        leases.change(batch, at.worker, size=batch.size - len(kept) + len(found))
    return found


# Looking at a batch under way: seldom, and ever more seldom; cancelling it where its run was.

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
    return Again(why, kind=errors.RATE_LIMIT) if told.code in FULL else Refused(why)


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


logger = logging.getLogger(__name__)
SLICE = 10.0
"""Seconds after which calls that are asked at once have their turn."""
STEPS: Mapping[str, Callable[[Batch, Working], Counts]] = {
    Batch.State.MAKING: remake,
    Batch.State.SENDING: send,
    Batch.State.UNDER_WAY: look,
    Batch.State.COLLECTING: collect,
}
"""What is done next with a batch in each state; of one that has ended, the files are deleted."""


def is_due(only: Sequence[int] | None = None) -> bool:
    """Whether a step of a batch can be done now."""
    return leases.due(only).exists() or ready(only).exists()


def work(
    heart: Heart, until: float, stopping: Callable[[], bool], only: Sequence[int] | None = None
) -> Counts:
    """Do steps of batches until none is due, `until` (monotonic) is past or `stopping` says so."""
    counts, at = Counts(), Working(heart, Taker(heart, only), stopping, only)
    end = min(until, time.monotonic() + SLICE)
    while not stopping() and time.monotonic() < end:
        batch, step = _next(heart.name, only)
        if batch is None:
            break
        try:
            with leases.held(batch, heart.name):
                counts.add(_done(step, batch, at))
        except leases.Lost as lost:
            logger.warning("%s", lost)
    counts.add(at.meanwhile)
    return counts


def _done(step: Callable[[Batch, Working], Counts], batch: Batch, at: Working) -> Counts:
    """Do a step; a defect in it troubles this batch and no other, nor the worker."""
    try:
        if moved := batch.run.moved:
            # The ids of its files and of itself are those of the server that it was sent to.
            later = timezone.now() + timedelta(seconds=timing.LOOK_MOST)
            leases.change(batch, at.worker, error=moved[:1000], next_look=later)
            return Counts()
        return step(batch, at)
    except DEFECTS as error:
        logger.exception("%s: a defect", batch)
        ending.defect(batch, at.worker, f"a defect in Concord: {type(error).__name__}: {str(error)[:300]}")
        return Counts()


def _next(worker: str, only: Sequence[int] | None) -> tuple[Batch | None, Callable[[Batch, Working], Counts]]:
    """Return the batch that is due, or one that was begun for it, and what is to be done with it."""
    if (batch := leases.claim(worker=worker, only=only)) is not None:
        return batch, STEPS.get(batch.state, clearing.clear)
    return begin(worker=worker, only=only), make
