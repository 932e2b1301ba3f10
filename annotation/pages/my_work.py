"""An annotator's own pages: campaigns with progress, submissions, and preferences."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from annotation import access
from annotation.errors import ComfortRefused
from annotation.models import CampaignMember, CampaignRole, Comfort, ConsentGiven, Thread
from annotation.models.people import LONGEST_BREAK, SHORTEST_BREAK
from annotation.pages.people import refused
from annotation.people import preferences
from annotation.work import check_stages, own_work
from annotation.work.leases import limits_of
from annotation.work.own_work import with_work
from annotation.work.submissions import taken_back
from config.permissions import is_researcher, user_of

# A person's own preferences for the annotation page, for everyone signed in.


class ComfortForm(forms.Form):
    """Settings of the annotation page, with a field for the key of each command."""

    auto_advance = forms.BooleanField(
        required=False,
        label="One key submits a task that asks one thing",
        help_text="Where a task has a single question with values, the key or click that answers it submits "
        "and brings the next task. Undo brings the last one back.",
    )
    text_size = forms.ChoiceField(choices=Comfort.Size.choices, label="Size of the text")
    more_contrast = forms.BooleanField(required=False, label="More contrast")
    break_after = forms.IntegerField(
        required=False,
        min_value=SHORTEST_BREAK,
        max_value=LONGEST_BREAK,
        label="Suggest a break after this many minutes of work",
        help_text="Only time of attention counts. Empty: never.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for command, (usual, does) in preferences.COMMANDS.items():
            self.fields[f"key_{command}"] = forms.CharField(
                max_length=1, label=does, help_text=f"Usually {usual}", strip=True
            )

    @property
    def rest(self) -> list[forms.BoundField]:
        """Return the fields other than those of the keys."""
        return [field for field in self if not field.name.startswith("key_")]

    @property
    def keys(self) -> list[forms.BoundField]:
        """Return the fields of the keys."""
        return [self[f"key_{command}"] for command in preferences.COMMANDS]


def settings(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: change their own settings of the annotation page."""
    person = request.user
    assert isinstance(person, User)
    mine = preferences.comfort_of(person)
    stored = preferences.as_json(mine)
    keys = {f"key_{command}": key for command, key in stored.pop("keys").items()}
    form = ComfortForm(request.POST or None, initial=stored | keys)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        new_keys = {command: values.pop(f"key_{command}") for command in preferences.COMMANDS}
        try:
            preferences.change(by=person, **values, keys=new_keys)
        except ComfortRefused as error:
            refused(form, error)
        else:
            messages.success(request, "Your settings are kept. They hold on every device.")
            return redirect("comfort")
    status = 422 if form.errors else 200
    return render(request, "accounts/comfort.html", {"form": form}, status=status)


ROWS = 25


@require_GET
@cache_control(no_store=True)
def my_campaigns(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: list their campaigns, with the remaining work and their progress."""
    viewer = user_of(request)
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
        "limits": {member.campaign_id: limits_of(member) for member in mine},
        "waiting": with_work(user=viewer.pk),
        "left": own_work.tasks_left(user=viewer.pk),
        "paces": own_work.paces(user=viewer.pk),
        "agreed": _agreed(viewer),
        "unread": _unread(viewer),
        "prerequisites": check_stages.prerequisites(viewer.pk),
        "taken_back": _taken_back(viewer),
        "looked_after": access.managed(viewer).filter(archived_at=None).order_by("-id")
        if not is_researcher(viewer)
        else (),
        "adjudicates": is_researcher(viewer) or CampaignRole.objects.filter(user=viewer).exists(),
    }
    return render(request, "annotate/mine.html", context)


@require_GET
@cache_control(no_store=True)
def my_submissions(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: list their submissions, with search; each can be opened."""
    viewer = user_of(request)
    search = {name: request.GET.get(name, "").replace("\x00", "").strip() for name in own_work.SEARCH_FIELDS}
    page = Paginator(own_work.own_submissions(viewer, own_work.submission_query(search)), ROWS).get_page(
        request.GET.get("page")
    )
    mine = CampaignMember.objects.filter(user=viewer, campaign__archived_at=None)
    campaigns = mine.exclude(campaign__state="draft").values_list("campaign_id", "campaign__name")
    context = {
        "page": page,
        "rows": own_work.describe_submissions(page.object_list),
        "asked": search,
        "searched": any(search.values()),
        "most": own_work.MOST_FOUND,
        "campaigns": [(str(pk), name) for pk, name in campaigns],
        "marks": [(name, bool(search[name])) for name in ("flagged", "bookmarked", "commented")],
    }
    return render(request, "annotate/submissions.html", context)


def _agreed(viewer: User) -> dict[int, Any]:
    """Return the latest consent text that a person agreed to, by campaign."""
    consents = ConsentGiven.objects.filter(user=viewer).select_related("consent").order_by("consent__version")
    return {consent.consent.campaign_id: consent for consent in consents}


def _taken_back(viewer: User) -> dict[int, list[Any]]:
    """Return the tasks taken back from a person since their last submission, by campaign."""
    by_campaign: dict[int, list[Any]] = {}
    for assignment in taken_back(viewer):
        by_campaign.setdefault(assignment.campaign_id, []).append(assignment)
    return by_campaign


def _unread(viewer: User) -> dict[int, int]:
    """Return the number of a person's unread messages, by campaign."""
    rows = Thread.objects.filter(annotator=viewer, unread__gt=0).values_list("campaign_id", "unread")
    counts: dict[int, int] = {}
    for campaign, number in rows:
        counts[campaign] = counts.get(campaign, 0) + number
    return counts
