"""The tasks of a campaign and their slots, made in bulk when it opens."""

from __future__ import annotations

from django.db import connection

from annotation.models import Campaign, SchemeVersion

CHOSEN = """
SELECT c.id, d.key || '/' || c.key AS key
  FROM annotation_continuation c JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE d.corpus_id = %(corpus)s
   AND CASE WHEN c.key = 'self' THEN %(own)s OR (
              NOT EXISTS (SELECT 1 FROM annotation_continuation o WHERE o.dialogue_id = d.id AND o.key <> 'self')
              AND (%(systems)s::bigint[] = '{}' OR c.system_id = ANY(%(systems)s::bigint[])))
            ELSE %(systems)s::bigint[] = '{}' OR c.system_id = ANY(%(systems)s::bigint[]) END
"""

WANTED_ITEMS = (
    """
WITH chosen AS ("""
    + CHOSEN
    + """)
SELECT chosen.id AS continuation_id, i.id AS item_id,
       row_number() OVER (ORDER BY md5(%(seed)s || ':' || chosen.key), chosen.key, coalesce(u.position, 0)) AS rank
  FROM chosen JOIN annotation_item i ON i.continuation_id = chosen.id AND i.kind = %(kind)s
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
 WHERE NOT EXISTS (SELECT 1 FROM annotation_task t WHERE t.campaign_id = %(campaign)s AND t.item_id = i.id)
"""
)

WANTED_CONTINUATIONS = (
    """
WITH chosen AS ("""
    + CHOSEN
    + """)
SELECT chosen.id AS continuation_id, NULL::bigint AS item_id,
       row_number() OVER (ORDER BY md5(%(seed)s || ':' || chosen.key), chosen.key) AS rank
  FROM chosen
 WHERE EXISTS (SELECT 1 FROM annotation_item i WHERE i.continuation_id = chosen.id AND i.kind = %(kind)s)
   AND NOT EXISTS (SELECT 1 FROM annotation_task t
                    WHERE t.campaign_id = %(campaign)s AND t.continuation_id = chosen.id)
"""
)

MAKE_TASKS = """
INSERT INTO annotation_task (campaign_id, continuation_id, item_id, position)
SELECT %(campaign)s, wanted.continuation_id, wanted.item_id, wanted.rank - 1 + coalesce(
         (SELECT max(t.position) + 1 FROM annotation_task t WHERE t.campaign_id = %(campaign)s), 0)
  FROM ({}) AS wanted
"""

MAKE_SLOTS = """
INSERT INTO annotation_slot (task_id, number, campaign_id, position, taken)
SELECT t.id, n, t.campaign_id, t.position, false
  FROM annotation_task t CROSS JOIN generate_series(1, %(raters)s) AS n
 WHERE t.campaign_id = %(campaign)s
   AND NOT EXISTS (SELECT 1 FROM annotation_slot s WHERE s.task_id = t.id AND s.number = n)
"""


def make(campaign: Campaign) -> int:
    """Make the tasks that a campaign lacks, each with its slots, in an order drawn from its seed.

    The order shuffles continuations and keeps the turns of one together, first to last; it depends on the
    seed and on the ids in the files alone. Tasks that exist stay as they are, so a corpus that grew gives
    the campaign more tasks at its end. Returns how many tasks are new.
    """
    values = _values(campaign)
    with connection.cursor() as cursor:
        cursor.execute(MAKE_TASKS.format(_wanted(campaign)), values)
        made = cursor.rowcount
        cursor.execute(MAKE_SLOTS, values)
    return int(made)


def count(campaign: Campaign) -> int:
    """Return how many new tasks `make` would make."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT.format(_wanted(campaign)), _values(campaign))
        return int(cursor.fetchone()[0])


COUNT = "SELECT count(*) FROM ({}) AS wanted"


def _wanted(campaign: Campaign) -> str:
    one_item = campaign.scheme_version.unit == SchemeVersion.Unit.ITEM
    return WANTED_ITEMS if one_item else WANTED_CONTINUATIONS


def _values(campaign: Campaign) -> dict[str, object]:
    return {
        "campaign": campaign.pk,
        "corpus": campaign.corpus_id,
        "systems": list(campaign.systems.order_by("pk").values_list("pk", flat=True)),
        "own": campaign.include_self,
        "seed": str(campaign.seed),
        "kind": campaign.scheme_version.item_kind,
        "raters": campaign.raters_per_item,
    }
