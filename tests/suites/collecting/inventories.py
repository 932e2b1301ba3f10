"""A small inventory of personas, and people who review, for tests."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.models import Assignment, Campaign
from annotation.work import task_actions
from suites.collecting import inventory_actions, models, persona_actions
from suites.collecting.inventories import Family, Head, Inventory, NameList
from suites.collecting.models import PersonaSet
from tests import factories

BICYCLES = Head("I repair bicycles", 18, 60, ("female", "male"), {"characteristic": ("I am patient",)})
MARATHONS = Head("I run marathons", 20, 50, ("female",), {"goal_or_plan": ("I plan to run in Oslo",)})
FORGER = Head("I forge paintings", 20, 50, ("female", "male"), negative=True)
COOK = Head("I cook in a school", 25, 64, ("female", "male"), {"experience": ("I once fed a mayor",)})
NAMES = (
    NameList(0, "female", ("Ava",)),
    NameList(30, "female", ("Mara",)),
    NameList(0, "male", ("Liam", "Noah")),
)
FAMILIES = (Family("I have a dog.", 18, 64), Family("I have <n> sons.", 30, 64))
INVENTORY = Inventory((BICYCLES, MARATHONS, FORGER, COOK), NAMES, FAMILIES)


def store(name: str = "small") -> models.Inventory:
    """Store the small inventory."""
    return inventory_actions.create(by=None, name=name, inventory=INVENTORY)


def draw_set(count: int = 4, name: str = "cast", seed: int = 1) -> PersonaSet:
    """Store the small inventory, and draw personas from it."""
    return persona_actions.draw_set(by=None, inventory=store(f"of {name}"), name=name, count=count, seed=seed)


def open_review(persona_set: PersonaSet, *people: User) -> Campaign:
    """Create the campaign of a review, and open it for people."""
    from annotation.campaigns import campaign_actions

    by = factories.user(researcher=True)
    campaign = persona_actions.create_review(by=by, persona_set=persona_set)
    for person in people:
        campaign_actions.add_member(by=by, campaign=campaign, user=person)
    campaign_actions.open(by=by, campaign=campaign)
    campaign.refresh_from_db()
    return campaign


def review(campaign: Campaign, person: User, answers: dict[str, dict[str, Any]]) -> None:
    """Work through a review, with answers by the persona's key."""
    _, hold = task_actions.start(by=person, campaign=campaign.pk)
    while hold is not None:
        row = Assignment.objects.select_related("task__item__continuation__dialogue").get(pk=hold.assignment)
        item = row.task.item
        assert item is not None
        sent = {factories.item_name(item, hold.assignment): answers[item.continuation.dialogue.key]}
        hold = task_actions.submit(
            by=person, campaign=campaign.pk, assignment=hold.assignment, answers=sent
        ).next
