"""The demo's inventory of personas is complete, and personas of it can be drawn and reviewed."""

from __future__ import annotations

import pytest

from demo import personas
from suites.collecting import inventory_actions
from suites.collecting.inventories import SLOTS
from suites.collecting.models import Inventory
from suites.collecting.personas import draw
from tests import factories


def test_it_has_twenty_heads_of_many_ages_and_genders_and_uses_every_slot() -> None:
    inventory = inventory_actions.read_file("inventory.csv", personas.FILE.read_bytes())
    assert len(inventory.heads) == 20
    assert inventory.gaps() == []
    assert {slot for head in inventory.heads for slot in head.tails} == set(SLOTS)
    assert {gender for head in inventory.heads for gender in head.genders} == {"female", "male", "neutral"}
    assert min(head.start_age for head in inventory.heads) < 18
    assert max(head.end_age for head in inventory.heads) > 80
    assert sum(head.negative for head in inventory.heads) == 1


def test_some_of_its_personas_are_flagged_and_filtered() -> None:
    inventory = inventory_actions.read_file("inventory.csv", personas.FILE.read_bytes())
    drawn = draw(inventory, 0, 500)
    assert {flag.rule for persona in drawn for flag in persona.flags} >= {"work_years", "other_age"}
    assert {pair for persona in drawn for pair in persona.replaced} == {("postman", "mail carrier")}
    assert not any(word in text for persona in drawn for text in persona.sentences for word in ("<n>", ".."))


@pytest.mark.django_db
def test_loading_it_again_changes_nothing() -> None:
    by = factories.user(researcher=True)
    first = personas.load(by=by)
    assert personas.load(by=by) == first
    assert Inventory.objects.count() == 1
