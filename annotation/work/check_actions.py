"""Researcher actions on training, tests and checks: settings, key tasks, and annotators' standing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.utils import timezone

from annotation.campaigns.campaign_actions import locked, log
from annotation.campaigns.choice import by_speakers, refused, selected_continuations
from annotation.campaigns.settings import Setting, When, check_blind, check_values, refuse
from annotation.errors import SubmissionRefused
from annotation.models import CampaignMember, CheckResult, Continuation, Label, Standing
from annotation.models.campaigns import Campaign
from annotation.models.checks import CheckPlan, KeyAnswer, KeyTask
from annotation.models.corpora import Item
from annotation.models.labels import Occasion
from annotation.models.work import Assignment, Task
from annotation.scheme_store import Questionnaire, ScreenQuestion, questionnaire_of
from annotation.text.references import item_key, parse_item_key
from annotation.work import check_stages
from annotation.work.check_stages import Key, Place, Value, right_in_words
from annotation.work.checking import cleaned
from annotation.work.labels import called
from annotation.work.submissions import reasoned

# Answer keys: the correct answers of a task, their source, and which tasks can be checked with them.
#
# Key tasks are separate from the main work, and no task can be both: annotators never rate a task of the
# main work with its answer known, and never rate in the main work a task they were trained on.

ORDERED = ("ordinal", "interval", "ratio")
Spot = tuple[int, int | None]
"""(continuation id, item id; None where a task covers a whole continuation)."""


@dataclass(slots=True)
class Draft:
    """A key that can be added: the correct answers, by item and question."""

    spot: Spot
    answers: dict[Place, Key] = field(default_factory=dict)


def checked_answers(
    plan: Questionnaire, items: Iterable[Item], answers: Mapping[Place, Key]
) -> dict[Place, Key]:
    """Check a key's answers, each against its question's scale. Raises CampaignRefused."""
    questions = {question.id: question for question in plan.questions}
    kind_by_item = {item.pk: item.kind for item in items}
    for (item, number), key in answers.items():
        question = questions.get(number)
        if question is None or kind_by_item.get(item) != question.item_kind:
            refuse("answers", "The key answers a question that this task does not have.")
        if question.level == "text":
            refuse("answers", f"“{question.wording}” is answered in words, which no key can check.")
        wrong = next((value for value in key.values if not question.accepts(value)), None)
        if wrong is not None:
            refuse("answers", f"“{question.wording}” does not take “{str(wrong)[:40]}”.")
        if key.tolerance and question.level not in ORDERED:
            refuse("answers", f"“{question.wording}” has no order, so nothing can be near its answer.")
        if not 0 <= key.tolerance < 1e6:
            refuse("answers", f"The tolerance of “{question.wording}” must be 0 or more.")
    with_values = {place: key for place, key in answers.items() if key.values}
    if not with_values:
        refuse("answers", "Mark the right answer of at least one question.")
    return with_values


def items_at(campaign: Campaign, spot: Spot) -> list[Item]:
    """Return the items of the task at a spot, in order."""
    kinds = questionnaire_of(campaign.scheme_version_id).item_kinds
    items = Item.objects.filter(corpus=campaign.corpus_id, continuation=spot[0], kind__in=kinds)
    items = items.filter(by_speakers(campaign.speakers))
    items = items if spot[1] is None else items.filter(pk=spot[1])
    return list(items.select_related("turn").order_by(F("turn__position").asc(nulls_last=True), "pk"))


def spot_named(campaign: Campaign, about: str) -> Spot:
    """Return the spot named by an item key: `dialogue/continuation/turn`, without turn for a whole.

    Raises CampaignRefused where the corpus has no such item, or the campaign does not ask about that kind.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    try:
        dialogue, continuation, turn = parse_item_key(about.strip())
    except ValueError as error:
        refuse("about", f"{error}.")
    rows = Item.objects.filter(
        corpus=campaign.corpus_id,
        kind=plan.item_kind,
        continuation__dialogue__key=dialogue,
        continuation__key=continuation,
    )
    if not plan.is_multiple:
        rows = rows.filter(turn__position=turn) if turn is not None else rows.filter(turn=None)
    item = rows.filter(by_speakers(campaign.speakers)).first()
    if item is None:
        refuse("about", f"There is no “{about[:80]}” of the kind that this campaign asks about.")
    return item.continuation_id, None if plan.is_multiple else item.pk


def is_main(campaign: Campaign, spot: Spot) -> bool:
    """Whether the main work has a task at a spot."""
    return Task.objects.filter(campaign=campaign, continuation=spot[0], item=spot[1]).exists()


def gather(campaign: Campaign, rows: Iterable[tuple[int, str, Value]], tolerance: float) -> list[Draft]:
    """Build keys from answers (item id, question key, value), in an order drawn by the seed.

    Questions are matched by key to the campaign's; values off their scale, tasks of the main work and tasks
    that already have a key are skipped. `tolerance` applies to ordered questions.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    values_by_item: dict[int, dict[str, list[Value]]] = {}
    for item, question, value in rows:
        definition = plan.by_key.get(question)
        if definition is None or definition.level == "text" or not definition.accepts(value):
            continue
        values = values_by_item.setdefault(item, {}).setdefault(question, [])
        if value not in values:
            values.append(value)
    items = Item.objects.filter(pk__in=values_by_item, corpus=campaign.corpus_id, kind__in=plan.item_kinds)
    items = items.filter(by_speakers(campaign.speakers))
    modes = refused(campaign.scheme_version)
    drafts: dict[Spot, Draft] = {}
    for row in items.exclude(continuation__mode__in=list(modes)).order_by("pk"):
        spot = (row.continuation_id, None if plan.is_multiple else row.pk)
        draft = drafts.setdefault(spot, Draft(spot))
        for name, values in values_by_item[row.pk].items():
            definition = plan.by_key[name]
            if definition.item_kind != row.kind:
                continue
            draft.answers[row.pk, definition.id] = Key(tuple(values), _near(definition, tolerance))
    used_spots = set(Task.every.filter(campaign=campaign).values_list("continuation", "item"))
    free = [draft for spot, draft in drafts.items() if draft.answers and spot not in used_spots]
    return sorted(free, key=lambda draft: _draw_key(campaign.seed, draft.spot))


def _near(question: ScreenQuestion, tolerance: float) -> float:
    return tolerance if question.level in ORDERED else 0.0


def _draw_key(seed: int, spot: Spot) -> str:
    return hashlib.sha256(f"{seed}:key:{spot}".encode()).hexdigest()


def of_rater(campaign: Campaign, name: str) -> list[tuple[int, str, Value]]:
    """Return the answers of a rater of the corpus, as `gather` takes them. Raises CampaignRefused."""
    labels = Label.objects.filter(
        item__corpus=campaign.corpus_id,
        rater__name=name,
        occasion__in=[Occasion.MAIN, Occasion.IMPORTED],
    )
    rows = _rows(labels)
    if not rows:
        refuse("rater", f"No rater “{name[:80]}” has answered anything about this corpus.")
    return rows


def of_adjudication(campaign: Campaign) -> list[tuple[int, str, Value]]:
    """Return the adjudicated answers of the corpus. Raises CampaignRefused where there are none."""
    labels = Label.objects.filter(item__corpus=campaign.corpus_id, occasion=Occasion.ADJUDICATION)
    rows = _rows(labels)
    if not rows:
        refuse("source", "Nothing about this corpus was adjudicated yet.")
    return rows


def _rows(labels: object) -> list[tuple[int, str, Value]]:
    live = labels.filter(superseded_at=None, missing="", sample=0).order_by("id")  # type: ignore[attr-defined]
    return [
        (item, key, text if number is None else number)
        for item, key, number, text in live.values_list("item_id", "question__key", "number", "text")
    ]


def answers_of(key: KeyTask) -> dict[Place, Key]:
    """Return the correct answers of a stored key."""
    rows = KeyAnswer.objects.filter(key=key)
    return {(row.item_id, row.question_id): Key(tuple(row.values), row.tolerance) for row in rows}


def mode_refusal(campaign: Campaign, continuation: int) -> str:
    """Explain why a continuation cannot be rated with the campaign's scheme; '' where it can."""
    mode = Continuation.objects.values_list("mode", flat=True).get(pk=continuation)
    return refused(campaign.scheme_version).get(mode, "")


# Keys as JSON, and the next tasks that can get a key.


def item_name(item: Item) -> str:
    """Return an item's key, as in files and exports."""
    own = item.continuation
    return item_key(own.dialogue.key, own.key, item.turn.position if item.turn else None)


def parse_answers(campaign: Campaign, spot: Spot, rows: Sequence[Mapping[str, Any]]) -> dict[Place, Key]:
    """Parse answers given as `question`, `values`, and optionally `item` and `tolerance`.

    Without `item`, an answer is about the only item of the task. Raises CampaignRefused.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    items = items_at(campaign, spot)
    names = {item_name(item): item.pk for item in items}
    answers: dict[Place, Key] = {}
    for row in rows:
        question = plan.by_key.get(str(row.get("question")))
        if question is None:
            refuse("answers", f"There is no question “{str(row.get('question'))[:80]}” in this campaign.")
        about = row.get("item") or (next(iter(names)) if len(names) == 1 else "")
        if about not in names:
            refuse(
                "answers", f"The task has no item “{str(about)[:80]}”. It has {', '.join(list(names)[:5])}."
            )
        values = [float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in row["values"]]
        answers[names[about], question.id] = Key(tuple(values), float(row.get("tolerance") or 0.0))
    return answers


def key_as_json(key: KeyTask) -> dict[str, Any]:
    """Return a key as JSON data."""
    campaign = key.campaign
    plan = questionnaire_of(campaign.scheme_version_id)
    questions = {question.id: question for question in plan.questions}
    items = {item.pk: item_name(item) for item in items_at(campaign, spot_of(key))}
    return {
        "key": key.pk,
        "occasion": key.occasion,
        "about": about(key),
        "explanation": key.explanation,
        "source": key.source,
        "retired_at": key.retired_at,
        "answers": [
            {
                "item": items.get(item, ""),
                "question": questions[question].key,
                "values": list(right.values),
                "tolerance": right.tolerance,
            }
            for (item, question), right in answers_of(key).items()
        ],
    }


def about(key: KeyTask) -> str:
    """Name the subject of a key: an item key, or `dialogue/continuation` for all of its turns."""
    own, item = key.task.continuation, key.task.item
    return item_key(own.dialogue.key, own.key, item.turn.position if item and item.turn else None)


def in_words(key: KeyTask, most: int = 3) -> str:
    """Describe a key's correct answers in one line; only the first `most` of many."""
    plan = questionnaire_of(key.campaign.scheme_version_id)
    questions = {question.id: question for question in plan.questions}
    sentences = [
        f"{questions[question].wording}: {right_in_words(questions[question], right)}"
        for (_, question), right in answers_of(key).items()
    ]
    more = f" and {len(sentences) - most} more" if len(sentences) > most else ""
    return "; ".join(sentences[:most]) + more


def spot_of(key: KeyTask) -> Spot:
    """Return the spot of a key's task."""
    return key.task.continuation_id, key.task.item_id


def list_keys(campaign: Campaign) -> list[KeyTask]:
    """Return a campaign's keys, retired ones last."""
    rows = KeyTask.objects.filter(campaign=campaign).select_related(
        "campaign", "task__continuation__dialogue", "task__item__turn"
    )
    return sorted(
        rows, key=lambda key: (key.retired_at is not None, KeyTask.OCCASIONS.index(key.occasion), key.pk)
    )


def times_given(campaign: Campaign) -> dict[int, int]:
    """Count the submissions of each key's task, by task."""
    done = Assignment.objects.filter(campaign=campaign, task__key__isnull=False, state="submitted")
    counted: dict[int, int] = {}
    for task in done.values_list("task", flat=True):
        counted[task] = counted.get(task, 0) + 1
    return counted


def next_spot(campaign: Campaign) -> Spot | None:
    """Return a task that can be keyed next: in the corpus, not main work, without a key; None without any.

    Items that the campaign asks about come first, so that people are trained and tested on tasks like their
    work. In a draft, whose main work is not created yet, every task qualifies.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    items = Item.objects.filter(corpus=campaign.corpus_id, kind=plan.item_kind)
    items = items.filter(by_speakers(campaign.speakers))
    items = items.exclude(continuation__mode__in=list(refused(campaign.scheme_version)))
    existing_tasks = Task.every.filter(campaign=campaign)
    if plan.is_multiple:
        items = items.exclude(continuation__in=existing_tasks.values("continuation"))
    else:
        items = items.exclude(pk__in=existing_tasks.values("item"))
    items = items.order_by("continuation__dialogue__key", "continuation__key", "turn__position")
    item = items.filter(continuation__in=selected_continuations(campaign)).first() or items.first()
    return None if item is None else (item.continuation_id, None if plan.is_multiple else item.pk)


# Setting up training, tests and checks: the settings, and the tasks with a key.
#
# Each action is one transaction, and is logged. None touches a label.

EXPLANATION_LIMIT = 5_000
MOST_AT_ONCE = 500


@dataclass(frozen=True)
class CheckSetting(Setting):
    """A setting of training, test, checks and rules: a column of `CheckPlan`, which says what it means."""

    model = CheckPlan
    when: When = When.ALWAYS


SETTINGS = {
    setting.name: setting
    for setting in (
        CheckSetting(
            "prerequisite",
            "Campaign whose test comes first",
            "People get no task here before they have passed the test of that campaign.",
        ),
        CheckSetting("training_again", "Training may be done more than once"),
        CheckSetting(
            "test_mark",
            "Pass mark of the test, share",
            bounds=(0, 1),
            subject="The pass mark of the test",
            required=True,
        ),
        CheckSetting(
            "test_measure",
            "The test's score is",
            "Beyond guessing: (right - expected) / (all - expected), with what guessing evenly among the "
            "values gives as expected.",
            subject="The score is",
            required=True,
        ),
        CheckSetting("test_tries", "Tries at the test", bounds=(1, 20), required=True),
        CheckSetting(
            "test_tells", "After the test people learn", subject="After the test is told", required=True
        ),
        CheckSetting(
            "check_every",
            "One hidden check in … tasks",
            "Empty for none.",
            bounds=(2, 1000),
            subject="The tasks of which one is a check",
        ),
        CheckSetting(
            "repeat_every",
            "One repeat in … tasks",
            "Empty for none.",
            bounds=(2, 1000),
            subject="The tasks of which one is a repeat",
        ),
        CheckSetting(
            "repeat_after",
            "A repeat comes after at least … other tasks",
            bounds=(1, 1000),
            subject="The tasks between a task and its repeat",
            required=True,
        ),
        CheckSetting(
            "window",
            "The rule looks at the last … checks",
            bounds=(1, 1000),
            subject="The checks that a rule looks back on",
            required=True,
        ),
        CheckSetting(
            "least",
            "and acts from … checks on",
            bounds=(1, 1000),
            subject="The checks before a rule acts",
            required=True,
        ),
        CheckSetting(
            "warn_below",
            "Warn below, share right",
            "Empty for never.",
            bounds=(0, 1),
            subject="The share below which people are warned",
        ),
        CheckSetting(
            "pause_below",
            "Pause below, share right",
            "Empty for never.",
            bounds=(0, 1),
            subject="The share below which people are paused",
        ),
        CheckSetting(
            "leave_out_below",
            "Leave out of gold below, share right",
            "Empty for never. Labels stay.",
            bounds=(0, 1),
            subject="The share below which people are left out of gold",
        ),
    )
}


@transaction.atomic
def set_up(*, by: User, campaign: Campaign, **plan_settings: Any) -> CheckPlan:
    """Set a campaign's settings of training, test and checks; others stay. Raises CampaignRefused.

    `plan_settings` are `SETTINGS`.
    """
    if unknown := plan_settings.keys() - SETTINGS.keys():
        raise TypeError(f"a plan of checks has no {min(unknown)}")
    campaign = locked(campaign)
    _must_be_main(campaign)
    plan = CheckPlan.objects.filter(campaign=campaign).first() or CheckPlan(campaign=campaign)
    for name, value in plan_settings.items():
        setattr(plan, name, value)
    _check(plan)
    plan.save()
    first = plan_settings.get("prerequisite")
    log(by, campaign, "set up checks", **plan_settings | ({"prerequisite": first.name} if first else {}))
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
    """Add a key to a task outside the main work, for training, the test (qualification) or hidden checks.

    In a draft the task is left out of the main work from then on. Raises CampaignRefused.
    """
    campaign = locked(campaign)
    _must_be_main(campaign)
    _known_occasion(occasion)
    items = items_at(campaign, spot)
    if not items or (why := mode_refusal(campaign, spot[0])):
        refuse("about", f"This cannot be rated here: {why if items else 'there is no such item'}.")
    if is_main(campaign, spot):
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
    """Add keys to up to `most` tasks from known answers and return how many; the seed draws which.

    `rows` are (item id, question key, value). Raises CampaignRefused where none of them can be keyed.
    """
    campaign = locked(campaign)
    _must_be_main(campaign)
    _known_occasion(occasion)
    if not 1 <= most <= MOST_AT_ONCE:
        refuse("most", f"Key between 1 and {MOST_AT_ONCE} tasks at once.")
    if not 0 <= tolerance <= 1000:
        refuse("tolerance", "The tolerance must lie between 0 and 1,000.")
    drafts = gather(campaign, rows, tolerance)[:most]
    if not drafts:
        refuse(
            "source",
            "None of these answers is about a task that can be keyed here: they answer other questions, or "
            "their tasks are main work of the campaign, or have a key already.",
        )
    for draft in drafts:
        items = items_at(campaign, draft.spot)
        _add(by, campaign, occasion, draft.spot, draft.answers, items, "", source)
    log(by, campaign, "add keys", occasion=occasion, source=source, tasks=len(drafts))
    return len(drafts)


@transaction.atomic
def change_key(*, by: User, key: KeyTask, answers: Mapping[Place, Key], explanation: str) -> int:
    """Correct a key and recompute scores of checks that use it. Returns how many results changed.

    People who passed a test stay admitted; those who failed can be admitted by hand. Raises CampaignRefused.
    """
    campaign = locked(key.campaign)
    items = items_at(campaign, (key.task.continuation_id, key.task.item_id))
    plan = questionnaire_of(campaign.scheme_version_id)
    checked = checked_answers(plan, items, answers)
    key.explanation = _explanation(campaign, explanation)
    key.save(update_fields=["explanation"])
    key.answers.all().delete()
    _keep_answers(key, checked)
    changed = sum(
        _score_again(key, result) for result in CheckResult.objects.filter(assignment__task=key.task_id)
    )
    log(by, campaign, "change a key", task=key.task_id, results=changed)
    return changed


@transaction.atomic
def retire_key(*, by: User, key: KeyTask) -> None:
    """Stop giving out a key's task. A task that nobody has met is deleted, so it can be main work again."""
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
    checked = checked_answers(plan, items, answers)
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
    _keep_answers(key, checked)
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
    """Recompute a result from the answers as first submitted; return whether it changed."""
    first = result.assignment.labels.filter(supersedes=None, missing="")
    answers = {
        (item, question): (text or "") if number is None else number
        for item, question, number, text in first.values_list("item_id", "question_id", "number", "text")
    }
    plan = questionnaire_of(key.campaign.scheme_version_id)
    scales = {question.id: question.values for question in plan.questions}
    score = check_stages.score(answers_of(key), answers, scales)
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
    check_values(plan, SETTINGS)
    if plan.repeat_every is not None and plan.campaign.form == Campaign.Form.WRITE:
        refuse("repeat_every", "Nothing is asked about what members write, so nothing can be repeated.")
    if plan.least > plan.window:
        refuse("least", "A rule cannot wait for more checks than it looks back on.")
    first = plan.prerequisite
    if first is not None and not qualifying().filter(pk=first.pk).exists():
        refuse("prerequisite", f"The campaign “{first.name}” has no test: add key tasks for its test first.")
    seen = {plan.campaign_id}
    while first is not None:
        if first.pk in seen:
            refuse("prerequisite", "Two campaigns cannot each wait for the test of the other.")
        seen.add(first.pk)
        before = CheckPlan.objects.filter(campaign=first).select_related("prerequisite").first()
        first = before.prerequisite if before else None


def qualifying() -> QuerySet[Campaign]:
    """Return the campaigns that have a test."""
    keys = KeyTask.objects.filter(occasion=Occasion.QUALIFICATION, retired_at=None)
    return Campaign.objects.filter(pk__in=keys.values("campaign"))


def copy_to(*, by: User, of: Campaign, to: Campaign) -> None:
    """Copy the plan and keys, but nobody's results, from the original campaign to its copy."""
    plan = CheckPlan.objects.filter(campaign=of).first()
    if plan is None:
        return
    plan.pk, plan.campaign = None, to
    plan.save()
    for key in KeyTask.objects.filter(campaign=of, retired_at=None).select_related("task"):
        spot = (key.task.continuation_id, key.task.item_id)
        items = items_at(of, spot)
        _add(by, to, key.occasion, spot, answers_of(key), items, key.explanation, key.source)


# Decisions about one annotator: admit, pause, resume, exclude from gold, readmit.
#
# Each action is one transaction, requires a reason, and is logged. None touches a label.


@transaction.atomic
def let_in(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Admit a member who has not passed to the main work, for a reason. Raises CampaignRefused."""
    member_status = _lock_status(campaign, user)
    plan = CheckPlan.objects.get(campaign=campaign)
    if member_status.admitted_at is not None and check_stages.prerequisite(plan, member_status) is None:
        refuse("verb", "This person does the main work already.")
    now = timezone.now()
    attempt = check_stages.under_way(member_status)
    if attempt is not None:
        attempt.finished_at = now
        attempt.save(update_fields=["finished_at"])
        _held_of(member_status).update(state=Assignment.State.EXPIRED)
    member_status.admitted_at, member_status.admitted_by, member_status.admitted_why = (
        now,
        by,
        _reason(reason),
    )
    member_status.feedback = None
    member_status.save()
    check_stages.log(member_status, "let in", by=by.pk, reason=member_status.admitted_why)


@transaction.atomic
def pause(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Pause a member: no new tasks until the pause is lifted. Needs a reason. Raises CampaignRefused."""
    member_status = _lock_status(campaign, user)
    if member_status.paused_at is not None:
        refuse("verb", "This person is paused already.")
    member_status.paused_at, member_status.paused_why = timezone.now(), _reason(reason)
    member_status.save(update_fields=["paused_at", "paused_why"])
    check_stages.log(member_status, "pause annotator", by=by.pk, reason=member_status.paused_why)


@transaction.atomic
def lift(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Lift a member's pause, for a reason; checks count from now on."""
    member_status = _lock_status(campaign, user)
    if member_status.paused_at is None:
        refuse("verb", "This person is not paused.")
    member_status.paused_at, member_status.paused_why, member_status.window_from = None, "", timezone.now()
    member_status.save(update_fields=["paused_at", "paused_why", "window_from"])
    check_stages.log(member_status, "lift a pause", by=by.pk, reason=_reason(reason))


@transaction.atomic
def leave_out(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Exclude a member's labels of a campaign from gold, for a reason; the labels are kept."""
    member_status = _lock_status(campaign, user)
    if member_status.left_out_at is not None:
        refuse("verb", "This person is left out already.")
    member_status.left_out_at, member_status.left_out_why = timezone.now(), _reason(reason)
    member_status.save(update_fields=["left_out_at", "left_out_why"])
    check_stages.log(member_status, "leave out of gold", by=by.pk, reason=member_status.left_out_why)


@transaction.atomic
def readmit(*, by: User, campaign: Campaign, user: User, reason: str) -> None:
    """Include a member's labels in gold again, for a reason; checks count from now on."""
    member_status = _lock_status(campaign, user)
    if member_status.left_out_at is None:
        refuse("verb", "This person is not left out.")
    member_status.left_out_at, member_status.left_out_why, member_status.window_from = (
        None,
        "",
        timezone.now(),
    )
    member_status.save(update_fields=["left_out_at", "left_out_why", "window_from"])
    check_stages.log(member_status, "take back into gold", by=by.pk, reason=_reason(reason))


VERBS: dict[str, Callable[..., None]] = {
    "let-in": let_in,
    "pause": pause,
    "lift": lift,
    "leave-out": leave_out,
    "readmit": readmit,
}


def _lock_status(campaign: Campaign, user: User) -> Standing:
    """Return a person's standing, locked by their membership as in each of their own requests."""
    member = CampaignMember.objects.filter(campaign=campaign, user=user)
    if (
        not list(member.select_for_update())
        and not Standing.objects.filter(campaign=campaign, user=user).exists()
    ):
        refuse("user", f"{called(user.pk, campaign.corpus_id)} does not take part in this campaign.")
    if not CheckPlan.objects.filter(campaign=campaign).exists():
        CheckPlan.objects.create(campaign=campaign)
    return check_stages.standing_of(campaign.pk, user.pk)


def _held_of(member_status: Standing) -> Any:
    return Assignment.objects.filter(
        campaign=member_status.campaign_id,
        user=member_status.user_id,
        round__gte=1,
        state=Assignment.State.LEASED,
    )


def _reason(reason: str) -> str:
    try:
        return reasoned(reason)
    except SubmissionRefused as error:
        refuse("reason", str(error))
