"""The HTTP API of what writes: generators and productions, benchmarks, examples for fine-tuning."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse, StreamingHttpResponse
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpora import splits
from annotation.models.corpora import Corpus
from calibration.api.exports import response_of
from calibration.api.serializers import ExportPartSerializer
from calibration.errors import CalibrationError
from calibration.exports import downloads
from config.files import file_response
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.lists import Filters, numbered, one_of, with_name
from config.openapi import files
from config.permissions import user_of
from jobs.api import JobAnswer
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, parameters_from_data
from jobs.models import Endpoint, Job, Run
from judges.api.runs import RunSerializer, TakenSerializer, cap_fields
from judges.runs.lookup import PARTS, corpus_named, endpoint_named, split_for
from judges.runs.selection import settings_of
from suites.api import Plain, answered, validated
from suites.continuation import access, tuning
from suites.continuation.generators import GENERATORS
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.generators.generator import Setting
from suites.continuation.models import Benchmark, Production, ProductionCall
from suites.continuation.productions import benchmark_actions, production_actions
from suites.continuation.productions.benchmark_actions import Source
from suites.continuation.productions.benchmark_steps import LARGEST_SEED, MOST, STEPS, Order, export
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import MOST_TRIALS

# Generators and productions.


class SettingSerializer(Plain):
    """A setting of a generator. One that `varies` is a part of the condition."""

    name = serializers.CharField()
    default = serializers.JSONField()
    help = serializers.CharField()
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)
    choices = serializers.ListField(child=serializers.JSONField())
    varies = serializers.BooleanField()


class GeneratorSerializer(Plain):
    """A generator: what it is, what it produces, and its settings."""

    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    produces = serializers.ChoiceField(choices=("rollout", "static", "text", "record"))
    settings = SettingSerializer(many=True)


class ProductionSerializer(serializers.ModelSerializer[Production]):
    """A production: a generator at work on one dialogue. `step` counts the steps that were answered."""

    corpus = serializers.CharField(source="dialogue.corpus.name")
    dialogue = serializers.CharField(source="dialogue.key")
    system = serializers.CharField(source="writer.name")
    continuation = serializers.CharField(source="continuation.key", default=None, allow_null=True)

    class Meta:
        model = Production
        fields = (
            *("id", "run", "corpus", "dialogue", "system", "condition", "condition_hash", "trial", "step"),
            *("status", "error", "flags", "continuation", "result", "finished_at"),
        )


class StepSerializer(serializers.ModelSerializer[ProductionCall]):
    """A call of a production, with its raw reply."""

    call = serializers.IntegerField(source="call_id")
    state = serializers.CharField(source="call.state")
    reply = serializers.CharField(source="call.reply")
    error = serializers.CharField(source="call.error")
    tokens_in = serializers.IntegerField(source="call.tokens_in", allow_null=True)
    tokens_out = serializers.IntegerField(source="call.tokens_out", allow_null=True)

    class Meta:
        model = ProductionCall
        fields = ("step", "part", "call", "state", "reply", "error", "tokens_in", "tokens_out")


class NewProductionsSerializer(Plain):
    """What starts generation: a generator and an endpoint, over the dialogues of a corpus by name."""

    generator = serializers.CharField()
    corpus = serializers.CharField()
    endpoint = serializers.CharField()
    settings = serializers.DictField(
        child=serializers.JSONField(),
        required=False,
        default=dict,
        help_text="Those that differ from the defaults.",
    )
    condition = serializers.DictField(
        child=serializers.JSONField(), required=False, default=dict, help_text="Keys of your own."
    )
    name = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Of the system; empty: the model and what varies.",
    )
    trials = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MOST_TRIALS)
    part = serializers.ChoiceField(
        choices=PARTS,
        required=False,
        default="",
        allow_blank=True,
        help_text="dev or test of the split, or training, which is left out where it is not named",
    )
    min_turns = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    max_turns = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    first = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=2**31 - 1,
        help_text="Maximum number of dialogues; 0: all.",
    )
    use_cache = serializers.BooleanField(required=False, default=None, allow_null=True)
    mode = serializers.ChoiceField(choices=Run.Mode.choices, required=False, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the sampling parameters together."""
        return attrs | {"parameters": parameters_from_data(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, one for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_serializer_fields() | cap_fields()


class EstimateSerializer(TakenSerializer):
    """What generation would take: productions, calls to come, about how many tokens, and where the text
    goes. `tokens_new` are those of `tokens_out` that do not repeat what was shown."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_new = serializers.IntegerField()
    counted_by = serializers.CharField()
    left_out = serializers.DictField(child=serializers.IntegerField())
    name = serializers.CharField()
    about = serializers.BooleanField()

    class Meta:
        ref_name = "GenerationEstimate"


PRODUCTIONS = Filters(
    {
        "run": numbered("run_id", "run"),
        "corpus": with_name("dialogue__corpus__name", "corpus"),
        "dialogue": with_name("dialogue__key", "dialogue"),
        "system": with_name("writer__name", "system"),
        "status": one_of("status", Production.Status.values),
    },
    order=("id", "finished_at"),
)


@extend_schema(responses={200: GeneratorSerializer(many=True)})
@api_view(["GET"])
def generators(request: Request) -> Response:
    """List them."""
    return Response(GeneratorSerializer(GENERATORS.values(), many=True).data)


@extend_schema_view(get=extend_schema(parameters=PRODUCTIONS.parameters))
class Productions(generics.ListAPIView[Production]):
    """Researchers: what is or was written, latest first; POST starts or resumes generation."""

    serializer_class = ProductionSerializer
    queryset = Production.objects.select_related("writer", "dialogue__corpus", "continuation").order_by("-id")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return PRODUCTIONS.of(self.request, queryset)

    @extend_schema(request=NewProductionsSerializer, responses={201: RunSerializer, 202: JobAnswer})
    @answered
    def post(self, request: Request) -> Response:
        """Start generation, or resume the run of the same system, condition and selection; return the run.

        202 with the id of a job for many dialogues; the job's result names the run.
        """
        data = validated(NewProductionsSerializer, request.data)
        started = production_actions.start_job(
            by=user_of(request),
            generation=_generation(data),
            dialogues=_dialogues(data),
            trials=data["trials"],
            settings=settings_of(data),
        )
        if isinstance(started, Job):
            return Response({"job": started.pk}, status=status.HTTP_202_ACCEPTED)
        return Response(RunSerializer(started).data, status=status.HTTP_201_CREATED)


@extend_schema(request=NewProductionsSerializer, responses={200: EstimateSerializer})
@api_view(["POST"])
@answered
def estimate_productions(request: Request) -> Response:
    """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
    data = validated(NewProductionsSerializer, request.data)
    estimate = production_actions.estimate(_generation(data).plan(), _dialogues(data), data["trials"])
    return Response(EstimateSerializer(estimate).data)


@extend_schema(responses={200: ProductionSerializer})
@api_view(["GET"])
def production(request: Request, pk: int) -> Response:
    """Researchers: one production."""
    return Response(ProductionSerializer(access.production(pk)).data)


class Steps(generics.ListAPIView[ProductionCall]):
    """Researchers: the calls of a production in order, with raw replies and errors."""

    serializer_class = StepSerializer
    queryset = ProductionCall.objects.none()

    def get_queryset(self) -> QuerySet[ProductionCall]:
        """Return the links to the calls."""
        if getattr(self, "swagger_fake_view", False):
            return ProductionCall.objects.none()
        production = access.production(self.kwargs["pk"])
        return production.links.select_related("call").order_by("step", "part")


def _generation(data: dict[str, Any]) -> Generation:
    return Generation(
        data["generator"],
        endpoint_named(data["endpoint"]),
        data["settings"],
        data["parameters"],
        data["name"],
        data["condition"],
    )


def _dialogues(data: dict[str, Any]) -> Dialogues:
    corpus = corpus_named(data["corpus"])
    split = split_for(corpus, data["part"])
    return Dialogues(corpus, split, data["part"], data["min_turns"], data["max_turns"], data["first"])


# Benchmarks.


class BenchmarkRunSerializer(Plain):
    """A run by which a step is made."""

    run = serializers.IntegerField()
    state = serializers.CharField()
    name = serializers.CharField()


class BenchmarkStepSerializer(Plain):
    """A step that asks a model, and how far it is."""

    step = serializers.CharField()
    title = serializers.CharField()
    runs = BenchmarkRunSerializer(many=True)
    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()


class ReviewedPartSerializer(Plain):
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


class CheckedBySerializer(Plain):
    """Who checked it for offensive content, and when."""

    by = serializers.CharField()
    at = serializers.DateTimeField()


class BenchmarkSerializer(Plain):
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

    def to_representation(self, instance: Benchmark) -> dict[str, Any]:
        """Return what commands print of it, too."""
        return benchmark_actions.as_json(instance)


class BenchmarkSourceSerializer(Plain):
    """A source corpus by name, and what its source is called where its dialogues do not say."""

    corpus = serializers.CharField()
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, default="", allow_blank=True, max_length=100
    )


class ParametersSerializer(Plain):
    """Sampling parameters, sent to the model only where given."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check them together."""
        return parameters_from_data(attrs)

    def get_fields(self) -> dict[str, Any]:
        """Return one field for each parameter."""
        return super().get_fields() | parameter_serializer_fields()


class NewBenchmarkSerializer(Plain):
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


class StartedBenchmarkSerializer(NewBenchmarkSerializer):
    """What a benchmark is made of, how, and what it is called."""

    name = serializers.CharField(max_length=100)
    leave_out_failed = serializers.BooleanField(required=False, default=False)


class EstimatedBenchmarkSerializer(NewBenchmarkSerializer):
    """What starts a benchmark, to be estimated: the estimate is the same whatever it is called."""

    name = serializers.CharField(required=False, max_length=100)
    leave_out_failed = serializers.BooleanField(required=False)


class GoOnSerializer(Plain):
    """How to go on: what failed is tried again, or left out."""

    leave_out_failed = serializers.BooleanField(required=False, default=False)


class StepEstimateSerializer(Plain):
    """What a step takes."""

    step = serializers.CharField()
    productions = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class BenchmarkEstimateSerializer(Plain):
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


@extend_schema_view(get=extend_schema(parameters=BENCHMARKS.parameters))
class Benchmarks(generics.ListAPIView[Benchmark]):
    """Researchers: benchmarks, latest first; POST asks for one, or goes on with the same one."""

    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.select_related("corpus", "endpoint", "created_by").order_by("-id")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return BENCHMARKS.of(self.request, queryset)

    @extend_schema(request=StartedBenchmarkSerializer, responses={201: BenchmarkSerializer})
    @answered
    def post(self, request: Request) -> Response:
        """Have a benchmark made in the background; the same order again goes on with it."""
        data = validated(StartedBenchmarkSerializer, request.data)
        benchmark = benchmark_actions.start(
            by=user_of(request),
            name=data["name"],
            sources=_sources(data),
            order=_order(data),
            endpoint=_endpoint(data),
            leave_out_failed=data["leave_out_failed"],
        )
        return Response(BenchmarkSerializer(benchmark).data, status=status.HTTP_201_CREATED)


@extend_schema(request=EstimatedBenchmarkSerializer, responses={200: BenchmarkEstimateSerializer})
@api_view(["POST"])
@answered
def estimate_benchmark(request: Request) -> Response:
    """Estimate instances, calls, tokens and cost; nothing is sent and nothing is kept."""
    data = validated(EstimatedBenchmarkSerializer, request.data)
    estimate = benchmark_actions.estimate(_sources(data), _order(data), _endpoint(data))
    return Response(BenchmarkEstimateSerializer(estimate).data)


@extend_schema(responses={200: BenchmarkSerializer})
@api_view(["GET"])
def benchmark(request: Request, pk: int) -> Response:
    """Return how far it is, its figures, and what reviewers found."""
    return Response(BenchmarkSerializer(access.benchmark(pk)).data)


@extend_schema(responses={(200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR)})
@api_view(["GET"])
def benchmark_file(request: Request, pk: int) -> FileResponse:
    """Return one dialogue a line, in the native format: the bytes that it was written from."""
    benchmark = access.benchmark(pk)
    if benchmark.corpus is None:
        raise ValidationError({"detail": "The benchmark is not made yet."})
    name = f"benchmark-{benchmark.pk}.jsonl"
    return file_response(export(benchmark.corpus), media_type="application/x-ndjson", name=name)


@extend_schema(request=GoOnSerializer, responses={200: BenchmarkSerializer})
@api_view(["POST"])
@answered
def go_on_benchmark(request: Request, pk: int) -> Response:
    """Try again what failed, or leave it out."""
    data = validated(GoOnSerializer, request.data)
    done = benchmark_actions.go_on(by=user_of(request), benchmark=access.benchmark(pk), **data)
    return Response(BenchmarkSerializer(done).data)


@extend_schema(request=None, responses={200: BenchmarkSerializer})
@api_view(["POST"])
@answered
def cancel_benchmark(request: Request, pk: int) -> Response:
    """Stop it and its runs; what was answered is kept."""
    done = benchmark_actions.cancel(by=user_of(request), benchmark=access.benchmark(pk))
    return Response(BenchmarkSerializer(done).data)


@extend_schema(request=None, responses={200: BenchmarkSerializer})
@api_view(["POST"])
@answered
def checked_benchmark(request: Request, pk: int) -> Response:
    """Mark it as checked for offensive content, by whom and when."""
    done = benchmark_actions.mark_checked(by=user_of(request), benchmark=access.benchmark(pk))
    return Response(BenchmarkSerializer(done).data)


def _order(data: dict[str, Any]) -> Order:
    names = ("per_source", "train", "per_conversation", "seed", "clean", "part_tokens", "allow_fewer")
    options: dict[str, Any] = {name: data[name] for name in names}
    options["parameters"] = data.get("parameters", {})
    lists = {name: tuple(data[name]) for name in ("train_sources", "steps", "verbatim")}
    return Order(**(options | lists))


def _sources(data: dict[str, Any]) -> list[Source]:
    pairs = ((corpus_named(entry["corpus"]), entry["source"].strip()) for entry in data["sources"])
    return [(corpus, source_name or corpus.name) for corpus, source_name in pairs]


def _endpoint(data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"]) if data["endpoint"] else None


# Examples for fine-tuning.

PARAMETERS = [
    OpenApiParameter("corpus", int, required=True),
    OpenApiParameter("part", str, enum=["", *tuning.CHOICES]),
    *(
        OpenApiParameter(
            setting.name,
            type(setting.default),
            enum=list(setting.choices) or None,
            description=setting.help,
        )
        for setting in CocoevalContinuation.settings
    ),
]
LINES = files(["application/x-ndjson"]) | {(202, "application/json"): OpenApiTypes.OBJECT}


def _field(setting: Setting) -> serializers.Field[Any, Any, Any, Any]:
    if setting.choices:
        choices = [str(choice) for choice in setting.choices]
        return serializers.ChoiceField(choices, default=setting.default, help_text=setting.help)
    return serializers.IntegerField(
        min_value=setting.low, max_value=setting.high, default=int(setting.default), help_text=setting.help
    )


class SftSerializer(ExportPartSerializer):
    """A corpus, the part of it that is taken out (and what for where that is test), the settings."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all())
    part = serializers.ChoiceField(choices=list(tuning.CHOICES), required=False, default="", allow_blank=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the generator's settings."""
        return super().get_fields() | {
            setting.name: _field(setting) for setting in CocoevalContinuation.settings
        }


@extend_schema(methods=["GET"], parameters=PARAMETERS, responses=LINES)
@extend_schema(methods=["POST"], request=SftSerializer, responses=LINES)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
def sft(request: Request) -> Response | StreamingHttpResponse:
    """Send examples for fine-tuning as chat-format JSONL; `Concord-Rows` counts them.

    One line for each window of people's own continuations: what `cocoeval_continuation` would send, and the
    reply that says what people said. `part` is training (without it) or evaluation of a benchmark, else a
    part of the split: test by POST with its purpose. Many are written by a job, as labels are.
    """
    data = validated(SftSerializer, request.query_params.dict() if request.method == "GET" else request.data)
    user = user_of(request)
    corpus, part = data["corpus"], data["part"]
    if part in ("test", "all") and request.method == "GET" and splits.lock_of(corpus):
        raise ValidationError({"part": ["Test is locked: use POST with a part and a purpose."]})
    try:
        settings = tuning.settings_of(
            {setting.name: data[setting.name] for setting in CocoevalContinuation.settings}
        )
        selection, named_part = tuning.taken_for(corpus=corpus, part=part, purpose=data["purpose"], by=user)
        order = downloads.Order(
            tuning.SFT, corpus, None, selection, "jsonl", choice={"part": named_part, **settings}
        )
        return response_of(downloads.order_or_job(order=order, by=user), order.name)
    except CalibrationError as refused:
        raise ValidationError({"detail": f"{refused}."}) from refused


urlpatterns: list[URLPattern] = [
    path("generators/", generators, name="api-generators"),
    path("productions/", Productions.as_view(), name="api-productions"),
    path("productions/estimate/", estimate_productions, name="api-estimate-productions"),
    path("productions/<int:pk>/", production, name="api-production"),
    path("productions/<int:pk>/steps/", Steps.as_view(), name="api-production-steps"),
    path("benchmarks/", Benchmarks.as_view(), name="api-benchmarks"),
    path("benchmarks/estimate/", estimate_benchmark, name="api-estimate-benchmark"),
    path("benchmarks/<int:pk>/", benchmark, name="api-benchmark"),
    path("benchmarks/<int:pk>/file/", benchmark_file, name="api-benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", go_on_benchmark, name="api-go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", cancel_benchmark, name="api-cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", checked_benchmark, name="api-checked-benchmark"),
    path("exports/sft.jsonl", sft, name="api-export-sft"),
]
