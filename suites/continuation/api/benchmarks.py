"""The HTTP API of benchmarks: asked for, followed, gone on with, marked as checked, and their file."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.files import file_response
from config.lists import Filters, one_of, with_name
from config.permissions import IsResearcher
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, parameters_from_data
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.runs.lookup import corpus_named, endpoint_named
from suites.continuation import access
from suites.continuation.models import Benchmark
from suites.continuation.productions import benchmark_actions
from suites.continuation.productions.benchmark_actions import Source, as_json, estimate
from suites.continuation.productions.benchmark_steps import LARGEST_SEED, MOST, STEPS, Order, export

# What the API reads and writes about benchmarks.


class BenchmarkSerializer(serializers.BaseSerializer[Benchmark]):
    """A benchmark: what was asked for, how far it is, its figures, what reviewers found."""

    def to_representation(self, instance: Benchmark) -> dict[str, Any]:
        """Return all that is known of it."""
        return as_json(instance)


class BenchmarkRunSerializer(serializers.Serializer[Any]):
    """A run by which a step is made."""

    run = serializers.IntegerField()
    state = serializers.CharField()
    name = serializers.CharField()


class BenchmarkStepSerializer(serializers.Serializer[Any]):
    """A step that asks a model, and how far it is."""

    step = serializers.CharField()
    title = serializers.CharField()
    runs = BenchmarkRunSerializer(many=True)
    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()


class ReviewedPartSerializer(serializers.Serializer[Any]):
    """A share of yes among reviewed instances, with its 95% interval; null where there are none."""

    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()


class ReviewedSourceSerializer(ReviewedPartSerializer):
    """The same for one source."""

    source = serializers.CharField()  # type: ignore[assignment]


class ReviewedSerializer(ReviewedPartSerializer):
    """The same for one question of the review, in all and by source."""

    question = serializers.CharField()
    wording = serializers.CharField()
    answers = serializers.IntegerField()
    by_source = ReviewedSourceSerializer(many=True)


class CheckedBySerializer(serializers.Serializer[Any]):
    """Who checked it for offensive content, and when."""

    by = serializers.CharField()
    at = serializers.DateTimeField()


class BenchmarkToldSerializer(serializers.Serializer[Any]):
    """A benchmark: what was asked for, how far it is, its figures, what reviewers found."""

    id = serializers.IntegerField()
    benchmark = serializers.CharField(help_text="Its name, and that of the corpus once it is done.")
    state = serializers.ChoiceField(choices=Benchmark.State.choices)
    step = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    corpus = serializers.CharField(allow_null=True)
    made_from = serializers.ListField(child=serializers.CharField())
    endpoint = serializers.CharField(allow_null=True)
    order = serializers.DictField()
    leave_out_failed = serializers.BooleanField()
    steps = BenchmarkStepSerializer(many=True)
    figures = serializers.DictField()
    fake_model = serializers.BooleanField()
    sha256 = serializers.CharField(allow_blank=True)
    review = ReviewedSerializer(many=True)
    checked_for_offensive_content = CheckedBySerializer(allow_null=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        ref_name = "Benchmark"


class BenchmarkSourceSerializer(serializers.Serializer[Any]):
    """A source corpus by name, and what its source is called where its dialogues do not say."""

    corpus = serializers.CharField()
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, default="", allow_blank=True, max_length=100
    )


class ParametersSerializer(serializers.Serializer[Any]):
    """Sampling parameters, sent to the model only where given."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check them together."""
        return parameters_from_data(attrs)

    def get_fields(self) -> dict[str, Any]:
        """Return one field for each parameter."""
        return super().get_fields() | parameter_serializer_fields()


class NewBenchmarkSerializer(serializers.Serializer[Any]):
    """What a benchmark is made of, and how."""

    sources = BenchmarkSourceSerializer(many=True)
    per_source = serializers.IntegerField(min_value=0, max_value=MOST)
    train = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MOST)
    train_sources = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    per_conversation = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MOST)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_SEED)
    steps = serializers.ListField(
        child=serializers.ChoiceField(choices=STEPS), required=False, default=lambda: list(STEPS)
    )
    clean = serializers.BooleanField(required=False, default=False)
    verbatim = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        default=list,
        help_text="Sources that are cleaned; none: all.",
    )
    part_tokens = serializers.IntegerField(required=False, default=60_000, min_value=200, max_value=10**7)
    allow_fewer = serializers.BooleanField(required=False, default=False)
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    parameters = ParametersSerializer(required=False)

    def order(self) -> Order:
        """Return the order that the data describe."""
        data = self.validated_data
        names = ("per_source", "train", "per_conversation", "seed", "clean", "part_tokens", "allow_fewer")
        options: dict[str, Any] = {name: data[name] for name in names}
        options["parameters"] = data.get("parameters", {})
        lists = {name: tuple(data[name]) for name in ("train_sources", "steps", "verbatim")}
        return Order(**(options | lists))


class StartedBenchmarkSerializer(NewBenchmarkSerializer):
    """What a benchmark is made of, how, and what it is called."""

    name = serializers.CharField(max_length=100)
    leave_out_failed = serializers.BooleanField(required=False, default=False)


class EstimatedBenchmarkSerializer(NewBenchmarkSerializer):
    """What starts a benchmark, to be estimated: the estimate is the same whatever it is called."""

    name = serializers.CharField(required=False, max_length=100)
    leave_out_failed = serializers.BooleanField(required=False)


class GoOnSerializer(serializers.Serializer[Any]):
    """How to go on: what failed is tried again, or left out."""

    leave_out_failed = serializers.BooleanField(required=False, default=False)


class StepEstimateSerializer(serializers.Serializer[Any]):
    """What a step takes."""

    step = serializers.CharField()
    productions = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class BenchmarkEstimateSerializer(serializers.Serializer[Any]):
    """What making takes, about: instances, conversations, calls, tokens, cost."""

    instances = serializers.IntegerField()
    conversations = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    steps = StepEstimateSerializer(many=True)


BENCHMARKS = Filters(
    {"state": one_of("state", Benchmark.State.values), "name": with_name("name", "benchmark")}, order=("id",)
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
        serializer = StartedBenchmarkSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        try:
            benchmark = benchmark_actions.start(
                by=_user(request),
                name=data["name"],
                sources=_sources(data),
                order=serializer.order(),
                endpoint=_endpoint(data),
                leave_out_failed=data["leave_out_failed"],
            )
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BenchmarkSerializer(benchmark).data, status=status.HTTP_201_CREATED)


class EstimateBenchmark(APIView):
    """Researchers: what making a benchmark would take, before anything is asked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=EstimatedBenchmarkSerializer, responses={200: BenchmarkEstimateSerializer})
    def post(self, request: Request) -> Response:
        """Estimate instances, calls, tokens and cost; nothing is sent and nothing is kept."""
        serializer = EstimatedBenchmarkSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        try:
            making_estimate = estimate(_sources(data), serializer.order(), _endpoint(data))
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BenchmarkEstimateSerializer(making_estimate.as_json()).data)


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
        benchmark = access.benchmark(pk)
        if benchmark.corpus is None:
            raise ValidationError({"detail": "The benchmark is not made yet."})
        name = f"benchmark-{benchmark.pk}.jsonl"
        return file_response(export(benchmark.corpus), media_type="application/x-ndjson", name=name)


class GoOn(APIView):
    """Researchers: going on with a benchmark that is stuck or was cancelled."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=GoOnSerializer, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Try again what failed, or leave it out."""
        serializer = GoOnSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return _done(benchmark_actions.go_on, request, pk, **serializer.validated_data)


class CancelMaking(APIView):
    """Researchers: stopping the making of a benchmark."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Stop it and its runs; what was answered is kept."""
        return _done(benchmark_actions.cancel, request, pk)


class Checked(APIView):
    """Researchers: saying that a benchmark was checked."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=None, responses={200: BenchmarkToldSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Mark it as checked for offensive content, by whom and when."""
        return _done(benchmark_actions.mark_checked, request, pk)


def _done(act: Any, request: Request, pk: int, **more: Any) -> Response:
    try:
        benchmark = act(by=_user(request), benchmark=access.benchmark(pk), **more)
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(BenchmarkSerializer(benchmark).data)


def _sources(data: dict[str, Any]) -> list[Source]:
    pairs = ((corpus_named(entry["corpus"]), entry["source"].strip()) for entry in data["sources"])
    return [(corpus, source_name or corpus.name) for corpus, source_name in pairs]


def _endpoint(data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"]) if data["endpoint"] else None


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user
