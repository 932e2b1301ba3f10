"""Task assignment in campaigns with checks: training, the test, main work and hidden tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from django.db.models import F
from django.utils import timezone

from annotation.models import Attempt, CheckResult, KeyAnswer, Standing
from annotation.models.campaigns import Campaign
from annotation.models.checks import HIDDEN, STAGES, CheckPlan, KeyTask
from annotation.models.labels import Occasion
from annotation.models.work import Assignment
from annotation.scheme_store import questionnaire_of
from annotation.work import check_stages
from annotation.work import leases as assigning
from annotation.work.checking import CheckedAnswer
from annotation.work.leases import Hold, Seat
from config import commands

# Steps of a person's work at which a hidden task comes: one in so many, at places drawn by the seed.
#
# Steps are the tasks that a person submits, counted from 0. A step without a hidden task to give (no check
# is left, or too little work was done to repeat) is an ordinary one, and is not made up for. No database
# access.

Kind = Literal["check", "repeat", ""]


class Rates(NamedTuple):
    """One of `check` tasks is a check, one of `repeat` a repeat after `after` others; None for none.

    `person_seed`, from the campaign's seed and the person, makes each person's places different.
    """

    check: int | None
    repeat: int | None
    after: int
    person_seed: str


def kind_at(step: int, rates: Rates) -> Kind:
    """Return the kind of task due at a step; a coinciding check and repeat come one after the other."""
    if rates.check and _place(step // rates.check, rates.check, "check", rates.person_seed) == step:
        return "check"
    if rates.repeat and _repeat(step // rates.repeat, rates) == step:
        return "repeat"
    return ""


def steps_left(tasks: int, step: int, rates: Rates, checks: int, done: Sequence[str], most: int) -> int:
    """Count a member's remaining tasks, hidden ones included, so that the count reveals nothing.

    `tasks` of the main work and `checks` remain, `done` are the occasions of submitted tasks, in order. The
    count is at most `most`.
    """
    occasions, counted = list(done), 0
    repeated = sum(occasion == "repeat" for occasion in occasions)
    while tasks > 0 and counted < most:
        due = kind_at(step, rates)
        if due == "check" and checks > 0:
            checks -= 1
            occasions.append("check")
        elif due == "repeat" and _main(occasions, rates.after) > repeated:
            repeated += 1
            occasions.append("repeat")
        else:
            tasks -= 1
            occasions.append("main")
        step += 1
        counted += 1
    return counted


def _main(occasions: Sequence[str], after: int) -> int:
    """Return the number of main-work tasks that lie at least `after` others back."""
    return sum(
        occasion not in ("check", "repeat") for occasion in occasions[: max(0, len(occasions) - after)]
    )


def _repeat(block: int, rates: Rates) -> int:
    """Return the step of a block's repeat; where a check takes its place, the next step in the block without
    one.
    """
    assert rates.repeat is not None
    first, place = block * rates.repeat, _place(block, rates.repeat, "repeat", rates.person_seed)
    for further in range(rates.repeat):
        step = first + (place - first + further) % rates.repeat
        if not rates.check or _place(step // rates.check, rates.check, "check", rates.person_seed) != step:
            return step
    return place


def _place(block: int, length: int, purpose: str, person_seed: str) -> int:
    digest = hashlib.sha256(f"{person_seed}:{purpose}:{block}".encode()).digest()
    return block * length + int.from_bytes(digest[:6]) % length


# Remaining tasks of a member in a campaign with checks, as the page counts them.


class Sitting(Protocol):
    """The parts of a member's seat (`annotation.work.leases.Seat`) used here."""

    @property
    def campaign(self) -> int: ...

    @property
    def user(self) -> int: ...


def rates_of(plan: CheckPlan, campaign: int, user: int) -> Rates:
    """Return the rates of hidden tasks for a person, with the seed of their places."""
    seed = Campaign.objects.values_list("seed", flat=True).get(pk=campaign)
    return Rates(plan.check_every, plan.repeat_every, plan.repeat_after, f"{seed}:{campaign}:{user}")


def stage_progress(seat: Sitting) -> tuple[int, int] | None:
    """Count the training or test tasks done and left; None in the main work."""
    member_status = check_stages.standing_of(seat.campaign, seat.user)
    if member_status.admitted_at is not None or not (now := check_stages.stage(member_status)):
        return None
    total = len(check_stages.keys_of(seat.campaign, now, seat.user))
    attempt = check_stages.under_way(member_status)
    if attempt is None:
        return (
            (total, 0)
            if member_status.feedback_id or check_stages.attempts(member_status, now)
            else (0, total)
        )
    remaining = len(check_stages.rest(attempt, 0))
    return total - remaining, remaining


def with_hidden(seat: Sitting, tasks: int, *, has_task: bool, most: int) -> int:
    """Count a member's remaining tasks, hidden ones included, from the `tasks` left of the main work.

    `has_task` means that a current task exists already; it is not counted. The count falls by one with each
    task submitted, whether hidden or not.
    """
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if not (plan.check_every or plan.repeat_every):
        return tasks
    member_status = check_stages.standing_of(seat.campaign, seat.user)
    mine = Assignment.objects.filter(campaign=seat.campaign, user=seat.user, round=0)
    done = mine.filter(state=Assignment.State.SUBMITTED).order_by("submitted_at", "id")
    met = mine.filter(occasion=Occasion.CHECK).values("task")
    checks = check_stages.keys_of(seat.campaign, Occasion.CHECK, seat.user).exclude(task__in=met).count()
    rates = rates_of(plan, seat.campaign, seat.user)
    occasions = list(done.values_list("occasion", flat=True))
    step = member_status.steps
    if has_task:  # the current task has this step, or already used one of its places
        now = mine.filter(state=Assignment.State.LEASED).values_list("occasion", flat=True).first()
        occasions, step = [*occasions, now or Occasion.MAIN], step + 1
    return steps_left(tasks, step, rates, checks, occasions, most)


# Task assignment in a campaign with checks: training, the test, main work, and hidden tasks within it.
#
# Called where tasks are claimed and submitted (`annotation.work.task_actions`), while the member's row is
# locked. Training, test and check tasks hold no slot: they use up no place of the main work.

State = Assignment.State

TO_CHECK = """
SELECT k.task_id FROM annotation_keytask k
 WHERE k.campaign_id = %(campaign)s AND k.occasion = 'check' AND k.retired_at IS NULL
   AND k.task_id <> ALL(%(own)s::bigint[])
   AND NOT EXISTS (SELECT 1 FROM annotation_assignment a WHERE a.task_id = k.task_id AND a.user_id = %(user)s)
 ORDER BY md5(%(drawn)s || ':' || k.task_id), k.task_id LIMIT 1
"""

TO_REPEAT = """
SELECT d.task_id FROM (
  SELECT a.task_id, a.slot_id, row_number() OVER (ORDER BY a.submitted_at DESC, a.id DESC) AS back
    FROM annotation_assignment a WHERE a.campaign_id = %(campaign)s AND a.user_id = %(user)s
     AND a.state = 'submitted' AND a.round = 0) d
 WHERE d.back > %(after)s AND d.slot_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM annotation_assignment r WHERE r.task_id = d.task_id
                    AND r.user_id = %(user)s AND r.occasion = 'repeat')
 ORDER BY md5(%(drawn)s || ':' || d.task_id), d.task_id LIMIT 1
"""


class Done(NamedTuple):
    """A submitted or skipped task."""

    assignment: int
    task: int
    occasion: str
    is_aside: bool
    is_first: bool


def next_task(*, seat: Seat) -> Hold | None:
    """Return the member's next task: held, returned, training, test, hidden, or main work.

    None where something has to be read first (`check_stages.waiting`), or nothing is left. A member who has
    reached a limit gets only tasks returned to them.
    """
    if seat.limits.reached:
        return None if seat.over else assigning.returned(seat=seat)
    current = assigning.resume(seat=seat) or assigning.returned(seat=seat)
    if current is not None:
        return current
    member_status = check_stages.standing_of(seat.campaign, seat.user)
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if check_stages.prerequisite(plan, member_status) is not None:
        return None
    if check_stages.stage(member_status):
        return _of_stage(seat, plan, member_status)
    if check_stages.waiting(seat) is not None:
        return None
    again = _lapsed(seat, HIDDEN, 0) or assigning.take_again(seat=seat)
    return again or _hidden(seat, plan, member_status) or assigning.claim(seat=seat)


def submitted(*, seat: Seat, done: Done, answers: Iterable[CheckedAnswer]) -> None:
    """Process a submission: score it against its key, if any, and apply the consequences."""
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    member_status = check_stages.standing_of(seat.campaign, seat.user)
    if done.is_aside and done.occasion != Occasion.REPEAT and done.is_first:
        values_by_place = {(answer.item, answer.question): answer.value for answer in answers}
        _score(seat, done, values_by_place)
    if done.is_aside and done.occasion in STAGES:
        if done.occasion == Occasion.TRAINING:
            member_status.feedback_id = done.assignment
            member_status.save(update_fields=["feedback"])
        _finish_where_done(seat, plan, member_status)
        return
    if done.is_first:
        _step(seat, plan, member_status, done)


def _step(seat: Seat, plan: CheckPlan, member_status: Standing, done: Done) -> None:
    """Count a step of the main work, hidden tasks included, and act on checks: this one, and those due."""
    step, due = member_status.steps + 1, member_status.marks_due
    is_due, is_check = due is not None and step >= due, done.is_aside and done.occasion == Occasion.CHECK
    if is_due:
        due = None
    if is_check and due is None:
        due = check_stages.step_due(step, rates_of(plan, seat.campaign, seat.user).person_seed)
    member_status.marks_due = due
    Standing.objects.filter(pk=member_status.pk).update(steps=F("steps") + 1, marks_due=due)
    if is_due:
        check_stages.warn_or_pause(plan, member_status, done.assignment)
    if is_check:
        check_stages.leave_out(plan, member_status)


def skipped(*, seat: Seat) -> None:
    """Process a skipped task: in a test it is wrong; a skipped check is not replaced."""
    member_status = check_stages.standing_of(seat.campaign, seat.user)
    _finish_where_done(seat, CheckPlan.objects.get(campaign=seat.campaign), member_status)


def hold_again(*, seat: Seat, assignment: int) -> bool:
    """Renew an expired lease on a task without a slot, which nobody else can have taken."""
    mine = Assignment.objects.filter(pk=assignment, user=seat.user, slot=None, state=State.EXPIRED)
    return bool(mine.update(state=State.LEASED, lease_expires=_until(seat)))


def _of_stage(seat: Seat, plan: CheckPlan, member_status: Standing) -> Hold | None:
    attempt = check_stages.under_way(member_status)
    if attempt is None or member_status.feedback_id:
        return None
    seed = Campaign.objects.values_list("seed", flat=True).get(pk=seat.campaign)
    open_keys = check_stages.rest(attempt, seed)
    if not open_keys:
        check_stages.finish(member_status, plan, attempt)
        return None
    lapsed = _lapsed(seat, [attempt.occasion], attempt.number)
    return lapsed or _give(seat, open_keys[0].task_id, attempt.occasion, attempt.number)


def _finish_where_done(seat: Seat, plan: CheckPlan, member_status: Standing) -> None:
    attempt: Attempt | None = check_stages.under_way(member_status)
    if attempt is not None and not check_stages.rest(attempt, 0):
        check_stages.finish(member_status, plan, attempt)


def _hidden(seat: Seat, plan: CheckPlan, member_status: Standing) -> Hold | None:
    """Return the hidden task due at this step, once, and only while main work remains."""
    if member_status.hidden_at == member_status.steps:
        return None
    rates = rates_of(plan, seat.campaign, seat.user)
    due = kind_at(member_status.steps, rates)
    if not due:
        return None
    values: dict[str, Any] = {
        "campaign": seat.campaign,
        "user": seat.user,
        "own": seat.own_tasks,
        "drawn": rates.person_seed,
        "after": plan.repeat_after,
    }
    task = _fetch_number(TO_CHECK if due == "check" else TO_REPEAT, values)
    if task is None or not assigning.has_free(seat):
        return None
    member_status.hidden_at = member_status.steps
    member_status.save(update_fields=["hidden_at"])
    return _give(seat, task, due, 0)


def _fetch_number(query: str, values: dict[str, Any]) -> int | None:
    with commands.cursor() as cursor:
        cursor.execute(query, values)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _give(seat: Seat, task: int, occasion: str, number: int) -> Hold:
    assignment = Assignment.objects.create(
        slot=None,
        task_id=task,
        campaign_id=seat.campaign,
        user_id=seat.user,
        occasion=occasion,
        round=number,
        lease_expires=_until(seat),
        guidelines_id=seat.guidelines,
    )
    return Hold(assignment.pk, task, State.LEASED, {"version": 0})


def _lapsed(seat: Seat, occasions: Iterable[str], number: int) -> Hold | None:
    """Take back a task without a slot whose lease expired; its draft is unchanged."""
    mine = Assignment.objects.filter(
        campaign=seat.campaign, user=seat.user, slot=None, state=State.EXPIRED, round=number
    )
    lapsed = mine.filter(occasion__in=list(occasions)).order_by("id").first()
    if lapsed is None:
        return None
    lapsed.state, lapsed.lease_expires = State.LEASED, _until(seat)
    lapsed.save(update_fields=["state", "lease_expires"])
    return Hold(lapsed.pk, lapsed.task_id, lapsed.state, {**lapsed.draft, "version": lapsed.revision})


def _until(seat: Seat) -> datetime:
    return timezone.now() + timedelta(minutes=seat.lease_minutes)


def _score(seat: Seat, done: Done, answers: dict[check_stages.Place, check_stages.Value]) -> None:
    """Score a submission against its key, once."""
    key = KeyTask.objects.get(task=done.task)
    counted = scored(key, answers, seat.version)
    CheckResult.objects.create(
        assignment_id=done.assignment,
        campaign_id=seat.campaign,
        user_id=seat.user,
        occasion=done.occasion,
        right=counted.right,
        asked=counted.asked,
        chance=counted.chance,
    )


def scored(
    key: KeyTask, answers: dict[check_stages.Place, check_stages.Value], version: int
) -> check_stages.Score:
    """Score answers against a key."""
    rows = KeyAnswer.objects.filter(key=key)
    keys = {
        (row.item_id, row.question_id): check_stages.Key(tuple(row.values), row.tolerance) for row in rows
    }
    scales = {question.id: question.values for question in questionnaire_of(version).questions}
    return check_stages.score(keys, answers, scales)
