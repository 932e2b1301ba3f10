"""Submitting a batch, once: that it is about to be sent is committed before it is sent.

Where the answer is lost (the worker was killed, the connection broke off), the next step looks for the
batch's own key among the provider's batches and adopts what it finds. Only what is not there some time later
is sent again. An endpoint that lists no batches leaves it to a person.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import errors, runs
from jobs.asking.outcomes import Counts
from jobs.batches import ending, leases, provider
from jobs.batches.provider import NotOffered, There
from jobs.batches.working import Working
from jobs.endpoints.client import Again, CallError, Refused
from jobs.models import Batch
from jobs.queue import timing

LOOK_AGAIN = timedelta(seconds=5)
SKEW = timedelta(days=1)
"""By so much a provider's clock may differ from ours."""
MOST_TRIES = 10


def send(batch: Batch, at: Working) -> Counts:
    """Submit a batch, or find out whether it was submitted."""
    if batch.posted_at is not None:
        _find(batch, at)
    elif batch.run.state not in runs.ACTIVE:
        ending.dissolve(batch, at.worker, f"Its run was {batch.run.state} before it was submitted.")
    else:
        _post(batch, at)
    return Counts()


def _post(batch: Batch, at: Working) -> None:
    leases.change(batch, at.worker, posted_at=timezone.now())
    try:
        told = provider.create(batch.endpoint, file=batch.input_file, key=str(batch.key), run=batch.run_id)
    except Refused as error:
        leases.change(batch, at.worker, posted_at=None)
        ending.refuse(batch, at.worker, error)
    except CallError as error:
        _not_now(batch, at, error)
    else:
        _submitted(batch, at, told)


def _not_now(batch: Batch, at: Working, error: CallError) -> None:
    """Wait after a refusal for the number of requests; look for the batch after anything else."""
    tries, now = batch.tries + 1, timezone.now()
    if error.kind != errors.RATE_LIMIT:
        leases.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=now)
        return
    asked = timedelta(seconds=error.delay or 0.0) if isinstance(error, Again) else timedelta()
    wait = asked or timing.wait(tries)
    leases.change(
        batch, at.worker, posted_at=None, tries=tries, error=str(error)[:1000], next_look=now + wait
    )
    if tries >= MOST_TRIES:
        ending.refuse(batch, at.worker, error)


def _find(batch: Batch, at: Working) -> None:
    try:
        since = batch.created_at - SKEW
        found = at.beside(lambda: provider.find(batch.endpoint, key=str(batch.key), since=since))
    except NotOffered as error:
        ending.unclear(
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
    if found:
        _drop(batch, found[1:])
        _submitted(batch, at, found[0])
    elif now < sure:
        leases.change(batch, at.worker, next_look=min(sure, now + LOOK_AGAIN))
    else:
        leases.change(batch, at.worker, posted_at=None, next_look=now)


def _look_later(batch: Batch, at: Working, error: CallError) -> None:
    tries = batch.tries + 1
    later = timezone.now() + timing.wait(tries)
    leases.change(batch, at.worker, tries=tries, error=str(error)[:1000], next_look=later)
    if tries >= MOST_TRIES:
        why = f"it may have been submitted, and the endpoint does not tell ({error}). "
        ending.unclear(batch, at.worker, f"{why}Adopt it by its id at the provider, or give it up.")


def _drop(batch: Batch, others: list[There]) -> None:
    """Cancel what carries the same key: only a server that took one submission twice has such."""
    for other in others:
        try:
            provider.cancel(batch.endpoint, other.id)
        except CallError:
            continue  # it has ended, or goes on without anybody reading it


def _submitted(batch: Batch, at: Working, told: There) -> None:
    now = timezone.now()
    try:
        with transaction.atomic():
            leases.change(
                batch,
                at.worker,
                state=Batch.State.UNDER_WAY,
                provider_id=told.id,
                provider_state=told.state,
                submitted_at=batch.posted_at or now,
                next_look=now + timedelta(seconds=timing.LOOK_FIRST),
                tries=0,
                error="",
            )
    except IntegrityError:
        ending.unclear(
            batch, at.worker, f"the endpoint calls it {told.id}, as it has called another batch before."
        )
