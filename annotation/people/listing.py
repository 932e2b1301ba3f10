"""Accounts and what each has done, for pages, commands and the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q, QuerySet, Sum

from annotation.models import CampaignMember, Label, SignInIdentity
from annotation.people.roles import ROLES, role_of


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
