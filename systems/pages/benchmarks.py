"""The researcher's pages of benchmarks: the list, asking for one, and one with its figures."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.schemes.benchmark_review import SCHEME
from config.files import file_response
from config.permissions import researcher_only
from jobs import actions as jobs
from jobs.errors import JobError
from judges.pages.runs import user_of
from judges.pages.starting import sync_endpoints
from systems import access
from systems.making import actions, reviewing
from systems.making.estimating import estimate
from systems.making.orders import Order
from systems.making.telling import TITLES, is_fake, steps_of
from systems.making.writing import export
from systems.models import Benchmark
from systems.pages.benchmark_form import BenchmarkForm

ROOM = {"active_room": "corpora"}


@require_GET
@researcher_only
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """Researchers: benchmarks that were made or are being made, latest first."""
    rows = Benchmark.objects.select_related("corpus", "created_by")
    page = Paginator(rows, 25).get_page(request.GET.get("page"))
    active = any(one.state == Benchmark.State.MAKING for one in page)
    return render(request, "systems/benchmarks.html", {"page": page, "active": active, **ROOM})


@researcher_only
def new_benchmark(request: HttpRequest) -> HttpResponse:
    """Researchers: say what a benchmark is made of; see what it takes; start."""
    sync_endpoints(request)
    form = BenchmarkForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (response := _go_on(request, form)):
        return response
    return render(
        request, "systems/new_benchmark.html", {"form": form, **ROOM}, status=422 if form.errors else 200
    )


def _go_on(request: HttpRequest, form: BenchmarkForm) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            asked = estimate(form.sources(), form.order(), data["endpoint"])
            told = [
                (name, value)
                for name, values in request.POST.lists()
                if name != "csrfmiddlewaretoken"
                for value in values
            ]
            context = {"estimate": asked, "told": told, "name": data["name"], "titles": TITLES, **ROOM}
            context["steps"] = [(TITLES[one.step], one) for one in asked.steps]
            return render(request, "systems/confirm_benchmark.html", context)
        found = actions.start(
            by=user_of(request),
            name=data["name"],
            sources=form.sources(),
            order=form.order(),
            endpoint=data["endpoint"],
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return redirect("benchmark", found.pk)


@require_GET
@researcher_only
def benchmark_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far a benchmark is, or its figures and what reviewers found."""
    found = access.benchmark(pk)
    job = jobs.active_job(actions.KIND, f"benchmark {found.name}")
    context: dict[str, Any] = {
        "benchmark": found,
        "order": Order.of(found.order),
        "steps": steps_of(found),
        "fake_model": is_fake(found),
        "at": TITLES.get(found.step, ""),
        "job": job,
        "scheme": SCHEME,
        "review": reviewing.shares(found.corpus) if found.corpus else [],
        **ROOM,
    }
    return render(request, "systems/benchmark.html", context)


@require_GET
@researcher_only
def benchmark_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Researchers: the dialogues of a benchmark, one a line, as they were written."""
    found = access.benchmark(pk)
    if found.corpus is None:
        raise Http404
    name = f"benchmark-{found.pk}.jsonl"
    return file_response(export(found.corpus), media_type="application/x-ndjson", name=name)


@require_POST
@researcher_only
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: try again what failed, or go on without it."""
    return _act(request, pk, actions.go_on, leave_out_failed="leave_out" in request.POST)


@require_POST
@researcher_only
def cancel_making(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop making a benchmark."""
    return _act(request, pk, actions.cancel)


@require_POST
@researcher_only
def checked(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: say that a benchmark was checked for offensive content."""
    return _act(request, pk, actions.mark_checked)


def _act(request: HttpRequest, pk: int, act: Any, **more: Any) -> HttpResponse:
    try:
        act(by=user_of(request), benchmark=access.benchmark(pk), **more)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("benchmark", pk)
