"""How many raters each task has: all alike, or a part of them, drawn by the seed, more.

The slots of a task are rows, and how many they may be stands on the task and never falls. So adding raters to
a campaign in which people work adds rows that nobody waits for, and the claim finds them like any other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import connection

from annotation.models import Campaign

RAISE = """
UPDATE annotation_task SET raters = CASE WHEN raters = %(base_before)s THEN %(base)s ELSE %(more)s END
 WHERE campaign_id = %(campaign)s AND position >= 0
   AND raters <> CASE WHEN raters = %(base_before)s THEN %(base)s ELSE %(more)s END
"""

COUNT = """
SELECT count(*), count(*) FILTER (WHERE raters = %(more)s)
  FROM annotation_task WHERE campaign_id = %(campaign)s AND position >= 0
"""

DRAW = """
UPDATE annotation_task SET raters = %(more)s WHERE id IN (
  SELECT t.id FROM annotation_task t
    JOIN annotation_continuation c ON c.id = t.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    LEFT JOIN annotation_item i ON i.id = t.item_id
    LEFT JOIN annotation_turn u ON u.id = i.turn_id
   WHERE t.campaign_id = %(campaign)s AND t.raters = %(base)s AND t.position >= %(first)s
   ORDER BY md5(%(seed)s || ':overlap:' || d.key || '/' || c.key || '/' || coalesce(u.position::text, '')),
            d.key, c.key, u.position
   LIMIT %(wanted)s)
"""

MAKE_SLOTS = """
INSERT INTO annotation_slot (task_id, number, campaign_id, position, taken)
SELECT t.id, n, t.campaign_id, t.position, false
  FROM annotation_task t CROSS JOIN LATERAL generate_series(1, t.raters) AS n
 WHERE t.campaign_id = %(campaign)s AND t.position >= 0
   AND NOT EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = t.id AND s.number = n)
"""


class Before(NamedTuple):
    """How many raters all tasks had, and the part that has more (None: no part had)."""

    base: int
    more: int | None


def measures(campaign: Campaign) -> Before:
    """Return how many raters a campaign asks for, to be kept while it is changed."""
    return Before(campaign.raters_per_item, campaign.overlap_raters)


def wanted(campaign: Campaign, tasks: int) -> int:
    """Return how many of so many tasks are to have more raters: the share of them, rounded, or the number."""
    if campaign.overlap_share is not None:
        return round(campaign.overlap_share * tasks)
    return min(campaign.overlap_tasks or 0, tasks)


def raise_tasks(campaign: Campaign, before: Before) -> None:
    """Give the tasks of a saved campaign the raters that it asks for now, which are no fewer than before."""
    values = _values(campaign) | {"base_before": before.base}
    with connection.cursor() as cursor:
        cursor.execute(RAISE, values)


def draw(campaign: Campaign, first: int = 0) -> int:
    """Draw the part that has more raters among the tasks from a position on; return how many were drawn.

    Those drawn earlier stay and count: the whole campaign has its share, rounded, as far as these reach.
    """
    if campaign.overlap_raters is None:
        return 0
    values = _values(campaign)
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
        tasks, there = cursor.fetchone()
        lacking = max(0, wanted(campaign, tasks) - there)
        cursor.execute(DRAW, values | {"first": first, "wanted": lacking})
        return int(cursor.rowcount)


def make_slots(campaign: Campaign) -> int:
    """Make the slots that the campaign's tasks lack; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(MAKE_SLOTS, _values(campaign))
        return int(cursor.rowcount)


def _values(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": campaign.pk,
        "seed": str(campaign.seed),
        "base": campaign.raters_per_item,
        "more": campaign.overlap_raters,
    }
