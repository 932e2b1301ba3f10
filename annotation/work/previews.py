"""What annotators would see: a campaign's first tasks, and a scheme's questions beside an example.

Only reads: no task, assignment, draft or label is made.
"""

from __future__ import annotations

from annotation.campaigns import tasks
from annotation.kinds import KINDS
from annotation.models import Campaign, Continuation, Corpus, Item
from annotation.scheme_versions.asked import questionnaire_from, questionnaire_of
from annotation.schemes.base import SchemeDefinition
from annotation.text.views import DEFAULT
from annotation.work import sample
from annotation.work.screens import Screen, load_place

FIRST = 20
"""Tasks of a campaign that can be looked through."""


def places(campaign: Campaign) -> list[tuple[int, int | None]]:
    """Return where a campaign's first tasks are, in the order in which they are given out."""
    return tasks.first(campaign, FIRST)


def of_campaign(campaign: Campaign, place: tuple[int, int | None]) -> Screen:
    """Return the screen of one of its places, with what the campaign chose to show."""
    plan = questionnaire_of(campaign.scheme_version_id)
    return load_place(*place, campaign.shows, plan.is_tagged, plan.item_kinds)


def of_scheme(definition: SchemeDefinition, corpus: Corpus | None) -> Screen:
    """Return a screen on which a scheme's questions can be asked: from a corpus, else a built-in sample.

    A corpus without anything that the scheme asks about gives the sample, too.
    """
    plan = questionnaire_from(definition)
    found = _example(definition, corpus) if corpus is not None else None
    if found is None:
        return sample.screen(definition, plan.is_tagged)
    return load_place(*found, DEFAULT, plan.is_tagged, plan.item_kinds)


def _example(definition: SchemeDefinition, corpus: Corpus) -> tuple[int, int | None] | None:
    """Return a corpus's first place for a scheme; the last turn of its continuation, where it asks about one.

    What a system continued comes before dialogues that are rated as they are.
    """
    refused = [mode for mode in Continuation.Mode.values if definition.refusal(mode)]
    items = Item.objects.filter(corpus=corpus, training=False, kind=definition.item_kind)
    items = items.exclude(continuation__mode__in=refused)
    first = items.exclude(continuation__key="self").order_by("pk").first() or items.order_by("pk").first()
    if first is None:
        return None
    if definition.unit == "continuation":
        return first.continuation_id, None
    if KINDS[definition.item_kind].has_turn:
        last = items.filter(continuation=first.continuation_id).order_by("-turn__position").first()
        first = last or first
    return first.continuation_id, first.pk
