"""Roles in one campaign: who adjudicates it, and who looks after it without being a researcher elsewhere."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Campaign, CampaignRole
from annotation.people.errors import RoleRefused
from annotation.people.roles import must_be_from_here
from config.models import Event

Role = CampaignRole.Role


@transaction.atomic
def give(*, by: User, campaign: Campaign, person: User, role: str) -> CampaignRole:
    """Give a person a role in one campaign; what they have already stays. Raises RoleRefused.

    A deactivated account gets none.
    """
    if role not in Role.values:
        raise RoleRefused(f"In a campaign one is {' or '.join(Role.values)}, not “{role[:40]}”.")
    if not person.is_active:
        raise RoleRefused(f"The account {person.get_username()} is deactivated. Activate it first.")
    must_be_from_here(person)
    given, made = CampaignRole.objects.get_or_create(campaign=campaign, user=person, role=role)
    if made:
        _log(by, "give role", given)
    return given


@transaction.atomic
def take(*, by: User, given: CampaignRole) -> None:
    """Take a role in a campaign away again; it holds from the person's next request on."""
    _log(by, "take role", given)
    CampaignRole.objects.filter(pk=given.pk).delete()


def looked_after(person: User) -> QuerySet[Campaign]:
    """Return the campaigns, archived ones aside, in which a person has a role."""
    return Campaign.objects.filter(roles__user=person, archived_at=None).distinct().order_by("-id")


def listed(campaign: Campaign) -> list[dict[str, Any]]:
    """Return who has a role in a campaign: its id, username, role and the role's title, by name."""
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


def _log(by: User, verb: str, given: CampaignRole) -> None:
    detail = {"campaign": given.campaign_id, "user": given.user.get_username(), "role": given.role}
    Event.objects.create(by=by, verb=f"campaign: {verb}", subject=given.campaign.name, detail=detail)
