"""Requests that are under way: noted before they are sent, so that those of a lost worker count as sent.

What a lost reply took nobody knows; it counts with the estimate that was noted with its request. A note goes
with its call's result (`jobs.asking.outcomes`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import connection

_NOTE = """
INSERT INTO jobs_openrequest AS o (call_id, requests, tokens_in, tokens_out)
SELECT g.id, 1, g.tokens_in, g.tokens_out
  FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS g(id, tokens_in, tokens_out)
    ON CONFLICT (call_id) DO UPDATE
   SET requests = o.requests + 1, tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out
"""
_COUNT_LOST = """
WITH lost AS (DELETE FROM jobs_openrequest WHERE call_id = ANY(%s) RETURNING *)
UPDATE jobs_call c
   SET sent = c.sent + l.requests, asked = c.asked + 1, lost = c.lost + 1,
       tokens_in = coalesce(c.tokens_in, 0) + l.tokens_in,
       tokens_out = coalesce(c.tokens_out, 0) + l.tokens_out,
       cost = coalesce(
         coalesce(c.cost, 0) + (e.price_in * l.tokens_in + e.price_out * l.tokens_out) / 1000000, c.cost)
  FROM lost l, jobs_run r, jobs_endpoint e
 WHERE c.id = l.call_id AND r.id = c.run_id AND e.id = r.endpoint_id
"""
_SWEEP = """
DELETE FROM jobs_openrequest o WHERE NOT EXISTS (SELECT FROM jobs_call c WHERE c.id = o.call_id)
"""


def note(requests: Sequence[tuple[int, int, int]]) -> None:
    """Note requests that are sent next: the call, and about how many tokens it reads and writes.

    The commit waits for no disk: this has to outlive the worker, not the database.
    """
    is_new = connection.connection is None
    with connection.cursor() as cursor:
        if is_new:
            cursor.execute("SET synchronous_commit = off")
        cursor.execute(_NOTE, [list(column) for column in zip(*requests, strict=True)])


def count_lost(calls: Collection[int]) -> None:
    """Count what calls have sent whose replies will never be stored, in the transaction that returns them."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_LOST, [list(calls)])


def sweep() -> None:
    """Delete the notes of calls that are gone."""
    with connection.cursor() as cursor:
        cursor.execute(_SWEEP)
