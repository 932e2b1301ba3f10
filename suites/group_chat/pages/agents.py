"""The researcher's page that runs group-chat agents over a corpus's scenarios."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation import access
from annotation.models import Corpus
from annotation.scenario_records import MODES
from config.permissions import researcher_only, user_of
from jobs.errors import JobError
from jobs.models import Job
from judges.pages.forms import offer_parts
from judges.runs.lookup import split_for
from suites.continuation.productions.actions import MOST_TRIALS
from suites.continuation.productions.dialogues import Dialogues
from suites.group_chat import baselines
from suites.group_chat.baselines import Baseline, deciders, scenario_count
from suites.group_chat.scenarios.agents import AGENTS

GENERATOR = "group_chat_agent"


class AgentForm(forms.Form):
    """Which baseline decides, how it replies, how often, and for which part."""

    agent = forms.ChoiceField(
        choices=[(baseline.key, f"{baseline.key}: {baseline.title}") for baseline in AGENTS.values()],
        label="Baseline",
    )
    mode = forms.ChoiceField(
        choices=[(mode, mode) for mode in MODES],
        help_text="Explicit: it declares who is meant and whom it answers. Implicit: it only acts.",
    )
    trials = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MOST_TRIALS,
        help_text="How often it goes through each scenario. Only random differs from one trial to the next.",
    )
    part = forms.ChoiceField(
        required=False,
        label="Part",
        help_text="Training is left out unless it is chosen.",
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus = corpus
        offer_parts(self, corpus)

    def baseline(self) -> Baseline:
        """Return what was asked for."""
        data = self.cleaned_data
        return Baseline(data["agent"], data["mode"], data["trials"])

    def dialogues(self) -> Dialogues:
        """Return the chosen part; raise JobError where there is none."""
        part = self.cleaned_data.get("part", "")
        return Dialogues(self.corpus, split_for(self.corpus, part), part)


@researcher_only
def agents(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: who decided in a corpus's scenarios; let a baseline decide, or go on to a model."""
    corpus = access.corpus(pk)
    form = AgentForm(request.POST or None, corpus=corpus)
    if request.method == "POST" and form.is_valid():
        try:
            played = baselines.start(
                by=user_of(request),
                baseline=form.baseline(),
                dialogues=form.dialogues(),
            )
        except JobError as error:
            form.add_error(None, str(error))
        else:
            if isinstance(played, Job):
                messages.info(request, "It has many decisions to make: see below how far it is.")
                return redirect("jobs")
            messages.success(request, played.sentence())
            return redirect("agents", corpus.pk)
    context = {
        "corpus": corpus,
        "form": form,
        "scenarios": scenario_count(corpus),
        "deciders": deciders(corpus),
        "generator": GENERATOR,
        "active_room": "corpora",
    }
    return render(request, "group_chat/agents.html", context, status=422 if form.errors else 200)
