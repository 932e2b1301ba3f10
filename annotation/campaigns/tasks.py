"""The tasks of a campaign and their slots, made in bulk when it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import connection

from annotation.models import Campaign, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.base import NO_CONVERSATION, STATIC
from config.planner import WORTH_TELLING, tell_planner

RANK = """, row_number() OVER (
         ORDER BY md5(%(seed)s || ':' || d.key || '/' || c.key), d.key, c.key, i.position) AS rank"""

WANTED = """
SELECT c.id AS continuation_id, i.id AS item_id<rank>
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN LATERAL (
    SELECT i.id, u.position FROM annotation_item i LEFT JOIN annotation_turn u ON u.id = i.turn_id
     WHERE %(one_item)s AND i.continuation_id = c.id AND i.kind = %(kind)s
    UNION ALL
    SELECT NULL, 0 WHERE NOT %(one_item)s AND EXISTS (
      SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id AND i.kind = %(kind)s)) i ON true
 WHERE d.corpus_id = %(corpus)s
   AND (c.key = 'self' AND %(own)s
        OR (%(systems)s::bigint[] = '{}' OR c.system_id = ANY(%(systems)s::bigint[]))
           AND (c.key <> 'self' OR NOT EXISTS (
             SELECT 1 FROM annotation_continuation o WHERE o.dialogue_id = d.id AND o.key <> 'self')))
   AND <mode>
   AND NOT EXISTS (SELECT 1 FROM annotation_task t WHERE t.campaign_id = %(campaign)s
                    AND t.continuation_id = c.id AND t.item_id IS NOT DISTINCT FROM i.id)
"""

ASKED = "c.mode <> ALL(%(refused)s)"
LEFT_OUT = "c.mode = ANY(%(refused)s)"
WANTED_IN_ORDER = WANTED.replace("<rank>", RANK).replace("<mode>", ASKED)

MAKE_TASKS = """
INSERT INTO annotation_task (campaign_id, continuation_id, item_id, position)
SELECT %(campaign)s, wanted.continuation_id, wanted.item_id, wanted.rank - 1 + coalesce(
         (SELECT max(t.position) + 1 FROM annotation_task t WHERE t.campaign_id = %(campaign)s), 0)
  FROM ({}) AS wanted
"""

COUNT_WANTED = "SELECT count(*) FROM (SELECT 1 FROM ({}) AS wanted LIMIT %(most)s) AS counted"
MOST_COUNTED = 10_000
"""Tasks that a campaign would get are counted no further than this, so that its page stays quick."""

MAKE_SLOTS = """
INSERT INTO annotation_slot (task_id, number, campaign_id, position, taken)
SELECT t.id, n, t.campaign_id, t.position, false
  FROM annotation_task t CROSS JOIN generate_series(1, %(raters)s) AS n
 WHERE t.campaign_id = %(campaign)s
   AND NOT EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = t.id AND s.number = n)
"""


class LeftOut(NamedTuple):
    """Tasks that are not made (at most MOST_COUNTED are counted), of which mode, and why."""

    tasks: int
    mode: str
    reason: str

    def sentence(self) -> str:
        """Return it as one line for people."""
        many = f"at least {self.tasks:,}" if self.tasks == MOST_COUNTED else f"{self.tasks:,}"
        verb, plural = ("is", "") if self.tasks == 1 else ("are", "s")
        return f"{many} {self.mode} continuation{plural} {verb} left out: {self.reason}."


def make(campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> int:
    """Make the tasks that a campaign lacks, each with its slots, in an order drawn from its seed.

    The order shuffles continuations and keeps the turns of one together, first to last; it depends on the
    seed and on the ids in the files alone. Tasks that exist stay as they are, so a corpus that grew gives
    the campaign more tasks at its end. Returns how many tasks are new. `progress` is told of its two steps.
    """
    values = _values(campaign)
    progress = progress or _untold
    progress(0, 2)
    with connection.cursor() as cursor:
        cursor.execute(MAKE_TASKS.format(WANTED_IN_ORDER), values)
        made = cursor.rowcount
        progress(1, 2)
        cursor.execute(MAKE_SLOTS, values)
    if made >= WORTH_TELLING:
        tell_planner("annotation_task", "annotation_slot")
    progress(2, 2)
    return int(made)


def first(campaign: Campaign, most: int) -> list[tuple[int, int | None]]:
    """Return the first tasks, as (continuation, item or None for all of it): those made, else those to be."""
    made = campaign.tasks.order_by("position").values_list("continuation_id", "item_id")[:most]
    if made:
        return list(made)
    query = f"SELECT continuation_id, item_id FROM ({WANTED_IN_ORDER}) AS w ORDER BY rank LIMIT %(most)s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(query, _values(campaign) | {"most": most})
        return list(cursor.fetchall())


def count(campaign: Campaign) -> int:
    """Return how many new tasks `make` would make, at most MOST_COUNTED."""
    return _count(campaign, ASKED)


def left_out(campaign: Campaign) -> LeftOut | None:
    """Return what of a campaign's choice nobody is asked about, None where there is nothing.

    Judges leave out the same, for the same reason.
    """
    for mode, reason in _refused(campaign.scheme_version).items():
        if n := _count(campaign, LEFT_OUT):
            return LeftOut(n, mode, reason)
    return None


def _count(campaign: Campaign, mode: str) -> int:
    unordered = WANTED.replace("<rank>", "").replace("<mode>", mode)
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WANTED.format(unordered), _values(campaign) | {"most": MOST_COUNTED})
        return int(cursor.fetchone()[0])


def _refused(version: SchemeVersion) -> dict[str, str]:
    """Return the modes of continuations that nobody rates by a scheme, and why."""
    scheme = SCHEMES.get(version.scheme.key, version)
    return {STATIC: NO_CONVERSATION} if scheme.one_conversation else {}


def _untold(_done: int, _total: int) -> None:
    """Tell nobody."""


def _values(campaign: Campaign) -> dict[str, Any]:
    return {
        "campaign": campaign.pk,
        "corpus": campaign.corpus_id,
        "systems": list(campaign.systems.order_by("pk").values_list("pk", flat=True)),
        "own": campaign.include_self,
        "seed": str(campaign.seed),
        "one_item": campaign.scheme_version.unit == SchemeVersion.Unit.ITEM,
        "kind": campaign.scheme_version.item_kind,
        "raters": campaign.raters_per_item,
        "refused": list(_refused(campaign.scheme_version)),
    }
