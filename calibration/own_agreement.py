"""Agreement of one annotator with the others of a campaign, as shown to that annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import connection

from annotation.models import Campaign
from calibration.statistics.core.engine import Counts, Result, cluster_codes, finished, resampled
from calibration.statistics.core.resampling import Plan

# Agreement of an annotator with the others of a campaign, shown to that annotator.
#
# It must not reveal any single answer of another person. So only tasks count that all their raters have
# finished, in steps of STEP in the order of finishing, and at least LEAST of them; and of one's own answers
# the first ones count, so that revising an answer and looking again reveals nothing.

LEAST = 20
"""Minimum number of tasks finished by all their raters, and of answers on them."""
STEP = 10
RESAMPLES = 1_000

FINISHED = """
SELECT t.id FROM annotation_task t JOIN annotation_assignment a ON a.task_id = t.id AND a.state = 'submitted'
 WHERE t.campaign_id = %(campaign)s GROUP BY t.id
HAVING count(*) >= greatest(t.raters, 2) AND bool_or(a.user_id = %(user)s)
 ORDER BY max(a.submitted_at), t.id
"""
PAIRS = """
SELECT q.id, q.wording, coalesce(i.cluster, d.cluster), m.item_id, o.rater_id,
       m.number IS NOT DISTINCT FROM o.number AND m.text IS NOT DISTINCT FROM o.text
  FROM annotation_assignment a
  JOIN annotation_label m ON m.assignment_id = a.id AND m.supersedes_id IS NULL AND m.missing = ''
  JOIN annotation_question q ON q.id = m.question_id AND q.level <> 'text'
  JOIN annotation_assignment b ON b.task_id = a.task_id AND b.state = 'submitted' AND b.user_id <> a.user_id
  JOIN annotation_label o ON o.assignment_id = b.id AND o.item_id = m.item_id
   AND o.question_id = m.question_id AND o.superseded_at IS NULL AND o.missing = ''
  JOIN annotation_item i ON i.id = m.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE a.user_id = %(user)s AND a.campaign_id = %(campaign)s AND a.state = 'submitted'
   AND a.task_id = ANY(%(tasks)s)
 ORDER BY q.position, q.id, m.item_id, o.rater_id
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Agreement of a person's answers to a question with the others': the proportion of equal pairs."""

    question: str
    result: Result


@dataclass(frozen=True, slots=True)
class Own:
    """An annotator's own agreement: `tasks` that count, tasks `finished` by all, and a row per question."""

    tasks: int
    finished: int
    rows: tuple[Row, ...]

    @property
    def missing(self) -> int:
        """Number of further finished tasks needed before agreement is shown."""
        return max(0, LEAST - self.finished)


@dataclass(frozen=True, slots=True)
class Pair:
    """An own answer and another rater's (by id) answer to the same question on the same item."""

    cluster: str
    item: int
    rater: int
    is_same: bool


def own_agreement(user: User, campaign: Campaign) -> Own:
    """Return a person's agreement with the others of a campaign, by question."""
    place: dict[str, Any] = {"user": user.pk, "campaign": campaign.pk}
    with connection.cursor() as cursor:
        cursor.execute(FINISHED, place)
        tasks = [task for (task,) in cursor.fetchall()]
        counted = len(tasks) // STEP * STEP if len(tasks) >= LEAST else 0
        if not counted:
            return Own(0, len(tasks), ())
        cursor.execute(PAIRS, place | {"tasks": tasks[:counted]})
        pairs = cursor.fetchall()
    by_question: dict[tuple[int, str], list[Pair]] = {}
    for question, wording, *columns in pairs:
        by_question.setdefault((question, wording), []).append(Pair(*columns))
    rows = tuple(Row(wording, share(rows)) for (_, wording), rows in by_question.items())
    return Own(counted, len(tasks), rows)


def share(pairs: Sequence[Pair]) -> Result:
    """Return the proportion of equal pairs, with its interval, not corrected for chance.

    Below LEAST items there is no value.
    """
    items = len({pair.item for pair in pairs})
    units = cluster_codes([pair.cluster for pair in pairs], len(pairs))
    raters = len({pair.rater for pair in pairs})
    counts: Counts = {"n_items": items, "n_clusters": len(set(units)), "n_raters": raters}
    if items < LEAST:
        few = f"{items} answers of yours meet others', too few to tell: {LEAST} are needed"
        return Result("percent_agreement", status="insufficient", reason=few, **counts)
    rows = np.array([[float(pair.is_same), 1.0] for pair in pairs])
    plan = Plan(resamples=RESAMPLES)
    point, resampled_shares = resampled(units, rows, lambda sums: sums[:, 0] / sums[:, 1], plan)
    return finished("percent_agreement", point, resampled_shares, plan, **counts)
