"""Loaders for pages and the API: the object at an address, or 404."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from suites.collecting.models import Inventory, Persona, PersonaHead, PersonaSet


def inventory(pk: int) -> Inventory:
    """Return an inventory. Researchers see every inventory."""
    return get_object_or_404(Inventory.objects.select_related("created_by"), pk=pk)


def persona_head(pk: int, number: int) -> PersonaHead:
    """Return the head of an inventory with a number. Researchers see every head."""
    rows = PersonaHead.objects.select_related("inventory")
    return get_object_or_404(rows, inventory=pk, number=number)


def persona_set(pk: int) -> PersonaSet:
    """Return a set of personas. Researchers see every set."""
    related = ("inventory", "corpus", "created_by")
    return get_object_or_404(PersonaSet.objects.select_related(*related), pk=pk)


def persona(pk: int, number: int) -> Persona:
    """Return the persona of a set with a number. Researchers see every persona."""
    rows = Persona.objects.select_related("set__corpus", "first", "second")
    return get_object_or_404(rows, set=pk, number=number)
