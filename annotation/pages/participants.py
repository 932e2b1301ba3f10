"""Page of a campaign's join links and participants, with the list for payment."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import JoinRefused
from annotation.models import Campaign, JoinLink
from annotation.pages.campaign_form import MOMENT
from annotation.people import participants
from annotation.text.table_cells import guarded
from annotation.work import check_stages
from config.files import row_id

ROWS = 100
COLUMNS = (
    *("name", "participant", "study", "session", "link"),
    *("submitted", "state", "joined", "finished", "code"),
)


class JoinLinkForm(forms.Form):
    """A link by which people join a campaign."""

    name = forms.CharField(
        max_length=JoinLink.name.field.max_length,
        label="What it is for",
        help_text="Such as: Prolific, first wave.",
    )
    most = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=participants.MOST_PEOPLE,
        label="At most so many people",
        help_text="Empty: any.",
    )
    expires_at = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
        label="Until",
        help_text="Empty: until it is revoked.",
    )
    code = forms.CharField(
        required=False,
        max_length=JoinLink.code.field.max_length,
        label="Completion code",
        help_text="The one that the platform gave you. Empty: each person gets a code of their own.",
    )
    return_url = forms.CharField(
        required=False,
        max_length=JoinLink.return_url.field.max_length,
        label="Address to return to",
        help_text="Such as https://app.prolific.com/submissions/complete?cc={code}",
    )


@never_cache
@campaign_researcher_only
def participant_list(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: list a campaign's join links and participants; create or revoke a link."""
    assert isinstance(request.user, User)
    campaign_row = access.campaign(campaign)
    if (number := row_id(request.POST.get("dismiss", ""))) is not None:
        browser = access.participant_browser(campaign_row.pk, number)
        participants.dismiss(by=request.user, browser=browser)
        message = "That browser waits no more."
        if browser.confirmed_at is not None:
            message = "The confirmation is taken back, and the participant signed out in all browsers."
        messages.success(request, message)
        return redirect("participants", campaign_row.pk)
    if (number := row_id(request.POST.get("revoke", ""))) is not None:
        participants.revoke(by=request.user, link=access.join_link(campaign_row.pk, number))
        messages.success(request, "Nobody can join by this link any more.")
        return redirect("participants", campaign_row.pk)
    if (number := row_id(request.POST.get("confirm", ""))) is not None:
        participants.confirm(by=request.user, browser=access.participant_browser(campaign_row.pk, number))
        messages.success(request, "Confirmed. They can open their link again in that browser.")
        return redirect("participants", campaign_row.pk)
    form = JoinLinkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            participants.make_link(by=request.user, campaign=campaign_row, **form.cleaned_data)
        except JoinRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, "The link is made. Copy its address below.")
            return redirect("participants", campaign_row.pk)
    links = campaign_row.join_links.all()
    browsers = list(participants.browsers(campaign_row))
    context = {
        "campaign": campaign_row,
        "form": form,
        "links": [(link, _address(request, link), link.participants.count()) for link in links],
        "keys": _keys(campaign_row, links),
        "waiting": [browser for browser in browsers if browser.confirmed_at is None],
        "confirmed": [browser for browser in browsers if browser.confirmed_at is not None],
        "page": Paginator(participants.list_participants(campaign_row), ROWS).get_page(
            request.GET.get("page")
        ),
        "failed": check_stages.failed(campaign_row),
    }
    return render(request, "campaigns/participants.html", context, status=422 if form.errors else 200)


def _keys(campaign: Campaign, links: Iterable[JoinLink]) -> dict[int, str]:
    """Return the keys that sign ids, by link; empty where the campaign requires no signature."""
    if campaign.join_proof != Campaign.JoinProof.SIGNED:
        return {}
    return {link.pk: participants.signing_key(link) for link in links}


def _address(request: HttpRequest, link: JoinLink) -> str:
    return request.build_absolute_uri(reverse("join", args=[participants.key_of(link)]))


@require_GET
@never_cache
@campaign_researcher_only
def participants_file(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: export participants with ids and codes as CSV, for payment. Logged."""
    assert isinstance(request.user, User)
    campaign_row = access.campaign(campaign)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="participants-{campaign_row.pk}.csv"'
    writer = csv.writer(response, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows, failed = list(participants.list_participants(campaign_row)), check_stages.failed(campaign_row)
    for row in rows:
        writer.writerow([guarded(str(cell)) for cell in _cells(row, failed)])
    campaigns.log(request.user, campaign_row, "export participants", participants=len(rows))
    return response


def _cells(row: Any, failed: set[int]) -> list[Any]:
    state = "finished" if row.code else "failed the test" if row.user_id in failed else "at work"
    return [
        *(row.user.get_username(), row.external_id, row.study_id, row.session_id, row.link.name),
        *(row.done or 0, state, row.joined_at.isoformat()),
        *(row.finished_at.isoformat() if row.finished_at else "", row.code),
    ]
