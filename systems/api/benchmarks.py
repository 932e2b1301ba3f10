"""The HTTP API of benchmarks: asked for, followed, gone on with, marked as checked, and their file."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.files import file_response
from config.filters import Filters, named, one_of
from config.permissions import IsResearcher
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.rating.lookup import corpus_named, endpoint_named
from systems import access
from systems.api.benchmark_fields import (
    BenchmarkEstimateSerializer,
    BenchmarkSerializer,
    BenchmarkToldSerializer,
    EstimatedBenchmarkSerializer,
    GoOnSerializer,
    StartedBenchmarkSerializer,
)
from systems.making import actions
from systems.making.actions import Source
from systems.making.estimating import estimate
from systems.making.writing import export
from systems.models import Benchmark

BENCHMARKS = Filters(
    {"state": one_of("state", Benchmark.State.values), "name": named("name", "benchmark")}, order=("id",)
)


@extend_schema_view(
    get=extend_schema(parameters=BENCHMARKS.parameters, responses=BenchmarkToldSerializer(many=True))
)
class Benchmarks(generics.ListAPIView[Benchmark]):
    """Researchers: benchmarks, latest first; POST asks for one, or goes on with the same one."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.select_related("corpus", "endpoint", "created_by").order_by("-id")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return BENCHMARKS.of(self.request, queryset)

    @extend_schema(request=StartedBenchmarkSerializer, responses={201: BenchmarkToldSerializer})
    def post(self, request: Request) -> Response:
        """Have a benchmark made in the background; the same order again goes on with it."""
        wanted = StartedBenchmarkSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        try:
            found = actions.start(
                by=_user(request),
                name=data["name"],
                sources=_sources(data),
                order=wanted.order(),
                endpoint=_endpoint(data),
                leave_out_failed=data["leave_out_failed"],
            )
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BenchmarkSerializer(found).data, status=status.HTTP_201_CREATED)


class EstimateBenchmark(APIView):
    """Researchers: what making a benchmark would take, before anything is asked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=EstimatedBenchmarkSerializer, responses={200: BenchmarkEstimateSerializer})
    def post(self, request: Request) -> Response:
        """Estimate instances, calls, tokens and cost; nothing is sent and nothing is kept."""
        wanted = EstimatedBenchmarkSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        try:
            found = estimate(_sources(data), wanted.order(), _endpoint(data))
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BenchmarkEstimateSerializer(found.as_json()).data)


class OneBenchmark(APIView):
    """Researchers: one benchmark."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(responses={200: BenchmarkToldSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return how far it is, its figures, and what reviewers found."""
        return Response(BenchmarkSerializer(access.benchmark(pk)).data)


class BenchmarkFile(APIView):
    """Researchers: the dialogues of a benchmark that is made."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR)})
    def get(self, request: Request, pk: int) -> FileResponse:
        """Return one dialogue a line, in the native format: the bytes that it was written from."""
        found = access.benchmark(pk)
        if found.corpus is None:
            raise ValidationError({"detail": "The benchmark is not made yet."})
        name = f"benchmark-{found.pk}.jsonl"
        return file_response(export(found.corpus), media_type="application/x-ndjson", name=name)


class GoOn(APIView):
    """Researchers: going on with a benchmark that is stuck or was cancelled."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=GoOnSerializer, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Try again what failed, or leave it out."""
        wanted = GoOnSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        return _done(actions.go_on, request, pk, **wanted.validated_data)


class CancelMaking(APIView):
    """Researchers: stopping the making of a benchmark."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Stop it and its runs; what was answered is kept."""
        return _done(actions.cancel, request, pk)


class Checked(APIView):
    """Researchers: saying that a benchmark was checked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Mark it as checked for offensive content, by whom and when."""
        return _done(actions.mark_checked, request, pk)


def _done(act: Any, request: Request, pk: int, **more: Any) -> Response:
    try:
        found = act(by=_user(request), benchmark=access.benchmark(pk), **more)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(BenchmarkSerializer(found).data)


def _sources(data: dict[str, Any]) -> list[Source]:
    found = ((corpus_named(one["corpus"]), one["source"].strip()) for one in data["sources"])
    return [(corpus, called or corpus.name) for corpus, called in found]


def _endpoint(data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"]) if data["endpoint"] else None


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user
