"""Personas of the demo: an inventory of twenty heads, written for Concord."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import User

from suites.collecting import inventory_actions
from suites.collecting.models import Inventory

NAME = "Demo personas"
FILE = Path(__file__).parent / "sources" / "inventory.csv"


def load(*, by: User) -> Inventory:
    """Return the demo's inventory, imported if it is missing."""
    stored = Inventory.objects.filter(name=NAME).first()
    if stored is not None:
        return stored
    record = inventory_actions.read_file(FILE.name, FILE.read_bytes())
    return inventory_actions.create(by=by, name=NAME, inventory=record)
