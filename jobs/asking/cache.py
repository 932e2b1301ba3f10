"""Replies that equal requests of other runs got: looked up for a whole batch of calls in one query.

Equal means everything that is sent, where it is sent to, and the number of the sample: samples of one answer
are never one reply. Two workers that ask the same at once both ask; each call keeps its own reply.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db import connection

from jobs.asking.asked import Asked
from jobs.endpoints.receiving import Reply, from_json

_FIND = """
SELECT DISTINCT ON (w.call) w.call, c.reply, c.reasoning, c.logprobs::text, c.reply_form, c.cost
  FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS w(call, run, hash)
  JOIN jobs_call c ON c.request_hash = w.hash
 WHERE c.state = 'done' AND NOT c.cached AND NOT (c.request_hash = '') AND c.run_id <> w.run AND c.reply <> ''
 ORDER BY w.call, c.id
"""


def hashed(asked: Sequence[Asked]) -> list[Asked]:
    """Return calls that are to be asked with the hash of their request."""
    return [job if job.prompt is None else _hashed(job, job.prompt.digest()) for job in asked]


def looked_up(asked: Sequence[Asked]) -> list[Asked]:
    """Return calls with the reply that an equal request got, where their run allows it and there is one."""
    wanted = [job for job in asked if job.request_hash and job.call.run.use_cache]
    found = _found(wanted) if wanted else {}
    return [replace(job, **found.get(job.call.pk, {})) for job in asked] if found else list(asked)


def _found(wanted: Sequence[Asked]) -> dict[int, dict[str, Any]]:
    columns: list[list[Any]] = [
        [job.call.pk for job in wanted],
        [job.call.run_id for job in wanted],
        [job.request_hash for job in wanted],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_FIND, columns)
        return {call: _reply(*rest) for call, *rest in cursor.fetchall()}


def _reply(
    text: str, reasoning: str, logprobs: str | None, form: str, cost: Decimal | None
) -> dict[str, Any]:
    tokens = from_json(json.loads(logprobs) if logprobs else None)
    return {
        "cached": Reply(text, None, None, 0, reasoning=reasoning, tokens=tokens, form=form),
        "saved": cost,
    }


def _hashed(job: Asked, prompt: str) -> Asked:
    """Note the SHA-256 of a request: where to, what, how, and which sample."""
    assert job.endpoint is not None
    told = [job.endpoint.server, job.model, prompt, dict(job.parameters), job.call.sample]
    whole = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return replace(job, prompt_hash=prompt, request_hash=whole)
