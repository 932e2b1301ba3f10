"""Progress of a campaign, for researchers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDate

from annotation.models import (
    Assignment,
    Campaign,
    CampaignMember,
    CampaignRole,
    Consent,
    ConsentGiven,
    Task,
)
from config.permissions import RESEARCHERS

State = Assignment.State
COUNTED = 10_000
"""Maximum number of tasks that are counted one by one."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of tasks, slots, and assignments by state."""

    tasks: int
    slots: int
    submitted: int
    held: int
    skipped: int
    flagged: int
    returned: int
    voided: int


def counts(campaign: Campaign) -> Counts:
    """Return the counts of a campaign's main work, without training, tests, checks and repeats."""
    by_state = campaign.assignments.filter(slot__isnull=False).aggregate(
        submitted=Count("id", filter=Q(state=State.SUBMITTED)),
        held=Count("id", filter=Q(state=State.LEASED)),
        skipped=Count("id", filter=Q(state=State.SKIPPED)),
        flagged=Count("id", filter=Q(flagged=True)),
        returned=Count("id", filter=Q(state=State.RETURNED)),
        voided=Count("id", filter=Q(state=State.VOIDED)),
    )
    tasks, slots = _count_tasks(campaign)
    return Counts(tasks=tasks, slots=slots, **by_state)


def of_corpora(corpora: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the submitted ratings, and all that are asked for, of corpora with campaigns, by corpus id."""
    submitted = Assignment.objects.filter(slot__isnull=False, state=State.SUBMITTED, campaign=OuterRef("pk"))
    tasks = Task.objects.filter(campaign=OuterRef("pk"))
    campaigns = Campaign.objects.filter(corpus__in=corpora, archived_at=None).annotate(
        ready=Subquery(submitted.values("campaign").annotate(n=Count("id")).values("n")),
        all_slots=Subquery(tasks.values("campaign").annotate(n=Sum("raters")).values("n")),
    )
    totals: dict[int, tuple[int, int]] = {}
    for corpus, ready, slots in campaigns.values_list("corpus_id", "ready", "all_slots"):
        before, of = totals.get(corpus, (0, 0))
        totals[corpus] = before + (ready or 0), of + (slots or 0)
    return totals


def _count_tasks(campaign: Campaign) -> tuple[int, int]:
    """Return the numbers of a campaign's tasks and slots.

    Large numbers of tasks are taken from the last position, since positions are consecutive; their slots,
    where a part of the tasks has more raters, from the sum of each task's raters.
    """
    last = campaign.tasks.order_by("-position").first()
    if last is None or last.position < COUNTED:
        return campaign.tasks.count(), campaign.slots.count()
    tasks = last.position + 1
    if campaign.overlap_raters is None:
        return tasks, tasks * last.raters
    return tasks, campaign.tasks.aggregate(slots=Sum("raters"))["slots"]


def members(campaign: Campaign) -> list[dict[str, Any]]:
    """Return each member's user_id, username, and latest consent.

    The consent is `agreed_to` (the version of the text) and `agreed_on` (the day, in UTC), or None. Counts of
    work are shown elsewhere under pseudonyms: beside the user name they would reveal whose pseudonym is
    whose, and so would the minute of the consent, just before the first task.
    """
    consents = ConsentGiven.objects.filter(consent__campaign=campaign, user=OuterRef("user"))
    latest = consents.order_by("-consent__version")
    rows: Any = (
        campaign.members.annotate(
            username=F("user__username"),
            agreed_to=Subquery(latest.values("consent__version")[:1]),
            agreed_on=Subquery(latest.annotate(day=TruncDate("at", tzinfo=UTC)).values("day")[:1]),
        )
        .order_by("username")
        .values("user_id", "username", "agreed_to", "agreed_on")
    )
    return list(rows)


def managers_in(people: Collection[int], campaign: Campaign) -> dict[int, str]:
    """Return the user names, by account id, of the given people who may manage a campaign."""
    manages = Q(campaign_roles__campaign=campaign, campaign_roles__role=CampaignRole.Role.RESEARCHER)
    manages |= Q(is_superuser=True) | Q(groups__name=RESEARCHERS)
    return dict(User.objects.filter(manages, pk__in=people).values_list("pk", "username"))


def consent(campaign: Campaign) -> Consent | None:
    """Return the current consent text, None where the campaign has none."""
    newest = campaign.consents.order_by("-version").first()
    return newest if newest is not None and newest.text else None


def lacking(campaigns: Collection[Campaign]) -> dict[int, int]:
    """Return the number of missing annotators, by campaign that cannot finish with its people.

    Nobody rates an item twice, so a campaign needs as many people as raters per item. Active members count,
    and people who submitted a task before they left. Two queries for all campaigns.
    """
    members = CampaignMember.objects.filter(campaign__in=campaigns, user__is_active=True)
    submitted = Assignment.objects.filter(campaign__in=campaigns, state=State.SUBMITTED, slot__isnull=False)
    able: dict[int, set[int]] = {campaign.pk: set() for campaign in campaigns}
    for rows in (members, submitted.order_by().distinct()):
        for campaign, person in rows.values_list("campaign_id", "user_id"):
            able[campaign].add(person)
    short = {
        campaign.pk: most_raters(campaign) - len(able[campaign.pk])
        for campaign in campaigns
        if campaign.state != "closed"
    }
    return {pk: number for pk, number in short.items() if number > 0}


def most_raters(campaign: Campaign) -> int:
    """Return the maximum number of raters of a task."""
    return campaign.overlap_raters or campaign.raters_per_item


def remarks(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the assignments that were flagged, skipped or commented on, latest first."""
    has_remark = Q(flagged=True) | Q(state=State.SKIPPED) | ~Q(comment="")
    return (
        campaign.assignments.filter(has_remark)
        .select_related("user", "task__continuation__dialogue", "task__item__turn")
        .order_by("-id")
    )


DISAGREE = """
SELECT EXISTS (
  SELECT 1 FROM annotation_label a JOIN annotation_label b
      ON b.item_id = a.item_id AND b.question_id = a.question_id AND b.campaign_id = a.campaign_id
     AND b.rater_id > a.rater_id AND b.occasion = a.occasion
   WHERE a.campaign_id = %s AND a.occasion = %s AND a.superseded_at IS NULL AND b.superseded_at IS NULL
     AND (a.number, a.text) IS DISTINCT FROM (b.number, b.text) AND a.missing = '' AND b.missing = '')
"""


def disagree(campaign: Campaign) -> bool:
    """Whether two annotators of a campaign gave different answers to a question about the same item."""
    with connection.cursor() as cursor:
        cursor.execute(DISAGREE, [campaign.pk, campaign.occasion])
        return bool(cursor.fetchone()[0])
