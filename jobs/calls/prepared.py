"""Prepared calls: the prompt, the cached reply to an equal request, and the reader of a reply."""

from __future__ import annotations

import hashlib
import json
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import FrameType
from typing import Any, Protocol

from django.db import connection

from jobs import errors
from jobs.calls.outcomes import DEFECTS, Kind, Outcome
from jobs.endpoints import costs
from jobs.endpoints.responses import Reply, as_json, from_json, is_refusal
from jobs.models import Endpoint
from jobs.models.run import Call
from jobs.prompt import OutOfScale, Prompt, Tokens, Unparseable

# Calls prepared by their kind of run: the prompt to send, and how to read the reply.


@dataclass(frozen=True, slots=True)
class Read:
    """Content of a reply: answers as its kind of run records them, and flags."""

    answers: tuple[Any, ...] = ()
    flags: tuple[str, ...] = ()


def unreadable(_reply: str, _tokens: Tokens) -> Read:
    """Reader of a call without a prompt; always fails."""
    raise AssertionError("a call without a prompt has no reply")


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A leased call: the prompt to send to `model` with `parameters`, or a `ready_outcome` if it needs no
    request.

    `read` turns the reply's text (and its tokens' probabilities) into answers; it raises Unparseable for a
    reply that does not answer. `by` names the reader, for the log. `reply_tokens` estimates the length of a
    reply before any is known. `prompt_hash` and `request_hash` are the hashes of the prompt and of the whole
    request; `cached` is the reply to an equal request, `saved` its cost.
    """

    call: Call
    by: str
    prompt: Prompt | None = None
    ready_outcome: Outcome | None = None
    model: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[str, Tokens], Read] = unreadable

    reply_tokens: int = 100
    prompt_hash: str = ""
    request_hash: str = ""
    cached: Reply | None = None
    saved: Decimal | None = None

    @property
    def endpoint(self) -> Endpoint | None:
        """Endpoint of the call."""
        return self.call.run.endpoint


class Preparer(Protocol):
    """Prepares the calls of one kind of run; kept for a slice of work, so it may cache material."""

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Return the prepared calls, in order; their runs are loaded with rater and endpoint."""


# From a reply to the outcome of its call: answers or the reason for their absence, and cost.

# CPU time limit for reading one reply.
#
# Readers are linear and never reach it; it guards against future readers. The timer counts the process's own
# time, so a busy machine does not make a reply unreadable. It also interrupts regular expressions. Only a
# process's main thread can set it, which is where replies are read.


class TooSlow(Exception):
    """The block exceeded its time limit."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside the block after that many seconds of CPU time."""
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
"""CPU seconds for reading one reply: a thousand times the longest known."""


def read(job: PreparedCall, reply: Reply) -> Outcome:
    """Read a reply; retry the call if the reply is unreadable and the run allows it, else fail it."""
    try:
        with within(PARSE_SECONDS):
            reading = job.read(reply.text, reply.tokens)
    except OutOfScale as error:
        return unread(job, reply, f"unparseable: {error}", errors.OUT_OF_SCALE)
    except Unparseable as error:
        if is_refusal(reply.text):
            return failed(job, reply, f"the model refuses: {reply.text.strip()[:300]}", errors.REFUSAL)
        return unread(job, reply, f"unparseable: {error}", errors.UNPARSEABLE)
    except TooSlow as error:
        return failed(job, reply, f"unparseable: reading it {error}", errors.UNPARSEABLE)
    except DEFECTS as error:
        logger.exception("%s failed on a reply", job.by)
        trouble = f"defect in {job.by}: {type(error).__name__}: {error}"
        return failed(job, reply, trouble, errors.DEFECT)
    return replace(paid(job, reply), answers=reading.answers, flags=reply.flags + reading.flags)


def from_cache(job: PreparedCall) -> Outcome | None:
    """Read the cached reply to an equal request; None if it does not answer this call.

    No request is sent: no tokens, no cost, and the saving is the cost of the earlier request.
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


def unread(job: PreparedCall, reply: Reply | None, why: str, kind: str) -> Outcome:
    """Retry the call if its run allows it, else fail it; the cost counts either way."""
    again = is_reasked(job.call, job.parameters)
    state: Kind = "again" if again else "failed"
    return replace(paid(job, reply), kind=state, reasked=again, error=why, error_kind=kind)


def is_reasked(call: Call, parameters: Mapping[str, Any]) -> bool:
    """Whether a call with an unreadable reply is retried.

    Where the probabilities of tokens are the answer, the request stays the same, so it is not repeated if its
    reply would be the same, too: at temperature 0, or with a seed.
    """
    is_fixed = parameters.get("temperature") == 0 or "seed" in parameters
    if parameters.get("logprobs") and is_fixed:
        return False
    return call.reasked < call.run.reasks and call.attempts < call.run.max_attempts


def failed(job: PreparedCall, reply: Reply, why: str, kind: str) -> Outcome:
    """Fail a call for which a retry would not help."""
    return replace(paid(job, reply), kind="failed", error=why, error_kind=kind)


def paid(job: PreparedCall, reply: Reply | None) -> Outcome:
    """Return the outcome of an answered request, without its answers."""
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
        served_model=reply.served_model,
        system_fingerprint=reply.system_fingerprint,
        asked=1,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=costs.cost(job.endpoint, reply.tokens_in, reply.tokens_out),
        latency_ms=reply.latency_ms,
    )


# Cached replies to equal requests of other runs, looked up for a whole batch of calls in one query.
#
# Requests are equal if the content, the server and the sample number are equal: different samples never share
# a reply. Two workers that send the same request at once both send it; each call keeps its own reply.

_FIND = """
SELECT DISTINCT ON (w.call) w.call, c.reply, c.reasoning, c.logprobs::text, c.reply_form,
       c.served_model, c.system_fingerprint, c.cost
  FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS w(call, run, hash)
  JOIN jobs_call c ON c.request_hash = w.hash
 WHERE c.state = 'done' AND NOT c.cached AND NOT (c.request_hash = '') AND c.run_id <> w.run AND c.reply <> ''
 ORDER BY w.call, c.id
"""


def hashed(jobs: Sequence[PreparedCall]) -> list[PreparedCall]:
    """Return the calls, those with a prompt with the hash of their request."""
    return [job if job.prompt is None else _hashed(job, job.prompt.digest()) for job in jobs]


def looked_up(jobs: Sequence[PreparedCall]) -> list[PreparedCall]:
    """Return the calls, with the cached reply to an equal request if there is one and their run allows it."""
    cacheable = [job for job in jobs if job.request_hash and job.call.run.use_cache]
    cached = _cached_replies(cacheable) if cacheable else {}
    return [replace(job, **cached.get(job.call.pk, {})) for job in jobs] if cached else list(jobs)


def _cached_replies(jobs: Sequence[PreparedCall]) -> dict[int, dict[str, Any]]:
    columns: list[list[Any]] = [
        [job.call.pk for job in jobs],
        [job.call.run_id for job in jobs],
        [job.request_hash for job in jobs],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_FIND, columns)
        return {call: _reply(*rest) for call, *rest in cursor.fetchall()}


def _reply(
    text: str,
    reasoning: str,
    logprobs: str | None,
    form: str,
    served_model: str,
    system_fingerprint: str,
    cost: Decimal | None,
) -> dict[str, Any]:
    tokens = from_json(json.loads(logprobs) if logprobs else None)
    reply = Reply(
        text,
        None,
        None,
        0,
        reasoning=reasoning,
        tokens=tokens,
        form=form,
        served_model=served_model,
        system_fingerprint=system_fingerprint,
    )
    return {"cached": reply, "saved": cost}


def _hashed(job: PreparedCall, prompt: str) -> PreparedCall:
    """Add the SHA-256 of a request: server, model, prompt, parameters, and sample."""
    assert job.endpoint is not None
    request = [job.endpoint.server, job.model, prompt, dict(job.parameters), job.call.sample]
    request_hash = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    return replace(job, prompt_hash=prompt, request_hash=request_hash)
