"""The HTTP API of simulations: asked for, followed, cancelled, gone on with."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import access as corpora
from config.filters import Filters, named, one_of
from config.permissions import IsResearcher
from jobs.errors import JobError
from judges.rating.lookup import endpoint_named
from systems import access
from systems.api.simulation_fields import (
    NewSimulationSerializer,
    SimulationEstimateSerializer,
    SimulationSerializer,
    SimulationToldSerializer,
)
from systems.models import Simulation
from systems.simulating import actions
from systems.simulating.estimating import estimate

SIMULATIONS = Filters(
    {
        "state": one_of("state", Simulation.State.values),
        "set": named("question_set__name", "question set"),
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
        wanted, chosen = _wanted(request, pk)
        assert isinstance(request.user, User)
        try:
            asked = {name: value() for name, value in chosen.items()}
            held = actions.start(by=request.user, settings=wanted.asking(), **asked)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(SimulationSerializer(held).data, status=status.HTTP_201_CREATED)


class EstimateSimulation(APIView):
    """Researchers: what a simulation would take, before anything is asked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=NewSimulationSerializer, responses={200: SimulationEstimateSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        _, chosen = _wanted(request, pk)
        try:
            made = estimate(*(value() for value in chosen.values()))
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(SimulationEstimateSerializer(made.as_json()).data)


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
        return _done(actions.go_on, request, pk)


class Cancel(APIView):
    """Researchers: stopping a simulation."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: SimulationToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Stop it and its runs; what was answered is kept."""
        return _done(actions.cancel, request, pk)


def _wanted(request: Request, pk: int) -> tuple[NewSimulationSerializer, dict[str, Any]]:
    """Return what is asked for, and what finds its question set, order and endpoint; those raise JobError."""
    corpus = corpora.corpus(pk)
    wanted = NewSimulationSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data = wanted.validated_data
    return wanted, {
        "question_set": lambda: actions.question_set(corpus, data["set"]),
        "order": wanted.order,
        "endpoint": lambda: endpoint_named(data["endpoint"]) if data["endpoint"] else None,
    }


def _done(act: Any, request: Request, pk: int) -> Response:
    assert isinstance(request.user, User)
    try:
        held = act(by=request.user, simulation=access.simulation(pk))
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(SimulationSerializer(held).data)
