"""The HTTP API of simulations: start, estimate, follow, resume and cancel. Researchers only."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access as corpora
from config import api
from config.lists import Filters, one_of, with_name
from jobs.endpoints.parameter_inputs import serializer_field
from jobs.models import Endpoint
from judges.api.runs import cap_fields
from judges.runs.lookup import endpoint_named
from judges.runs.selection import settings_of
from suites.continuation.api import ParametersSerializer
from suites.continuation.productions.plans import LONGEST_NAME
from suites.long_dialogue import access
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import Estimate, as_json
from suites.long_dialogue.simulations.steps import SAMPLING, TRIALS, Order

Plain = serializers.Serializer[Any]

# What the API reads and writes about simulations.


class SimulationStepSerializer(Plain):
    """A run of a step, with its calls."""

    step = serializers.CharField()
    title = serializers.CharField()
    run = serializers.IntegerField()
    state = serializers.CharField()
    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SimulationCountsSerializer(Plain):
    """Numbers of trials (`productions`), and the calls, tokens and cost of the runs."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField())
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class SimulationSerializer(Plain):
    """A simulation: system, condition, progress and costs."""

    id = serializers.IntegerField()
    corpus = serializers.CharField()
    set = serializers.CharField(help_text="NAME:VERSION.")
    system = serializers.CharField()
    endpoint = serializers.CharField(allow_null=True)
    baseline = serializers.CharField(allow_null=True)
    condition = serializers.DictField()
    trials = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Simulation.State.choices)
    step = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    steps = SimulationStepSerializer(many=True)
    counts = SimulationCountsSerializer()
    fake_model = serializers.BooleanField(help_text="Whether a fake model answers.")
    fake_embedder = serializers.BooleanField(help_text="Whether a fake model embeds what is looked up.")
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Simulation) -> dict[str, Any]:
        """Return the JSON that the command prints, too."""
        return as_json(instance)


class NewSimulationSerializer(Plain):
    """The system that answers the questions of a set: an endpoint's model, or a baseline (`agent`).

    `settings` are those of the generator `dialsim_agent` (memory, retriever, k, names, format ...) except
    `set`; `parameters` left out are those of the paper.
    """

    set = serializers.CharField(help_text="NAME, or NAME:2 for its second version.", max_length=100)
    endpoint = api.optional_text()
    agent = api.optional_text(max_length=40)
    settings = serializers.DictField(default=dict)
    trials = serializer_field(TRIALS, default=3, allow_null=False)
    parameters = ParametersSerializer(required=False)
    name = api.optional_text(max_length=LONGEST_NAME)
    condition = serializers.DictField(default=dict)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above and the caps."""
        return super().get_fields() | cap_fields()


class SimulationEstimateStepSerializer(Plain):
    """A step's estimate: all calls, calls that are done, and calls to come with their tokens."""

    step = serializers.CharField()
    all = serializers.IntegerField()
    done = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class SimulationEstimateSerializer(Plain):
    """A simulation's estimate: trials (`productions`), questions, calls, tokens, cost."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    questions = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    counted_by = serializers.CharField()
    left_out = serializers.DictField(child=serializers.IntegerField())
    steps = SimulationEstimateStepSerializer(many=True)


SIMULATIONS = Filters(
    {
        "state": one_of("state", Simulation.State.values),
        "set": with_name("question_set__name", "question set"),
    },
    order=("id",),
)


@api.listing(SimulationSerializer, filters=SIMULATIONS)
def simulations(request: Request, pk: int) -> QuerySet[Simulation]:
    """Researchers: the simulations of a corpus, latest first."""
    rows = Simulation.objects.select_related("corpus", "question_set", "endpoint", "created_by")
    return rows.filter(corpus=corpora.corpus(pk)).order_by("-id")


@api.post(NewSimulationSerializer, SimulationSerializer, status=201)
def start(request: Request, pk: int) -> Simulation:
    """Start a simulation in the background; the same order again resumes it."""
    corpus, data = corpora.corpus(pk), api.data(request)
    return simulation_actions.start(
        by=api.user(request),
        question_set=simulation_actions.question_set(corpus, data["set"]),
        order=_order(data),
        endpoint=_endpoint(request, data),
        settings=settings_of(data),
    )


@api.post(NewSimulationSerializer, SimulationEstimateSerializer)
def estimate_simulation(request: Request, pk: int) -> Estimate:
    """Estimate calls, tokens and cost; nothing is sent and nothing is stored."""
    corpus, data = corpora.corpus(pk), api.data(request)
    question_set = simulation_actions.question_set(corpus, data["set"])
    return simulation_actions.estimate(question_set, _order(data), _endpoint(request, data))


@api.get(SimulationSerializer)
def simulation(request: Request, pk: int) -> Simulation:
    """Return a simulation with its condition, progress and costs."""
    return access.simulation(pk)


@api.post(gives=SimulationSerializer)
def go_on(request: Request, pk: int) -> Simulation:
    """Retry what failed, and resume."""
    return simulation_actions.go_on(by=api.user(request), simulation=access.simulation(pk))


@api.post(gives=SimulationSerializer)
def cancel(request: Request, pk: int) -> Simulation:
    """Cancel a simulation and its runs; answers so far are kept."""
    return simulation_actions.cancel(by=api.user(request), simulation=access.simulation(pk))


def _order(data: dict[str, Any]) -> Order:
    parameters = dict(SAMPLING) | dict(data.get("parameters") or {})
    return Order(data["agent"], data["settings"], data["trials"], parameters, data["name"], data["condition"])


def _endpoint(request: Request, data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"], api.user(request)) if data["endpoint"] else None
