"""Watching a campaign: a page that keeps itself up to date. Researchers only."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from calibration.reports.figures import worded
from calibration.statistics.rater_panel import FIGURES
from calibration.watching.agreement import OF_A_RATER, OF_ALL, asked
from calibration.watching.progress import BY, choices
from calibration.watching.watch import Watch, watch
from config.permissions import researcher_only


@require_GET
@researcher_only
def campaign_watch(request: HttpRequest, pk: int) -> HttpResponse:
    """How far a campaign is and how far its people agree; fetched again while the page is open."""
    campaign = access.campaign(pk)
    by = request.GET.get("by", "")
    found = watch(
        campaign,
        by=by if by in choices(campaign) else "",
        question=request.GET.get("question", ""),
        everyone=request.GET.get("everyone") == "1",
    )
    context = {
        "campaign": campaign,
        "watch": found,
        "choices": choices(campaign).items(),
        "by_title": BY[found.progress.by],
        "questions": asked(campaign),
        "agreed_heads": [worded(name).name for name in OF_ALL],
        "rater_heads": [FIGURES[name].heading for name in OF_A_RATER],
        "annotators": _annotators(found),
        "most_a_day": max(n for _, n in found.progress.days),
        "is_live": request.GET.get("live") != "0",
        "active_room": "campaigns",
    }
    return render(request, "calibration/watch.html", context)


def _annotators(found: Watch) -> list[dict[str, Any]]:
    """Return each annotator with the figures of the table's columns, None where one does not apply."""
    figures = {row.rater: {one.name: one for one in row.figures} for row in found.agreement.raters}
    return [
        {"part": one, "figures": [figures.get(one.name, {}).get(name) for name in OF_A_RATER]}
        for one in found.progress.annotators
    ]
