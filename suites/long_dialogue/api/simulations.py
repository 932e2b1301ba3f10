"""The HTTP API of simulations: asked for, followed, cancelled, gone on with."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access as corpora
from config.lists import Filters, one_of, with_name
from config.permissions import user_of
from jobs.models import Endpoint
from jobs.runs import CAPS
from judges.runs.lookup import endpoint_named
from judges.runs.selection import settings_of
from suites.api import Plain, answered, validated
from suites.continuation.api import ParametersSerializer
from suites.continuation.productions.plans import LONGEST_NAME
from suites.continuation.productions.production_actions import MOST_TRIALS
from suites.long_dialogue import access
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import as_json
from suites.long_dialogue.simulations.steps import SAMPLING, Order

# What the API reads and writes about simulations.


class SimulationStepSerializer(Plain):
    """A run by which a step is made, with its calls."""

    step = serializers.CharField()
    title = serializers.CharField()
    run = serializers.IntegerField()
    state = serializers.CharField()
    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SimulationCountsSerializer(Plain):
    """Trials (`productions`), and what the runs took."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField())
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class SimulationSerializer(Plain):
    """A simulation: who answers, under which condition, how far it is, what it took."""

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
        """Return what commands print of it, too."""
        return as_json(instance)


class NewSimulationSerializer(Plain):
    """Who answers the questions of a set, and how: an endpoint's model, or a baseline (`agent`).

    `settings` are those of the generator `dialsim_agent` (memory, retriever, k, names, format ...) but for
    `set`; `parameters` that are not given are those of the paper.
    """

    set = serializers.CharField(help_text="NAME, or NAME:2 for its second version.", max_length=100)
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    agent = serializers.CharField(required=False, default="", allow_blank=True, max_length=40)
    settings = serializers.DictField(required=False, default=dict)
    trials = serializers.IntegerField(required=False, default=3, min_value=1, max_value=MOST_TRIALS)
    parameters = ParametersSerializer(required=False)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NAME)
    condition = serializers.DictField(required=False, default=dict)
    cap_calls = serializers.IntegerField(required=False, default=None, allow_null=True, min_value=0)
    cap_tokens = serializers.IntegerField(required=False, default=None, allow_null=True, min_value=0)
    cap_cost = serializers.DecimalField(
        required=False, default=None, allow_null=True, min_value=0, max_digits=14, decimal_places=6
    )


class SimulationEstimateStepSerializer(Plain):
    """What a step takes: all its calls, those that are there, and those to come with their tokens."""

    step = serializers.CharField()
    all = serializers.IntegerField()
    done = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class SimulationEstimateSerializer(Plain):
    """What a simulation takes, about: trials (`productions`), questions, calls, tokens, cost."""

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


@extend_schema_view(get=extend_schema(parameters=SIMULATIONS.parameters))
class Simulations(generics.ListAPIView[Simulation]):
    """Researchers: the simulations of a corpus, latest first; POST asks for one, or goes on with the same."""

    serializer_class = SimulationSerializer
    queryset = Simulation.objects.select_related("corpus", "question_set", "endpoint", "created_by")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of the corpus that are asked for."""
        rows = queryset.order_by("-id")
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        return SIMULATIONS.of(self.request, rows.filter(corpus=corpora.corpus(self.kwargs["pk"])))

    @extend_schema(request=NewSimulationSerializer, responses={201: SimulationSerializer})
    @answered
    def post(self, request: Request, pk: int) -> Response:
        """Have a system answer in the background; the same order again goes on with it."""
        corpus, data = corpora.corpus(pk), validated(NewSimulationSerializer, request.data)
        simulation = simulation_actions.start(
            by=user_of(request),
            question_set=simulation_actions.question_set(corpus, data["set"]),
            order=_order(data),
            endpoint=_endpoint(data),
            settings=settings_of({name: data[name] for name in CAPS}),
        )
        return Response(SimulationSerializer(simulation).data, status=status.HTTP_201_CREATED)


@extend_schema(request=NewSimulationSerializer, responses={200: SimulationEstimateSerializer})
@api_view(["POST"])
@answered
def estimate_simulation(request: Request, pk: int) -> Response:
    """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
    corpus, data = corpora.corpus(pk), validated(NewSimulationSerializer, request.data)
    question_set = simulation_actions.question_set(corpus, data["set"])
    expected = simulation_actions.estimate(question_set, _order(data), _endpoint(data))
    return Response(SimulationEstimateSerializer(expected).data)


@extend_schema(responses={200: SimulationSerializer})
@api_view(["GET"])
def simulation(request: Request, pk: int) -> Response:
    """Return its condition, how far it is, and what it took."""
    return Response(SimulationSerializer(access.simulation(pk)).data)


@extend_schema(request=None, responses={200: SimulationSerializer})
@api_view(["POST"])
@answered
def go_on(request: Request, pk: int) -> Response:
    """Try again what failed, and go on."""
    done = simulation_actions.go_on(by=user_of(request), simulation=access.simulation(pk))
    return Response(SimulationSerializer(done).data)


@extend_schema(request=None, responses={200: SimulationSerializer})
@api_view(["POST"])
@answered
def cancel(request: Request, pk: int) -> Response:
    """Stop it and its runs; what was answered is kept."""
    done = simulation_actions.cancel(by=user_of(request), simulation=access.simulation(pk))
    return Response(SimulationSerializer(done).data)


def _order(data: dict[str, Any]) -> Order:
    parameters = dict(SAMPLING) | dict(data.get("parameters") or {})
    return Order(data["agent"], data["settings"], data["trials"], parameters, data["name"], data["condition"])


def _endpoint(data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"]) if data["endpoint"] else None
