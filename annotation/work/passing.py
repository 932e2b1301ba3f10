"""What a person may rate in a campaign that has rules."""

from __future__ import annotations

from typing import Any

from config import prepared

PASSES = """
SELECT ARRAY(SELECT g.id FROM annotation_gate g
              WHERE g.campaign_id = %(campaign)s AND concord_passes(g.id, %(user)s::bigint)),
       ARRAY(SELECT u.folded::text FROM annotation_username u WHERE u.user_id = %(user)s
             UNION ALL SELECT n.folded::text FROM annotation_writingname n WHERE n.user_id = %(user)s)
"""


def passes_of(campaign: int, user: int) -> dict[str, Any]:
    """Return the `gates` of a campaign that a person passes, and the folded `names` that they write under."""
    with prepared.cursor() as cursor:
        cursor.execute(PASSES, {"campaign": campaign, "user": user})
        gates, names = cursor.fetchone()
    return {"gates": gates, "names": names}
