"""The HTTP API of simulations: asked for, followed, cancelled, gone on with."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access as corpora
from config.lists import Filters, one_of, with_name
from config.permissions import IsResearcher
from jobs.errors import JobError
from jobs.runs import CAPS
from judges.runs.lookup import endpoint_named
from judges.runs.selection import RunSettings, settings_of
from suites.continuation.api import ParametersSerializer
from suites.continuation.productions.actions import MOST_TRIALS
from suites.continuation.productions.plans import LONGEST_NAME
from suites.long_dialogue import access
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import actions as simulation_actions
from suites.long_dialogue.simulations.actions import as_json, estimate
from suites.long_dialogue.simulations.steps import SAMPLING, Order

# What the API reads and writes about simulations.


class SimulationSerializer(serializers.BaseSerializer[Simulation]):
    """A simulation: who answers, under which condition, how far it is, what it took."""

    def to_representation(self, instance: Simulation) -> dict[str, Any]:
        """Return all that is known of it."""
        return as_json(instance)


class SimulationStepSerializer(serializers.Serializer[Any]):
    """A run by which a step is made, with its calls."""

    step = serializers.CharField()
    title = serializers.CharField()
    run = serializers.IntegerField()
    state = serializers.CharField()
    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SimulationCountsSerializer(serializers.Serializer[Any]):
    """Trials (`productions`), and what the runs took."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField())
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class SimulationToldSerializer(serializers.Serializer[Any]):
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

    class Meta:
        ref_name = "Simulation"


class NewSimulationSerializer(serializers.Serializer[Any]):
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

    def order(self) -> Order:
        """Return what is asked for."""
        data = self.validated_data
        parameters = dict(SAMPLING) | dict(data.get("parameters") or {})
        return Order(
            data["agent"], data["settings"], data["trials"], parameters, data["name"], data["condition"]
        )

    def asking(self) -> RunSettings:
        """Return what each run may take."""
        return settings_of({name: self.validated_data[name] for name in CAPS})


class SimulationEstimateStepSerializer(serializers.Serializer[Any]):
    """What a step takes: all its calls, those that are there, and those to come with their tokens."""

    step = serializers.CharField()
    all = serializers.IntegerField()
    done = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class SimulationEstimateSerializer(serializers.Serializer[Any]):
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


@extend_schema_view(
    get=extend_schema(parameters=SIMULATIONS.parameters, responses=SimulationToldSerializer(many=True))
)
class Simulations(generics.ListAPIView[Simulation]):
    """Researchers: the simulations of a corpus, latest first; POST asks for one, or goes on with the same."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = SimulationSerializer
    queryset = Simulation.objects.select_related("corpus", "question_set", "endpoint", "created_by")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of the corpus that are asked for."""
        rows = queryset.order_by("-id")
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        return SIMULATIONS.of(self.request, rows.filter(corpus=corpora.corpus(self.kwargs["pk"])))

    @extend_schema(request=NewSimulationSerializer, responses={201: SimulationToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Have a system answer in the background; the same order again goes on with it."""
        serializer, lookups = _read_order(request, pk)
        assert isinstance(request.user, User)
        try:
            values = {name: value() for name, value in lookups.items()}
            simulation = simulation_actions.start(by=request.user, settings=serializer.asking(), **values)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(SimulationSerializer(simulation).data, status=status.HTTP_201_CREATED)


class EstimateSimulation(APIView):
    """Researchers: what a simulation would take, before anything is asked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=NewSimulationSerializer, responses={200: SimulationEstimateSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        _, lookups = _read_order(request, pk)
        try:
            expected = estimate(*(value() for value in lookups.values()))
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(SimulationEstimateSerializer(expected.as_json()).data)


class OneSimulation(APIView):
    """Researchers: one simulation."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(responses={200: SimulationToldSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return its condition, how far it is, and what it took."""
        return Response(SimulationSerializer(access.simulation(pk)).data)


class GoOn(APIView):
    """Researchers: going on with a simulation that is stuck or was cancelled."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: SimulationToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Try again what failed, and go on."""
        return _done(simulation_actions.go_on, request, pk)


class Cancel(APIView):
    """Researchers: stopping a simulation."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: SimulationToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Stop it and its runs; what was answered is kept."""
        return _done(simulation_actions.cancel, request, pk)


def _read_order(request: Request, pk: int) -> tuple[NewSimulationSerializer, dict[str, Any]]:
    """Return what is asked for, and what finds its question set, order and endpoint; those raise JobError."""
    corpus = corpora.corpus(pk)
    serializer = NewSimulationSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data = serializer.validated_data
    return serializer, {
        "question_set": lambda: simulation_actions.question_set(corpus, data["set"]),
        "order": serializer.order,
        "endpoint": lambda: endpoint_named(data["endpoint"]) if data["endpoint"] else None,
    }


def _done(act: Any, request: Request, pk: int) -> Response:
    assert isinstance(request.user, User)
    try:
        simulation = act(by=request.user, simulation=access.simulation(pk))
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(SimulationSerializer(simulation).data)
