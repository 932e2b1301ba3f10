"""Searches of a bench: a model proposes texts, a person adopts one or none. Researchers only."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from calibration import access
from calibration.errors import CalibrationError
from calibration.pages.search_form import ImproverForm, JudgeParametersForm, SearchForm
from calibration.pages.workbench import ROOM
from calibration.searches import actions, reading
from config.permissions import researcher_only
from jobs.errors import JobError
from jobs.pages.parameter_fields import given_parameters
from judges.pages.runs import user_of
from judges.pages.starting import sync_endpoints


@researcher_only
def bench_searches(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the searches of a bench; POST starts one."""
    bench = access.bench(pk)
    sync_endpoints(request)
    form = SearchForm(request.POST or None, bench=bench)
    judge = JudgeParametersForm(request.POST or None, prefix="judge")
    improver = ImproverForm(request.POST or None, prefix="improver")
    if request.method == "POST" and all([form.is_valid(), judge.is_valid(), improver.is_valid()]):
        chosen = form.chosen()
        chosen["options"]["parameters"] = given_parameters(judge)
        sent = given_parameters(improver)
        try:
            made = actions.start(by=user_of(request), bench=bench, improver_parameters=sent, **chosen)
        except (CalibrationError, JobError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("bench-search", pk, made.pk)
    found = bench.searches.select_related("prompt")
    forms = {"form": form, "judge": judge, "improver": improver}
    context = {"bench": bench, "searches": found, **forms, **ROOM}
    wrong = any(one.errors for one in forms.values())
    return render(request, "workbench/searches.html", context, status=422 if wrong else 200)


@require_GET
@researcher_only
def bench_search(request: HttpRequest, pk: int, search: int) -> HttpResponse:
    """Researchers: one search, its texts, and what they are worth on the held-back dialogues."""
    bench = access.bench(pk)
    found = access.search(bench, search)
    context: dict[str, Any] = {"bench": bench, "search": found, **ROOM}
    try:
        context["shown"] = reading.shown(found)
    except CalibrationError as error:
        messages.error(request, str(error))
    return render(request, "workbench/search.html", context)


@require_POST
@researcher_only
def search_act(request: HttpRequest, pk: int, search: int, verb: str) -> HttpResponse:
    """Researchers: cancel or resume a search, or adopt one of its proposals (`text`, its number)."""
    found = access.search(access.bench(pk), search)
    try:
        if verb == "adopt":
            text = access.search_text(found, request.POST.get("text", ""))
            actions.adopt(by=user_of(request), text=text)
        else:
            _verb(verb)(by=user_of(request), search=found)
    except (CalibrationError, JobError) as error:
        messages.error(request, str(error))
    return redirect("bench-search", pk, search)


def _verb(verb: str) -> Any:
    if verb not in actions.VERBS:
        raise Http404
    return actions.VERBS[verb]
