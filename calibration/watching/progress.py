"""How far a campaign is: by annotator, by stratum and by day."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from annotation.campaigns.progress import Counts, counts
from annotation.labels.pseudonyms import of_people
from annotation.models import Campaign

RECENT_DAYS = 7
"""Days whose pace tells when a campaign is done."""
DAYS_SHOWN = 14
MOST_STRATA = 50

ANNOTATORS = """
SELECT u.id, u.is_active,
       count(*) FILTER (WHERE a.state = 'submitted' AND a.slot_id IS NOT NULL),
       count(*) FILTER (WHERE a.state = 'leased'),
       count(*) FILTER (WHERE a.state = 'skipped'),
       count(*) FILTER (WHERE a.state = 'expired'),
       count(*) FILTER (WHERE a.state = 'returned'),
       count(*) FILTER (WHERE a.state = 'voided'),
       count(*) FILTER (WHERE a.flagged),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY (
         SELECT sum(told.value::bigint) / 1000.0 FROM jsonb_each_text(a.attention) AS told))
         FILTER (WHERE a.state = 'submitted'),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM a.submitted_at - a.leased_at))
         FILTER (WHERE a.state = 'submitted'),
       max(greatest(a.submitted_at, a.draft_saved_at, a.leased_at))
  FROM (SELECT user_id FROM annotation_campaignmember WHERE campaign_id = %(campaign)s
         UNION SELECT user_id FROM annotation_assignment WHERE campaign_id = %(campaign)s) p
  JOIN auth_user u ON u.id = p.user_id
  LEFT JOIN annotation_assignment a ON a.campaign_id = %(campaign)s AND a.user_id = u.id
 GROUP BY u.id, u.is_active
"""

STRATA = """
SELECT {stratum} AS stratum, count(DISTINCT t.id), count(*),
       count(*) FILTER (WHERE a.state = 'submitted'), count(*) FILTER (WHERE s.taken)
  FROM annotation_slot s
  JOIN annotation_task t ON t.id = s.task_id
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  JOIN annotation_system y ON y.id = c.system_id
  JOIN annotation_campaign k ON k.id = s.campaign_id
  LEFT JOIN annotation_item i ON i.id = t.item_id
  LEFT JOIN annotation_sampleddialogue m ON m.campaign_id = t.campaign_id AND m.dialogue_id = d.id
  LEFT JOIN annotation_assignment a ON a.slot_id = s.id AND a.state = 'submitted'
 WHERE s.campaign_id = %(campaign)s
   AND (k.batch_size IS NULL OR NOT %(opened)s OR t.position < k.batch_size::bigint * (k.batches_open + 1))
 GROUP BY 1 ORDER BY {order}, 1 LIMIT %(most)s
"""
STRATUM = {
    "system": "CASE WHEN i.compared IS NULL THEN y.name ELSE 'several' END",
    "language": "coalesce(nullif(d.language, ''), 'not known')",
    "stratum": "coalesce(nullif(m.stratum, ''), 'without')",
    "batch": "(t.position / k.batch_size + 1)::text",
}
IN_ORDER = {"batch": "min(t.position) DESC"}
"""What is not told from the largest to the smallest: the last batches come first."""
BY = {
    "system": "System",
    "language": "Language",
    "stratum": "Stratum of the sample",
    "batch": "Batch",
}
"""By what progress is told, with its title."""

DAYS = """
SELECT (a.submitted_at AT TIME ZONE 'UTC')::date, count(*) FROM annotation_assignment a
 WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted' AND a.slot_id IS NOT NULL
   AND a.submitted_at >= %(since)s
 GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator's part, by pseudonym. `submitted` counts the main work alone, as the campaign's do.

    `attended` and `taken` are median seconds a submitted task: in front of the page, and from being handed
    out to being submitted; None where nothing tells. `last` is when they last acted.
    """

    name: str
    active: bool
    submitted: int
    held: int
    skipped: int
    expired: int
    returned: int
    voided: int
    flagged: int
    attended: float | None
    taken: float | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Stratum:
    """The tasks of one stratum, their slots, and how many of these are submitted, and submitted or held."""

    name: str
    tasks: int
    slots: int
    submitted: int
    taken: int

    @property
    def held(self) -> int:
        """Slots that somebody has before them, or that were handed back to somebody."""
        return self.taken - self.submitted


@dataclass(frozen=True, slots=True)
class Forecast:
    """When all is in, at the mean pace of the last days: `a_day` submissions; None where there is no pace."""

    left: int
    a_day: float
    days: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is."""

    counts: Counts
    annotators: tuple[Annotator, ...]
    by: str
    strata: tuple[Stratum, ...]
    days: tuple[tuple[date, int], ...]
    forecast: Forecast

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "counts": asdict(self.counts),
            "annotators": [asdict(one) for one in self.annotators],
            "by": self.by,
            "strata": [asdict(one) for one in self.strata],
            "days": [{"day": day, "submitted": n} for day, n in self.days],
            "forecast": asdict(self.forecast),
        }


def choices(campaign: Campaign) -> dict[str, str]:
    """Return by what a campaign's progress can be told, with titles; by stratum of a sample, by batch."""
    drawn = campaign.sample_dialogues is not None and campaign.sample_by
    without = {*(() if drawn else ("stratum",)), *(() if campaign.batch_size else ("batch",))}
    return {key: title for key, title in BY.items() if key not in without}


def progress(campaign: Campaign, by: str = "system") -> Progress:
    """Return how far a campaign is, in five queries. Raises KeyError where `by` is no stratum."""
    counted = counts(campaign)
    days = _days(campaign)
    return Progress(
        counts=counted,
        annotators=_annotators(campaign),
        by=by,
        strata=tuple(
            Stratum(*row) for row in _rows(_strata(by), campaign, most=MOST_STRATA, opened=by == "batch")
        ),
        days=days,
        forecast=_forecast(campaign, counted.slots - counted.submitted, days),
    )


def _annotators(campaign: Campaign) -> tuple[Annotator, ...]:
    rows = _rows(ANNOTATORS, campaign)
    names = of_people((user for user, *_ in rows), campaign.corpus_id)
    return tuple(sorted((Annotator(names[user], *row) for user, *row in rows), key=lambda one: one.name))


def _strata(by: str) -> str:
    return STRATA.format(stratum=STRATUM[by], order=IN_ORDER.get(by, "3 DESC"))


def _rows(query: str, campaign: Campaign, **values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, {"campaign": campaign.pk, **values})
        return cursor.fetchall()


def _days(campaign: Campaign) -> tuple[tuple[date, int], ...]:
    """Return the last days of UTC with what was submitted on each, those with nothing among them."""
    today = timezone.now().date()
    first = today - timedelta(days=DAYS_SHOWN - 1)
    found = dict(_rows(DAYS, campaign, since=first))
    return tuple((day, found.get(day, 0)) for day in (first + timedelta(days=n) for n in range(DAYS_SHOWN)))


def _forecast(campaign: Campaign, left: int, days: tuple[tuple[date, int], ...]) -> Forecast:
    """Reckon with the last days, or with those since the first submission where these are fewer."""
    recent = days[-RECENT_DAYS:]
    worked = [n for n, (_, many) in enumerate(recent) if many]
    if not worked:
        return Forecast(left, 0.0, None)
    earlier = any(many for _, many in days[:-RECENT_DAYS])
    over = len(recent) if earlier else len(recent) - worked[0]
    a_day = sum(many for _, many in recent) / over
    return Forecast(left, a_day, left / a_day)
