"""What happened last in a campaign: what annotators and researchers did, in one list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection

from annotation.campaigns.progress import managers_in
from annotation.labels.pseudonyms import of_people
from annotation.models import Campaign

MOST = 120
"""So many acts are read; a page shows fewer lines, because acts in a row are one."""
LINES = 30

ACTS = """
(SELECT coalesce(a.submitted_at, a.leased_at) AS at, a.user_id, a.state, a.id, a.skip_reason
   FROM annotation_assignment a
  WHERE a.campaign_id = %(campaign)s AND a.state IN ('submitted', 'skipped', 'leased')
  ORDER BY 1 DESC, a.id DESC LIMIT %(most)s)
UNION ALL
(SELECT e.at, e.by_id, e.verb, NULL, coalesce(e.detail ->> 'reason', '')
   FROM config_event e
  WHERE e.verb LIKE 'campaign: %%' AND e.subject = %(name)s
  ORDER BY e.at DESC LIMIT %(most)s)
ORDER BY 1 DESC LIMIT %(most)s
"""
WORDS = {"submitted": "submitted a task", "skipped": "skipped a task", "leased": "took a task"}
MANY = {"submitted a task": "submitted {} tasks", "skipped a task": "skipped {} tasks"}


class Act(NamedTuple):
    """What somebody did: an annotator by pseudonym, who manages by user name.

    `submission` leads to it where it is one, `reason` is what they said of it.
    """

    at: datetime
    who: str
    what: str
    submission: int | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


class Line(NamedTuple):
    """What one person did, once or several times in a row, from `since` until `at`."""

    at: datetime
    since: datetime
    who: str
    what: str
    reason: str


def in_a_row(acts: Sequence[Act]) -> list[Line]:
    """Return acts as lines, the latest first: submissions of one person with nothing between are one line.

    So are tasks that were skipped for the same reason. At most LINES.
    """
    lines = []
    for (who, what, reason), group in groupby(acts, lambda act: (act.who, act.what, act.reason)):
        row = list(group)
        if len(row) > 1 and what in MANY:
            lines.append(Line(row[0].at, row[-1].at, who, MANY[what].format(len(row)), reason))
        else:
            lines += [Line(act.at, act.at, who, what, reason) for act in row]
    return lines[:LINES]


def latest(campaign: Campaign) -> tuple[Act, ...]:
    """Return the last acts, the latest first."""
    with connection.cursor() as cursor:
        cursor.execute(ACTS, {"campaign": campaign.pk, "name": campaign.name, "most": MOST})
        rows = cursor.fetchall()
    working = of_people({who for _, who, *_ in rows if who}, campaign.corpus_id)
    acting = working | managers_in(working, campaign)
    return tuple(
        Act(
            at,
            (working if submission else acting).get(who, ""),
            WORDS.get(what, what.removeprefix("campaign: ")),
            submission,
            reason,
        )
        for at, who, what, submission, reason in rows
    )
