"""One-time links: for the first administrator, for invited people, for a new password.

Whoever has the link may use it, once and before it expires. Its secret is random, shown when it is made, and
kept as a hash alone.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import OneTimeLink, Participant
from annotation.people import accounts, addresses, names, roles, sign_in
from annotation.people.errors import EmailRefused, LinkRefused, NameRefused, RoleRefused
from config.models import Event

Kind = OneTimeLink.Kind
FIRST_HOURS, RESET_HOURS, INVITATION_DAYS = 24, 24, 7
MOST_DAYS = 60
NO_USE = "This link was used already, has expired, or was never made. Ask an administrator for a new one."


class Made(NamedTuple):
    """A link as it was made; `token` is its secret, told this once."""

    link: OneTimeLink
    token: str


@transaction.atomic
def first_administrator() -> Made | None:
    """Make the link with which the first administrator is created; the one made before no longer works.

    None where there is an administrator.
    """
    if roles.has_administrator():
        return None
    OneTimeLink.objects.filter(kind=Kind.ADMINISTRATOR, used_at=None).delete()
    return _make(Kind.ADMINISTRATOR, timedelta(hours=FIRST_HOURS), role="administrator")


@transaction.atomic
def invite(
    *, by: User | None, role: str, name: str = "", days: int = INVITATION_DAYS, email: str = ""
) -> Made:
    """Make an invitation to become `role`; the invited person chooses their password, and name where none is.

    One for an e-mail address replaces the one before. Raises RoleRefused, NameRefused, EmailRefused, or
    LinkRefused for days outside 1 to 60.
    """
    if role not in roles.ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(roles.ROLES)}.")
    if not 1 <= days <= MOST_DAYS:
        raise LinkRefused(f"An invitation holds for 1 to {MOST_DAYS} days.")
    if names.normal(name):
        name = accounts.checked_name(name)
    if email := addresses.normal(email):
        if fault := addresses.fault(email):
            raise EmailRefused(fault)
        OneTimeLink.objects.filter(email=email, used_at=None).delete()
    about = {"role": role, "name": names.normal(name), "email": email}
    made = _make(Kind.INVITATION, timedelta(days=days), **about, created_by=by)
    Event.objects.create(by=by, verb="invite", subject=f"link {made.link.pk}", detail={"role": role})
    return made


@transaction.atomic
def reset(*, by: User | None, person: User) -> Made:
    """Make a link with which a person sets a new password; an earlier one of theirs no longer works.

    Raises LinkRefused for a deactivated account.
    """
    if not person.is_active:
        raise LinkRefused("The account is deactivated. Activate it first.")
    if Participant.objects.filter(user=person).exists():
        raise LinkRefused("The account has no password: its person came by a link into a campaign.")
    User.objects.select_for_update().get(pk=person.pk)
    OneTimeLink.objects.filter(user=person, used_at=None).delete()
    made = _make(Kind.RESET, timedelta(hours=RESET_HOURS), user=person, created_by=by)
    Event.objects.create(by=by, verb="make reset link", subject=f"account {person.pk}")
    return made


def _make(kind: str, lifetime: timedelta, **fields: Any) -> Made:
    token = secrets.token_urlsafe(32)
    expires = timezone.now() + lifetime
    link = OneTimeLink.objects.create(kind=kind, token_hash=_hash(token), expires_at=expires, **fields)
    return Made(link, token)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def open_invitations() -> QuerySet[OneTimeLink]:
    """Return the invitations that can still be used, newest first."""
    found = OneTimeLink.objects.filter(kind=Kind.INVITATION, used_at=None, expires_at__gt=timezone.now())
    return found.select_related("created_by")


def new_token(link: OneTimeLink) -> str:
    """Give a link a new secret and return it; the one before opens nothing any more."""
    token = secrets.token_urlsafe(32)
    OneTimeLink.objects.filter(pk=link.pk).update(token_hash=_hash(token))
    return token


def invitation_to(email: str) -> OneTimeLink | None:
    """Return the open invitation that was made for an e-mail address, locked until the transaction ends."""
    found = _usable().select_for_update().filter(kind=Kind.INVITATION, email__iexact=email)
    return found.first() if email else None


def spend(*, link: OneTimeLink, by: User) -> None:
    """Use an invitation up: the account that it was for is made."""
    OneTimeLink.objects.filter(pk=link.pk).update(used_at=timezone.now())
    Event.objects.create(by=by, verb=f"use {link.kind} link", subject=f"link {link.pk}")


@transaction.atomic
def withdraw(*, by: User | None, link: OneTimeLink) -> None:
    """Make an invitation useless."""
    subject = f"link {link.pk}"
    if OneTimeLink.objects.filter(pk=link.pk, used_at=None).delete()[0]:
        Event.objects.create(by=by, verb="withdraw invitation", subject=subject)


def find(token: str) -> OneTimeLink:
    """Return the link that a secret opens; raise LinkRefused where it opens nothing."""
    link = _usable().filter(token_hash=_hash(token)).select_related("user").first()
    if link is None or (link.kind == Kind.ADMINISTRATOR and roles.has_administrator()):
        raise LinkRefused(NO_USE)
    return link


def _usable() -> QuerySet[OneTimeLink]:
    return OneTimeLink.objects.filter(used_at=None, expires_at__gt=timezone.now())


@transaction.atomic
def use(*, token: str, username: str, password: str) -> User:
    """Use a link: make the account it is for, or set the new password; return the account.

    `username` is for a new account alone. Raises LinkRefused, NameRefused or PasswordRefused; a link that
    was refused for its name or password can be used again.
    """
    link = _usable().select_for_update().filter(token_hash=_hash(token)).first()
    if link is None or (link.kind == Kind.ADMINISTRATOR and roles.has_administrator()):
        raise LinkRefused(NO_USE)
    if link.kind == Kind.RESET:
        return _reset(link, password)
    if not username.strip():
        raise NameRefused("Give a user name.")
    person = accounts.create(by=None, username=username, role=link.role, password=password, email=link.email)
    spend(link=link, by=person)
    return person


def _reset(link: OneTimeLink, password: str) -> User:
    """Set the new password: sessions end, tokens are revoked, a lock after wrong passwords is lifted."""
    person = link.user
    if person is None or not person.is_active:
        raise LinkRefused(NO_USE)
    OneTimeLink.objects.filter(pk=link.pk).update(used_at=timezone.now())
    accounts.set_password(person, password)
    tokens = accounts.revoke_tokens(person)
    sign_in.unlock(by=person, person=person)
    detail = {"tokens_revoked": tokens}
    Event.objects.create(by=person, verb="reset password", subject=f"account {person.pk}", detail=detail)
    return person
