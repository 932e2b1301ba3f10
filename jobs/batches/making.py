"""Making a batch: the calls of a run that are ready, as many as fit and as its caps allow, in one file.

Each call is made ready as one that is asked at once is: what needs no request is written, what the cache
holds is taken, and what the rest may take is held back from the caps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate
from typing import IO, Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from jobs import runs
from jobs.asking import budgets, cache, reading
from jobs.asking.asked import Asked
from jobs.asking.outcomes import Counts, Outcome, write
from jobs.batches import ending, leases, provider
from jobs.batches.lines import request_line
from jobs.batches.working import Working
from jobs.endpoints import keys
from jobs.endpoints.bodies import request_body
from jobs.endpoints.client import CallError, FakeModelAnswers
from jobs.endpoints.forms import TEXT, forms_for
from jobs.endpoints.learning import remember
from jobs.kinds import CALLS
from jobs.models import Batch, Call, Run
from jobs.queue import calls as claiming
from jobs.queue import timing

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
