"""Answers into labels, each linked to the call that gave it: a whole batch in one statement.

All constraints and triggers hold here as everywhere.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet

from annotation.labels import recording
from annotation.labels.recording import Answer
from annotation.models import Label, Occasion, Rater
from annotation.text.passages import stored
from config.planner import WORTH_TELLING, tell_planner
from jobs import runs
from jobs.models import Call, Run
from judges.models import CallLabel

_RECORD = """
WITH given AS (
  SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[], %s::float8[], %s::text[],
                       %s::text[], %s::text[], %s::text[], %s::text[])
    AS g(call, item, question, sample, number, text, missing, explanation, shown, evidence)),
fresh AS (
  INSERT INTO annotation_label
         (item_id, question_id, rater_id, occasion, sample, number, text, missing, explanation, shown,
          evidence, created_at)
  SELECT item, question, %s, %s, sample, number, text, missing, explanation, shown::int2[], evidence::jsonb,
         now() FROM given
      ON CONFLICT DO NOTHING RETURNING id, item_id, question_id, sample),
linked AS (
  INSERT INTO judges_calllabel (call_id, label_id)
  SELECT g.call, f.id FROM fresh f
    JOIN given g ON (g.item, g.question, g.sample) = (f.item_id, f.question_id, f.sample))
SELECT item_id, question_id, sample FROM fresh
"""

Given = tuple[int, Answer]
"""The id of a call, and one of its answers."""


def record_all(given: Sequence[tuple[Call, Sequence[Answer]]]) -> int:
    """Record the answers of calls, rater by rater; return how many labels are new."""
    by_rater: dict[int, list[Given]] = defaultdict(list)
    raters = {call.run.answerer.pk: call.run.answerer for call, _ in given}
    for call, answers in given:
        by_rater[call.run.answerer.pk] += [(call.pk, answer) for answer in answers]
    return sum(record(raters[rater], answers) for rater, answers in by_rater.items() if answers)


def record(rater: Rater, given: Sequence[Given]) -> int:
    """Record a rater's answers, numbers or texts, each linked to its call; return how many labels are new.

    Where a live label stands in an answer's place, `annotation.labels.recording` decides what becomes of it.
    """
    columns = [
        [call for call, _ in given],
        *zip(*(answer.place for _, answer in given), strict=True),
        [None if isinstance(answer.value, str) else answer.value for _, answer in given],
        [answer.value if isinstance(answer.value, str) else None for _, answer in given],
        [answer.missing for _, answer in given],
        [answer.explanation for _, answer in given],
        [_array(answer.shown) for _, answer in given],
        [json.dumps(stored(answer.evidence)) if answer.evidence else None for _, answer in given],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [*(list(column) for column in columns), rater.pk, Occasion.MAIN.value])
        fresh = set(cursor.fetchall())
    rest = [(call, answer) for call, answer in given if answer.place not in fresh]
    return len(fresh) + (_record_over(rater, rest) if rest else 0)


def _array(shown: tuple[int, ...] | None) -> str | None:
    """Return numbers as PostgreSQL writes an array: one of arrays of several lengths cannot be passed."""
    return None if shown is None else f"{{{','.join(map(str, shown))}}}"


def _record_over(rater: Rater, given: Sequence[Given]) -> int:
    origin = {answer.place: call for call, answer in given}
    answers = [answer for _, answer in given]
    labels = recording.record(rater=rater, answers=answers, occasion=Occasion.MAIN)
    CallLabel.objects.bulk_create(
        CallLabel(call_id=origin[label.item_id, label.question_id, label.sample], label=label)
        for label in labels
    )
    return len(labels)


def count_values(run: Run) -> None:
    """Say what came of a run's calls: so many values, so many missing, mostly for this reason."""
    if runs.of_run(run)["n"] >= WORTH_TELLING:
        tell_planner("jobs_call", "annotation_label", "judges_calllabel")
    tell_values(run, Label.objects.filter(made_by__call__run=run, superseded_at=None))


def tell_values(run: Run, answers: QuerySet[Any]) -> None:
    """Write into a run's columns how many of its answers have values, and why most of the others do not."""
    counted = answers.aggregate(
        values=Count("pk", filter=Q(missing="")), missing=Count("pk", filter=~Q(missing=""))
    )
    run.values, run.missing = counted["values"], counted["missing"]
    reasons = answers.exclude(missing="").values("missing").annotate(n=Count("pk"))
    commonest = reasons.order_by("-n", "missing").first()
    run.missing_reason = commonest["missing"] if commonest else ""
