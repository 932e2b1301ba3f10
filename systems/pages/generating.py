"""The researcher's page that starts generation."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Corpus
from annotation.pages.campaigns import choose
from config.files import row_id
from config.permissions import researcher_only
from jobs.errors import JobError
from jobs.models import Job
from judges.pages.runs import ROOM, sync_endpoints, user_of
from judges.runs.selection import settings_of
from systems.generators import GENERATORS
from systems.pages.forms import GenerateForm
from systems.producing import job as starting
from systems.producing.estimates import estimate


@researcher_only
def generate(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus, then a generator, then its settings; see what it takes; start."""
    sync_endpoints(request)
    corpus = Corpus.objects.filter(pk=row_id(request.GET.get("corpus", "")) or 0).first()
    if corpus is None:
        return choose(
            request,
            title="Generate: for which dialogues?",
            lead="A model writes what comes next in a corpus's dialogues; people and judges then rate it.",
            back=("runs", "Judges and metrics"),
            room="runs",
            campaigns=False,
        )
    generator = GENERATORS.get(request.GET.get("generator", ""))
    if generator is None:
        written = [one for one in GENERATORS.values() if one.produces != "text"]
        return render(request, "systems/choose.html", {"corpus": corpus, "generators": written, **ROOM})
    form = GenerateForm(request.POST or None, generator=generator, corpus=corpus)
    context: dict[str, Any] = {"corpus": corpus, "generator": generator, "form": form, **ROOM}
    if request.method == "POST" and form.is_valid() and (response := _go_on(request, form, context)):
        return response
    return render(request, "systems/generate.html", context, status=422 if form.errors else 200)


def _go_on(request: HttpRequest, form: GenerateForm, context: dict[str, Any]) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    trials = form.cleaned_data["trials"]
    try:
        if "confirmed" not in request.POST:
            asked = estimate(form.chosen().plan(), form.dialogues(), trials)
            told = [
                (name, value)
                for name, values in request.POST.lists()
                if name != "csrfmiddlewaretoken"
                for value in values
            ]
            return render(request, "systems/confirm.html", context | {"estimate": asked, "told": told})
        started = starting.start(
            by=user_of(request),
            generation=form.chosen(),
            dialogues=form.dialogues(),
            trials=trials,
            settings=settings_of(form.cleaned_data),
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    if isinstance(started, Job):
        messages.info(request, "It is being prepared: see below. After that you find it among the runs.")
        return redirect("jobs")
    return redirect("run", started.pk)
