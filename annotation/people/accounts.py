"""Accounts: create, change passwords, deactivate and reactivate. All of it is logged."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.postgres.aggregates import ArrayAgg
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.errors import EmailRefused, NameRefused, PasswordRefused, RoleRefused, TokenRefused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignMember,
    CampaignRole,
    Label,
    OneTimeLink,
    SignInIdentity,
    UserName,
)
from annotation.models.people import NAME_LIMIT, ApiToken, Participant
from annotation.people import names
from config.models import Event
from config.permissions import RESEARCHERS

# Roles: annotator, researcher, administrator. Their permissions are in `config.permissions`.

ROLES = {"annotator": "Annotator", "researcher": "Researcher", "administrator": "Administrator"}


def role_of(person: User) -> str:
    """Return an account's role, a key of ROLES."""
    if person.is_superuser:
        return "administrator"
    return "researcher" if any(group.name == RESEARCHERS for group in person.groups.all()) else "annotator"


ROLE_ORDER = Case(
    When(is_superuser=True, then=2),
    When(Exists(Group.objects.filter(name=RESEARCHERS, user=OuterRef("pk"))), then=1),
    default=0,
)
"""Order of accounts by role, annotators first."""
TASKS_SUBMITTED = Coalesce(
    Subquery(
        CampaignMember.objects.filter(user=OuterRef("pk")).values("user").annotate(n=Sum("done")).values("n")
    ),
    0,
)
"""Order of accounts by the tasks that they have submitted."""


def annotators() -> QuerySet[User]:
    """Return the active accounts with the role annotator, without participants who joined by a link."""
    people = User.objects.filter(is_active=True, is_superuser=False, participant=None)
    return people.exclude(groups__name=RESEARCHERS).order_by("username")


@transaction.atomic
def set_role(*, by: User | None, person: User, role: str) -> None:
    """Change an account's role, from the person's next request on.

    Raises RoleRefused for an unknown role and for the last administrator.
    """
    if role not in ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(ROLES)}.")
    before = role_of(person)
    if before == role:
        return
    require_local_account(person)
    if before == "administrator":
        must_not_be_last(person)
    give(person, role)
    detail = {"before": before, "after": role}
    Event.objects.create(by=by, verb="change role", subject=f"account {person.pk}", detail=detail)


def give(person: User, role: str) -> None:
    """Store an account's role."""
    if person.is_superuser != (role == "administrator"):
        person.is_superuser = role == "administrator"
        person.save(update_fields=["is_superuser"])
    group, _ = Group.objects.get_or_create(name=RESEARCHERS)
    if role == "researcher":
        person.groups.add(group)
    else:
        person.groups.remove(group)


def require_local_account(person: User) -> None:
    """Raise RoleRefused for participants who joined by a link: they annotate in one campaign alone."""
    if Participant.objects.filter(user=person).exists():
        raise RoleRefused(f"{person.get_username()} came by a link and may annotate in that campaign alone.")


def has_administrator() -> bool:
    """Whether this Concord has an administrator."""
    return User.objects.filter(is_superuser=True, is_active=True).exists()


def must_not_be_last(person: User) -> None:
    """Raise RoleRefused for the last administrator; concurrent removals see each other."""
    active = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    if not any(other.pk != person.pk for other in active):
        raise RoleRefused("This is the only administrator. Make another one first.")


# Roles in one campaign: its adjudicators, and those who manage it without being researchers elsewhere.

Role = CampaignRole.Role


@transaction.atomic
def give_campaign_role(*, by: User, campaign: Campaign, person: User, role: str) -> CampaignRole:
    """Give a person a role in one campaign; existing roles stay. Raises RoleRefused.

    A deactivated account gets none.
    """
    if role not in Role.values:
        raise RoleRefused(f"In a campaign one is {' or '.join(Role.values)}, not “{role[:40]}”.")
    if not person.is_active:
        raise RoleRefused(f"The account {person.get_username()} is deactivated. Activate it first.")
    require_local_account(person)
    campaign_role, created = CampaignRole.objects.get_or_create(campaign=campaign, user=person, role=role)
    if created:
        _log_role(by, "give role", campaign_role)
    return campaign_role


@transaction.atomic
def take_campaign_role(*, by: User, campaign_role: CampaignRole) -> None:
    """Remove a role in a campaign, from the person's next request on."""
    _log_role(by, "take role", campaign_role)
    CampaignRole.objects.filter(pk=campaign_role.pk).delete()


def looked_after(person: User) -> QuerySet[Campaign]:
    """Return the non-archived campaigns in which a person has a role."""
    return Campaign.objects.filter(roles__user=person, archived_at=None).distinct().order_by("-id")


def campaign_roles_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the roles in a campaign: id, username, role and the role's title, by name."""
    rows = campaign.roles.select_related("user").order_by("user__username", "role")
    return [
        {
            "id": row.pk,
            "username": row.user.get_username(),
            "role": row.role,
            "title": row.get_role_display(),
        }
        for row in rows
    ]


def _log_role(by: User, verb: str, campaign_role: CampaignRole) -> None:
    detail = {
        "campaign": campaign_role.campaign_id,
        "user": campaign_role.user.get_username(),
        "role": campaign_role.role,
    }
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=campaign_role.campaign.name, detail=detail)


# API tokens for programs: created for a limited time, to read or to write, shown once, stored as a hash.

MOST_TOKENS, MOST_DAYS, USUAL_DAYS = 20, 366, 90
NOTED_EVERY = timedelta(hours=1)


class IssuedToken(NamedTuple):
    """A newly created token; `key` is its secret, shown only once."""

    token: ApiToken
    key: str


@transaction.atomic
def make(*, person: User, name: str, scope: str, days: int, by: User | None = None) -> IssuedToken:
    """Create a token of a person. Raises TokenRefused for an invalid name, scope or number of days."""
    name = name.replace("\0", "").strip()[:NAME_LIMIT] or "token"
    if scope not in ApiToken.Scope.values:
        raise TokenRefused(f"A token may {' or '.join(ApiToken.Scope.values)}; there is no scope “{scope}”.")
    if Participant.objects.filter(user=person).exists():
        raise TokenRefused("Who joined a campaign by a link works on its pages alone.")
    if not 1 <= days <= MOST_DAYS:
        raise TokenRefused(f"A token holds for 1 to {MOST_DAYS} days.")
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    ApiToken.objects.filter(user=person, expires_at__lt=timezone.now()).delete()
    if ApiToken.objects.filter(user=person).count() >= MOST_TOKENS:
        raise TokenRefused(f"An account has at most {MOST_TOKENS} tokens. Revoke one first.")
    key = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=days)
    token = ApiToken.objects.create(
        user=person, name=name, key_hash=hash_of(key), scope=scope, expires_at=expires
    )
    _log(by or person, "make token", token)
    return IssuedToken(token, key)


@transaction.atomic
def revoke(*, by: User | None, token: ApiToken) -> None:
    """Revoke a token."""
    _log(by, "revoke token", token)
    ApiToken.objects.filter(pk=token.pk).delete()


def hash_of(key: str) -> str:
    """Return the stored hash of a key. It is random and long, so one SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def _log(by: User | None, verb: str, token: ApiToken) -> None:
    detail = {"token": token.pk, "scope": token.scope}
    Event.objects.create(by=by, verb=verb, subject=f"account {token.user_id}", detail=detail)


class TokenAuthentication(authentication.TokenAuthentication):
    """`Authorization: Token KEY`. A read token is refused for anything but GET, HEAD and OPTIONS."""

    model = ApiToken

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return a request's user and token; None where it carries none."""
        credentials = super().authenticate(request)
        if credentials is None:
            return None
        user, token = credentials
        if request.method not in SAFE_METHODS and token.scope != ApiToken.Scope.WRITE:
            raise PermissionDenied("This token may only read. Make one with the scope write.")
        return user, token

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """Return the account and the token of a valid key."""
        token = ApiToken.objects.select_related("user").filter(key_hash=hash_of(key)).first()
        now = timezone.now()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("There is no such token.")
        if token.expires_at <= now:
            raise AuthenticationFailed("This token has expired. Make a new one on your account's page.")
        if token.last_used is None or token.last_used < now - NOTED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        return token.user, token


# The audit log: who did what, and when.

ACCOUNT = re.compile(r"account (\d{1,18})")


def events(*, verb: str = "", person: str = "", text: str = "") -> QuerySet[Event]:
    """Return logged actions, newest first: of one verb, by or about a person, with a text in the subject."""
    acts = Event.objects.select_related("by").order_by("-pk")
    if verb:
        acts = acts.filter(verb=verb)
    if text:
        acts = acts.filter(subject__icontains=text)
    if person:
        account = User.objects.filter(username=person).values_list("pk", flat=True).first()
        acts = acts.filter(Q(by=account) | Q(subject=f"account {account}")) if account else acts.none()
    return acts


def verbs() -> list[str]:
    """Return the verbs in the log, in order."""
    return list(Event.objects.order_by("verb").values_list("verb", flat=True).distinct())


def usernames_of(subjects: Iterable[str]) -> dict[str, str]:
    """Return, for subjects like `account 5`, the user name where the account still exists."""
    numbers = {subject: int(match[1]) for subject in subjects if (match := ACCOUNT.fullmatch(subject))}
    names = dict(User.objects.filter(pk__in=numbers.values()).values_list("pk", "username"))
    return {subject: names[number] for subject, number in numbers.items() if number in names}


def detail_in_words(event: Event) -> str:
    """Describe the detail of an action in one line."""
    return _worded(event.detail)


def _worded(value: Any) -> str:
    """Describe a JSON value in words: `part dev, include self yes`; inner objects in brackets."""
    if isinstance(value, dict):
        pairs = ((key.replace("_", " "), _inner(inner)) for key, inner in sorted(value.items()))
        return ", ".join(f"{name} {words}" for name, words in pairs)
    if isinstance(value, list):
        return ", ".join(map(_inner, value)) or "none"
    if value is None or value == "":
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _inner(value: Any) -> str:
    words = _worded(value)
    return f"({words})" if isinstance(value, dict) and words else words or "none"


# Accounts and their activity, for pages, commands and the API.


@dataclass(frozen=True)
class Row:
    """An account: its role, submitted tasks, items with live answers, and ways to sign in.

    `providers` are the issuers of the identities that open it.
    """

    person: User
    role: str
    tasks: int
    items: int
    providers: tuple[str, ...] = ()

    @property
    def ways(self) -> list[str]:
        """Ways in which its person signs in: `password`, `single sign-on`, neither or both."""
        methods = {"password": self.person.has_usable_password(), "single sign-on": bool(self.providers)}
        return [way for way, available in methods.items() if available]

    @property
    def role_title(self) -> str:
        """Role in words."""
        return ROLES[self.role]


def accounts(text: str = "") -> QuerySet[User]:
    """Return accounts by name, filtered by names containing `text` where given."""
    users = User.objects.prefetch_related("groups").order_by("username")
    return users.filter(username__icontains=text) if text else users


def rows(people: Sequence[User]) -> list[Row]:
    """Return each account's activity, in the order given: three queries, however many people."""
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
            person,
            role_of(person),
            tasks.get(person.pk, 0),
            items.get(person.pk, 0),
            tuple(issuers.get(person.pk, ())),
        )
        for person in people
    ]


def work_of(person: User) -> list[dict[str, Any]]:
    """Return, per campaign of a person, its id and name, the tasks submitted and the items answered."""
    items = Count("campaign__labels__item", filter=_own(person), distinct=True)
    memberships: Any = (
        CampaignMember.objects.filter(user=person).annotate(items=items).order_by("campaign__name")
    )
    return list(memberships.values("campaign_id", "campaign__name", "done", "items"))


def _own(person: User) -> Q:
    return Q(campaign__labels__rater__user=person, campaign__labels__superseded_at=None)


WRONG = "That is not your password of now."
USERNAME_LIMIT, PASSWORD_LIMIT = 150, 1_000
"""Maximum characters of a user name before it is normalised, and of a password."""
NAME_TAKEN = "That name is taken, or looks like one that is. Choose another."


@transaction.atomic
def create(*, by: User | None, username: str, role: str, password: str | None, email: str = "") -> User:
    """Create an account. Raises NameRefused, PasswordRefused or RoleRefused, in one line.

    Without a password, signing in needs another way; `email` is an address verified to be theirs.
    """
    if role not in ROLES:
        raise RoleRefused(f"There is no role “{role}”. Choose one of {', '.join(ROLES)}.")
    name = checked_name(username)
    if password is not None:
        check_password(password, name)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username=name, password=password, email=_unused(email))
    except IntegrityError:
        raise NameRefused(NAME_TAKEN) from None
    give(user, role)
    Event.objects.create(
        by=by or user, verb="create account", subject=f"account {user.pk}", detail={"role": role}
    )
    return user


def _unused(email: str) -> str:
    """Return an address that no account has yet: two accounts never share one."""
    return "" if email and User.objects.filter(email__iexact=email).exists() else email


def checked_name(username: str) -> str:
    """Return a new user name in stored form; raise NameRefused where it is not allowed or is taken."""
    name = names.normal(username)
    if fault := names.fault(name):
        raise NameRefused(fault)
    twins = UserName.objects.filter(folded=names.folded(name)) | UserName.objects.filter(
        look=names.look(name)
    )
    if twins.exists() or User.objects.filter(username=name).exists():
        raise NameRefused(NAME_TAKEN)
    return name


def check_password(password: str, username: str) -> None:
    """Raise PasswordRefused, with advice, for a password that is too easy or like the user name."""
    if "\0" in password or len(password) > PASSWORD_LIMIT:
        raise PasswordRefused(f"A password has at most {PASSWORD_LIMIT:,} characters, all of them visible.")
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
    """Set a person's e-mail address, or clear it. Raises EmailRefused.

    Its verified owner may sign in by single sign-on, where that is enabled.
    """
    email = names.normal_address(email)
    if email and (fault := names.address_fault(email)):
        raise EmailRefused(fault)
    if email and User.objects.filter(email__iexact=email).exclude(pk=person.pk).exists():
        raise EmailRefused("Another account has this address.")
    if email == person.email:
        return
    person.email = email
    person.save(update_fields=["email"])
    Event.objects.create(by=by, verb="change e-mail", subject=f"account {person.pk}")


def set_password(person: User, password: str) -> None:
    """Store a checked password: sessions signed in with the old one end, and reset links become invalid."""
    check_password(password, person.get_username())
    person.set_password(password)
    person.save(update_fields=["password"])
    OneTimeLink.objects.filter(user=person, used_at=None).delete()


@transaction.atomic
def deactivate(*, by: User | None, person: User) -> None:
    """Deactivate an account: sessions and tokens stop working, its held tasks are freed, labels stay.

    Raises RoleRefused for the only administrator and for oneself.
    """
    if by is not None and by.pk == person.pk:
        raise RoleRefused("You cannot deactivate your own account. Ask another administrator.")
    if not person.is_active:
        return
    if person.is_superuser:
        must_not_be_last(person)
    person.is_active = False
    person.save(update_fields=["is_active"])
    leases = Assignment.objects.filter(user=person, state=Assignment.State.LEASED)
    freed = leases.update(state=Assignment.State.EXPIRED)
    OneTimeLink.objects.filter(user=person, used_at=None).delete()
    detail = {"tasks_freed": freed}
    Event.objects.create(by=by, verb="deactivate account", subject=f"account {person.pk}", detail=detail)


@transaction.atomic
def activate(*, by: User | None, person: User) -> None:
    """Reactivate an account, with its former password and role."""
    if person.is_active:
        return
    person.is_active = True
    person.save(update_fields=["is_active"])
    Event.objects.create(by=by, verb="activate account", subject=f"account {person.pk}")


def revoke_tokens(person: User) -> int:
    """Delete all API tokens of an account; return their number."""
    return ApiToken.objects.filter(user=person).delete()[0]
