"""The demo accounts, one of each role, made by `manage.py load_demo` and by nothing else.

A password is derived from the installation's secret key: it differs from one installation to the next, stays
the same from one start to the next, and is written down nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import Group, User

from config.permissions import RESEARCHERS

ROLES = ("annotator", "researcher", "administrator")
EMAIL = "{role}@demo.invalid"
"""Marks an account as the demo's own; the domain can never receive mail."""


class ForeignAccount(ValueError):
    """An account of a demo name that somebody else made; the message is one clear line."""


@dataclass(frozen=True, slots=True)
class Account:
    """A demo account. `password` is None where its user has changed it."""

    user: User
    password: str | None


def ensure(role: str) -> Account:
    """Return the demo account of a role, made where it is missing; raise ForeignAccount for a stranger's."""
    password = derived_password(role)
    user = User.objects.filter(username=role).first()
    if user is None:
        user = User.objects.create_user(role, EMAIL.format(role=role), password)
    elif user.email != EMAIL.format(role=role):
        raise ForeignAccount(
            f"The account “{role}” was not made by the demo: load the demo into another database."
        )
    if role == "researcher":
        user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    if role == "administrator" and not user.is_superuser:
        user.is_superuser = True
        user.save(update_fields=["is_superuser"])
    return Account(user, password if user.check_password(password) else None)


def simulated(name: str) -> User:
    """Return the account of somebody simulated: nobody can sign in to it. Raises ForeignAccount."""
    user = User.objects.filter(username=name).first()
    if user is None:
        return User.objects.create_user(name, EMAIL.format(role=name), password=None)
    if user.email != EMAIL.format(role=name):
        raise ForeignAccount(
            f"The account “{name}” was not made by the demo: load the demo into another database."
        )
    return user


def derived_password(role: str) -> str:
    """Return twelve letters and digits in groups of four."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"demo {role}".encode(), hashlib.sha256)
    letters = base64.b32encode(digest).decode().lower()[:12]
    return "-".join(letters[start : start + 4] for start in range(0, 12, 4))
