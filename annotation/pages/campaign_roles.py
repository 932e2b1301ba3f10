"""Giving and taking roles in one campaign. Researchers only: who looks after a campaign gives none."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation import access
from annotation.people import campaign_roles
from annotation.people.errors import RoleRefused
from config.files import row_id
from config.permissions import researcher_only


@require_POST
@researcher_only
def change_roles(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: give a person (`username`) a `role` in a campaign, or `take` one away."""
    assert isinstance(request.user, User)
    found = access.campaign(campaign)
    if (number := row_id(request.POST.get("take", ""))) is not None:
        campaign_roles.take(by=request.user, given=access.campaign_role(found.pk, number))
        messages.success(request, "The role was taken away.")
        return redirect("campaign", found.pk)
    name = request.POST.get("username", "").strip()
    person = User.objects.filter(username=name).first()
    try:
        if person is None:
            raise RoleRefused(f"There is no account “{name[:80]}”.")
        role = request.POST.get("role", "")
        campaign_roles.give(by=request.user, campaign=found, person=person, role=role)
    except RoleRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{name} has the role in this campaign.")
    return redirect("campaign", found.pk)
