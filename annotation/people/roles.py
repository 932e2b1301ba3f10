"""Roles: annotator, researcher, administrator. What each may do is in `config.permissions`."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.db import transaction

from annotation.models import Participant
from annotation.people.errors import RoleRefused
from config.models import Event
from config.permissions import RESEARCHERS

ROLES = {"annotator": "Annotator", "researcher": "Researcher", "administrator": "Administrator"}


def role_of(person: User) -> str:
    """Return an account's role, a key of ROLES."""
    if person.is_superuser:
        return "administrator"
    return "researcher" if any(group.name == RESEARCHERS for group in person.groups.all()) else "annotator"


@transaction.atomic
def set_role(*, by: User | None, person: User, role: str) -> None:
    """Give an account another role; it holds from the person's next request on.

    Raises RoleRefused for an unknown role and for the last administrator.
    """
    if role not in ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(ROLES)}.")
    before = role_of(person)
    if before == role:
        return
    must_be_from_here(person)
    if before == "administrator":
        must_not_be_last(person)
    give(person, role)
    detail = {"before": before, "after": role}
    Event.objects.create(by=by, verb="change role", subject=f"account {person.pk}", detail=detail)


def give(person: User, role: str) -> None:
    """Write a role to an account."""
    if person.is_superuser != (role == "administrator"):
        person.is_superuser = role == "administrator"
        person.save(update_fields=["is_superuser"])
    group, _ = Group.objects.get_or_create(name=RESEARCHERS)
    if role == "researcher":
        person.groups.add(group)
    else:
        person.groups.remove(group)


def must_be_from_here(person: User) -> None:
    """Raise RoleRefused for somebody who came by a link: they annotate in one campaign alone."""
    if Participant.objects.filter(user=person).exists():
        raise RoleRefused(f"{person.get_username()} came by a link and may annotate in that campaign alone.")


def has_administrator() -> bool:
    """Whether anybody manages this Concord."""
    return User.objects.filter(is_superuser=True, is_active=True).exists()


def must_not_be_last(person: User) -> None:
    """Raise RoleRefused where nobody else is an administrator; two who go at once see each other."""
    active = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    if not any(other.pk != person.pk for other in active):
        raise RoleRefused("This is the only administrator. Make another one first.")
