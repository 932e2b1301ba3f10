"""How much lies before somebody in a campaign with checks, as the page counts it."""

from __future__ import annotations

from typing import Protocol

from annotation.checks import places, stages
from annotation.models import Assignment, Campaign, CheckPlan, KeyTask, Occasion


class Sitting(Protocol):
    """What is needed of a member's seat (`annotation.work.leases.Seat`)."""

    @property
    def campaign(self) -> int: ...

    @property
    def user(self) -> int: ...


def rates_of(plan: CheckPlan, campaign: int, user: int) -> places.Rates:
    """Return how often hidden tasks come to a person, and where their places are drawn from."""
    seed = Campaign.objects.values_list("seed", flat=True).get(pk=campaign)
    return places.Rates(plan.check_every, plan.repeat_every, plan.repeat_after, f"{seed}:{campaign}:{user}")


def stage_progress(seat: Sitting) -> tuple[int, int] | None:
    """Return how many tasks of the training or test are done and left; None in the main work."""
    standing = stages.standing_of(seat.campaign, seat.user)
    if standing.admitted_at is not None or not (now := stages.stage(standing)):
        return None
    there = len(stages.keys_of(seat.campaign, now))
    attempt = stages.under_way(standing)
    if attempt is None:
        return (there, 0) if standing.feedback_id or stages.attempts(standing, now) else (0, there)
    left = len(stages.rest(attempt, 0))
    return there - left, left


def with_hidden(seat: Sitting, tasks: int, *, held: bool, most: int) -> int:
    """Return how many tasks lie before somebody who has `tasks` of the main work left, hidden ones included.

    `held` says that a task is before them already, which is not counted. The count falls by one with each
    task submitted, whether it was a hidden one or not.
    """
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if not (plan.check_every or plan.repeat_every):
        return tasks
    standing = stages.standing_of(seat.campaign, seat.user)
    mine = Assignment.objects.filter(campaign=seat.campaign, user=seat.user, round=0)
    done = mine.filter(state=Assignment.State.SUBMITTED).order_by("submitted_at", "id")
    met = mine.filter(occasion=Occasion.CHECK).values("task")
    keys = KeyTask.objects.filter(campaign=seat.campaign, occasion=Occasion.CHECK, retired_at=None)
    checks = keys.exclude(task__in=met).count()
    rates = rates_of(plan, seat.campaign, seat.user)
    given = list(done.values_list("occasion", flat=True))
    step = standing.steps
    if held:  # the task in hand has this step, or is a place of it that is used up
        now = mine.filter(state=Assignment.State.LEASED).values_list("occasion", flat=True).first()
        given, step = [*given, now or Occasion.MAIN], step + 1
    return places.left(tasks, step, rates, checks, given, most)
