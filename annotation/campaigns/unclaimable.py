"""Tasks that nobody who takes part can take, because of the campaign's rules, and why, in words."""

from __future__ import annotations

from typing import Any

from django.db import connection

from annotation.models import Campaign
from annotation.text.language import language_name

STUCK = """
WITH present AS MATERIALIZED (
  SELECT m.user_id FROM annotation_campaignmember m JOIN auth_user u ON u.id = m.user_id
   WHERE m.campaign_id = %(campaign)s AND u.is_active),
passing AS MATERIALIZED (
  SELECT g.id AS gate_id, p.user_id FROM annotation_gate g CROSS JOIN present p
   WHERE g.campaign_id = %(campaign)s AND concord_passes(g.id, p.user_id))
SELECT g.language, coalesce(o.name, ''), coalesce(r.name, ''), count(DISTINCT s.task_id),
       EXISTS (SELECT 1 FROM passing p WHERE p.gate_id = g.id)
  FROM (SELECT * FROM annotation_slot WHERE campaign_id = %(campaign)s AND NOT taken AND gate_id IS NOT NULL
         ORDER BY position LIMIT %(most)s) s
  JOIN annotation_gate g ON g.id = s.gate_id
  LEFT JOIN annotation_peoplegroup o ON o.id = g.group_id
  LEFT JOIN annotation_peoplegroup r ON r.id = g.reserved_id
 WHERE NOT EXISTS (
   SELECT 1 FROM passing p WHERE p.gate_id = s.gate_id AND NOT concord_wrote(s.task_id, p.user_id)
      AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                     AND a.user_id = p.user_id AND a.occasion = %(occasion)s), 'expired') = 'expired')
 GROUP BY g.id, 1, 2, 3 ORDER BY 1, 2, 3
"""
MOST_LOOKED_AT = 10_000
"""Free slots that are looked at, so that the campaign's page stays quick."""


def told(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the tasks with a free slot that no present member may take, by what they ask for.

    Each with `language`, `group`, `reserved` ('' where not asked for), `tasks`, and a `sentence`. A member
    who rated the task, skipped it or wrote in its dialogue may not take it either.
    """
    if not campaign.ruled or campaign.state == Campaign.State.DRAFT:
        return []
    values: dict[str, Any] = {"campaign": campaign.pk, "occasion": campaign.occasion, "most": MOST_LOOKED_AT}
    with connection.cursor() as cursor:
        cursor.execute(STUCK, values)
        rows = cursor.fetchall()
    return [
        {
            "language": language,
            "group": group,
            "reserved": reserved,
            "tasks": tasks,
            "sentence": _sentence(language, group, reserved, tasks, somebody),
        }
        for language, group, reserved, tasks, somebody in rows
    ]


def _sentence(language: str, group: str, reserved: str, tasks: int, somebody: bool) -> str:
    many = f"{tasks:,} task{'s' * (tasks != 1)}"
    where = f" in {language_name(language)}" if language else ""
    group_of = " and ".join(dict.fromkeys(name for name in (group, reserved) if name))
    for_whom = f" for {group_of}" if group_of else ""
    if somebody:
        return f"{many}{where}{for_whom}: whoever may rate them has done so, skipped them, or wrote in them."
    if language and group_of:
        return f"{many}{where}{for_whom}: nobody here is in {group_of} and reads it."
    if language:
        return f"{many}{where}: nobody here reads it."
    return f"{many}{for_whom}: nobody here is in {group_of}."
