"""What a researcher does to a run that is there: pause, resume, caps; and what runs have cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from config.permissions import researcher_only
from jobs import access, runs
from jobs.errors import JobError
from judges.pages.forms import CapsForm
from judges.pages.runs import ROOM, one_run, user_of


@require_POST
@researcher_only
def pause_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: pause a run; what is under way is finished."""
    return _changed(request, pk, runs.pause)


@require_POST
@researcher_only
def resume_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: go on with a paused run."""
    return _changed(request, pk, runs.resume)


@require_POST
@researcher_only
def cap_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: change what a run may take; one that was paused at a cap goes on."""
    run, form = access.run(pk), CapsForm(request.POST)
    if not form.is_valid():
        return one_run(request, run, form)
    try:
        runs.set_caps(by=user_of(request), run=run, caps=form.cleaned_data)
    except JobError as error:
        form.add_error(None, str(error))
        return one_run(request, run, form)
    messages.success(request, "The limits are set.")
    return redirect("run", pk)


@require_GET
@researcher_only
def costs(request: HttpRequest) -> HttpResponse:
    """Researchers: what judges have cost, by judge, campaign or run."""
    by = request.GET.get("by", "judge")
    by = by if by in runs.SPENT_BY else "judge"
    page = Paginator(runs.spent(by), 50).get_page(request.GET.get("page"))
    rows = [runs.spending_row(row) for row in page]
    context = {
        "page": page,
        "rows": rows,
        "by": by,
        "ways": list(runs.SPENT_BY),
        "query": f"by={by}&",
        **ROOM,
    }
    return render(request, "judges/costs.html", context)


def _changed(request: HttpRequest, pk: int, verb: Callable[..., Any]) -> HttpResponse:
    try:
        verb(by=user_of(request), run=access.run(pk))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("run", pk)
