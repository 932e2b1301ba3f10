"""What annotators hold now, for researchers; and for an annotator, what was taken back from them lately."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Max, OuterRef, Q, QuerySet, Subquery

from annotation.models import Assignment, Campaign, Task
from annotation.text.item_keys import item_key

State = Assignment.State


def in_hand(campaign: Campaign) -> QuerySet[Assignment]:
    """Return what annotators of a campaign hold, longest held first: leased, given or returned to them.

    Tasks of training, tests and checks are among it; they hold no place of the main work.
    """
    return (
        campaign.assignments.filter(state__in=[State.LEASED, State.RETURNED])
        .select_related("user", "task__continuation__dialogue", "task__item__turn")
        .order_by("leased_at", "id")
    )


def key_of(task: Task) -> str:
    """Return the key of what a task is about: of an item, or of a continuation with all its turns."""
    own, item = task.continuation, task.item
    if item is not None and item.is_comparison:
        return item.key
    return item_key(own.dialogue.key, own.key, item.turn.position if item and item.turn else None)


def taken_back(user: User, campaign: int | None = None) -> QuerySet[Assignment]:
    """Return what was taken back from somebody since their last submission in its campaign, latest first."""
    rows: Any = Assignment.objects.filter(user=user, state=State.TAKEN, campaign__archived_at=None)
    if campaign is not None:
        rows = rows.filter(campaign=campaign)
    sent = Assignment.objects.filter(
        user=user, campaign=OuterRef("campaign"), state=State.SUBMITTED, submitted_at__isnull=False
    )
    last = sent.order_by().values("campaign").annotate(last=Max("submitted_at")).values("last")
    rows = rows.annotate(last=Subquery(last))
    since = Q(last=None) | Q(lease_expires__gt=Subquery(last))
    return rows.filter(since).order_by("-lease_expires", "-id")
