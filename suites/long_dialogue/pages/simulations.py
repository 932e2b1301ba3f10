"""The researcher's pages of simulations: those of a corpus, asking for one, and one with how far it is."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access as corpora
from annotation.models import Dialogue, QuestionSet, Use
from annotation.models.corpora import Corpus
from annotation.script_records import ORIGINAL
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import WithParameters, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.pages.forms import CapsForm
from judges.pages.runs import sync_endpoints
from judges.runs.selection import RunSettings, settings_of
from suites.continuation.generators import GENERATORS
from suites.continuation.pages import setting_field
from suites.continuation.productions.plans import LONGEST_NAME
from suites.continuation.productions.production_actions import MOST_TRIALS
from suites.long_dialogue import access
from suites.long_dialogue.agent.agent import BASELINES
from suites.long_dialogue.agent.trial_settings import EMBEDDER, NAMES, SET
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import (
    TITLES,
    counts,
    describe_condition,
    estimate,
    fakes,
    paused,
    steps_of,
)
from suites.long_dialogue.simulations.steps import AGENT, SAMPLING, Order
from suites.pages import form_values

# The form by which a simulation is asked for.

MEMORY = ("memory", "retriever", "k")
ASKING = ("names", "format")
MORE = ("embedder", "order", "point", "per_session", "draws", "remember", "limit", "context")
DRAWS = "draws"
"""What the field of the setting `seed` is called: the parameters have a seed, too."""
MODEL = "model"


class SimulationForm(CapsForm, WithParameters):
    """Who answers which questions, what is remembered, and how it is asked."""

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
    trials = forms.IntegerField(
        initial=3,
        min_value=1,
        max_value=MOST_TRIALS,
        help_text="How often it goes through each script. A trial asks every system the same questions.",
    )
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
        self.fields[DRAWS] = setting_field(settings["seed"])
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
        """Require an endpoint where a model answers."""
        data = super().clean() or {}
        if data.get("agent") == MODEL and not data.get("endpoint") and "endpoint" not in self.errors:
            self.add_error("endpoint", "Choose the endpoint whose model answers.")
        return data

    def memory_fields(self) -> list[forms.BoundField]:
        """Return the fields of what is remembered."""
        return [self[name] for name in MEMORY]

    def asking_fields(self) -> list[forms.BoundField]:
        """Return the fields of how it is asked."""
        return [self[name] for name in ASKING]

    def more_fields(self) -> list[forms.BoundField]:
        """Return the fields that most simulations leave as they are."""
        return [self[name] for name in MORE]

    def more_told(self) -> bool:
        """Whether one of these is wrong, or another than usual."""
        changed = [
            field for field in self.more_fields() if self.is_bound and field.value() not in usual(field)
        ]
        return bool(changed) or any(field.errors for field in self.more_fields())

    def parameters_told(self) -> bool:
        """Whether a parameter is wrong, or another than the paper's."""
        fields = (field for field in self.parameters() if field.errors or self.is_bound)
        return any(field.errors or field.value() not in usual(field) for field in fields)

    def selected_endpoint(self) -> Endpoint | None:
        """Return the endpoint, None where a baseline answers."""
        return self.cleaned_data["endpoint"] if self.cleaned_data["agent"] == MODEL else None

    def run_settings(self) -> RunSettings:
        """Return what each run may take."""
        return settings_of(self.cleaned_data)

    def order(self) -> Order:
        """Return what was asked for."""
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
    """Return the question sets of a corpus that ask anything."""
    return corpus.question_sets.filter(Exists(Use.objects.filter(set=OuterRef("pk"))))


def usual(field: forms.BoundField) -> tuple[Any, ...]:
    """Return the values that say nothing: none, and the usual one, also as it comes back from a form."""
    return (None, "", False, field.initial, str(field.initial))


def name_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the names that every script of a corpus has, the original ones first."""
    rows = Dialogue.objects.filter(corpus=corpus, script__isnull=False)
    names = rows.values_list("script__names", flat=True)
    kinds = [{name_map["kind"] for name_map in maps or ()} for maps in names]
    shared = set.intersection(*kinds) if kinds else set()
    return [(ORIGINAL, ORIGINAL), *((kind, kind) for kind in sorted(shared))]


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
        "told": [_line(simulation) for simulation in page],
        "active": any(simulation.state == Simulation.State.MAKING for simulation in page),
        "has_scripts": corpus.dialogues.filter(script__isnull=False).exists(),
        "has_questions": asking_sets(corpus).exists(),
        **ROOM,
    }
    return render(request, "long_dialogue/simulations.html", context, status=422 if form.errors else 200)


def _line(simulation: Simulation) -> dict[str, Any]:
    name, _ = simulation_actions.system_of(simulation)
    return {
        "simulation": simulation,
        "system": name,
        "condition": describe_condition(simulation),
        "counts": counts(simulation),
        "paused": paused(simulation),
    }


def _go_on(request: HttpRequest, corpus: Corpus, form: SimulationForm) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            expected = estimate(data["question_set"], form.order(), form.selected_endpoint())
            steps = [(TITLES[step.step], step) for step in expected.steps]
            context = {
                "corpus": corpus,
                "estimate": expected,
                "steps": steps,
                "told": form_values(request),
                **ROOM,
            }
            return render(request, "long_dialogue/confirm_simulation.html", context)
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


@require_GET
@researcher_only
def simulation_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far a simulation is, with its condition, runs and what they took."""
    simulation = access.simulation(pk)
    name, condition = simulation_actions.system_of(simulation)
    context = {
        "simulation": simulation,
        "system": name,
        "condition": condition,
        "steps": steps_of(simulation),
        "counts": counts(simulation),
        "paused": paused(simulation),
        **fakes(simulation),
        "at": TITLES.get(simulation.step, ""),
        **ROOM,
    }
    return render(request, "long_dialogue/simulation.html", context)


@require_POST
@researcher_only
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: go on with a simulation; what failed is tried again."""
    return _act(request, pk, simulation_actions.go_on)


@require_POST
@researcher_only
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop a simulation; what was answered is kept."""
    return _act(request, pk, simulation_actions.cancel)


def _act(request: HttpRequest, pk: int, act: Any) -> HttpResponse:
    try:
        act(by=user_of(request), simulation=access.simulation(pk))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("simulation", pk)
