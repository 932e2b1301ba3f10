"""Answer keys: what is right about a task, from where it is known, and which tasks can be checked with it.

A key's task stands aside from the main work, so no task can be both: what annotators rate in earnest is never
asked of them with the answer known, and what they were trained on is never rated by them in earnest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from django.db.models import F

from annotation.campaigns.choice import refused
from annotation.checks.scoring import Key, Place, Value
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Continuation, Item, KeyAnswer, KeyTask, Label, Occasion, Task
from annotation.scheme_versions.store import Asked, Questionnaire, questionnaire_of
from annotation.text.item_keys import parse_item_key

ORDERED = ("ordinal", "interval", "ratio")
Spot = tuple[int, int | None]
"""(continuation id, item id; None where a task asks about a whole continuation)."""


@dataclass(slots=True)
class Draft:
    """A key that may be added: what is right, by item and question."""

    spot: Spot
    answers: dict[Place, Key] = field(default_factory=dict)


def refuse(field_name: str, why: str) -> NoReturn:
    """Raise CampaignRefused about one field."""
    error = CampaignRefused(why)
    error.field = field_name
    raise error


def checked_answers(
    plan: Questionnaire, items: Iterable[Item], answers: Mapping[Place, Key]
) -> dict[Place, Key]:
    """Return a key's answers, each on its question's scale. Raises CampaignRefused."""
    asked = {question.id: question for question in plan.questions}
    known = {item.pk: item.kind for item in items}
    for (item, number), key in answers.items():
        question = asked.get(number)
        if question is None or known.get(item) != question.item_kind:
            refuse("answers", "The key answers what is not asked in this task.")
        if question.level == "text":
            refuse("answers", f"“{question.wording}” is answered in words, which no key can check.")
        wrong = next((value for value in key.values if not question.accepts(value)), None)
        if wrong is not None:
            refuse("answers", f"“{question.wording}” does not take “{str(wrong)[:40]}”.")
        if key.tolerance and question.level not in ORDERED:
            refuse("answers", f"“{question.wording}” has no order, so nothing can be near its answer.")
        if not 0 <= key.tolerance < 1e6:
            refuse("answers", f"The tolerance of “{question.wording}” must be 0 or more.")
    kept = {place: key for place, key in answers.items() if key.values}
    if not kept:
        refuse("answers", "Say for at least one question what is right.")
    return kept


def items_at(campaign: Campaign, spot: Spot) -> list[Item]:
    """Return the items that a task at a spot asks about, in their order."""
    kinds = questionnaire_of(campaign.scheme_version_id).item_kinds
    found = Item.objects.filter(corpus=campaign.corpus_id, continuation=spot[0], kind__in=kinds)
    found = found if spot[1] is None else found.filter(pk=spot[1])
    return list(found.select_related("turn").order_by(F("turn__position").asc(nulls_last=True), "pk"))


def spot_named(campaign: Campaign, about: str) -> Spot:
    """Return the spot that an item's key names: `dialogue/continuation/turn`, without turn for a whole.

    Raises CampaignRefused where the corpus has no such item, or the campaign does not ask about such ones.
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
    item = rows.first()
    if item is None:
        refuse("about", f"There is no “{about[:80]}” of the kind that this campaign asks about.")
    return item.continuation_id, None if plan.is_multiple else item.pk


def is_main(campaign: Campaign, spot: Spot) -> bool:
    """Whether a task of the main work is at a spot."""
    return Task.objects.filter(campaign=campaign, continuation=spot[0], item=spot[1]).exists()


def gather(campaign: Campaign, rows: Iterable[tuple[int, str, Value]], tolerance: float) -> list[Draft]:
    """Return the keys that answers make up: (item id, question's key, value), in an order drawn by the seed.

    Questions are the campaign's of the same key; what is off their scale is passed over, and so are tasks of
    the main work and those that have a key already. `tolerance` goes with ordered questions.
    """
    plan = questionnaire_of(campaign.scheme_version_id)
    told: dict[int, dict[str, list[Value]]] = {}
    for item, question, value in rows:
        asked = plan.by_key.get(question)
        if asked is None or asked.level == "text" or not asked.accepts(value):
            continue
        values = told.setdefault(item, {}).setdefault(question, [])
        if value not in values:
            values.append(value)
    found = Item.objects.filter(pk__in=told, corpus=campaign.corpus_id, kind__in=plan.item_kinds)
    modes = refused(campaign.scheme_version)
    drafts: dict[Spot, Draft] = {}
    for row in found.exclude(continuation__mode__in=list(modes)).order_by("pk"):
        spot = (row.continuation_id, None if plan.is_multiple else row.pk)
        draft = drafts.setdefault(spot, Draft(spot))
        for name, values in told[row.pk].items():
            asked = plan.by_key[name]
            if asked.item_kind != row.kind:
                continue
            draft.answers[row.pk, asked.id] = Key(tuple(values), _near(asked, tolerance))
    taken = set(Task.every.filter(campaign=campaign).values_list("continuation", "item"))
    free = [draft for spot, draft in drafts.items() if draft.answers and spot not in taken]
    return sorted(free, key=lambda draft: _drawn(campaign.seed, draft.spot))


def _near(question: Asked, tolerance: float) -> float:
    return tolerance if question.level in ORDERED else 0.0


def _drawn(seed: int, spot: Spot) -> str:
    return hashlib.sha256(f"{seed}:key:{spot}".encode()).hexdigest()


def of_rater(campaign: Campaign, name: str) -> list[tuple[int, str, Value]]:
    """Return what a rater of the corpus answered, as `gather` takes it. Raises CampaignRefused."""
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
    """Return what was adjudicated about the corpus. Raises CampaignRefused where nothing was."""
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
    """Return what is right by a stored key."""
    rows = KeyAnswer.objects.filter(key=key)
    return {(row.item_id, row.question_id): Key(tuple(row.values), row.tolerance) for row in rows}


def mode_refusal(campaign: Campaign, continuation: int) -> str:
    """Return why a continuation cannot be rated with the campaign's scheme, '' where it can."""
    mode = Continuation.objects.values_list("mode", flat=True).get(pk=continuation)
    return refused(campaign.scheme_version).get(mode, "")
