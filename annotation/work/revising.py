"""Whether a submission may still be revised: the campaign says for how long, and whether at all."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from annotation.errors import RevisionClosed
from annotation.models import Assignment, Campaign
from annotation.work.leases import Seat

NEVER = "In this campaign a submission stands as it is: it cannot be revised."


def refusal(seat: Seat, submitted_at: datetime | None) -> str:
    """Return why a submission made then can be revised no longer, '' where it can."""
    if seat.state != Campaign.State.OPEN:
        return f"The campaign is {seat.state}: what you submitted stands and can be read."
    if seat.over:
        return f"{seat.limits.sentence} What you submitted stands and can be read."
    return too_late(seat.revise_hours, submitted_at)


def too_late(hours: int | None, submitted_at: datetime | None) -> str:
    """Return why a task is no longer revised `hours` after its submit (None: no bound, 0: never), else ''."""
    if hours is None or submitted_at is None:
        return ""
    if hours == 0:
        return NEVER
    if timezone.now() - submitted_at < timedelta(hours=hours):
        return ""
    plural = "" if hours == 1 else "s"
    return f"A submission may be revised for {hours:,} hour{plural} here; that time has passed for this one."


def must_be_allowed(seat: Seat, assignment: int) -> None:
    """Raise RevisionClosed where the campaign lets a submission be revised no longer, or never."""
    if seat.revise_hours is None:
        return
    at = Assignment.objects.values_list("submitted_at", flat=True).get(pk=assignment)
    if why := too_late(seat.revise_hours, at):
        raise RevisionClosed(why)
