"""Pages of simulations: the list of a corpus with the form, the cost before the start, and the progress."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access as corpora
from annotation.models import Dialogue, QuestionSet, Use
from annotation.models.corpora import Corpus
from annotation.script_records import ORIGINAL
from calibration.reports.wording import counted
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.pages.forms import CapsForm
from judges.pages.runs import offer_endpoints, sync_endpoints
from judges.runs.selection import RunSettings, settings_of
from suites.continuation.generators import GENERATORS
from suites.continuation.pages import CAPPED, MORE_WRITTEN, SENT, setting_field
from suites.continuation.productions.plans import LONGEST_NAME
from suites.long_dialogue import access
from suites.long_dialogue.agent.agent import BASELINES
from suites.long_dialogue.agent.trial_settings import EMBEDDER, NAMES, SET
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import (
    TITLES,
    Estimate,
    counts,
    describe_condition,
    estimate,
    fakes,
    paused,
    steps_of,
)
from suites.long_dialogue.simulations.steps import AGENT, SAMPLING, TRIALS, Order
from suites.pages import FieldGroup, estimate_lines, form_values

# The form of a simulation.

MEMORY = ("memory", "retriever", "k")
ASKING = ("names", "format")
MORE = ("embedder", "order", "point", "per_session", "draws", "remember", "limit", "context")
MAIN = ("question_set", "agent", "endpoint", *MEMORY, *ASKING, "trials", "name")
DRAWS = "draws"
"""Form field of the setting `seed`; the sampling parameters have a `seed`, too."""
MODEL = "model"


class SimulationForm(CapsForm, WithParameters):
    """Order of a simulation: system, question set, memory and format of the questions."""

    question_set = forms.ModelChoiceField(QuestionSet.objects.none(), label="Question set", empty_label=None)
    agent = forms.ChoiceField(
        choices=[
            (MODEL, "a model at an endpoint"),
            *(
                (baseline.key, f"baseline {baseline.key}: {baseline.title}")
                for baseline in BASELINES.values()
            ),
        ],
        label="Who answers",
        help_text="Baselines need no endpoint, hear nothing, and leave memory and retriever aside.",
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        required=False,
        empty_label="Choose an endpoint",
        help_text="Where the model is asked. What is heard goes there; before that you see what it takes.",
    )
    trials = form_field(TRIALS, required=True, initial=3)
    name = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        label="Name of the system",
        help_text="Empty: the model. A name is that of one system for good.",
    )

    def __init__(self, *args: Any, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = {setting.name: setting for setting in GENERATORS[AGENT].settings if setting.name != SET}
        for name, setting in settings.items():
            self.fields[DRAWS if name == "seed" else name] = setting_field(setting)
        self.fields[DRAWS].label = "Seed of what is asked when"
        self.fields[NAMES] = forms.ChoiceField(
            choices=name_choices(corpus), help_text=settings[NAMES].help, initial=ORIGINAL
        )
        self.fields[EMBEDDER] = forms.ModelChoiceField(
            Endpoint.objects.filter(active=True),
            required=False,
            to_field_name="name",
            empty_label="Concord's own model",
            help_text="Whose vectors the retriever embedding compares.",
        )
        for name, value in SAMPLING.items():
            self.fields[name].initial = value
        set_field = self.fields["question_set"]
        assert isinstance(set_field, forms.ModelChoiceField)
        set_field.queryset = asking_sets(corpus)

    def clean(self) -> dict[str, Any]:
        """Require an endpoint for a model."""
        data = super().clean() or {}
        if data.get("agent") == MODEL and not data.get("endpoint") and "endpoint" not in self.errors:
            self.add_error("endpoint", "Choose the endpoint whose model answers.")
        return data

    def groups(self) -> list[FieldGroup]:
        """Return the fields as the page shows them."""
        more, parameters = [self[name] for name in MORE], self.parameters()
        sent = f"{SENT} Temperature 0.2 and top p 0.1 are the paper's."
        capped = f"Each run (summaries, answers) pauses {CAPPED}"
        return [
            FieldGroup([self[name] for name in MAIN]),
            FieldGroup(more, "Points, order, context, time", is_open=self.is_changed(more)),
            FieldGroup(parameters, "Parameters", sent, self.is_changed(parameters)),
            FieldGroup(self.caps(), "Limits", capped, self.has_caps()),
        ]

    def is_changed(self, fields: list[forms.BoundField]) -> bool:
        """Whether one of these fields differs from its usual value or has an error."""
        return self.is_bound and any(field.errors or field.value() not in usual(field) for field in fields)

    def selected_endpoint(self) -> Endpoint | None:
        """Return the endpoint, None for a baseline."""
        return self.cleaned_data["endpoint"] if self.cleaned_data["agent"] == MODEL else None

    def run_settings(self) -> RunSettings:
        """Return the settings of the runs, with their caps."""
        return settings_of(self.cleaned_data)

    def order(self) -> Order:
        """Return the order that the form describes."""
        data = self.cleaned_data
        raw_settings = {name: data.get(name) for name in (*MEMORY, *ASKING, *MORE)}
        settings = {name: value for name, value in raw_settings.items() if value not in (None, "")}
        if DRAWS in settings:
            settings["seed"] = settings.pop(DRAWS)
        if EMBEDDER in settings:
            settings[EMBEDDER] = settings[EMBEDDER].name
        baseline = "" if data["agent"] == MODEL else data["agent"]
        return Order(baseline, settings, data["trials"], given_parameters(self), data["name"])


def asking_sets(corpus: Corpus) -> QuerySet[QuestionSet]:
    """Return the question sets of a corpus that have uses."""
    return corpus.question_sets.filter(Exists(Use.objects.filter(set=OuterRef("pk"))))


def usual(field: forms.BoundField) -> tuple[Any, ...]:
    """Return the values of an unchanged field: none and its initial value, also as text from a form."""
    return (None, "", False, field.initial, str(field.initial))


def name_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the kinds of names that every script of a corpus has, original names first."""
    rows = Dialogue.objects.filter(corpus=corpus, script__isnull=False)
    names = rows.values_list("script__names", flat=True)
    kinds = [{name_map["kind"] for name_map in maps or ()} for maps in names]
    shared = set.intersection(*kinds) if kinds else set()
    return [(ORIGINAL, ORIGINAL), *((kind, kind) for kind in sorted(shared))]


@researcher_only
def simulations(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the simulations of a corpus; order a simulation, review the cost, start."""
    sync_endpoints(request)
    corpus = corpora.corpus(pk)
    form = SimulationForm(request.POST or None, corpus=corpus)
    offer_endpoints(request, form)
    if request.method == "POST" and form.is_valid() and (response := _confirm(request, corpus, form)):
        return response
    rows = Simulation.objects.filter(corpus=corpus).select_related(
        "question_set", "endpoint", "corpus", "created_by"
    )
    page = Paginator(rows, 25).get_page(request.GET.get("page"))
    context = {
        "corpus": corpus,
        "form": form,
        "page": page,
        "rows": [_row(simulation) for simulation in page],
        "active": any(simulation.state == Simulation.State.MAKING for simulation in page),
        "has_scripts": corpus.dialogues.filter(script__isnull=False).exists(),
        "has_questions": asking_sets(corpus).exists(),
    }
    return render(request, "long_dialogue/simulations.html", context, status=422 if form.errors else 200)


def _row(simulation: Simulation) -> dict[str, Any]:
    name, _ = simulation_actions.system_of(simulation)
    return {
        "simulation": simulation,
        "system": name,
        "condition": ", ".join(f"{key} {value}" for key, value in describe_condition(simulation)),
        "counts": counts(simulation),
        "state": "paused" if paused(simulation) else simulation.state,
    }


def _confirm(request: HttpRequest, corpus: Corpus, form: SimulationForm) -> HttpResponse | None:
    """Show the cost, or start once it was confirmed; return None where the form has an error."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            expected = estimate(data["question_set"], form.order(), form.selected_endpoint())
            context = {
                "corpus": corpus,
                "heading": "Review the cost",
                "lead": _size(expected),
                "tab": "Simulation",
                "back": (reverse("simulate", args=[corpus.pk]), "Simulate"),
                "sent": "What was heard goes",
                "model": expected.endpoint and f"{expected.endpoint.name}, model {expected.endpoint.model}",
                "estimate": expected,
                "headings": ("There already", "Calls to come", "Tokens to read", "Tokens to write"),
                "lines": estimate_lines(expected, TITLES, "done"),
                "left_out": [
                    f"{counted(n, 'script')} left out: {why}" for why, n in expected.left_out.items()
                ],
                "note": _note(expected),
                "told": form_values(request),
            }
            return render(request, "suites/confirm.html", context)
        simulation = simulation_actions.start(
            by=user_of(request),
            question_set=data["question_set"],
            order=form.order(),
            endpoint=form.selected_endpoint(),
            settings=form.run_settings(),
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return redirect("simulation", simulation.pk)


def _size(expected: Estimate) -> str:
    """Describe how much a simulation asks, and how much of it is done."""
    size = f"{counted(expected.questions, 'question')} in {counted(expected.productions, 'trial')}"
    return f"{size}, {expected.done:,} of them done." if expected.done else f"{size}."


def _note(expected: Estimate) -> str:
    shared = " Summaries are made once and shared by all trials, retrievers and later simulations."
    return (
        "Calls are exact. Tokens are estimated from some of these questions and sessions, "
        f"{expected.counted_by}; {MORE_WRITTEN}{shared if len(expected.steps) > 1 else ''}"
    )


@require_GET
@researcher_only
def simulation_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the progress of a simulation, with its condition, runs and costs."""
    simulation = access.simulation(pk)
    name, condition = simulation_actions.system_of(simulation)
    counted_trials = counts(simulation)
    context = {
        "simulation": simulation,
        "system": name,
        "condition": condition,
        "steps": [
            (step["title"], step["done"], step["calls"], step["failed"], [step])
            for step in steps_of(simulation)
        ],
        "facts": _progress_facts(counted_trials),
        "is_answered": counted_trials["done"],
        "paused": paused(simulation),
        **fakes(simulation),
        "at": TITLES.get(simulation.step, ""),
    }
    return render(request, "long_dialogue/simulation.html", context)


def _progress_facts(trials: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers of trials, calls and tokens so far."""
    done = f"{trials['done']:,} of {trials['productions']:,}" if trials["productions"] else "not begun"
    return [
        ("Trials done", done),
        *((f"Trials with {flag} calls", f"{n:,}") for flag, n in trials["flags"].items()),
        ("Calls", f"{trials['calls']:,}"),
        ("Tokens read", f"{trials['tokens_in']:,}"),
        ("Tokens written", f"{trials['tokens_out']:,}"),
    ]


@require_POST
@researcher_only
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: resume a simulation and retry what failed."""
    return _act(request, pk, simulation_actions.go_on)


@require_POST
@researcher_only
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel a simulation; answers so far are kept."""
    return _act(request, pk, simulation_actions.cancel)


def _act(request: HttpRequest, pk: int, act: Any) -> HttpResponse:
    try:
        act(by=user_of(request), simulation=access.simulation(pk))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("simulation", pk)
