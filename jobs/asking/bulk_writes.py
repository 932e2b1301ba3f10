"""Landing results in the database: calls and labels of a whole batch in one statement each.

A judge at 64 connections finishes hundreds of calls a second, with ten labels and more each; row by row that
would cost more than asking. All constraints and triggers hold here as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db import connection

from jobs.models import Call

_COLUMNS = {
    "state": "text",
    "reply": "text",
    "error": "text",
    "prompt_hash": "text",
    "tokens_in": "int",
    "tokens_out": "int",
    "cost": "numeric",
    "latency_ms": "int",
    "not_before": "timestamptz",
    "reasked": "int",
    "attempts": "int",
    "finished_at": "timestamptz",
    "error_kind": "text",
    "request_hash": "text",
    "cached": "bool",
    "saved": "numeric",
    "asked": "int",
    "sent": "int",
    "reply_form": "text",
    "reasoning": "text",
}
_SAVE = f"""
WITH heard AS (DELETE FROM jobs_openrequest WHERE call_id = ANY(%s))
UPDATE jobs_call c
   SET lease_expires = NULL, worker = '', reserved_tokens = NULL, reserved_cost = NULL,
       flags = g.flags::jsonb, logprobs = g.logprobs::jsonb,
       {", ".join(f"{name} = g.{name}" for name in _COLUMNS)}
  FROM unnest(%s::bigint[], %s::text[], %s::text[], {
    ", ".join(f"%s::{kind}[]" for kind in _COLUMNS.values())
})
       AS g(id, flags, logprobs, {", ".join(_COLUMNS)})
 WHERE c.id = g.id
"""  # noqa: S608  (column names of ours)


def save(calls: Sequence[Call]) -> None:
    """Write the calls' results and end their leases; their requests are open no more."""
    columns = [[getattr(call, name) for call in calls] for name in _COLUMNS]
    flags = [json.dumps(call.flags) for call in calls]
    logprobs = [None if call.logprobs is None else json.dumps(call.logprobs) for call in calls]
    with connection.cursor() as cursor:
        ids = [call.pk for call in calls]
        cursor.execute(_SAVE, [ids, ids, flags, logprobs, *columns])
