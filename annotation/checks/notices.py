"""What a member is told before the next task of a campaign with checks, and what they say to it.

A notice is accepted by what it is and a number, as a consent text is by its version: what was said to an
earlier notice does nothing, and what is said twice counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.checks import stages
from annotation.checks.feedback import Row, feedback_of, wrong_in
from annotation.errors import AnswerRefused
from annotation.models import Attempt, CheckPlan, Occasion, Standing
from annotation.work.leases import Seat, take_seat

What = Literal["training", "feedback", "trained", "test", "passed", "failed", "paused", "warning"]
ACCEPTED = ("training", "feedback", "trained", "test", "passed", "warning")
TRAINING, TEST = Occasion.TRAINING, Occasion.QUALIFICATION


@dataclass(frozen=True, slots=True)
class Notice:
    """What waits. `number` goes with the answer to it; None where nothing is asked of the member.

    `tasks` is how many tasks come next, `tries_left` how many tries at the test there are. `score` (0 to 1),
    `right` and `asked` tell of what was done, where the campaign tells it; `rows` compare answers with the
    key, `task` is what they are about and `explanation` says why. `again` is the number of another round.
    """

    what: What
    number: int | None
    tasks: int = 0
    tries_left: int = 0
    mark: float | None = None
    score: float | None = None
    right: int = 0
    asked: int = 0
    again: int | None = None
    rows: tuple[Row, ...] = ()
    task: int | None = None
    explanation: str = ""

    @property
    def percent(self) -> str:
        """The score as people read it."""
        return "" if self.score is None else f"{100 * self.score:.0f}%"

    @property
    def mark_percent(self) -> str:
        """The pass mark as people read it."""
        return "" if self.mark is None else f"{100 * self.mark:.0f}%"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, for programs."""
        told = {
            name: getattr(self, name)
            for name in ("what", "tasks", "tries_left", "mark", "score", "right", "asked", "explanation")
        }
        return {**told, "version": self.number, "again": self.again, "rows": [r.as_json() for r in self.rows]}


def waiting(seat: Seat) -> Notice | None:
    """Return what a member has to read before the next task; None where nothing waits."""
    if not seat.checked or seat.state != "open" or seat.over:
        return None
    standing = stages.standing_of(seat.campaign, seat.user)
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if standing.feedback_id is not None:
        return _feedback(standing)
    if standing.paused_at is not None:
        return Notice("paused", None)
    if now := stages.stage(standing):
        return _training(standing, plan) if now == TRAINING else _test(standing, plan)
    if standing.told_at is None and (passed := _passed(standing)) is not None:
        return _result("passed", passed, plan, number=passed.number)
    if standing.warned_at is not None and standing.warning_read_at is None:
        return Notice("warning", 1)
    return None


@transaction.atomic
def accept(*, by: User, campaign: int, what: str, version: int) -> None:
    """Go on from a notice: begin the training or the test, or say that something was read.

    Raises NotTaskHolder, and AnswerRefused for what is no notice.
    """
    seat = take_seat(campaign=campaign, user=by.pk)
    if what not in ACCEPTED or not seat.checked:
        raise AnswerRefused(f"There is nothing called “{what}” to accept here.")
    standing = stages.standing_of(campaign, by.pk)
    now = timezone.now()
    if what == "training" and standing.feedback_id is None:
        stages.begin(standing, TRAINING, version)
    elif what == "test" and standing.feedback_id is None:
        stages.begin(standing, TEST, version)
    elif what == "feedback" and standing.feedback_id == version:
        Standing.objects.filter(pk=standing.pk).update(feedback=None)
    elif what == "trained" and _rounds_done(standing) >= 1 and standing.feedback_id is None:
        standing.trained_at = standing.trained_at or now
        standing.save(update_fields=["trained_at"])
        stages.stage(standing)
    elif what == "passed" and standing.told_at is None and standing.admitted_at is not None:
        Standing.objects.filter(pk=standing.pk).update(told_at=now)
    elif what == "warning" and standing.warned_at is not None:
        Standing.objects.filter(pk=standing.pk).update(warning_read_at=now)


def _rounds_done(standing: Standing) -> int:
    rounds = stages.attempts(standing, TRAINING)
    return 0 if any(attempt.finished_at is None for attempt in rounds) else len(rounds)


def _training(standing: Standing, plan: CheckPlan) -> Notice | None:
    rounds = stages.attempts(standing, TRAINING)
    if rounds and rounds[-1].finished_at is None:
        return None
    tasks = len(stages.keys_of(standing.campaign_id, TRAINING))
    if not rounds:
        return Notice("training", 1, tasks=tasks)
    last = rounds[-1]
    again = last.number + 1 if plan.training_again else None
    share = last.right / last.asked if last.asked else None
    return Notice(
        "trained", last.number, tasks=tasks, right=last.right, asked=last.asked, score=share, again=again
    )


def _test(standing: Standing, plan: CheckPlan) -> Notice | None:
    tries = stages.attempts(standing, TEST)
    if tries and tries[-1].finished_at is None:
        return None
    left = max(0, plan.test_tries - len(tries))
    tasks = len(stages.keys_of(standing.campaign_id, TEST))
    if not tries:
        return Notice("test", 1, tasks=tasks, tries_left=left, mark=_mark(plan))
    number = tries[-1].number + 1 if left else None
    return _result("test" if left else "failed", tries[-1], plan, number=number, tries_left=left, tasks=tasks)


def _result(what: What, attempt: Attempt, plan: CheckPlan, **more: Any) -> Notice:
    """Tell of a try what the campaign tells; answers beside the key only once no try is left."""
    told: dict[str, Any] = {"mark": _mark(plan)}
    if plan.test_tells != CheckPlan.Tells.OUTCOME:
        told |= {"score": attempt.score, "right": attempt.right, "asked": attempt.asked}
    if plan.test_tells == CheckPlan.Tells.ANSWERS and what in ("passed", "failed"):
        told["rows"] = wrong_in(attempt)
    return Notice(what, **more, **told)


def _mark(plan: CheckPlan) -> float | None:
    return None if plan.test_tells == CheckPlan.Tells.OUTCOME else plan.test_mark


def _passed(standing: Standing) -> Attempt | None:
    tries = stages.attempts(standing, TEST)
    return next((attempt for attempt in tries if attempt.passed), None)


def _feedback(standing: Standing) -> Notice:
    assert standing.feedback is not None
    rows, explanation = feedback_of(standing.feedback)
    right = sum(row.is_right for row in rows)
    return Notice(
        "feedback",
        standing.feedback_id,
        rows=rows,
        right=right,
        asked=len(rows),
        task=standing.feedback.task_id,
        explanation=explanation,
    )
