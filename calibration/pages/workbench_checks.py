"""Checks of a draft: what was found, and what asking for more would take. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from calibration import access
from calibration.errors import CalibrationError
from calibration.pages.workbench import ROOM
from calibration.workbench import checks, progress
from calibration.workbench.differences import item_systems
from calibration.workbench.families import own_systems
from calibration.workbench.sheets import items_of, judged_on
from config.ids import row_id
from config.permissions import researcher_only
from jobs.errors import JobError
from judges.models import Bench, Draft
from judges.pages.runs import user_of


@researcher_only
def bench_checks(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: what checks of a draft found; POST asks what one needs to know, once its cost was seen."""
    bench = access.bench(pk)
    drafts = [one.draft for one in judged_on(bench) if one.draft is not None]
    draft = _draft(bench, drafts, request)
    context: dict[str, Any] = {"bench": bench, "drafts": drafts, "draft": draft, **ROOM}
    if draft is None:
        return render(request, "workbench/checks.html", context)
    if request.method == "POST":
        key = request.POST.get("check", "")
        try:
            if "confirmed" in request.POST:
                checks.start(by=user_of(request), draft=draft, key=key)
                return redirect(f"{reverse('bench-checks', args=[pk])}?draft={draft.number}#{key}")
            context |= {"asked": checks.cost(draft, key), "asked_for": key}
        except (CalibrationError, JobError) as error:
            messages.error(request, str(error))
    own = request.GET.getlist("own") or own_systems(draft)
    try:
        context["findings"] = [checks.finding(draft, key, own=own) for key in checks.CHECKS]
    except CalibrationError as error:
        messages.error(request, str(error))
    context |= {
        "own": own,
        "systems": sorted(set(item_systems(list(items_of(bench))))),
        "active": _active(draft),
    }
    return render(request, "workbench/checks.html", context)


def _draft(bench: Bench, drafts: list[Draft], request: HttpRequest) -> Draft | None:
    number = row_id(request.POST.get("draft", "") or request.GET.get("draft", ""))
    if number is not None:
        return access.draft(bench, number)
    return access.draft(bench, drafts[0].number) if drafts else None


def _active(draft: Draft) -> bool:
    """Whether something that a check asked is under way."""
    return any(progress.tried(one).active for one in [draft, *draft.checks.select_related("bench", "rater")])
