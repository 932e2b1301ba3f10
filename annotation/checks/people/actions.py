"""What researchers decide about one annotator: let them in, pause, lift, leave out of gold, take back.

Every verb is one transaction, asks for a reason, and is logged. None of them touches a label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.checks import stages
from annotation.checks.keys import refuse
from annotation.labels.pseudonyms import called
from annotation.models import Assignment, Campaign, CampaignMember, CheckPlan, Standing
from annotation.work.checking import cleaned

REASON_LIMIT = 2_000


@transaction.atomic
def let_in(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Open the main work to somebody who has not passed, for a reason. Raises CampaignRefused."""
    standing = _standing(campaign, user)
    if standing.admitted_at is not None:
        refuse("verb", "This person does the main work already.")
    now = timezone.now()
    attempt = stages.under_way(standing)
    if attempt is not None:
        attempt.finished_at = now
        attempt.save(update_fields=["finished_at"])
        _held_of(standing).update(state=Assignment.State.EXPIRED)
    standing.admitted_at, standing.admitted_by, standing.admitted_why = now, by, _reason(reason)
    standing.feedback = None
    standing.save()
    stages.log(standing, "let in", by=by.pk, reason=standing.admitted_why)


@transaction.atomic
def pause(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Give somebody no new tasks until it is lifted, for a reason. Raises CampaignRefused."""
    standing = _standing(campaign, user)
    if standing.paused_at is not None:
        refuse("verb", "This person is paused already.")
    standing.paused_at, standing.paused_why = timezone.now(), _reason(reason)
    standing.save(update_fields=["paused_at", "paused_why"])
    stages.log(standing, "pause annotator", by=by.pk, reason=standing.paused_why)


@transaction.atomic
def lift(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """End somebody's pause, for a reason; checks count from now on."""
    standing = _standing(campaign, user)
    if standing.paused_at is None:
        refuse("verb", "This person is not paused.")
    standing.paused_at, standing.paused_why, standing.window_from = None, "", timezone.now()
    standing.save(update_fields=["paused_at", "paused_why", "window_from"])
    stages.log(standing, "lift a pause", by=by.pk, reason=_reason(reason))


@transaction.atomic
def leave_out(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Leave somebody's labels of a campaign out of gold, for a reason; they stay."""
    standing = _standing(campaign, user)
    if standing.left_out_at is not None:
        refuse("verb", "This person is left out already.")
    standing.left_out_at, standing.left_out_why = timezone.now(), _reason(reason)
    standing.save(update_fields=["left_out_at", "left_out_why"])
    stages.log(standing, "leave out of gold", by=by.pk, reason=standing.left_out_why)


@transaction.atomic
def readmit(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Take somebody's labels back into gold, for a reason; checks count from now on."""
    standing = _standing(campaign, user)
    if standing.left_out_at is None:
        refuse("verb", "This person is not left out.")
    standing.left_out_at, standing.left_out_why, standing.window_from = None, "", timezone.now()
    standing.save(update_fields=["left_out_at", "left_out_why", "window_from"])
    stages.log(standing, "take back into gold", by=by.pk, reason=_reason(reason))


VERBS: dict[str, Callable[..., None]] = {
    "let-in": let_in,
    "pause": pause,
    "lift": lift,
    "leave-out": leave_out,
    "readmit": readmit,
}


def _standing(campaign: Campaign, user: User) -> Standing:
    """Return a person's standing, locked by their membership as in every request of their own."""
    member = CampaignMember.objects.filter(campaign=campaign, user=user)
    if (
        not list(member.select_for_update())
        and not Standing.objects.filter(campaign=campaign, user=user).exists()
    ):
        refuse("user", f"{called(user.pk, campaign.corpus_id)} does not take part in this campaign.")
    if not CheckPlan.objects.filter(campaign=campaign).exists():
        CheckPlan.objects.create(campaign=campaign)
    return stages.standing_of(campaign.pk, user.pk)


def _held_of(standing: Standing) -> Any:
    return Assignment.objects.filter(
        campaign=standing.campaign_id, user=standing.user_id, round__gte=1, state=Assignment.State.LEASED
    )


def _reason(reason: str) -> str:
    reason = str(cleaned(reason)).strip()
    if not reason:
        refuse("reason", "Say why, in a few words: the reason is logged.")
    if len(reason) > REASON_LIMIT:
        refuse("reason", f"Give the reason in at most {REASON_LIMIT:,} characters.")
    return reason
