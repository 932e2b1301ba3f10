"""Claiming where strata are balanced over annotators: of the stratum that somebody has done least of.

Which strata have something left for a person, and how much of each they have done, is one query of a look
into an index for each stratum. Then a slot is claimed of the first; where others take its last one at that
moment, of the next. How much somebody has done is kept by a trigger, whatever frees or takes a slot.
"""

from __future__ import annotations

from typing import Any

from annotation.work.claiming import CLAIM, FREE, RULED_FREE
from config import commands

# The place in a stratum goes on from the last claim in it, as it does in a campaign without strata.
LEAST = f"""
SELECT b.id, coalesce(h.cursor, -1)
  FROM annotation_balancestratum b
  LEFT JOIN annotation_stratumshare h ON h.stratum_id = b.id AND h.user_id = %(user)s
 WHERE b.campaign_id = %(campaign)s
   AND (EXISTS (SELECT 1 FROM annotation_slot s WHERE s.stratum_id = b.id AND {FREE}
                   AND s.position > coalesce(h.cursor, -1))
     OR EXISTS (SELECT 1 FROM annotation_slot s WHERE s.stratum_id = b.id AND {FREE}))
 ORDER BY coalesce(h.done, 0), md5(%(user)s::bigint::text || ':' || b.id), b.id
"""  # noqa: S608  (a condition of ours)
CLAIM_OF = CLAIM.replace(f"WHERE {FREE}", f"WHERE s.stratum_id = %(stratum)s AND {FREE}").replace(
    "UPDATE annotation_campaignmember m SET cursor = free.position FROM free WHERE m.id = %(member)s",
    """INSERT INTO annotation_stratumshare (user_id, stratum_id, cursor, done)
  SELECT %(user)s, %(stratum)s, free.position, 0 FROM free
  ON CONFLICT (user_id, stratum_id) DO UPDATE SET cursor = excluded.cursor""",
)
LEAST_RULED, CLAIM_OF_RULED = (query.replace(FREE, RULED_FREE) for query in (LEAST, CLAIM_OF))


def claimed(values: dict[str, Any], *, ruled: bool) -> tuple[Any, ...] | None:
    """Claim a slot for a person and return the row of its assignment; None where nothing is left for them."""
    least, claim = (LEAST_RULED, CLAIM_OF_RULED) if ruled else (LEAST, CLAIM_OF)
    with commands.cursor() as cursor:
        cursor.execute(least, values)
        for stratum, after in cursor.fetchall():
            for place in dict.fromkeys((after, -1)):
                cursor.execute(claim, values | {"stratum": stratum, "after": place})
                if row := cursor.fetchone():
                    return tuple(row)
    return None
