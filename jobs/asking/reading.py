"""From a reply to what a call came to: its answers, or why there are none, and what it cost."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from types import FrameType

from jobs import errors
from jobs.asking.asked import Asked
from jobs.asking.outcomes import DEFECTS, Kind, Outcome
from jobs.endpoints import costs
from jobs.endpoints.receiving import Reply, as_json
from jobs.models import Call
from jobs.prompt import OutOfScale, Unparseable

# A limit on the processor time of reading one reply.
#
# Readers are linear, so this is never met; it is there for the reader that somebody writes next. The timer
# counts the process's own time, so a busy machine does not make a reply unreadable. It interrupts regular
# expressions, too. Only a process's main thread can set it, which is where replies are read.


class TooSlow(Exception):
    """What was to be done within the limit took longer."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside the block once it has used so many seconds of the processor."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


logger = logging.getLogger(__name__)
PARSE_SECONDS = 2.0
"""Of the processor, for reading one reply: a thousand times what the longest takes."""


def read(job: Asked, reply: Reply) -> Outcome:
    """Read a reply; one that cannot be read is asked for once more where the run allows it, else fails."""
    try:
        with within(PARSE_SECONDS):
            found = job.read(reply.text, reply.tokens)
    except OutOfScale as error:
        return unread(job, reply, f"unparseable: {error}", errors.OUT_OF_SCALE)
    except Unparseable as error:
        return unread(job, reply, f"unparseable: {error}", errors.UNPARSEABLE)
    except TooSlow as error:
        return failed(job, reply, f"unparseable: reading it {error}", errors.UNPARSEABLE)
    except DEFECTS as error:
        logger.exception("%s failed on a reply", job.by)
        trouble = f"defect in {job.by}: {type(error).__name__}: {error}"
        return failed(job, reply, trouble, errors.DEFECT)
    return replace(paid(job, reply), answers=found.answers, flags=reply.flags + found.flags)


def from_cache(job: Asked) -> Outcome | None:
    """Read the reply that an equal request got before; None where it does not answer this call.

    Nothing was asked: no tokens, no cost, and what it saved is what the other one cost.
    """
    assert job.cached is not None
    outcome = read(job, job.cached)
    if outcome.kind != "done":
        return None
    free = None if job.saved is None else Decimal(0)
    return replace(
        outcome,
        cached=True,
        saved=job.saved,
        asked=0,
        tokens_in=None,
        tokens_out=None,
        cost=free,
        latency_ms=None,
    )


def unread(job: Asked, reply: Reply | None, why: str, kind: str) -> Outcome:
    """Ask once more where the run allows it, else fail; what it cost counts either way."""
    again = is_reasked(job.call)
    state: Kind = "again" if again else "failed"
    return replace(paid(job, reply), kind=state, reasked=again, error=why, error_kind=kind)


def is_reasked(call: Call) -> bool:
    """Whether a call whose reply cannot be read is asked once more."""
    return call.reasked < call.run.reasks and call.attempts < call.run.max_attempts


def failed(job: Asked, reply: Reply, why: str, kind: str) -> Outcome:
    """Fail a call whose reply would be none if it were asked for again, either."""
    return replace(paid(job, reply), kind="failed", error=why, error_kind=kind)


def paid(job: Asked, reply: Reply | None) -> Outcome:
    """Return the outcome of an answered request, still without its answers."""
    if reply is None:
        return Outcome(job.call.pk, "done", asked=1)
    assert job.endpoint is not None
    return Outcome(
        job.call.pk,
        "done",
        flags=reply.flags,
        reply=reply.text,
        reasoning=reply.reasoning,
        logprobs=as_json(reply.tokens),
        reply_form=reply.form,
        asked=1,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=costs.cost(job.endpoint, reply.tokens_in, reply.tokens_out),
        latency_ms=reply.latency_ms,
    )
