"""The HTTP API of runs, protocols, metrics and endpoints."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from config.permissions import IsAdministrator, IsResearcher
from judges import endpoints, runs
from judges.api.serializers import (
    CallSerializer,
    EndpointSerializer,
    MetricSerializer,
    NewRunSerializer,
    ProtocolSerializer,
    RunSerializer,
)
from judges.errors import JudgeError
from judges.metric_runs import metric_plan
from judges.metrics import METRICS
from judges.models import Call, Endpoint, Run
from judges.plans import Judge
from judges.protocols import PROTOCOLS
from judges.targets import endpoint_named, scope_of


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


class Runs(generics.ListAPIView[Run]):
    """Researchers: all runs, latest first; POST starts or resumes one."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Run.objects.select_related("rater", "corpus", "campaign", "endpoint").order_by("-id")

    @extend_schema(request=NewRunSerializer, responses={201: RunSerializer})
    def post(self, request: Request) -> Response:
        """Start a run, or resume the one of the same judge or metric and the same selection."""
        wanted = NewRunSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            run = _start(_user(request), wanted.validated_data)
        except JudgeError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(RunSerializer(run).data, status=status.HTTP_201_CREATED)


def _start(by: User, data: dict[str, Any]) -> Run:
    scope = scope_of(
        corpus=data["corpus"],
        campaign=data["campaign"],
        systems=data["systems"],
        include_self=data["include_self"],
        samples=data["samples"],
        part=data["part"],
    )
    if data["metric"]:
        return runs.start(by=by, plan=metric_plan(data["metric"], scope.corpus), scope=scope)
    endpoint = endpoint_named(data["endpoint"]) if data["endpoint"] else None
    settings = {name: data[name] for name in ("temperature", "max_tokens", "budget")}
    judge = Judge(data["protocol"], data["variant"], endpoint, shows=tuple(data["shows"]), **settings)
    return runs.start(by=by, plan=judge.plan(scope.campaign), scope=scope)


class OneRun(generics.RetrieveAPIView[Run]):
    """Researchers: one run with its progress."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Runs.queryset


class CancelRun(generics.GenericAPIView[Run]):
    """Researchers: stop a run; what is done stays."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Runs.queryset

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Cancel the calls that wait."""
        return Response(RunSerializer(runs.cancel(by=_user(request), run=self.get_object())).data)


class RetryRun(generics.GenericAPIView[Run]):
    """Researchers: go on with a cancelled or failed run."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Runs.queryset

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Ask again for what failed or was cancelled."""
        return Response(RunSerializer(runs.retry_failed(by=_user(request), run=self.get_object())).data)


@extend_schema(parameters=[OpenApiParameter("state", str, enum=Call.State.values)])
class Calls(generics.ListAPIView[Call]):
    """Researchers: the calls of a run, with raw replies and errors."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = CallSerializer

    def get_queryset(self) -> QuerySet[Call]:
        """Return the run's calls, narrowed by `state` where asked."""
        calls = Call.objects.select_related("continuation__dialogue", "item__turn").order_by("pk")
        calls = calls.filter(run=self.kwargs.get("pk", 0))
        state = self.request.query_params.get("state", "")
        return calls.filter(state=state) if state else calls


class Endpoints(generics.ListCreateAPIView[Endpoint]):
    """Administrators: where judges ask."""

    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.order_by("name")

    def perform_create(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, None)


class OneEndpoint(generics.RetrieveUpdateAPIView[Endpoint]):
    """Administrators: one endpoint."""

    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.all()

    def perform_update(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, self.get_object())


def _save(request: Request, serializer: BaseSerializer[Endpoint], endpoint: Endpoint | None) -> Endpoint:
    try:
        return endpoints.save(by=_user(request), fields=serializer.validated_data, endpoint=endpoint)
    except JudgeError as error:
        raise ValidationError({"detail": str(error)}) from None


class Protocols(APIView):
    """Researchers: the judge protocols."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=ProtocolSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List them all."""
        return Response(ProtocolSerializer(PROTOCOLS.values(), many=True).data)


class Metrics(APIView):
    """Researchers: the metrics."""

    permission_classes = (IsResearcher,)

    @extend_schema(responses=MetricSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List them all."""
        return Response(MetricSerializer(METRICS.values(), many=True).data)
