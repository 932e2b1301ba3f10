"""The researcher's pages of simulations: those of a corpus, asking for one, and one with how far it is."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access as corpora
from annotation.models import Corpus
from config.permissions import researcher_only
from jobs.errors import JobError
from judges.pages.runs import user_of
from judges.pages.starting import sync_endpoints
from systems import access
from systems.models import Simulation
from systems.pages.simulation_form import SimulationForm, asking_sets
from systems.simulating import actions
from systems.simulating.estimating import estimate
from systems.simulating.telling import TITLES, condition_told, counts, fakes, paused, steps_of

ROOM = {"active_room": "corpora"}


@researcher_only
def simulations(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the simulations of a corpus; ask for one, see what it takes, start."""
    sync_endpoints(request)
    corpus = corpora.corpus(pk)
    form = SimulationForm(request.POST or None, corpus=corpus)
    if request.method == "POST" and form.is_valid() and (response := _go_on(request, corpus, form)):
        return response
    rows = Simulation.objects.filter(corpus=corpus).select_related(
        "question_set", "endpoint", "corpus", "created_by"
    )
    page = Paginator(rows, 25).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus,
        "form": form,
        "page": page,
        "told": [_line(held) for held in page],
        "active": any(held.state == Simulation.State.MAKING for held in page),
        "has_scripts": corpus.dialogues.filter(script__isnull=False).exists(),
        "has_questions": asking_sets(corpus).exists(),
        **ROOM,
    }
    return render(request, "systems/simulations.html", context, status=422 if form.errors else 200)


def _line(held: Simulation) -> dict[str, Any]:
    name, _ = actions.system_of(held)
    return {"simulation": held, "system": name, "condition": condition_told(held), "counts": counts(held),
            "paused": paused(held)}  # fmt: skip


def _go_on(request: HttpRequest, corpus: Corpus, form: SimulationForm) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            told = [
                (name, value)
                for name, values in request.POST.lists()
                if name != "csrfmiddlewaretoken"
                for value in values
            ]
            asked = estimate(data["question_set"], form.order(), form.asked())
            steps = [(TITLES[step.step], step) for step in asked.steps]
            context = {"corpus": corpus, "estimate": asked, "steps": steps, "told": told, **ROOM}
            return render(request, "systems/confirm_simulation.html", context)
        held = actions.start(
            by=user_of(request),
            question_set=data["question_set"],
            order=form.order(),
            endpoint=form.asked(),
            settings=form.run_settings(),
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return redirect("simulation", held.pk)


@require_GET
@researcher_only
def simulation_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far a simulation is, with its condition, runs and what they took."""
    held = access.simulation(pk)
    name, condition = actions.system_of(held)
    context = {
        "simulation": held,
        "system": name,
        "condition": condition,
        "steps": steps_of(held),
        "counts": counts(held),
        "paused": paused(held),
        **fakes(held),
        "at": TITLES.get(held.step, ""),
        **ROOM,
    }
    return render(request, "systems/simulation.html", context)


@require_POST
@researcher_only
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: go on with a simulation; what failed is tried again."""
    return _act(request, pk, actions.go_on)


@require_POST
@researcher_only
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop a simulation; what was answered is kept."""
    return _act(request, pk, actions.cancel)


def _act(request: HttpRequest, pk: int, act: Any) -> HttpResponse:
    try:
        act(by=user_of(request), simulation=access.simulation(pk))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("simulation", pk)
