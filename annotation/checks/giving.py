"""What a member is given in a campaign with checks: training, the test, main work, and hidden tasks in it.

Called where tasks are claimed and submitted (`annotation.work.actions`), while the member's row is locked.
Tasks that train, test or check somebody hold no slot: they take no place of the main work.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import F
from django.utils import timezone

from annotation.checks import marks, notices, places, scoring, stages
from annotation.checks.ahead import rates_of
from annotation.models import (
    Assignment,
    Attempt,
    Campaign,
    CheckPlan,
    CheckResult,
    KeyAnswer,
    KeyTask,
    Occasion,
    Standing,
)
from annotation.models.checks import HIDDEN, STAGES
from annotation.scheme_versions.store import questionnaire_of
from annotation.work import leases as assigning
from annotation.work.checking import passes_of
from annotation.work.claiming import FREE, RULED_FREE
from annotation.work.leases import Hold, Seat
from config import commands

State = Assignment.State

TO_CHECK = """
SELECT k.task_id FROM annotation_keytask k
 WHERE k.campaign_id = %(campaign)s AND k.occasion = 'check' AND k.retired_at IS NULL
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

IS_FREE = f"SELECT 1 FROM annotation_slot s WHERE {FREE} LIMIT 1"  # noqa: S608  (a condition of ours)
IS_FREE_RULED = IS_FREE.replace(FREE, RULED_FREE)


class Done(NamedTuple):
    """What was submitted or skipped."""

    assignment: int
    task: int
    occasion: str
    is_aside: bool
    is_first: bool


def next_task(*, seat: Seat) -> Hold | None:
    """Return the task before a member: held or returned, of training or test, hidden, or of the main work.

    None where something has to be read first (`notices.waiting`), or nothing is left. Who may submit no more
    gets only what was returned to them.
    """
    if seat.limits.reached:
        return None if seat.over else assigning.returned(seat=seat)
    held = assigning.resume(seat=seat) or assigning.returned(seat=seat)
    if held is not None:
        return held
    standing = stages.standing_of(seat.campaign, seat.user)
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if stages.stage(standing):
        return _of_stage(seat, plan, standing)
    if notices.waiting(seat) is not None:
        return None
    again = _lapsed(seat, HIDDEN, 0) or assigning.take_again(seat=seat)
    return again or _hidden(seat, plan, standing) or assigning.claim(seat=seat)


def submitted(*, seat: Seat, done: Done, answers: Iterable[tuple[int, int, float | str]]) -> None:
    """Take note of a submission: score it where it has a key, and draw what follows from that."""
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    standing = stages.standing_of(seat.campaign, seat.user)
    if done.is_aside and done.occasion != Occasion.REPEAT and done.is_first:
        given = {(item, question): value for item, question, value in answers}
        _score(seat, done, given)
    if done.is_aside and done.occasion in STAGES:
        if done.occasion == Occasion.TRAINING:
            standing.feedback_id = done.assignment
            standing.save(update_fields=["feedback"])
        _finish_where_done(seat, plan, standing)
        return
    if done.is_first:
        _step(seat, plan, standing, done)


def _step(seat: Seat, plan: CheckPlan, standing: Standing, done: Done) -> None:
    """Count a task of the main work or among it, and act on checks: this one, and those that are due."""
    step, due = standing.steps + 1, standing.marks_due
    is_due, is_check = due is not None and step >= due, done.is_aside and done.occasion == Occasion.CHECK
    if is_due:
        due = None
    if is_check and due is None:
        due = marks.step_due(step, rates_of(plan, seat.campaign, seat.user).drawn)
    standing.marks_due = due
    Standing.objects.filter(pk=standing.pk).update(steps=F("steps") + 1, marks_due=due)
    if is_due:
        marks.warn_or_pause(plan, standing, done.assignment)
    if is_check:
        marks.leave_out(plan, standing)


def skipped(*, seat: Seat) -> None:
    """Take note that a task was skipped: in a test it is wrong; a skipped check is not made up for."""
    standing = stages.standing_of(seat.campaign, seat.user)
    _finish_where_done(seat, CheckPlan.objects.get(campaign=seat.campaign), standing)


def hold_again(*, seat: Seat, assignment: int) -> bool:
    """Renew a lease that ran out on a task without a slot, which nobody else can have taken."""
    mine = Assignment.objects.filter(pk=assignment, user=seat.user, slot=None, state=State.EXPIRED)
    return bool(mine.update(state=State.LEASED, lease_expires=_until(seat)))


def _of_stage(seat: Seat, plan: CheckPlan, standing: Standing) -> Hold | None:
    attempt = stages.under_way(standing)
    if attempt is None or standing.feedback_id:
        return None
    seed = Campaign.objects.values_list("seed", flat=True).get(pk=seat.campaign)
    left = stages.rest(attempt, seed)
    if not left:
        stages.finish(standing, plan, attempt)
        return None
    lapsed = _lapsed(seat, [attempt.occasion], attempt.number)
    return lapsed or _give(seat, left[0].task_id, attempt.occasion, attempt.number)


def _finish_where_done(seat: Seat, plan: CheckPlan, standing: Standing) -> None:
    attempt: Attempt | None = stages.under_way(standing)
    if attempt is not None and not stages.rest(attempt, 0):
        stages.finish(standing, plan, attempt)


def _hidden(seat: Seat, plan: CheckPlan, standing: Standing) -> Hold | None:
    """Give the hidden task that is due at this step, once, and only among main work that goes on."""
    if standing.hidden_at == standing.steps:
        return None
    rates = rates_of(plan, seat.campaign, seat.user)
    due = places.kind_at(standing.steps, rates)
    if not due:
        return None
    values: dict[str, Any] = {
        "campaign": seat.campaign,
        "user": seat.user,
        "occasion": seat.occasion,
        "drawn": rates.drawn,
        "after": plan.repeat_after,
        "upto": seat.upto,
    }
    task = _one(TO_CHECK if due == "check" else TO_REPEAT, values)
    if task is None or not _goes_on(seat, values):
        return None
    standing.hidden_at = standing.steps
    standing.save(update_fields=["hidden_at"])
    return _give(seat, task, due, 0)


def _goes_on(seat: Seat, values: dict[str, Any]) -> bool:
    """Whether there is main work left for the member."""
    if seat.ruled:
        return _one(IS_FREE_RULED, values | passes_of(seat.campaign, seat.user)) is not None
    return _one(IS_FREE, values) is not None


def _one(query: str, values: dict[str, Any]) -> int | None:
    with commands.cursor() as cursor:
        cursor.execute(query, values)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _give(seat: Seat, task: int, occasion: str, number: int) -> Hold:
    made = Assignment.objects.create(
        slot=None,
        task_id=task,
        campaign_id=seat.campaign,
        user_id=seat.user,
        occasion=occasion,
        round=number,
        lease_expires=_until(seat),
        guidelines_id=seat.guidelines,
    )
    return Hold(made.pk, task, State.LEASED, {"version": 0})


def _lapsed(seat: Seat, occasions: Iterable[str], number: int) -> Hold | None:
    """Take back a task without a slot whose lease ran out; its draft is as it was."""
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


def _score(seat: Seat, done: Done, given: dict[scoring.Place, scoring.Value]) -> None:
    """Compare a submission with its key, once."""
    key = KeyTask.objects.get(task=done.task)
    counted = scored(key, given, seat.version)
    CheckResult.objects.create(
        assignment_id=done.assignment,
        campaign_id=seat.campaign,
        user_id=seat.user,
        occasion=done.occasion,
        right=counted.right,
        asked=counted.asked,
        chance=counted.chance,
    )


def scored(key: KeyTask, given: dict[scoring.Place, scoring.Value], version: int) -> scoring.Score:
    """Return how answers compare with a key."""
    rows = KeyAnswer.objects.filter(key=key)
    keys = {(row.item_id, row.question_id): scoring.Key(tuple(row.values), row.tolerance) for row in rows}
    scales = {question.id: question.values for question in questionnaire_of(version).questions}
    return scoring.score(keys, given, scales)
