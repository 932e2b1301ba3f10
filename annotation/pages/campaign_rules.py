"""The page on which a campaign says who may, and who must, rate what."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from annotation import access
from annotation.campaigns import gates, rules, sampling
from annotation.campaigns.rules import Rules
from annotation.errors import CampaignRefused
from annotation.models import Campaign, PeopleGroup
from annotation.permissions import campaign_researcher_only
from annotation.text.views import METADATA
from config.files import row_id


@campaign_researcher_only
def campaign_rules(request: HttpRequest, campaign: int) -> HttpResponse:
    """Who may manage it: who may and must rate what. `?groups_by=` offers the strata of something else."""
    found, why = access.campaign(campaign), ""
    asked = rules.rules_of(found)
    if request.method == "POST":
        assert isinstance(request.user, User)
        asked = _posted(request.POST)
        try:
            rules.set_rules(by=request.user, campaign=found, rules=asked)
        except CampaignRefused as error:
            why = str(error)
        else:
            if asked.groups_by and not asked.strata:
                messages.info(request, "Now say which group rates which stratum, then save again.")
                return redirect("campaign-rules", found.pk)
            messages.success(request, "The rules hold from the next task that is handed out.")
            return redirect("campaign", found.pk)
    return render(
        request, "campaigns/rules.html", _context(found, asked) | {"refused": why}, status=422 if why else 200
    )


def _posted(sent: QueryDict) -> Rules:
    groups = {str(group.pk): group for group in PeopleGroup.objects.all()}
    by = sent.get("groups_by", "")
    pairs = zip(sent.getlist("stratum"), sent.getlist("stratum_group"), strict=False)
    strata = {name: groups[key] for name, key in pairs if key in groups}
    counts = {group: row_id(sent.get(f"required-{key}", "")) or 0 for key, group in groups.items()}
    required = {group: min(number, 1_000) for group, number in counts.items() if number}
    shown_for = sent.get("strata_of", "")
    return Rules(
        by_language=bool(sent.get("by_language")),
        not_own=sent.get("not_own", ""),
        groups_by=by,
        strata=strata if by and by == shown_for else {},
        required=required,
    )


def _context(campaign: Campaign, asked: Rules) -> dict[str, Any]:
    fields = [pair for pair in sampling.choices(campaign.corpus) if pair[0].startswith(METADATA)]
    required = {group.pk: number for group, number in asked.required.items()}
    chosen = {stratum: group.pk for stratum, group in asked.strata.items()}
    return {
        "campaign": campaign,
        "asked": asked,
        "authors": [("", "Nobody: anyone may rate anything"), (gates.PARTICIPANTS, "Participants"), *fields],
        "strata_by": [("", "Nothing"), *sampling.choices(campaign.corpus)[1:]],
        "strata": [(name, chosen.get(name)) for name in gates.strata_of(campaign, asked.groups_by)],
        "required": [(group, required.get(group.pk, 0)) for group in PeopleGroup.objects.all()],
        "groups": PeopleGroup.objects.all(),
        "active_room": "campaigns",
    }
