"""The HTTP API of runs, protocols, metrics and endpoints."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from annotation.api.corpora_serializers import JobAnswer
from annotation.models import turn_numbers
from config.filters import Filters, named, numbered, one_of, since
from config.permissions import IsAdministrator, IsResearcher
from jobs import access, runs
from jobs.endpoints import actions as endpoints
from jobs.errors import ERROR_KINDS, JobError
from jobs.models import Call, Endpoint, Job, Run
from judges.api.serializers import (
    CallSerializer,
    EndpointSerializer,
    EstimateSerializer,
    MetricSerializer,
    NewRunSerializer,
    ProtocolSerializer,
    RunSerializer,
)
from judges.drafts import DRAFT
from judges.errors import JudgeError
from judges.metrics import METRICS, Metric
from judges.protocols import PROTOCOLS
from judges.rating import job as starting
from judges.rating.availability import Availability, availability
from judges.rating.estimates import Estimate, estimate
from judges.rating.lookup import corpus_named, endpoint_named, selection_of
from judges.rating.plans import Judge
from judges.rating.selection import Selection
from judges.rating.settings import settings_of
from judges.rating.unanswered import unanswered


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


RUNS = Filters(
    {
        "state": one_of("state", Run.State.values),
        "kind": one_of("kind", ("judge", "metric", "generate")),
        "corpus": named("corpus__name", "corpus"),
        "campaign": numbered("campaign_id", "campaign"),
        "rater": named("rater__name", "rater"),
        "since": since("created_at"),
    },
    order=("id", "created_at", "finished_at"),
)


@extend_schema_view(get=extend_schema(parameters=RUNS.parameters))
class Runs(generics.ListAPIView[Run]):
    """Researchers: all runs but those of drafts, latest first; POST starts or resumes one."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = (
        Run.objects.exclude(kind=DRAFT)
        .prefetch_related("batches")
        .select_related("rater", "corpus", "campaign", "endpoint")
        .order_by("-id")
    )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return RUNS.of(self.request, queryset)

    @extend_schema(request=NewRunSerializer, responses={201: RunSerializer, 202: JobAnswer})
    def post(self, request: Request) -> Response:
        """Start a run, or resume the one of the same judge or metric and the same selection.

        202 with the id of a job where starting takes a while; the job's result names the run.
        """
        wanted = NewRunSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            run = _start(_user(request), wanted.validated_data)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return _run_or_job(run, status.HTTP_201_CREATED)


class EstimateRun(generics.GenericAPIView[Run]):
    """Researchers: what a judge's run would take, before it is started."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = NewRunSerializer
    queryset = Run.objects.none()

    @extend_schema(request=NewRunSerializer, responses={200: EstimateSerializer})
    def post(self, request: Request) -> Response:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        wanted = NewRunSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            found = _estimate(wanted.validated_data)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(EstimateSerializer(found.as_json()).data)


def _run_or_job(found: Run | Job, code: int) -> Response:
    if isinstance(found, Job):
        return Response({"job": found.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(RunSerializer(found).data, status=code)


def _estimate(data: dict[str, Any]) -> Estimate:
    found = estimate(_judge(data), _selection(data), data["mode"]) if _is_judge(data) else None
    if found is None:
        told = unanswered(_judge(data), _selection(data)) if _is_judge(data) else ()
        lacking = "".join(f" Of all, {one.sentence()}." for one in told)
        raise JudgeError(f"This run asks nobody: it is computed here and costs nothing.{lacking}")
    return found


def _start(by: User, data: dict[str, Any]) -> Run | Job:
    selection = _selection(data)
    if data["metric"]:
        return starting.start_metrics(by=by, keys=[data["metric"]], selection=selection)[0]
    judge, settings = _judge(data), settings_of(data)
    return starting.start_judge(
        by=by, judge=judge, selection=selection, settings=settings, open_test=data["open_test"]
    )


def _judge(data: dict[str, Any]) -> Judge:
    endpoint = endpoint_named(data["endpoint"]) if data["endpoint"] else None
    return Judge(
        data["protocol"],
        data["variant"],
        endpoint,
        data["parameters"],
        shows=tuple(data["shows"]),
        budget=data["budget"],
        needs=data["needs"],
        prompt=data["prompt"],
        scheme=data["scheme"],
    )


def _is_judge(data: dict[str, Any]) -> bool:
    return bool(data["protocol"] or data["prompt"])


def _selection(data: dict[str, Any]) -> Selection:
    return selection_of(
        corpus=data["corpus"],
        campaign=data["campaign"],
        systems=data["systems"],
        include_self=data["include_self"],
        samples=data["samples"] or (_judge(data).usual_samples() if _is_judge(data) else 1),
        part=data["part"],
    )


class _OneRun(generics.GenericAPIView[Run]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Runs.queryset

    def get_object(self) -> Run:
        """Return the run."""
        return access.run(self.kwargs["pk"])


class OneRun(_OneRun, generics.RetrieveAPIView[Run]):
    """Researchers: one run with its progress."""


class CancelRun(_OneRun):
    """Researchers: stop a run; what is done stays."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Cancel the calls that wait."""
        return Response(RunSerializer(runs.cancel_calls(by=_user(request), run=self.get_object())).data)


class RetryRun(_OneRun):
    """Researchers: go on with a cancelled or failed run."""

    @extend_schema(request=None, responses={200: RunSerializer, 202: JobAnswer})
    def post(self, request: Request, pk: int) -> Response:
        """Ask again for what failed or was cancelled; 202 with the id of a job where that is a lot."""
        return _run_or_job(runs.retry(by=_user(request), run=self.get_object()), status.HTTP_200_OK)


@extend_schema(
    parameters=[
        OpenApiParameter("state", str, enum=Call.State.values),
        OpenApiParameter("error_kind", str, enum=list(ERROR_KINDS)),
    ]
)
class Calls(generics.ListAPIView[Call]):
    """Researchers: the calls of a run, with raw replies and errors."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = CallSerializer

    def get_queryset(self) -> QuerySet[Call]:
        """Return the run's calls, narrowed by `state` and `error_kind` where asked."""
        calls = Call.objects.select_related(
            "continuation__dialogue", "item__turn", "run__rater", "run__endpoint"
        ).order_by("pk")
        calls = calls.filter(run=self.kwargs.get("pk", 0))
        known = {"state": list(Call.State.values), "error_kind": list(ERROR_KINDS)}
        for name, values in known.items():
            value = self.request.query_params.get(name, "")
            if value and value not in values:
                raise ValidationError({name: f"One of {', '.join(values)}."})
            calls = calls.filter(**{name: value}) if value else calls
        return calls

    def paginate_queryset(self, queryset: Any) -> Any:
        """Number the turns of a page together."""
        page = super().paginate_queryset(queryset)
        turn_numbers.number(call.item.turn if call.item else None for call in page or [])
        return page


class Endpoints(generics.ListCreateAPIView[Endpoint]):
    """Administrators: where judges ask."""

    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.order_by("name")

    def get_queryset(self) -> QuerySet[Endpoint]:
        """Return all, with those that the environment declares."""
        try:
            endpoints.sync_environment()
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return super().get_queryset()

    def perform_create(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, None)


class _OneEndpoint(generics.GenericAPIView[Endpoint]):
    permission_classes: tuple[type[BasePermission], ...] = (IsAdministrator,)
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.all()

    def get_object(self) -> Endpoint:
        """Return the endpoint."""
        return access.endpoint(self.kwargs["pk"])


class OneEndpoint(_OneEndpoint, generics.RetrieveUpdateAPIView[Endpoint]):
    """Administrators: one endpoint."""

    def perform_update(self, serializer: BaseSerializer[Endpoint]) -> None:
        """Save through the same checks as the page."""
        serializer.instance = _save(self.request, serializer, self.get_object())


class TestEndpoint(_OneEndpoint):
    """Administrators: let a worker ask the endpoint something; its `test_` fields say the result."""

    @extend_schema(request=None, responses={202: EndpointSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Ask for a test; a worker answers within seconds."""
        tested = endpoints.ask_for_test(by=_user(request), endpoint=self.get_object())
        return Response(EndpointSerializer(tested).data, status=status.HTTP_202_ACCEPTED)


def _save(request: Request, serializer: BaseSerializer[Endpoint], endpoint: Endpoint | None) -> Endpoint:
    try:
        return endpoints.save(by=_user(request), fields=serializer.validated_data, endpoint=endpoint)
    except JobError as error:
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

    @extend_schema(
        parameters=[OpenApiParameter("corpus", str, description="name of a corpus to look at")],
        responses=MetricSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List them all; with `corpus`, say which have no value there, and why."""
        name = request.query_params.get("corpus", "")
        try:
            looked = availability(corpus_named(name)) if name else {}
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        rows = [_metric(metric, looked.get(key)) for key, metric in METRICS.items()]
        return Response(MetricSerializer(rows, many=True).data)


def _metric(metric: Metric, looked: Availability | None) -> dict[str, Any]:
    return {
        **{name: getattr(metric, name) for name in ("key", "title", "kind", "aspect", "documentation")},
        "needs": sorted(metric.needs),
        "obstacle": looked.obstacle if looked else "",
        "warning": looked.warning if looked else "",
        "variants": list(metric.variants),
    }
