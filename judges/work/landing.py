"""Landing results in the database: calls and labels of a whole batch in one statement each.

A judge at 64 connections finishes hundreds of calls a second, with ten labels and more each; row by row that
would cost more than asking. All constraints and triggers hold here as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db import connection

from annotation import recording
from annotation.models import Occasion, Rater
from annotation.recording import Answer
from judges.models import Call, CallLabel

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
}
_SAVE = f"""
UPDATE judges_call c
   SET lease_expires = NULL, worker = '', flags = g.flags::jsonb,
       {", ".join(f"{name} = g.{name}" for name in _COLUMNS)}
  FROM unnest(%s::bigint[], %s::text[], {", ".join(f"%s::{kind}[]" for kind in _COLUMNS.values())})
       AS g(id, flags, {", ".join(_COLUMNS)})
 WHERE c.id = g.id
"""  # noqa: S608  (column names of ours)

_RECORD = """
WITH given AS (
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[], %s::float8[], %s::text[],
                       %s::text[])
    AS g(call, item, question, sample, number, missing, explanation)),
fresh AS (
  INSERT INTO annotation_label
         (item_id, question_id, rater_id, occasion, sample, number, missing, explanation, created_at)
  SELECT item, question, %s, %s, sample, number, missing, explanation, now() FROM given
      ON CONFLICT DO NOTHING RETURNING id, item_id, question_id, sample),
linked AS (
  INSERT INTO judges_calllabel (call_id, label_id)
  SELECT g.call, f.id FROM fresh f
    JOIN given g ON (g.item, g.question, g.sample) = (f.item_id, f.question_id, f.sample))
SELECT item_id, question_id, sample FROM fresh
"""

Given = tuple[int, Answer]
"""The id of a call, and one of its answers."""


def save(calls: Sequence[Call]) -> None:
    """Write the calls' results and end their leases."""
    columns = [[getattr(call, name) for call in calls] for name in _COLUMNS]
    flags = [json.dumps(call.flags) for call in calls]
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, [[call.pk for call in calls], flags, *columns])


def record(rater: Rater, given: Sequence[Given]) -> int:
    """Record a rater's numeric answers, each linked to its call; return how many labels are new.

    Where a live label stands in an answer's place, `annotation.recording` decides what becomes of it.
    """
    columns = [
        [call for call, _ in given],
        *zip(*(answer.place for _, answer in given), strict=True),
        [answer.value for _, answer in given],
        [answer.missing for _, answer in given],
        [answer.explanation for _, answer in given],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [*(list(column) for column in columns), rater.pk, Occasion.MAIN.value])
        fresh = set(cursor.fetchall())
    rest = [(call, answer) for call, answer in given if answer.place not in fresh]
    return len(fresh) + (_record_over(rater, rest) if rest else 0)


def _record_over(rater: Rater, given: Sequence[Given]) -> int:
    origin = {answer.place: call for call, answer in given}
    answers = [answer for _, answer in given]
    labels = recording.record(rater=rater, answers=answers, occasion=Occasion.MAIN)
    CallLabel.objects.bulk_create(
        CallLabel(call_id=origin[label.item_id, label.question_id, label.sample], label=label)
        for label in labels
    )
    return len(labels)
