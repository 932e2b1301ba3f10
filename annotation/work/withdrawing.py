"""What researchers do about a submission that should not stand: hand it back to its annotator, or void it.

Either way its labels are superseded and kept, the act is logged with its reason, and the member's count
falls. A returned task stays with its annotator, whose answers are its draft; a voided one frees its slot for
somebody else. The member's row is locked before the assignment, as in every request of the member's own, so
that a revision and a withdrawal come one after the other.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Extract, Greatest
from django.utils import timezone

from annotation.errors import SubmissionRefused
from annotation.labels.pseudonyms import called
from annotation.models import Assignment, Campaign, CampaignMember
from annotation.work.checking import cleaned
from annotation.work.standing import held
from config.models import Event

REASON_LIMIT = 2_000
State = Assignment.State
ATTENDED = """(SELECT sum(told.value::bigint) / 1000.0
  FROM jsonb_each_text(annotation_assignment.attention) AS told)"""
LIVE = Q(labels__superseded_at__isnull=True, labels__isnull=False)


def submissions(campaign: Campaign) -> QuerySet[Any]:
    """Return what was submitted in a campaign, returned and voided ones among it, latest first.

    Training and tests are not withdrawn: `annotation.checks` has them.

    Each has `answers` (how many of its labels are live), `seen` (which names these answers), the `seconds`
    from being handed out to being submitted, and those of `attended` time: while the page was in front of
    somebody at work, None where no page told.
    """
    return (
        campaign.assignments.filter(state__in=[State.SUBMITTED, State.RETURNED, State.VOIDED], round=0)
        .select_related("user", "task__continuation__dialogue", "task__item__turn")
        .annotate(
            seconds=Extract(F("submitted_at") - F("leased_at"), "epoch"),
            attended=RawSQL(ATTENDED, []),
            answers=Count("labels", filter=LIVE),
            seen=Max("labels__id", filter=LIVE, default=0),
        )
        .order_by("-submitted_at", "-id")
    )


@transaction.atomic
def return_to_annotator(*, by: User, assignment: Assignment, reason: str, seen: int | None = None) -> int:
    """Hand a submission back to be done again, and return how many labels no longer count.

    `seen` names the answers that the researcher looked at; a revision made since then is not withdrawn
    unseen. Raises SubmissionRefused.
    """
    reason = reasoned(reason)
    own = locked(assignment)
    _must_be_work(own)
    if own.state != State.SUBMITTED:
        raise SubmissionRefused(f"Only a submission can be returned; this task is {own.state}.")
    _must_be_what_was_seen(own, seen)
    own.draft = {**held(own).draft}
    return _withdraw(by, own, State.RETURNED, reason)


@transaction.atomic
def void(*, by: User, assignment: Assignment, reason: str, seen: int | None = None) -> int:
    """Take a submission, or one returned and not done again, out for good; return how many labels go.

    Its slot is free for somebody else; it does not come back to its annotator. `seen` as for a return.
    Raises SubmissionRefused.
    """
    reason = reasoned(reason)
    own = locked(assignment)
    _must_be_work(own)
    if own.state not in (State.SUBMITTED, State.RETURNED):
        raise SubmissionRefused(f"Only a submission can be voided; this task is {own.state}.")
    if own.state == State.SUBMITTED:
        _must_be_what_was_seen(own, seen)
    own.draft = {}
    return _withdraw(by, own, State.VOIDED, reason)


def reasoned(reason: str) -> str:
    """Return why something is done, stripped; raise SubmissionRefused where nothing is said, or too much."""
    reason = str(cleaned(reason)).strip()
    if not reason:
        raise SubmissionRefused("Say why, in a few words: the reason is logged.")
    if len(reason) > REASON_LIMIT:
        raise SubmissionRefused(f"Give the reason in at most {REASON_LIMIT:,} characters.")
    return reason


def locked(assignment: Assignment) -> Assignment:
    """Return an assignment as it is now, locked with its member's row, as in requests of the member's own."""
    member = CampaignMember.objects.filter(campaign=assignment.campaign_id, user=assignment.user_id)
    list(member.select_for_update())
    return (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("campaign", "user")
        .get(pk=assignment.pk)
    )


def _must_be_work(locked: Assignment) -> None:
    if locked.round:
        raise SubmissionRefused("Training and tests are not withdrawn. Let the person in instead, by hand.")


def _must_be_what_was_seen(locked: Assignment, seen: int | None) -> None:
    if seen is None:
        return
    now = locked.labels.filter(superseded_at__isnull=True).aggregate(last=Max("id", default=0))["last"]
    if now != seen:
        name = called(locked.user_id, locked.campaign.corpus_id)
        raise SubmissionRefused(f"{name} has changed these answers since you looked. Look at them again.")


def _withdraw(by: User, locked: Assignment, state: str, reason: str) -> int:
    withdrawn = locked.labels.filter(superseded_at__isnull=True).update(superseded_at=timezone.now())
    if locked.state == State.SUBMITTED:
        members = CampaignMember.objects.filter(campaign=locked.campaign_id, user=locked.user_id)
        members.update(done=Greatest(F("done") - 1, 0))
        if locked.submitted_at is not None:
            day = members.filter(done_on=locked.submitted_at.astimezone(UTC).date())
            day.update(done_today=Greatest(F("done_today") - 1, 0))
    locked.state, locked.withdrawn_reason = state, reason
    locked.revision += 1
    locked.written_by = ""
    locked.save(update_fields=["state", "withdrawn_reason", "revision", "written_by", "draft"])
    detail = {
        "assignment": locked.pk,
        "annotator": locked.user.get_username(),
        "reason": reason,
        "labels": withdrawn,
    }
    verb = "return a submission" if state == State.RETURNED else "void a submission"
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=locked.campaign.name, detail=detail)
    return withdrawn


VERBS = {"return": return_to_annotator, "void": void}
