"""How far an annotator is, and how much is left for them."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from annotation.checks.ahead import stage_progress, with_hidden
from annotation.models import Task
from annotation.work.checking import passes_of
from annotation.work.claiming import PASSED
from annotation.work.leases import Hold, Seat
from config import commands

FRESH_SECONDS = 15.0
MOST_COUNTED = 1_000


class Progress(NamedTuple):
    """`left` counts the task in hand; None means more than MOST_COUNTED. `minutes` is None until known.

    In a campaign with checks, hidden tasks count as all others do; during training and the test, its tasks
    alone are counted.
    """

    done: int
    left: int | None
    minutes: int | None


class _Count(NamedTuple):
    at: float
    done: int
    left: int


LEFT = """
SELECT count(*) FROM (
  SELECT DISTINCT s.position FROM annotation_slot s
   WHERE s.campaign_id = %(campaign)s AND NOT s.taken AND s.position < %(upto)s
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = %(user)s AND a.occasion = %(occasion)s), 'expired') = 'expired'
   ORDER BY s.position LIMIT %(most)s) AS free
"""

LEFT_RULED = LEFT.replace("AND NOT s.taken", f"AND NOT s.taken AND {PASSED}")

BUSY = (
    "SELECT 1 FROM annotation_assignment WHERE campaign_id = %s AND state IN ('leased', 'returned')"
    " AND slot_id IS NOT NULL LIMIT 1"
)

ROOM = """(m.done < coalesce(c.most_tasks, 2147483647)
   AND (m.done_today < coalesce(c.most_tasks_a_day, 2147483647)
        OR m.done_on IS DISTINCT FROM (now() AT TIME ZONE 'UTC')::date))"""

WITH_WORK = f"""
SELECT m.campaign_id FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.user_id = %(user)s AND c.state = 'open' AND coalesce(c.deadline > now(), true) AND (
   EXISTS (SELECT 1 FROM annotation_assignment a WHERE a.campaign_id = c.id AND a.user_id = m.user_id
            AND (a.state = 'returned' OR a.state = 'leased' AND {ROOM}))
   OR {ROOM} AND EXISTS (SELECT 1 FROM annotation_slot s WHERE s.campaign_id = c.id AND NOT s.taken
     AND s.position < coalesce(c.batch_size::bigint * c.batches_open, 2147483647)
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = m.user_id AND a.occasion = c.occasion), 'expired') = 'expired'
     AND (s.gate_id IS NULL OR concord_passes(s.gate_id, m.user_id)
          AND NOT concord_wrote(s.task_id, m.user_id))))
"""  # noqa: S608  (a condition of ours)

_counts: dict[tuple[int, int], _Count] = {}


def progress(*, seat: Seat, hold: Hold | None) -> Progress:
    """Return how far a member is. What is left is counted afresh every few seconds, not at every request.

    No more is left than the member may submit.
    """
    if seat.checked and (stage := stage_progress(seat)) is not None:
        return Progress(*stage, None)
    left = _left(seat, hold) + _in_hand(seat, hold)
    if (most := seat.limits.left) is not None:
        left = min(left, max(most, _in_hand(seat, hold)))
    if seat.over:
        left = 0
    if left > MOST_COUNTED:
        return Progress(seat.done, None, None)
    minutes = None if seat.pace is None else round(left * seat.pace / 60)
    return Progress(seat.done, left, minutes)


def with_work(*, user: int) -> set[int]:
    """Return the open campaigns in which a task is held by the user or free for them."""
    with commands.cursor() as cursor:
        cursor.execute(WITH_WORK, {"user": user})
        return {campaign for (campaign,) in cursor.fetchall()}


def has_later(*, seat: Seat) -> bool:
    """Whether the campaign has tasks in batches that are not open yet."""
    return Task.objects.filter(campaign=seat.campaign, position__gte=seat.upto).exists()


def others_are_busy(*, seat: Seat) -> bool:
    """Whether tasks are held that may come back when their leases run out."""
    with commands.cursor() as cursor:
        cursor.execute(BUSY, (seat.campaign,))
        return cursor.fetchone() is not None


def _in_hand(seat: Seat, hold: Hold | None) -> int:
    """Count the tasks that no free slot stands for: those returned, held or given; not one revised."""
    state = "" if hold is None else hold.state
    others = max(0, seat.returned - (state == "returned")) + max(0, seat.leased - (state == "leased"))
    return others + (state in ("returned", "leased"))


def _left(seat: Seat, hold: Hold | None) -> int:
    now = time.monotonic()
    if hold is None:  # never kept: the task that comes next is among the free ones now, and will be in hand
        _counts.pop((seat.campaign, seat.user), None)
        return _counted(seat, held=False)
    count = _counts.get((seat.campaign, seat.user))
    if count is None or now - count.at > FRESH_SECONDS or seat.done < count.done:
        count = _Count(now, seat.done, _counted(seat, held=hold.state == "leased"))
        if len(_counts) > 10_000:
            _counts.clear()
        _counts[seat.campaign, seat.user] = count
    return max(0, count.left - (seat.done - count.done))


def _counted(seat: Seat, *, held: bool) -> int:
    tasks = _count(seat)
    return with_hidden(seat, tasks, held=held, most=MOST_COUNTED + 1) if seat.checked else tasks


def _count(seat: Seat) -> int:
    values: dict[str, Any] = {
        "campaign": seat.campaign,
        "user": seat.user,
        "occasion": seat.occasion,
        "most": MOST_COUNTED + 1,
        "upto": seat.upto,
    }
    with commands.cursor() as cursor:
        if seat.ruled:
            cursor.execute(LEFT_RULED, values | passes_of(seat.campaign, seat.user))
        else:
            cursor.execute(LEFT, values)
        return int(cursor.fetchone()[0])
