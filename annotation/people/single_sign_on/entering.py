"""Which account is whose: an identity is issuer and subject; an e-mail address alone opens none."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Participant, SignInIdentity
from annotation.people import accounts, addresses, links, names, roles
from annotation.people.errors import NameRefused, RoleRefused, SignOnRefused
from config.environment import ROLES, Provider
from config.models import Event

log = logging.getLogger(__name__)
REFUSED = "refuse single sign-on"
LONGEST_SUBJECT = 255
TRIES = 50
"""Numbers that are put behind a user name that is taken."""


def enter(*, claims: dict[str, Any], provider: Provider, address: str = "") -> User:
    """Return the account of the person that a provider vouches for, made where that is allowed. Logged.

    `address` is where the request came from. Raises SignOnRefused, which leaves nothing but its entry.
    """
    try:
        with transaction.atomic():
            return _enter(claims, provider, address)
    except IntegrityError:  # the same person came twice at once, and is known by now
        with transaction.atomic():
            return _enter(claims, provider, address)
    except SignOnRefused as refused:
        refuse(refused, provider, address, claims)
        raise


def refuse(
    error: SignOnRefused, provider: Provider, address: str, claims: dict[str, Any] | None = None
) -> None:
    """Log that somebody was not let in, why, and what caused it; names and e-mail addresses are not kept."""
    subject = f"account {error.account}" if error.account else "no such account"
    detail = {"why": error.why, "issuer": provider.issuer[:200], "address": address[:45]}
    if error.cause:
        detail["cause"] = error.cause
        log.warning("Signing in with %s failed: %s", provider.title, error.cause)
    if claims:
        detail["sub"] = str(claims.get("sub"))[:LONGEST_SUBJECT]
    Event.objects.create(verb=REFUSED, subject=subject, detail=detail)


def last_fault() -> Event | None:
    """Return the last sign-in that failed between Concord and the provider, with its cause in `detail`."""
    return Event.objects.filter(verb=REFUSED, detail__has_key="cause").order_by("-pk").first()


def email_of(claims: dict[str, Any]) -> str:
    """Return the e-mail address of a person where the provider verified it, else nothing."""
    email = claims.get("email")
    if claims.get("email_verified") not in (True, "true") or not isinstance(email, str):
        return ""
    email = addresses.normal(email)
    return "" if addresses.fault(email) else email


def _enter(claims: dict[str, Any], provider: Provider, address: str) -> User:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or "\0" in subject:
        raise SignOnRefused(f"{provider.title} did not say who you are.", why="no subject")
    known = (
        SignInIdentity.objects.select_related("user").filter(issuer=provider.issuer, subject=subject).first()
    )
    if known is None:
        known = SignInIdentity(issuer=provider.issuer, subject=subject, user=_account_for(claims, provider))
    person = known.user
    if not person.is_active:
        raise SignOnRefused("Your account is deactivated. Ask an administrator.", "deactivated", person.pk)
    known.last_used = timezone.now()
    known.save()
    _follow_groups(person, claims, provider)
    detail = {"issuer": provider.issuer[:200], "address": address[:45]}
    Event.objects.create(by=person, verb="single sign-on", subject=f"account {person.pk}", detail=detail)
    return person


def _account_for(claims: dict[str, Any], provider: Provider) -> User:
    """Return the account of a person who comes for the first time."""
    email = email_of(claims)
    there = list(User.objects.filter(email__iexact=email).order_by("pk")[:2]) if email else []
    if there:
        return _linked(there, provider)
    invitation = links.invitation_to(email) if email else None
    if invitation is not None:
        name = invitation.name if _is_free(invitation.name) else _free_name(claims)
        made = accounts.create(by=None, username=name, role=invitation.role, password=None, email=email)
        links.spend(link=invitation, by=made)
        return made
    if not provider.new_accounts:
        raise SignOnRefused(
            f"Nobody has invited you yet. Ask an administrator, and say that you use {provider.title}.",
            why="no account",
        )
    name = _free_name(claims)
    return accounts.create(by=None, username=name, role="annotator", password=None, email=email)


def _linked(there: list[User], provider: Provider) -> User:
    """Return the account that has a verified address, where it may be opened by that."""
    person = there[0]
    if len(there) > 1:
        raise SignOnRefused(
            "Several accounts have your e-mail address. Ask an administrator.", why="two accounts"
        )
    if not provider.link_by_email:
        raise SignOnRefused(
            f"An account has your e-mail address already, and is not opened by {provider.title}. "
            "Sign in with its password, or ask an administrator.",
            "account not linked",
            person.pk,
        )
    if Participant.objects.filter(user=person).exists():
        raise SignOnRefused("Your account is for one campaign alone: use its link.", "participant", person.pk)
    detail = {"issuer": provider.issuer[:200]}
    Event.objects.create(by=person, verb="link single sign-on", subject=f"account {person.pk}", detail=detail)
    return person


def _follow_groups(person: User, claims: dict[str, Any], provider: Provider) -> None:
    """Give a person the highest role of their groups; without the claim, or a setting, theirs stays."""
    groups = claims.get(provider.groups_claim)
    groups = [groups] if isinstance(groups, str) else groups
    if not provider.roles or not isinstance(groups, list):
        return
    named = [provider.roles[group] for group in groups if isinstance(group, str) and group in provider.roles]
    role = max(named, key=ROLES.index, default="annotator")
    try:
        roles.set_role(by=None, person=person, role=role)
    except RoleRefused as refused:
        detail = {"asked": role, "why": str(refused)}
        Event.objects.create(by=None, verb="keep role", subject=f"account {person.pk}", detail=detail)


def _free_name(claims: dict[str, Any]) -> str:
    """Return a user name for a new account: the one that the provider proposes, made to fit."""
    for claim in ("preferred_username", "email", "name"):
        proposed = _fitting(claims.get(claim))
        if proposed:
            break
    else:
        proposed = "person"
    for number in range(1, TRIES):
        name = proposed if number == 1 else f"{proposed}-{number}"
        if _is_free(name):
            return name
    return f"{proposed}-{secrets.token_hex(4)}"


def _fitting(proposed: object) -> str:
    """Return what of a proposed name a user name may hold, of an e-mail address what stands before the @."""
    text = names.normal(proposed[:200].partition("@")[0]) if isinstance(proposed, str) else ""
    kept = " ".join("".join(c for c in text if c.isalnum() or c in names.PUNCTUATION).split())
    return kept.lstrip("._-+@' ")[: names.LONGEST - 9].rstrip()


def _is_free(name: str) -> bool:
    try:
        accounts.checked_name(name)
    except NameRefused:
        return False
    return True
