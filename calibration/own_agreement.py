"""Agreement of one annotator with the others of a campaign, as that annotator is told."""

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

# How far one annotator agrees with the others of a campaign, told to that annotator.
#
# Nobody may learn a single answer of another from it. So only tasks count that all their raters have
# finished; they count in steps of STEP in the order in which they were finished, LEAST of them at least;
# and of one's own answers the first ones count, so that revising an answer and looking again tells nothing.

LEAST = 20
"""Tasks finished by all their raters, and answers on them, below which nothing is told."""
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
    """How far a person's answers to one question are the others' answers, too: the share of pairs."""

    question: str
    result: Result


@dataclass(frozen=True, slots=True)
class Own:
    """What an annotator is told: `tasks` that count, `finished` by all, and a row a question."""

    tasks: int
    finished: int
    rows: tuple[Row, ...]

    @property
    def missing(self) -> int:
        """How many more finished tasks it takes until something is told."""
        return max(0, LEAST - self.finished)


@dataclass(frozen=True, slots=True)
class Pair:
    """One own answer beside the answer of another rater, by id, to the same question about the same item."""

    cluster: str
    item: int
    rater: int
    is_same: bool


def own_agreement(user: User, campaign: Campaign) -> Own:
    """Return how far a person agrees with the others of a campaign, question by question."""
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
    """Return the share of pairs that are the same, with its interval; it is not corrected for chance.

    Below LEAST items nothing is told.
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
