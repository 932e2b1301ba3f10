"""Keys as programs write and read them, and the tasks that may be keyed next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.campaigns.choice import chosen, refused
from annotation.checks.keys import Spot, answers_of, items_at, refuse
from annotation.checks.notices import right_in_words
from annotation.checks.scoring import Key, Place
from annotation.models import Assignment, Campaign, Item, KeyTask, Task
from annotation.scheme_versions.store import questionnaire_of
from annotation.text.item_keys import item_key


def item_name(item: Item) -> str:
    """Return the key of an item, as files and exports write it."""
    own = item.continuation
    return item_key(own.dialogue.key, own.key, item.turn.position if item.turn else None)


def answers_told(campaign: Campaign, spot: Spot, told: Sequence[Mapping[str, Any]]) -> dict[Place, Key]:
    """Return answers as stored from `question`, `values`, and optionally `item` and `tolerance`.

    Without `item` an answer is about the only item of the task. Raises CampaignRefused.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    items = items_at(campaign, spot)
    names = {item_name(item): item.pk for item in items}
    answers: dict[Place, Key] = {}
    for row in told:
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
    """Return a key for programs."""
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
    """Return what a key is about: an item's key, or `dialogue/continuation` for all of its turns."""
    own, item = key.task.continuation, key.task.item
    return item_key(own.dialogue.key, own.key, item.turn.position if item and item.turn else None)


def in_words(key: KeyTask, most: int = 3) -> str:
    """Return what is right by a key, in one line; of many answers the first."""
    plan = questionnaire_of(key.campaign.scheme_version_id)
    questions = {question.id: question for question in plan.questions}
    told = [
        f"{questions[question].wording}: {right_in_words(questions[question], right)}"
        for (_, question), right in answers_of(key).items()
    ]
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return "; ".join(told[:most]) + more


def spot_of(key: KeyTask) -> Spot:
    """Return where a key's task is."""
    return key.task.continuation_id, key.task.item_id


def listed(campaign: Campaign) -> list[KeyTask]:
    """Return a campaign's keys, those retired last."""
    rows = KeyTask.objects.filter(campaign=campaign).select_related(
        "campaign", "task__continuation__dialogue", "task__item__turn"
    )
    return sorted(
        rows, key=lambda key: (key.retired_at is not None, KeyTask.OCCASIONS.index(key.occasion), key.pk)
    )


def times_given(campaign: Campaign) -> dict[int, int]:
    """Return how many times each key's task was submitted, by task."""
    done = Assignment.objects.filter(campaign=campaign, task__key__isnull=False, state="submitted")
    counted: dict[int, int] = {}
    for task in done.values_list("task", flat=True):
        counted[task] = counted.get(task, 0) + 1
    return counted


def next_spot(campaign: Campaign) -> Spot | None:
    """Return a task that may be keyed next: of the corpus, not main work, without a key; None where none is.

    What the campaign asks about comes first, so that people are trained and tested on the like of their
    work. In a draft, whose main work is not made yet, every task may.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    items = Item.objects.filter(corpus=campaign.corpus_id, kind=plan.item_kind)
    items = items.exclude(continuation__mode__in=list(refused(campaign.scheme_version)))
    taken = Task.every.filter(campaign=campaign)
    if plan.is_multiple:
        items = items.exclude(continuation__in=taken.values("continuation"))
    else:
        items = items.exclude(pk__in=taken.values("item"))
    items = items.order_by("continuation__dialogue__key", "continuation__key", "turn__position")
    item = items.filter(continuation__in=chosen(campaign)).first() or items.first()
    return None if item is None else (item.continuation_id, None if plan.is_multiple else item.pk)
