"""Researcher actions on tasks and submissions: take back, reassign, return, void."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.contrib.postgres.functions import TransactionNow
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Extract, Greatest
from django.utils import timezone

from annotation.campaigns.campaign_actions import log
from annotation.campaigns.settings import check_blind
from annotation.errors import CampaignRefused, NotTaskHolder, SubmissionRefused
from annotation.models.campaigns import Campaign, CampaignMember
from annotation.models.work import Assignment, Task
from annotation.text.references import item_key, place_of
from annotation.work import check_stages, leases
from annotation.work.checking import cleaned, passes_of
from annotation.work.labels import called
from annotation.work.leases import PASSED, Seat
from annotation.work.task_answers import hold_of
from config.models import Event

# Withdrawing a submission: return it to its annotator, or void it.
#
# Either way its labels are superseded and kept, the action is logged with its reason, and the member's count
# falls. A returned task stays with its annotator, with their answers as its draft; a voided one frees its
# slot for somebody else. The member's row is locked before the assignment, as in every request of the
# member's own, so that a revision and a withdrawal run one after the other.

REASON_LIMIT = 2_000
State = Assignment.State
ATTENDED = """(SELECT sum(told.value::bigint) / 1000.0
  FROM jsonb_each_text(annotation_assignment.attention) AS told)"""
LIVE = Q(labels__superseded_at__isnull=True, labels__isnull=False)


def submissions(campaign: Campaign) -> QuerySet[Any]:
    """Return the submissions of a campaign, returned and voided ones included, latest first.

    Training and tests are not withdrawn here: see `annotation.work.check_actions`.

    Each has `answers` (number of its live labels), `seen` (a version token of these answers), the `seconds`
    from assignment to submission, and the `attended` time in seconds: while the page was in front of an
    active user, None where no page reported it.
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
    """Return a submission to be done again; the result is the number of labels that no longer count.

    `seen` is the version token of the answers that the researcher looked at; a later revision is not
    withdrawn unseen. Raises SubmissionRefused.
    """
    reason = reasoned(reason)
    own = locked(assignment)
    _must_be_work(own)
    if own.state != State.SUBMITTED:
        raise SubmissionRefused(f"Only a submission can be returned; this task is {own.state}.")
    _require_unchanged(own, seen)
    own.draft = {**hold_of(own).draft}
    return _withdraw(by, own, State.RETURNED, reason)


@transaction.atomic
def void(*, by: User, assignment: Assignment, reason: str, seen: int | None = None) -> int:
    """Void a submission, or one returned and not done again, for good; return the number of labels voided.

    Its slot is free for somebody else; its annotator does not get it again. `seen` as for a return. Raises
    SubmissionRefused.
    """
    reason = reasoned(reason)
    own = locked(assignment)
    _must_be_work(own)
    if own.state not in (State.SUBMITTED, State.RETURNED):
        raise SubmissionRefused(f"Only a submission can be voided; this task is {own.state}.")
    if own.state == State.SUBMITTED:
        _require_unchanged(own, seen)
    own.draft = {}
    return _withdraw(by, own, State.VOIDED, reason)


def reasoned(reason: str) -> str:
    """Return a reason, stripped; raise SubmissionRefused where it is empty or too long."""
    reason = str(cleaned(reason)).strip()
    if not reason:
        raise SubmissionRefused("Say why, in a few words: the reason is logged.")
    if len(reason) > REASON_LIMIT:
        raise SubmissionRefused(f"Give the reason in at most {REASON_LIMIT:,} characters.")
    return reason


def locked(assignment: Assignment) -> Assignment:
    """Return an assignment's current state, locked with its member's row, as in the member's own requests."""
    member = CampaignMember.objects.filter(campaign=assignment.campaign_id, user=assignment.user_id)
    list(member.select_for_update())
    return (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("campaign", "user")
        .get(pk=assignment.pk)
    )


def _must_be_work(locked: Assignment) -> None:
    if locked.campaign.form == Campaign.Form.WRITE and locked.slot_id is not None:
        raise SubmissionRefused("What a member wrote is in the corpus, and stays there.")
    if locked.round:
        raise SubmissionRefused(
            "Training and test submissions cannot be withdrawn. Let the person in instead."
        )


def _require_unchanged(locked: Assignment, seen: int | None) -> None:
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


# Moving tasks that people hold: take back, assign.
#
# Both first lock the row of the member who loses or gets the task, as every request of the member's own
# does, so that a submit and a take-back run one after the other. The database ensures that no slot is held
# twice and nobody has two slots of a task.

# Tasks that annotators hold now, for researchers; for an annotator, tasks recently taken back from them.


def in_hand(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the tasks held by annotators of a campaign, longest held first: leased, given or returned.

    Training, test and check tasks are included; they hold no place of the main work.
    """
    return (
        campaign.assignments.filter(state__in=[State.LEASED, State.RETURNED])
        .select_related("user", "task__continuation__dialogue", "task__item__turn")
        .order_by("leased_at", "id")
    )


def key_of(task: Task) -> str:
    """Return the key of a task's subject: an item, or a continuation with all its turns."""
    own, item = task.continuation, task.item
    if item is not None and item.is_comparison:
        return item.key
    return item_key(own.dialogue.key, own.key, item.turn.position if item and item.turn else None)


def taken_back(user: User, campaign: int | None = None) -> QuerySet[Assignment]:
    """Return tasks taken back from somebody since their last submission in the campaign, latest first."""
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


HOLDING = (State.LEASED, State.RETURNED)
GIVEN_HOURS = 72
"""Minimum time, in hours, that a given task waits for its annotator."""

FREE_SLOT = f"""
SELECT s.id FROM annotation_slot s WHERE s.task_id = %(task)s AND NOT s.taken AND {PASSED}
 ORDER BY s.number LIMIT 1 FOR UPDATE SKIP LOCKED
"""  # noqa: S608  (a condition of ours)


@transaction.atomic
def take_back(*, by: User, assignment: Assignment, reason: str) -> Assignment:
    """Take a task back from its annotator; return the assignment. Its slot is free for others at once.

    The draft stays with its author, who is notified and does not get the task again unless it is given to
    them. Raises SubmissionRefused where they no longer hold it, or the reason is empty.
    """
    reason = _reason(assignment.campaign, reason)
    own = locked(assignment)
    name = called(own.user_id, own.campaign.corpus_id)
    if own.slot_id is None:
        _refuse(
            "This task trains, tests or checks somebody: it holds no place, so there is nothing to take back."
        )
    if own.state == State.SUBMITTED:
        _refuse(f"{name} has submitted this task meanwhile. Return or void it under All submissions.")
    if own.state not in HOLDING:
        _refuse(f"{name} does not hold this task any more: it is {own.state}.")
    Assignment.objects.filter(pk=own.pk).update(
        state=State.TAKEN, withdrawn_reason=reason, lease_expires=TransactionNow()
    )
    own.refresh_from_db()
    annotator = own.user.get_username()
    detail = {"assignment": own.pk, "annotator": annotator, "task": key_of(own.task), "reason": reason}
    log(by, own.campaign, "take a task back", **detail)
    return own


@transaction.atomic
def give(*, by: User, campaign: Campaign, task: Task, to: User, reason: str) -> Assignment:
    """Assign a task with a free slot to an annotator; return the assignment.

    The task comes after their current one and waits for GIVEN_HOURS, or for a lease where that is longer.
    Raises SubmissionRefused where they are not members, where the rules, a limit, a test or their own work
    prevent it, or where all slots are taken.
    """
    reason = _reason(campaign, reason)
    name = called(to.pk, campaign.corpus_id)
    try:
        seat = leases.take_seat(campaign=campaign.pk, user=to.pk)
    except NotTaskHolder:
        _refuse(f"{name} does not take part in this campaign. Add them to its annotators first.")
    _must_be_able(seat, to, name)
    mine = Assignment.objects.filter(task=task, user=to, occasion=seat.occasion, round=0)
    before = mine.select_for_update().first()
    _must_be_new(before, name)
    if task.pk in seat.own_tasks:
        _refuse(f"{name} wrote what this task is about: somebody else has to rate it.")
    if task.position >= seat.upto:
        _refuse("This task is in a batch that is not open yet. Open the batch first.")
    slot = _slot(seat, campaign, task, name)
    now = timezone.now()
    assignment = before or Assignment(task=task, campaign=campaign, user=to, occasion=seat.occasion)
    assignment.slot_id, assignment.state, assignment.given_reason, assignment.skip_reason = (
        slot,
        State.LEASED,
        reason,
        "",
    )
    assignment.guidelines_id, assignment.leased_at = seat.guidelines, now
    assignment.lease_expires = now + max(timedelta(hours=GIVEN_HOURS), timedelta(minutes=seat.lease_minutes))
    try:
        with transaction.atomic():
            assignment.save()
    except IntegrityError:
        _refuse(f"The rules of this campaign, or what somebody took at this moment, keep {name} from it.")
    log(
        by,
        campaign,
        "give a task",
        assignment=assignment.pk,
        to=to.get_username(),
        task=key_of(task),
        reason=reason,
    )
    return assignment


@transaction.atomic
def pass_to(*, by: User, assignment: Assignment, to: User, reason: str) -> Assignment:
    """Take a task back from its holder and assign it to another annotator, in one transaction."""
    people = [assignment.user_id, to.pk]
    rows = CampaignMember.objects.filter(campaign=assignment.campaign_id, user__in=people).order_by("id")
    list(rows.select_for_update())  # in a fixed order, so that crosswise transfers do not deadlock
    if to.pk == assignment.user_id:
        _refuse(f"{called(to.pk, assignment.campaign.corpus_id)} holds this task already.")
    own = take_back(by=by, assignment=assignment, reason=reason)
    return give(by=by, campaign=own.campaign, task=own.task, to=to, reason=reason)


def task_named(campaign: Campaign, name: str) -> Task:
    """Return the task of a campaign named by a number (its id) or an item key; raise SubmissionRefused.

    Where a task covers a continuation with all its turns, the key of any of these names it.
    """
    name = name.strip()
    if name.isascii() and name.isdecimal() and len(name) < 19:
        task = campaign.tasks.filter(pk=int(name)).first()
    else:
        task = _at(campaign, name)
    if task is None:
        _refuse(
            f"The campaign has no task “{name[:120]}”. Name one by its item's key, such as "
            "dialogue/continuation/3, as exports and submissions do."
        )
    return task


def _at(campaign: Campaign, key: str) -> Task | None:
    try:
        place = place_of(key)
    except ValueError:
        return None
    if place.record:
        kind, name = place.record
        return campaign.tasks.filter(
            item__kind=kind, item__record__key=name, continuation__dialogue__key=place.dialogue
        ).first()
    rows = campaign.tasks.filter(
        continuation__dialogue__key=place.dialogue, continuation__key=place.continuation
    ).select_related("item__turn", "continuation__dialogue")
    for task in rows:
        item = task.item
        if item is not None and item.is_comparison:
            if item.key == key:
                return task
        elif not place.others and (item is None or (item.turn.position if item.turn else None) == place.turn):
            return task
    return None


def _reason(campaign: Campaign, reason: str) -> str:
    """Return the reason, in a form that its annotator may read."""
    reason = reasoned(reason)
    try:
        check_blind(campaign.corpus, "reason", "The reason names", reason)
    except CampaignRefused as error:
        raise SubmissionRefused(str(error)) from error
    return reason


def _must_be_able(seat: Seat, to: User, name: str) -> None:
    """Refuse an annotator who cannot work on any task now."""
    limits = seat.limits
    if not to.is_active:
        _refuse(f"{name} is deactivated.")
    if seat.form != Campaign.Form.RATING:
        _refuse("Members of this campaign write on its own page: tasks cannot be given to one person.")
    if seat.state != Campaign.State.OPEN:
        _refuse(f"The campaign is {seat.state}: tasks are given while it is open.")
    if seat.over:
        _refuse(f"{limits.sentence} Set a later one first.")
    if seat.most is not None and seat.done + seat.leased + seat.returned >= seat.most:
        _refuse(f"{name} has, with what they hold, as many tasks as one person may have here: {seat.most:,}.")
    if limits.reached == "day":
        _refuse(f"{name} has submitted as many tasks today as one person may: {seat.most_a_day:,}.")
    if seat.checked:
        member_status = check_stages.standing_of(seat.campaign, seat.user)
        if check_stages.stage(member_status):
            _refuse(f"{name} has not finished the training and the test yet. Let them in by hand first.")
        if member_status.paused_at is not None:
            _refuse(f"{name} is paused by the checks. Let them go on first.")


def _must_be_new(before: Assignment | None, name: str) -> None:
    """Refuse a task that its new annotator already holds or has answered."""
    if before is None or before.state in (State.EXPIRED, State.TAKEN, State.SKIPPED):
        return
    why = {
        State.LEASED: "holds this task already",
        State.RETURNED: "holds this task already: it was returned to them",
        State.SUBMITTED: "has rated this task already",
        State.VOIDED: "rated this task already, and it was voided: somebody else has to rate it",
    }
    _refuse(f"{name} {why[State(before.state)]}.")


def _slot(seat: Seat, campaign: Campaign, task: Task, name: str) -> int:
    values = {"task": task.pk, **passes_of(seat.campaign, seat.user)}
    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(FREE_SLOT, values)
            if row := cursor.fetchone():
                return int(row[0])
        if not leases.return_expired(campaign=campaign.pk):
            break
    if task.slots.filter(taken=False).exists():
        _refuse(
            f"The rules of this campaign keep {name} from this task, or somebody takes it at this moment."
        )
    holders = task.assignments.filter(slot__isnull=False, state__in=[*HOLDING, State.SUBMITTED])
    sentences = [
        f"{called(holder.user_id, campaign.corpus_id)} "
        f"({'rated it' if holder.state == State.SUBMITTED else 'holds it'})"
        for holder in holders.order_by("id")
    ]
    _refuse(
        f"All places of this task are taken: {', '.join(sentences)}. Take it back from who holds it first."
    )


def _refuse(why: str) -> NoReturn:
    raise SubmissionRefused(why)
