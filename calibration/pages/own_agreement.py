"""An annotator's page of how far they agree with others, where the campaign shows it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from calibration.agreement.own import LEAST, own_agreement


@require_GET
def own(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members of a campaign that shows it: their own agreement with the others, and nobody else's."""
    viewer = request.user
    assert isinstance(viewer, User)
    member = access.membership(viewer, campaign)
    if not member.campaign.shows_agreement:
        raise Http404
    found = own_agreement(viewer, member.campaign)
    rows = [
        {
            "question": row.question,
            "result": row.result,
            "entry": {
                "status": row.result.status,
                "reason": row.result.reason,
                "value": row.result.value,
                "low": row.result.low,
                "high": row.result.high,
                "percent": True,
            },
        }
        for row in found.rows
    ]
    context = {"campaign": member.campaign, "own": found, "rows": rows, "least": LEAST, "active_room": "work"}
    return render(request, "calibration/own_agreement.html", context)
