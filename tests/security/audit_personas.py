"""Inventories and personas for the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_inventory() -> Any:
    from tests.suites.collecting.inventories import store

    return store()


def make_cast() -> Any:
    from tests.suites.collecting.inventories import draw_set

    cast = draw_set()
    cast.personas.exclude(number=1).update(status="accepted")
    return cast


def make_reviewed_cast() -> Any:
    from tests import factories
    from tests.suites.collecting.inventories import draw_set, open_review, review

    cast, people = draw_set(), [factories.user(), factories.user()]
    campaign = open_review(cast, *people)
    for person in people:
        review(campaign, person, {row.key: {"consistent": 1, "negative": 0} for row in cast.personas.all()})
    return cast


def make_texts() -> dict[str, Any]:
    from tests.suites.collecting.inventories import FAMILIES, NAMES

    return {"inventory": make_inventory(), "names": NAMES, "families": FAMILIES}


def make_material() -> dict[str, Any]:
    from tests.suites.collecting.inventories import INVENTORY

    return {"name": "cast", "inventory": INVENTORY}


def make_new_head() -> dict[str, Any]:
    from suites.collecting.inventories import Head

    return {"inventory": make_inventory(), "head": Head("I sail", 20, 40, ("female",))}


INVENTORIES = "suites.collecting.inventory_actions"
PERSONAS = "suites.collecting.persona_actions"
LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    f"{INVENTORIES}.create": lambda by: make_material(),
    f"{INVENTORIES}.save_head": lambda by: make_new_head(),
    f"{INVENTORIES}.remove_head": lambda by: {"head": make_inventory().heads.first()},
    f"{INVENTORIES}.change_texts": lambda by: make_texts(),
    f"{INVENTORIES}.mark_negative": lambda by: {"heads": list(make_inventory().heads.all())},
    f"{INVENTORIES}.remove": lambda by: {"inventory": make_inventory()},
    f"{PERSONAS}.draw_set": lambda by: {
        "inventory": make_inventory(),
        "name": "cast",
        "count": 2,
        "seed": 0,
    },
    f"{PERSONAS}.create_review": lambda by: {"persona_set": make_cast()},
    f"{PERSONAS}.apply_reviews": lambda by: {"persona_set": make_reviewed_cast()},
    f"{PERSONAS}.decide": lambda by: {"persona": make_cast().personas.get(number=1), "status": "accepted"},
    f"{PERSONAS}.make_dialogues": lambda by: {"persona_set": make_cast(), "name": "talks"},
}
