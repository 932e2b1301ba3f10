"""Watching a campaign: a page that keeps itself up to date. For who may manage the campaign."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import access
from annotation.access import campaign_researcher_only
from calibration.reports.figures import worded as figure_text
from calibration.statistics.rater_panel import FIGURES
from calibration.watching.watch import BY, OF_A_RATER, OF_ALL, Watch, asked, choices, watch


@require_GET
@campaign_researcher_only
def campaign_watch(request: HttpRequest, campaign: int) -> HttpResponse:
    """How far a campaign is and how far its people agree; fetched again while the page is open."""
    about = access.campaign(campaign)
    by = request.GET.get("by", "")
    found = watch(
        about,
        by=by if by in choices(about) else "",
        question=request.GET.get("question", ""),
        everyone=request.GET.get("everyone") == "1",
    )
    context = {
        "campaign": about,
        "watch": found,
        "choices": choices(about).items(),
        "by_title": BY[found.progress.by],
        "questions": asked(about),
        "agreed_heads": [figure_text(name).name for name in OF_ALL],
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
