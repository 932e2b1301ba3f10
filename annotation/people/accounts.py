"""Accounts: made, their passwords changed, deactivated and activated again. All of it is logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.postgres.aggregates import ArrayAgg
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet, Sum

from annotation.models import (
    ApiToken,
    Assignment,
    CampaignMember,
    Label,
    OneTimeLink,
    SignInIdentity,
    UserName,
)
from annotation.people import addresses, names, roles
from annotation.people.errors import EmailRefused, NameRefused, PasswordRefused, RoleRefused
from annotation.people.roles import ROLES, role_of
from config.models import Event

# Accounts and what each has done, for pages, commands and the API.


@dataclass(frozen=True)
class Row:
    """An account: its role, the tasks it submitted, the items that it has live answers about, how it enters.

    `providers` are the issuers of the identities that open it.
    """

    person: User
    role: str
    tasks: int
    items: int
    providers: tuple[str, ...] = ()

    @property
    def ways(self) -> list[str]:
        """How its person signs in: `password`, `single sign-on`, neither or both."""
        known = {"password": self.person.has_usable_password(), "single sign-on": bool(self.providers)}
        return [way for way, held in known.items() if held]

    @property
    def role_title(self) -> str:
        """The role in words."""
        return ROLES[self.role]


def accounts(text: str = "") -> QuerySet[User]:
    """Return accounts in the order of their names, those whose name holds `text` where one is given."""
    found = User.objects.prefetch_related("groups").order_by("username")
    return found.filter(username__icontains=text) if text else found


def rows(people: Sequence[User]) -> list[Row]:
    """Return what each has done, in the order given: three queries, however many people."""
    tasks = dict(
        CampaignMember.objects.filter(user__in=people)
        .values("user")
        .annotate(n=Sum("done"))
        .values_list("user", "n")
    )
    items = dict(
        Label.objects.filter(rater__user__in=people, superseded_at=None)
        .values("rater__user")
        .annotate(n=Count("item", distinct=True))
        .values_list("rater__user", "n")
    )
    issuers = dict(
        SignInIdentity.objects.filter(user__in=people)
        .values("user")
        .annotate(all=ArrayAgg("issuer", order_by="issuer"))
        .values_list("user", "all")
    )
    return [
        Row(
            one,
            role_of(one),
            tasks.get(one.pk, 0),
            items.get(one.pk, 0),
            tuple(issuers.get(one.pk, ())),
        )
        for one in people
    ]


def work_of(person: User) -> list[dict[str, Any]]:
    """Return, per campaign of a person, its id and name, the tasks submitted and the items answered."""
    items = Count("campaign__labels__item", filter=_own(person), distinct=True)
    found: Any = CampaignMember.objects.filter(user=person).annotate(items=items).order_by("campaign__name")
    return list(found.values("campaign_id", "campaign__name", "done", "items"))


def _own(person: User) -> Q:
    return Q(campaign__labels__rater__user=person, campaign__labels__superseded_at=None)


WRONG = "That is not your password of now."
TAKEN = "That name is taken, or looks like one that is. Choose another."


@transaction.atomic
def create(*, by: User | None, username: str, role: str, password: str | None, email: str = "") -> User:
    """Make an account. Raises NameRefused, PasswordRefused or RoleRefused, in one line.

    Without a password it is signed in with in another way; `email` is an address that is known to be theirs.
    """
    if role not in roles.ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(roles.ROLES)}.")
    name = checked_name(username)
    if password is not None:
        check_password(password, name)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username=name, password=password, email=_unused(email))
    except IntegrityError:
        raise NameRefused(TAKEN) from None
    roles.give(user, role)
    Event.objects.create(
        by=by or user, verb="create account", subject=f"account {user.pk}", detail={"role": role}
    )
    return user


def _unused(email: str) -> str:
    """Return an address where no account has it: two accounts never share one."""
    return "" if email and User.objects.filter(email__iexact=email).exists() else email


def checked_name(username: str) -> str:
    """Return a new user name as it is stored; raise NameRefused where it may not be given or is taken."""
    name = names.normal(username)
    if fault := names.fault(name):
        raise NameRefused(fault)
    twins = UserName.objects.filter(folded=names.folded(name)) | UserName.objects.filter(
        look=names.look(name)
    )
    if twins.exists() or User.objects.filter(username=name).exists():
        raise NameRefused(TAKEN)
    return name


def check_password(password: str, username: str) -> None:
    """Raise PasswordRefused, with what to do, for a password that is too easy or like the user name."""
    if "\0" in password or len(password) > 1_000:
        raise PasswordRefused("A password has at most 1,000 characters, all of them visible.")
    try:
        validate_password(password, User(username=username))
    except ValidationError as error:
        raise PasswordRefused(" ".join(error.messages)) from None


@transaction.atomic
def change_password(*, person: User, old: str, new: str) -> None:
    """Change one's own password; all other sessions of the account end. Raises PasswordRefused."""
    if not person.check_password(old):
        raise PasswordRefused(WRONG)
    set_password(person, new)
    Event.objects.create(by=person, verb="change password", subject=f"account {person.pk}")


@transaction.atomic
def set_email(*, by: User | None, person: User, email: str) -> None:
    """Note the e-mail address that is a person's, or that none is known. Raises EmailRefused.

    Whoever proves that they have it may enter by single sign-on, where that is set up so.
    """
    email = addresses.normal(email)
    if email and (fault := addresses.fault(email)):
        raise EmailRefused(fault)
    if email and User.objects.filter(email__iexact=email).exclude(pk=person.pk).exists():
        raise EmailRefused("Another account has this address.")
    if email == person.email:
        return
    person.email = email
    person.save(update_fields=["email"])
    Event.objects.create(by=by, verb="change e-mail", subject=f"account {person.pk}")


def set_password(person: User, password: str) -> None:
    """Write a checked password: every session signed in with the old one ends, and reset links with them."""
    check_password(password, person.get_username())
    person.set_password(password)
    person.save(update_fields=["password"])
    OneTimeLink.objects.filter(user=person, used_at=None).delete()


@transaction.atomic
def deactivate(*, by: User | None, person: User) -> None:
    """Keep a person out: sessions and tokens no longer work, tasks they hold are free, labels stay.

    Raises RoleRefused for the only administrator and for oneself.
    """
    if by is not None and by.pk == person.pk:
        raise RoleRefused("You cannot deactivate your own account. Ask another administrator.")
    if not person.is_active:
        return
    if person.is_superuser:
        roles.must_not_be_last(person)
    person.is_active = False
    person.save(update_fields=["is_active"])
    held = Assignment.objects.filter(user=person, state=Assignment.State.LEASED)
    freed = held.update(state=Assignment.State.EXPIRED)
    OneTimeLink.objects.filter(user=person, used_at=None).delete()
    detail = {"tasks_freed": freed}
    Event.objects.create(by=by, verb="deactivate account", subject=f"account {person.pk}", detail=detail)


@transaction.atomic
def activate(*, by: User | None, person: User) -> None:
    """Let a deactivated person in again, with the password and the role that they had."""
    if person.is_active:
        return
    person.is_active = True
    person.save(update_fields=["is_active"])
    Event.objects.create(by=by, verb="activate account", subject=f"account {person.pk}")


def revoke_tokens(person: User) -> int:
    """Delete all API tokens of an account; return how many there were."""
    return ApiToken.objects.filter(user=person).delete()[0]
