"""What a member is told before the next task of a campaign with checks, and what they say to it.

A notice is accepted by what it is and a number, as a consent text is by its version: what was said to an
earlier notice does nothing, and what is said twice counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.checks import stages
from annotation.checks.scoring import Key, is_right
from annotation.checks.stages import TEST, TRAINING
from annotation.errors import AnswerRefused
from annotation.models import (
    Assignment,
    CheckPlan,
    Item,
    KeyAnswer,
    KeyTask,
    Standing,
    turn_numbers,
)
from annotation.models.checks import Attempt
from annotation.scheme_versions.store import Asked, questionnaire_of
from annotation.work.leases import Seat, take_seat

# An annotator's answers beside the key: what training shows after each task, and a test once it is over.


class Row(NamedTuple):
    """One answer beside the key. `place` says which turn, or the whole, of a task about several, else ''.

    `given` is '' where nothing was answered; `right` lists what counts as right.
    """

    place: str
    question: str
    given: str
    right: str
    is_right: bool

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


def feedback_of(assignment: Assignment) -> tuple[tuple[Row, ...], str]:
    """Return the answers of a submission beside its key, as first submitted, and the key's explanation."""
    key = KeyTask.objects.get(task=assignment.task_id)
    first = assignment.labels.filter(supersedes=None, missing="")
    given = {
        (item, question): text if number is None else number
        for item, question, number, text in first.values_list("item_id", "question_id", "number", "text")
    }
    plan = questionnaire_of(assignment.campaign.scheme_version_id)
    asked = {question.id: question for question in plan.questions}
    order = {question.id: place for place, question in enumerate(plan.questions)}
    answers = list(KeyAnswer.objects.filter(key=key).select_related("item__turn"))
    turn_numbers.number(row.item.turn for row in answers)
    answers.sort(key=lambda row: (row.item.turn.position if row.item.turn else inf, order[row.question_id]))
    several = len({row.item_id for row in answers}) > 1
    rows = (
        _row(row, asked[row.question_id], given.get((row.item_id, row.question_id)), several)
        for row in answers
    )
    return tuple(rows), key.explanation


def wrong_in(attempt: Attempt) -> tuple[Row, ...]:
    """Return the answers of a try at the test that were wrong, task by task in their order."""
    mine = Assignment.objects.filter(
        campaign=attempt.campaign_id,
        user=attempt.user_id,
        occasion=attempt.occasion,
        round=attempt.number,
        state=Assignment.State.SUBMITTED,
    )
    wrong: list[Row] = []
    for number, assignment in enumerate(mine.order_by("id"), start=1):
        rows, _ = feedback_of(assignment)
        about = f"Task {number}"
        wrong += [
            row._replace(place=f"{about}, {row.place}" if row.place else about)
            for row in rows
            if not row.is_right
        ]
    return tuple(wrong)


def _row(row: KeyAnswer, question: Asked, value: float | str | None, several: bool) -> Row:
    key = Key(tuple(row.values), row.tolerance)
    return Row(
        place=_place(row.item) if several else "",
        question=question.wording,
        given="" if value is None else worded(question, value),
        right=right_in_words(question, key),
        is_right=is_right(value, key),
    )


def _place(item: Item) -> str:
    number = getattr(item.turn, "number", None) if item.turn else None
    return f"Turn {number}" if number else "The whole dialogue"


def right_in_words(question: Asked, key: Key) -> str:
    """Return what counts as right, as people read it: `4, or 1 more or less`."""
    words = " or ".join(worded(question, value) for value in key.values)
    return f"{words}, or up to {key.tolerance:g} more or less" if key.tolerance else words


def worded(question: Asked, value: float | str) -> str:
    """Return a value as people read it, with its anchor where it has one; a tag is yes or no."""
    if question.is_tag:
        return "yes" if value else "no"
    text = value if isinstance(value, str) else f"{value:g}"
    anchor = question.anchors.get(text, "")
    return f"{text} ({anchor})" if anchor and anchor != text else text


What = Literal["training", "feedback", "trained", "test", "passed", "failed", "paused", "warning"]
ACCEPTED = ("training", "feedback", "trained", "test", "passed", "warning")


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
