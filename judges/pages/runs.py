"""The researcher's pages of runs: the list, one run with its live progress, and what is done to it."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.models import turn_numbers
from config.permissions import researcher_only
from jobs import runs
from jobs.models import Call, Run
from jobs.progress import Progress, progress
from judges.rating.availability import has_model

ROOM = {"active_room": "runs"}
SHOWN = ("failed", "flagged", "all")


def user_of(request: HttpRequest) -> User:
    """Return the signed-in account."""
    assert isinstance(request.user, User)
    return request.user


def load(pk: int) -> Run:
    """Return a run with all that its page names, or 404. Researchers see every run."""
    found = Run.objects.select_related(
        "rater", "corpus", "campaign", "endpoint", "created_by", "scheme_version__scheme"
    )
    return get_object_or_404(found, pk=pk)


@require_GET
@researcher_only
def run_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all runs, latest first."""
    found = Run.objects.select_related("rater", "corpus", "campaign")
    page = Paginator(found.order_by("-id"), 25).get_page(request.GET.get("page"))
    counted = _by_state(list(page))
    for run in page:
        states = counted.get(run.pk, {})
        run.total = sum(states.values())  # type: ignore[attr-defined]
        run.done = states.get(Call.State.DONE, 0)  # type: ignore[attr-defined]
        run.failed = states.get(Call.State.FAILED, 0)  # type: ignore[attr-defined]
    return render(request, "judges/runs.html", {"page": page, **ROOM})


def _by_state(shown: Sequence[Run]) -> dict[int, dict[str, int]]:
    """Return how many calls of each run are in each state, from the index of both alone."""
    calls = Call.objects.filter(run__in=shown).order_by().values_list("run", "state")
    found: dict[int, dict[str, int]] = {}
    for run, state, n in calls.annotate(n=Count("*")):
        found.setdefault(run, {})[state] = n
    return found


@require_GET
@researcher_only
def run_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one run, its progress and its calls."""
    run = load(pk)
    state = progress(run)
    show = request.GET.get("show", "failed" if state.failed else "flagged" if state.flagged else "all")
    show = show if show in SHOWN else "all"
    context = {"run": run, "progress": state, "show": show, "page": _calls(request, run, show), **ROOM}
    context["loading"] = loading(run, state)
    return render(request, "judges/run.html", context | {"query": f"show={show}&"})


@require_GET
@researcher_only
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the progress alone, asked for again and again; the page reloads when the run ends."""
    run = load(pk)
    state = progress(run)
    context = {"run": run, "progress": state, "loading": loading(run, state)}
    response = render(request, "judges/_progress.html", context)
    if not state.active and request.headers.get("HX-Request"):
        response["HX-Refresh"] = "true"
    return response


@require_POST
@researcher_only
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop a run; what is done stays."""
    runs.cancel(by=user_of(request), run=load(pk))
    return redirect("run", pk)


@require_POST
@researcher_only
def retry_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: go on with a cancelled or failed run."""
    runs.retry_failed(by=user_of(request), run=load(pk))
    return redirect("run", pk)


def loading(run: Run, state: Progress) -> bool:
    """Whether a metric is at work and may be loading its model still, as no call has finished yet."""
    return bool(state.leased and not state.finished and has_model(run.rater))


def _calls(request: HttpRequest, run: Run, show: str) -> Page[Call]:
    calls: QuerySet[Call] = run.calls.select_related("continuation__dialogue", "item__turn").order_by("pk")
    if show == "failed":
        calls = calls.filter(Q(state=Call.State.FAILED) | ~Q(error=""))
    elif show == "flagged":
        calls = calls.exclude(flags=[])
    page = Paginator(calls, 25).get_page(request.GET.get("page"))
    turn_numbers.number(call.item.turn if call.item else None for call in page)
    return page
