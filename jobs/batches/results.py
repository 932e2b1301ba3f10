"""From a line of a batch's files to what its call came to: the same as if it had been asked at once.

Only the price differs, by the batch's share, and there is no time that a reply took.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs import error_kinds
from jobs.asking import reading
from jobs.asking.asked import Asked
from jobs.asking.outcomes import Outcome
from jobs.batches.lines import NOT_DONE, Line
from jobs.endpoints.bodies import request_body
from jobs.endpoints.client import FormRefused, Malformed, Refused, Shut, Withheld, meaning
from jobs.endpoints.forms import FORMS, TEXT
from jobs.endpoints.learning import remember
from jobs.endpoints.receiving import CallError, Reply, completion
from jobs.models import Batch

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
        outcome = (
            reading.read(job, reply) if same else reading.unread(job, reply, CHANGED, error_kinds.CHANGED)
        )
    share = None if outcome.cost is None else outcome.cost * batch.share
    return replace(outcome, cost=share, latency_ms=None, sent=int(line.status is not None))


def _reply(line: Line, job: Asked, batch: Batch, key: str) -> Reply:
    """Return the reply that a line holds; raise CallError."""
    if line.status is None:
        told = f"batch {batch.pk}: {line.message} ({line.code})"
        raise _Unanswered(told, kind=error_kinds.TRANSPORT if line.code in NOT_DONE else error_kinds.SERVER)
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
