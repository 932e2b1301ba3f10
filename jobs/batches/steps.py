"""The steps of batches, done by workers of calls between other work, which goes on while one takes longer.

A batch that is under way is nobody's; the next worker that is free looks at it when its time has come.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from jobs.asking.outcomes import DEFECTS, Counts
from jobs.asking.taking import Taker
from jobs.batches import clearing, ending, leases, making
from jobs.batches.collecting import collect
from jobs.batches.looking import look
from jobs.batches.sending import send
from jobs.batches.working import Working
from jobs.models import Batch
from jobs.queue import timing
from jobs.queue.heartbeat import Heart

logger = logging.getLogger(__name__)
SLICE = 10.0
"""Seconds after which calls that are asked at once have their turn."""
STEPS: Mapping[str, Callable[[Batch, Working], Counts]] = {
    Batch.State.MAKING: making.remake,
    Batch.State.SENDING: send,
    Batch.State.UNDER_WAY: look,
    Batch.State.COLLECTING: collect,
}
"""What is done next with a batch in each state; of one that has ended, the files are deleted."""


def is_due(only: Sequence[int] | None = None) -> bool:
    """Whether a step of a batch can be done now."""
    return leases.due(only).exists() or making.ready(only).exists()


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
    return making.begin(worker=worker, only=only), making.make
