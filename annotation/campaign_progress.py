"""How far a campaign is, as researchers see it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.models import Assignment, Campaign, CampaignMember

State = Assignment.State


@dataclass(frozen=True, slots=True)
class Counts:
    """Tasks, their slots, and what became of them."""

    tasks: int
    slots: int
    submitted: int
    held: int
    skipped: int
    flagged: int


def counts(campaign: Campaign) -> Counts:
    """Return a campaign's counts."""
    made = campaign.assignments.aggregate(
        submitted=Count("id", filter=Q(state=State.SUBMITTED)),
        held=Count("id", filter=Q(state=State.LEASED)),
        skipped=Count("id", filter=Q(state=State.SKIPPED)),
        flagged=Count("id", filter=Q(flagged=True)),
    )
    return Counts(tasks=campaign.tasks.count(), slots=campaign.slots.count(), **made)


def members(campaign: Campaign) -> QuerySet[CampaignMember]:
    """Return the members with what each `skipped` and `flagged`; `done` and `pace` are their own."""
    mine = Q(user__assignments__campaign=campaign)
    return (
        campaign.members.select_related("user")
        .annotate(
            skipped=Count("user__assignments", filter=mine & Q(user__assignments__state=State.SKIPPED)),
            flagged=Count("user__assignments", filter=mine & Q(user__assignments__flagged=True)),
        )
        .order_by("user__username")
    )


def remarks(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the assignments that were flagged, skipped or commented on, latest first."""
    said = Q(flagged=True) | Q(state=State.SKIPPED) | ~Q(comment="")
    return (
        campaign.assignments.filter(said)
        .select_related("user", "task__continuation__dialogue", "task__item__turn")
        .order_by("-id")
    )
