"""Accounts: made, their passwords changed, deactivated and activated again. All of it is logged."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import ApiToken, Assignment, OneTimeLink, UserName
from annotation.people import addresses, names, roles
from annotation.people.errors import EmailRefused, NameRefused, PasswordRefused, RoleRefused
from config.models import Event

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
