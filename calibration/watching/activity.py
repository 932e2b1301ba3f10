"""What happened last in a campaign: what annotators and researchers did, in one list."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from annotation.models import Campaign

MOST = 30

ACTS = """
(SELECT coalesce(a.submitted_at, a.leased_at) AS at, u.username, a.state, a.id, a.skip_reason
   FROM annotation_assignment a JOIN auth_user u ON u.id = a.user_id
  WHERE a.campaign_id = %(campaign)s AND a.state IN ('submitted', 'skipped', 'leased')
  ORDER BY 1 DESC, a.id DESC LIMIT %(most)s)
UNION ALL
(SELECT e.at, coalesce(u.username, ''), e.verb, NULL, coalesce(e.detail ->> 'reason', '')
   FROM config_event e LEFT JOIN auth_user u ON u.id = e.by_id
  WHERE e.verb LIKE 'campaign: %%' AND e.subject = %(name)s
  ORDER BY e.at DESC LIMIT %(most)s)
ORDER BY 1 DESC LIMIT %(most)s
"""
WORDS = {"submitted": "submitted a task", "skipped": "skipped a task", "leased": "took a task"}


class Act(NamedTuple):
    """What somebody did; `submission` leads to it where it is one, `reason` is what they said of it."""

    at: datetime
    who: str
    what: str
    submission: int | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


def latest(campaign: Campaign) -> tuple[Act, ...]:
    """Return the last acts, the latest first."""
    with connection.cursor() as cursor:
        cursor.execute(ACTS, {"campaign": campaign.pk, "name": campaign.name, "most": MOST})
        rows = cursor.fetchall()
    return tuple(
        Act(at, who, WORDS.get(what, what.removeprefix("campaign: ")), submission, reason)
        for at, who, what, submission, reason in rows
    )
