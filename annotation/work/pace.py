"""How far and how fast a person works in each of their campaigns: for their own page, never for others'."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.utils import timezone

from annotation.work.progress import MOST_COUNTED
from config import commands

DAYS = 14
"""Days that the chart of a person's pace shows, today included."""

LEFT = """
SELECT m.campaign_id, (SELECT count(*) FROM (
  SELECT DISTINCT s.position FROM annotation_slot s
   WHERE s.campaign_id = c.id AND NOT s.taken
     AND s.position < coalesce(c.batch_size::bigint * c.batches_open, 2147483647)
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = m.user_id AND a.occasion = c.occasion), 'expired') = 'expired'
   ORDER BY s.position LIMIT %(most)s) AS free) + (
  SELECT count(*) FROM annotation_assignment a WHERE a.campaign_id = c.id AND a.user_id = m.user_id
     AND a.state IN ('leased', 'returned')), m.done, c.most_tasks
  FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.user_id = %(user)s AND c.state = 'open' AND coalesce(c.deadline > now(), true)
"""
MEDIANS = """
SELECT campaign_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), count(*) FROM (
  SELECT a.campaign_id, (SELECT sum(told.value::bigint) / 1000.0 FROM jsonb_each_text(a.attention) AS told)
    AS seconds FROM annotation_assignment a WHERE a.user_id = %(user)s AND a.state = 'submitted') AS own
 WHERE seconds IS NOT NULL GROUP BY campaign_id
"""
BY_DAY = """
SELECT campaign_id, (submitted_at AT TIME ZONE 'UTC')::date AS day, count(*)
  FROM annotation_assignment
 WHERE user_id = %(user)s AND state = 'submitted' AND submitted_at >= %(since)s GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Day:
    """How many tasks stand that were submitted on a day of UTC; `share` of the busiest day's (0 to 100)."""

    date: date
    tasks: int
    share: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The median seconds of attention a task took, over `n` tasks of which a page told it, and the last days.

    `seconds` is None where no page told any. `days` is empty where nothing was submitted in them.
    """

    seconds: float | None
    n: int
    days: tuple[Day, ...]


def left(*, user: int) -> dict[int, int | None]:
    """Return how many tasks are left for a person in each open campaign; None: more than MOST_COUNTED."""
    with commands.cursor() as cursor:
        cursor.execute(LEFT, {"user": user, "most": MOST_COUNTED + 1})
        found = cursor.fetchall()
    told: dict[int, int | None] = {}
    for campaign, tasks, done, most in found:
        bound = tasks if most is None else min(tasks, max(0, most - done))
        told[campaign] = None if bound > MOST_COUNTED else bound
    return told


def paces(*, user: int) -> dict[int, Pace]:
    """Return a person's pace in each campaign in which they submitted something."""
    today = timezone.now().astimezone(UTC).date()
    first = today - timedelta(days=DAYS - 1)
    with commands.cursor() as cursor:
        cursor.execute(MEDIANS, {"user": user})
        medians = {campaign: (float(median), n) for campaign, median, n in cursor.fetchall()}
        cursor.execute(BY_DAY, {"user": user, "since": first})
        counts: dict[int, dict[date, int]] = {}
        for campaign, day, tasks in cursor.fetchall():
            counts.setdefault(campaign, {})[day] = tasks
    told = {}
    for campaign in medians.keys() | counts.keys():
        seconds, n = medians.get(campaign, (None, 0))
        told[campaign] = Pace(seconds, n, _days(counts.get(campaign, {}), first))
    return told


def _days(counts: dict[date, int], first: date) -> tuple[Day, ...]:
    if not counts:
        return ()
    most = max(counts.values())
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return tuple(Day(day, counts.get(day, 0), round(100 * counts.get(day, 0) / most)) for day in days)
