"""An annotator's own pages: what there is to do and how it goes, and what they submitted."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from annotation import access
from annotation.models import CampaignMember, CampaignRole, ConsentGiven, Thread
from annotation.work import pace, submitted
from annotation.work.in_hand import taken_back
from annotation.work.limits import limits_of
from annotation.work.progress import with_work
from config.permissions import is_researcher

ROWS = 25


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@require_GET
@cache_control(no_store=True)
def my_campaigns(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: the campaigns they take part in, what is left there, and how they get on."""
    viewer = _user(request)
    mine = (
        CampaignMember.objects.filter(user=viewer)
        .exclude(campaign__state="draft")
        .filter(campaign__archived_at=None)
        .annotate(name=F("campaign__name"), state=F("campaign__state"))
        .select_related("campaign__scheme_version__scheme")
        .order_by("-campaign_id")
    )
    context = {
        "memberships": mine,
        "limits": {one.campaign_id: limits_of(one) for one in mine},
        "waiting": with_work(user=viewer.pk),
        "left": pace.left(user=viewer.pk),
        "paces": pace.paces(user=viewer.pk),
        "agreed": _agreed(viewer),
        "unread": _unread(viewer),
        "taken_back": _taken_back(viewer),
        "looked_after": access.managed(viewer).filter(archived_at=None).order_by("-id")
        if not is_researcher(viewer)
        else (),
        "adjudicates": is_researcher(viewer) or CampaignRole.objects.filter(user=viewer).exists(),
        "active_room": "work",
    }
    return render(request, "annotate/mine.html", context)


@require_GET
@cache_control(no_store=True)
def my_submissions(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: what they submitted, to be searched and opened."""
    viewer = _user(request)
    asked = {name: request.GET.get(name, "").replace("\x00", "").strip() for name in submitted.ASKED}
    page = Paginator(submitted.own(viewer, submitted.wanted(asked)), ROWS).get_page(request.GET.get("page"))
    mine = CampaignMember.objects.filter(user=viewer, campaign__archived_at=None)
    kept = {name: value for name, value in asked.items() if value}
    context = {
        "page": page,
        "rows": submitted.told(page.object_list),
        "asked": asked,
        "searched": bool(kept),
        "most": submitted.MOST_FOUND,
        "query": f"{urlencode(kept)}&" if kept else "",
        "campaigns": mine.exclude(campaign__state="draft").values_list("campaign_id", "campaign__name"),
        "active_room": "work",
    }
    return render(request, "annotate/submissions.html", context)


def _agreed(viewer: User) -> dict[int, Any]:
    """Return the latest consent text that a person agreed to, by campaign."""
    given = ConsentGiven.objects.filter(user=viewer).select_related("consent").order_by("consent__version")
    return {one.consent.campaign_id: one for one in given}


def _taken_back(viewer: User) -> dict[int, list[Any]]:
    """Return what was taken back from a person and not told of by later work, by campaign."""
    found: dict[int, list[Any]] = {}
    for one in taken_back(viewer):
        found.setdefault(one.campaign_id, []).append(one)
    return found


def _unread(viewer: User) -> dict[int, int]:
    """Return how many messages a person has not seen, by campaign."""
    rows = Thread.objects.filter(annotator=viewer, unread__gt=0).values_list("campaign_id", "unread")
    found: dict[int, int] = {}
    for campaign, number in rows:
        found[campaign] = found.get(campaign, 0) + number
    return found
