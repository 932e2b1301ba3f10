"""Inventories of personas in the database: imported, edited and deleted, each change logged."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.text.words import fold
from config.models import Event
from suites.collecting import models
from suites.collecting.errors import PersonasRefused
from suites.collecting.inventories import (
    MOST_HEADS,
    SLOTS,
    Family,
    Head,
    Inventory,
    InventoryProblem,
    NameList,
    family_json,
    family_record,
    inventory_record,
    names_json,
    names_record,
    read,
)
from suites.collecting.models import LONGEST_NAME, PersonaHead, PersonaSet


def head_of(row: PersonaHead) -> Head:
    """Return the record of a stored head."""
    tails = {slot: tuple(row.tails[slot]) for slot in SLOTS if row.tails.get(slot)}
    return Head(row.text, row.start_age, row.end_age, tuple(row.genders), tails, row.negative)


def inventory_of(stored: models.Inventory, heads: Sequence[PersonaHead] | None = None) -> Inventory:
    """Return the record of a stored inventory; `heads` are its rows in order, if they are loaded."""
    rows = list(stored.heads.order_by("number")) if heads is None else heads
    return Inventory(
        tuple(map(head_of, rows)),
        tuple(map(names_record, stored.names)),
        tuple(map(family_record, stored.families)),
    )


def read_file(name: str, content: bytes, field: str = "file") -> Inventory:
    """Read an inventory's file, CSV or JSON. Raises PersonasRefused, at `field`, with line and column."""
    try:
        return read(name, content)
    except InventoryProblem as problem:
        raise PersonasRefused(str(problem), field=field) from None


def read_data(data: object) -> Inventory:
    """Read an inventory from JSON data. Raises PersonasRefused with the path of a bad value."""
    try:
        return inventory_record(data if isinstance(data, dict) else {})
    except InventoryProblem as problem:
        raise PersonasRefused(str(problem), field="inventory") from None


def check_name(name: str) -> str:
    """Return a name without white space around it. Raises PersonasRefused for an empty or too long one."""
    name = name.replace("\0", "").strip()
    if not name or len(name) > LONGEST_NAME or "/" in name:
        raise PersonasRefused(f"A name has 1 to {LONGEST_NAME} characters, and no slash.", field="name")
    return name


@transaction.atomic
def create(*, by: User | None, name: str, inventory: Inventory) -> models.Inventory:
    """Store an inventory under a new name. Raises PersonasRefused for a name that is taken."""
    name = check_name(name)
    content = {
        "names": [names_json(row) for row in inventory.names],
        "families": [family_json(row) for row in inventory.families],
        "created_by": by,
    }
    stored, is_new = models.Inventory.objects.get_or_create(name=name, defaults=content)
    if not is_new:
        raise PersonasRefused(f"There is an inventory “{name}” already.", field="name")
    PersonaHead.objects.bulk_create(
        _row(stored, number, head) for number, head in enumerate(inventory.heads, start=1)
    )
    _log(by, "import", stored, heads=len(inventory.heads))
    return stored


@transaction.atomic
def save_head(
    *, by: User | None, inventory: models.Inventory, head: Head, number: int | None = None
) -> PersonaHead:
    """Change the head of a number, or add one where `number` is None; return it.

    Personas drawn before stay as they are. Raises PersonasRefused for a text that another head has.
    """
    rows = _locked(inventory).heads
    if any(fold(row.text) == fold(head.text) and row.number != number for row in rows.all()):
        raise PersonasRefused("Another head has the same text.", field="text")
    if number is None:
        if rows.count() >= MOST_HEADS:
            raise PersonasRefused(f"At most {MOST_HEADS:,} heads.")
        last = rows.aggregate(last=Max("number"))["last"] or 0
        row = _row(inventory, last + 1, head)
        row.save()
        _log(by, "add head", inventory, head=row.number, text=head.text)
        return row
    row = rows.get(number=number)
    before = head_of(row)
    if before != head:
        changed = _row(inventory, number, head)
        changed.pk = row.pk
        changed.save()
        _log(by, "change head", inventory, head=number, text=head.text, before=before.text)
        return changed
    return row


@transaction.atomic
def remove_head(*, by: User | None, head: PersonaHead) -> None:
    """Remove a head from its inventory; personas drawn from it stay."""
    _locked(head.inventory)
    _log(by, "remove head", head.inventory, head=head.number, text=head.text)
    head.delete()


@transaction.atomic
def change_texts(
    *,
    by: User | None,
    inventory: models.Inventory,
    names: Sequence[NameList],
    families: Sequence[Family],
) -> models.Inventory:
    """Replace the given names and family sentences. Raises PersonasRefused where there are none."""
    inventory = _locked(inventory)
    if not names:
        raise PersonasRefused("Give at least one list of names.", field="names")
    if not families:
        raise PersonasRefused("Give at least one family sentence.", field="families")
    lists = [(row.generation, row.gender) for row in names]
    if repeated := next((key for key in lists if lists.count(key) > 1), None):
        reason = f"Two lists are for generation {repeated[0]}, gender {repeated[1]}."
        raise PersonasRefused(reason, field="names")
    inventory.names = [names_json(row) for row in names]
    inventory.families = [family_json(row) for row in families]
    inventory.save(update_fields=["names", "families"])
    _log(by, "change names and families", inventory, names=len(names), families=len(families))
    return inventory


@transaction.atomic
def mark_negative(*, by: User | None, heads: Sequence[PersonaHead]) -> int:
    """Mark heads as negative, so that later draws skip them; return how many were not before."""
    changed = [head for head in heads if not head.negative]
    PersonaHead.objects.filter(pk__in=[head.pk for head in changed]).update(negative=True)
    for head in changed:
        _log(by, "mark head negative", head.inventory, head=head.number, text=head.text)
    return len(changed)


@transaction.atomic
def remove(*, by: User | None, inventory: models.Inventory) -> None:
    """Remove an inventory from which nothing was drawn. Raises PersonasRefused otherwise."""
    inventory = _locked(inventory)
    if PersonaSet.objects.filter(inventory=inventory).exists():
        raise PersonasRefused("Personas were drawn from this inventory, so it stays.")
    _log(by, "remove", inventory)
    inventory.delete()


def _row(inventory: models.Inventory, number: int, head: Head) -> PersonaHead:
    return PersonaHead(
        inventory=inventory,
        number=number,
        text=head.text,
        start_age=head.start_age,
        end_age=head.end_age,
        genders=list(head.genders),
        tails={slot: list(texts) for slot, texts in head.tails.items()},
        negative=head.negative,
    )


def _locked(inventory: models.Inventory) -> models.Inventory:
    return models.Inventory.objects.select_for_update(no_key=True).get(pk=inventory.pk)


def _log(by: User | None, verb: str, inventory: models.Inventory, **detail: object) -> None:
    Event.objects.create(by=by, verb=f"persona inventory: {verb}", subject=inventory.name, detail=detail)
