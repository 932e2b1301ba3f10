"""What researchers do to set up training, tests and checks: the settings, and the tasks with a key.

Every verb is one transaction, and is logged. None of them touches a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict, Unpack

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from annotation.campaigns.actions import locked, log
from annotation.campaigns.settings import check_blind
from annotation.checks import keys, scoring
from annotation.checks.keys import Spot, refuse
from annotation.checks.scoring import Key, Place, Value
from annotation.models import (
    Assignment,
    Campaign,
    CheckPlan,
    CheckResult,
    Item,
    KeyAnswer,
    KeyTask,
    Occasion,
    Task,
)
from annotation.scheme_versions.store import questionnaire_of
from annotation.work.checking import cleaned

EXPLANATION_LIMIT = 5_000
MOST_AT_ONCE = 500
SHARES = ("test_mark", "warn_below", "pause_below", "leave_out_below")
COUNTS = {
    "test_tries": (1, 20, "The tries at the test must be"),
    "check_every": (2, 1000, "A check comes once in"),
    "repeat_every": (2, 1000, "A repeat comes once in"),
    "repeat_after": (1, 1000, "The tasks between a task and its repeat must be"),
    "window": (1, 1000, "The checks that a rule looks back on must be"),
    "least": (1, 1000, "The checks before a rule acts must be"),
}


class PlanSettings(TypedDict, total=False):
    """The settings of training, test, checks and rules; `CheckPlan` says what they mean."""

    training_again: bool
    test_mark: float
    test_measure: str
    test_tries: int
    test_tells: str
    check_every: int | None
    repeat_every: int | None
    repeat_after: int
    window: int
    least: int
    warn_below: float | None
    pause_below: float | None
    leave_out_below: float | None


@transaction.atomic
def set_up(*, by: User, campaign: Campaign, **told: Unpack[PlanSettings]) -> CheckPlan:
    """Set how a campaign trains, tests and checks; what is not named stays. Raises CampaignRefused."""
    campaign = locked(campaign)
    _must_be_main(campaign)
    plan = CheckPlan.objects.filter(campaign=campaign).first() or CheckPlan(campaign=campaign)
    for name, value in told.items():
        setattr(plan, name, value)
    _check(plan)
    plan.save()
    log(by, campaign, "set up checks", **told)
    return plan


@transaction.atomic
def add_key(
    *,
    by: User,
    campaign: Campaign,
    occasion: str,
    spot: Spot,
    answers: Mapping[Place, Key],
    explanation: str = "",
    source: str = "typed in",
) -> KeyTask:
    """Key a task that is not main work, for training, the test (qualification) or hidden checks.

    In a draft it is left out of the main work from then on. Raises CampaignRefused.
    """
    campaign = locked(campaign)
    _must_be_main(campaign)
    _known_occasion(occasion)
    items = keys.items_at(campaign, spot)
    if not items or (why := keys.mode_refusal(campaign, spot[0])):
        refuse("about", f"This cannot be rated here: {why if items else 'there is no such item'}.")
    if keys.is_main(campaign, spot):
        refuse("about", "This is main work of the campaign, so it cannot check people at it. Choose another.")
    if Task.every.filter(campaign=campaign, continuation=spot[0], item=spot[1]).exists():
        refuse("about", "This has a key in this campaign already.")
    key = _add(by, campaign, occasion, spot, answers, items, explanation, source)
    log(by, campaign, "add a key", occasion=occasion, source=source)
    return key


@transaction.atomic
def add_keys(
    *,
    by: User,
    campaign: Campaign,
    occasion: str,
    rows: Iterable[tuple[int, str, Value]],
    most: int,
    source: str,
    tolerance: float = 0.0,
) -> int:
    """Key up to `most` tasks by answers that are known, and return how many; which ones the seed draws.

    `rows` are (item id, question's key, value). Raises CampaignRefused where none of them can be keyed.
    """
    campaign = locked(campaign)
    _must_be_main(campaign)
    _known_occasion(occasion)
    if not 1 <= most <= MOST_AT_ONCE:
        refuse("most", f"Key between 1 and {MOST_AT_ONCE} tasks at once.")
    if not 0 <= tolerance <= 1000:
        refuse("tolerance", "The tolerance must lie between 0 and 1,000.")
    drafts = keys.gather(campaign, rows, tolerance)[:most]
    if not drafts:
        refuse(
            "source",
            "None of these answers is about a task that can be keyed here: they answer other questions, or "
            "their tasks are main work of the campaign, or have a key already.",
        )
    for draft in drafts:
        items = keys.items_at(campaign, draft.spot)
        _add(by, campaign, occasion, draft.spot, draft.answers, items, "", source)
    log(by, campaign, "add keys", occasion=occasion, source=source, tasks=len(drafts))
    return len(drafts)


@transaction.atomic
def change_key(*, by: User, key: KeyTask, answers: Mapping[Place, Key], explanation: str) -> int:
    """Correct a key; scores of checks by it are counted anew. Returns how many results changed.

    Who passed a test stays admitted, and who failed it may be let in by hand. Raises CampaignRefused.
    """
    campaign = locked(key.campaign)
    items = keys.items_at(campaign, (key.task.continuation_id, key.task.item_id))
    plan = questionnaire_of(campaign.scheme_version_id)
    kept = keys.checked_answers(plan, items, answers)
    key.explanation = _explanation(campaign, explanation)
    key.save(update_fields=["explanation"])
    key.answers.all().delete()
    _keep_answers(key, kept)
    changed = sum(
        _score_again(key, result) for result in CheckResult.objects.filter(assignment__task=key.task_id)
    )
    log(by, campaign, "change a key", task=key.task_id, results=changed)
    return changed


@transaction.atomic
def retire_key(*, by: User, key: KeyTask) -> None:
    """Give a key's task to nobody any more. One that nobody met goes, so that it may be main work again."""
    campaign = locked(key.campaign)
    if Assignment.objects.filter(task=key.task_id).exists():
        KeyTask.objects.filter(pk=key.pk).update(retired_at=timezone.now())
    else:
        key.task.delete()
    log(by, campaign, "retire a key", task=key.task_id)


def _add(
    by: User,
    campaign: Campaign,
    occasion: str,
    spot: Spot,
    answers: Mapping[Place, Key],
    items: Iterable[Item],
    explanation: str,
    source: str,
) -> KeyTask:
    plan = questionnaire_of(campaign.scheme_version_id)
    kept = keys.checked_answers(plan, items, answers)
    lowest = Task.every.filter(campaign=campaign).aggregate(lowest=Min("position"))["lowest"] or 0
    task = Task.every.create(
        campaign=campaign,
        continuation_id=spot[0],
        item_id=spot[1],
        position=min(lowest, 0) - 1,
        raters=campaign.raters_per_item,
    )
    key = KeyTask.objects.create(
        task=task,
        campaign=campaign,
        occasion=occasion,
        explanation=_explanation(campaign, explanation),
        source=source[:200],
        created_by=by,
    )
    _keep_answers(key, kept)
    CheckPlan.objects.get_or_create(campaign=campaign)
    return key


def _keep_answers(key: KeyTask, answers: Mapping[Place, Key]) -> None:
    KeyAnswer.objects.bulk_create(
        KeyAnswer(
            key=key, item_id=item, question_id=question, values=list(right.values), tolerance=right.tolerance
        )
        for (item, question), right in answers.items()
    )


def _score_again(key: KeyTask, result: CheckResult) -> bool:
    """Count a result anew, from the answers as they were first submitted; return whether it changed."""
    first = result.assignment.labels.filter(supersedes=None, missing="")
    given = {
        (item, question): (text or "") if number is None else number
        for item, question, number, text in first.values_list("item_id", "question_id", "number", "text")
    }
    plan = questionnaire_of(key.campaign.scheme_version_id)
    scales = {question.id: question.values for question in plan.questions}
    score = scoring.score(keys.answers_of(key), given, scales)
    if (result.right, result.asked, result.chance) == score:
        return False
    result.right, result.asked, result.chance = score
    result.save(update_fields=["right", "asked", "chance"])
    return True


def _must_be_main(campaign: Campaign) -> None:
    if campaign.side_by_side:
        refuse(
            "occasion",
            "A key is about one response, and this campaign shows several side by side: train and test "
            "people in one that shows one at a time.",
        )
    if campaign.occasion != Occasion.MAIN:
        refuse("occasion", "Only a campaign of main work can train, test and check its annotators.")


def _known_occasion(occasion: str) -> None:
    if occasion not in KeyTask.OCCASIONS:
        refuse("occasion", f"A key serves one of {', '.join(KeyTask.OCCASIONS)}.")


def _explanation(campaign: Campaign, text: str) -> str:
    text = str(cleaned(text)).strip()
    if len(text) > EXPLANATION_LIMIT:
        refuse("explanation", f"Give the explanation in at most {EXPLANATION_LIMIT:,} characters.")
    check_blind(campaign.corpus, "explanation", "The explanation names", text)
    return text


def _check(plan: CheckPlan) -> None:
    for name in SHARES:
        value = getattr(plan, name)
        if value is not None and not 0 <= value <= 1:
            refuse(name, f"The {name.replace('_', ' ')} must lie between 0 and 1 (0.8 is 80%).")
    for name, (least, most, what) in COUNTS.items():
        value = getattr(plan, name)
        if value is not None and not least <= value <= most:
            refuse(name, f"{what} between {least} and {most:,}{' tasks' if name.endswith('every') else ''}.")
    if plan.least > plan.window:
        refuse("least", "A rule cannot wait for more checks than it looks back on.")
    if plan.test_measure not in CheckPlan.Measure.values:
        refuse("test_measure", f"The score is one of {', '.join(CheckPlan.Measure.values)}.")
    if plan.test_tells not in CheckPlan.Tells.values:
        refuse("test_tells", f"After the test is told one of {', '.join(CheckPlan.Tells.values)}.")


def copy_to(*, by: User, of: Campaign, to: Campaign) -> None:
    """Give a copied campaign the plan and the keys of the one it is like; nobody's results."""
    plan = CheckPlan.objects.filter(campaign=of).first()
    if plan is None:
        return
    plan.pk, plan.campaign = None, to
    plan.save()
    for key in KeyTask.objects.filter(campaign=of, retired_at=None).select_related("task"):
        spot = (key.task.continuation_id, key.task.item_id)
        items = keys.items_at(of, spot)
        _add(by, to, key.occasion, spot, keys.answers_of(key), items, key.explanation, key.source)
