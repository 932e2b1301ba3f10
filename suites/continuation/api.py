"""The HTTP API of generators and productions, benchmarks, and examples for fine-tuning. Researchers only."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.corpora_serializers import LeftOutDialoguesSerializer, exclude_field
from annotation.corpora import splits
from annotation.models.corpora import Corpus
from calibration.api.exports import download, refused_as, response_of
from calibration.api.serializers import ExportPartSerializer
from calibration.exports import downloads
from config import api
from config.files import file_response
from config.lists import Filters, numbered, one_of, with_name
from config.openapi import files
from config.permissions import IsResearcher
from jobs.api import JobAnswer, accepted
from jobs.endpoints.parameter_inputs import (
    parameter_serializer_fields,
    parameters_from_data,
    serializer_field,
)
from jobs.endpoints.parameters import Parameter
from jobs.models import Endpoint, Job, Run
from judges.api.runs import RunSerializer, cap_fields
from judges.runs.lookup import PARTS, corpus_named, endpoint_named
from judges.runs.selection import settings_of
from suites.continuation import access, tuning
from suites.continuation.benchmarks.metadata import PART_TOKENS
from suites.continuation.generators import GENERATORS, Generator
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.generators.generator import Setting
from suites.continuation.models import Benchmark, Production, ProductionCall
from suites.continuation.productions import benchmark_actions, production_actions
from suites.continuation.productions.benchmark_actions import Source
from suites.continuation.productions.benchmark_steps import NUMBERS, STEPS, Order, export
from suites.continuation.productions.dialogues import LIMITS, select_dialogues
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import TRIALS

Plain = serializers.Serializer[Any]

# Serializer fields of numbers and settings that the pages' forms declare as well.


def _number(number: Parameter, default: Any = empty) -> serializers.Field[Any, Any, Any, Any]:
    return serializer_field(number, default=default, allow_null=False)


def _setting(setting: Setting) -> serializers.Field[Any, Any, Any, Any]:
    if setting.choices:
        choices = [str(choice) for choice in setting.choices]
        return serializers.ChoiceField(choices, default=setting.default, help_text=setting.help)
    return serializers.IntegerField(
        min_value=setting.low, max_value=setting.high, default=int(setting.default), help_text=setting.help
    )


# Generators and productions.


SettingSerializer = api.serializer_of(
    Setting,
    "Setting",
    "A setting of a generator. One that `varies` is a part of the condition.",
    default=serializers.JSONField(),
    choices=serializers.ListField(child=serializers.JSONField()),
)


class GeneratorSerializer(Plain):
    """A generator: what it is, what it produces, and its settings."""

    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    produces = serializers.ChoiceField(choices=("rollout", "static", "text", "record"))
    settings = SettingSerializer(many=True)


class ProductionSerializer(serializers.ModelSerializer[Production]):
    """A production: a generator at work on one dialogue. `step` counts the answered steps."""

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
    """Generation to start: a generator and an endpoint, over dialogues of the corpus of this name."""

    generator = serializers.CharField()
    corpus = serializers.CharField()
    endpoint = serializers.CharField()
    settings = serializers.DictField(
        child=serializers.JSONField(), default=dict, help_text="Those that differ from the defaults."
    )
    condition = serializers.DictField(
        child=serializers.JSONField(), default=dict, help_text="Keys of your own."
    )
    name = api.optional_text(help_text="Of the system; empty: the model and what varies.")
    trials = _number(TRIALS, 1)
    part = serializers.ChoiceField(
        choices=PARTS,
        default="",
        allow_blank=True,
        help_text="dev or test of the split, or training, which is left out where it is not named",
    )
    min_turns = _number(LIMITS["min_turns"], 0)
    max_turns = _number(LIMITS["max_turns"], 0)
    first = _number(LIMITS["first"], 0)
    exclude = exclude_field()
    use_cache = serializers.BooleanField(default=None, allow_null=True)
    mode = serializers.ChoiceField(choices=Run.Mode.choices, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Validate the sampling parameters against each other."""
        return attrs | {"parameters": parameters_from_data(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, a field for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_serializer_fields() | cap_fields()


EstimateSerializer = api.serializer_of(
    production_actions.Estimate,
    "GenerationEstimate",
    cost=serializers.FloatField(allow_null=True),
    left_out=serializers.DictField(child=serializers.IntegerField()),
)


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


@api.get(GeneratorSerializer, many=True)
def generators(request: Request) -> list[Generator]:
    """List the generators."""
    return list(GENERATORS.values())


@api.listing(ProductionSerializer, filters=PRODUCTIONS)
def productions(request: Request) -> QuerySet[Production]:
    """List productions, latest first."""
    return Production.objects.select_related("writer", "dialogue__corpus", "continuation").order_by("-id")


@api.post(NewProductionsSerializer, RunSerializer, status=201, responses={202: JobAnswer})
def start_productions(request: Request) -> Run | Response:
    """Start generation, or resume the run of the same system, condition and selection.

    202 with the id of a job for many dialogues; the job's result names the run.
    """
    data = api.data(request)
    started = production_actions.start_job(
        by=api.user(request),
        generation=_generation(request, data),
        dialogues=select_dialogues(corpus_named(data["corpus"]), data),
        trials=data["trials"],
        settings=settings_of(data),
    )
    return accepted(started) if isinstance(started, Job) else started


@api.post(NewProductionsSerializer, EstimateSerializer)
def estimate_productions(request: Request) -> production_actions.Estimate:
    """Estimate calls, tokens and cost; nothing is sent and nothing is stored."""
    data = api.data(request)
    plan = _generation(request, data).plan()
    dialogues = select_dialogues(corpus_named(data["corpus"]), data)
    return production_actions.estimate(plan, dialogues, data["trials"])


@api.get(ProductionSerializer)
def production(request: Request, pk: int) -> Production:
    """Return one production."""
    return access.production(pk)


@api.listing(StepSerializer)
def production_steps(request: Request, pk: int) -> QuerySet[ProductionCall]:
    """List the calls of a production in order, with raw replies and errors."""
    return access.production(pk).links.select_related("call").order_by("step", "part")


def _generation(request: Request, data: dict[str, Any]) -> Generation:
    return Generation(
        data["generator"],
        endpoint_named(data["endpoint"], api.user(request)),
        data["settings"],
        data["parameters"],
        data["name"],
        data["condition"],
    )


# Benchmarks.


class BenchmarkRunSerializer(Plain):
    """A run of a step."""

    run = serializers.IntegerField()
    state = serializers.CharField()
    name = serializers.CharField()


class BenchmarkStepSerializer(Plain):
    """Progress of a step that asks a model."""

    step = serializers.CharField()
    title = serializers.CharField()
    runs = BenchmarkRunSerializer(many=True)
    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()


class ReviewedPartSerializer(Plain):
    """Share of yes among `n` reviewed instances, with its 95% interval; null without any."""

    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()


class ReviewedSourceSerializer(ReviewedPartSerializer):
    """Share of yes for one source."""

    source = serializers.CharField()  # type: ignore[assignment]


class ReviewedSerializer(ReviewedPartSerializer):
    """Share of yes for one question of the review, in all and by source."""

    question = serializers.CharField()
    wording = serializers.CharField()
    answers = serializers.IntegerField()
    by_source = ReviewedSourceSerializer(many=True)


class CheckedBySerializer(Plain):
    """Who checked a benchmark for offensive content, and when."""

    by = serializers.CharField()
    at = serializers.DateTimeField()


class BenchmarkSerializer(Plain):
    """A benchmark: its order, its progress, its figures, and the shares of yes in its review."""

    id = serializers.IntegerField()
    benchmark = serializers.CharField(help_text="Its name, and that of the corpus once it is done.")
    state = serializers.ChoiceField(choices=Benchmark.State.choices)
    step = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    corpus = serializers.CharField(allow_null=True)
    made_from = serializers.ListField(child=serializers.CharField())
    endpoint = serializers.CharField(allow_null=True)
    order = serializers.DictField()
    excluded = LeftOutDialoguesSerializer(many=True, help_text="By source, where the order excludes.")
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
        """Return the same JSON as `manage.py make_benchmark` prints."""
        return benchmark_actions.as_json(instance)


class BenchmarkSourceSerializer(Plain):
    """A source corpus by name, and the name of its source for dialogues whose metadata name none."""

    corpus = serializers.CharField()
    source = api.optional_text(max_length=100)  # type: ignore[assignment]


class ParametersSerializer(Plain):
    """Sampling parameters; those left out are not sent to the model."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Validate the parameters against each other."""
        return parameters_from_data(attrs)

    def get_fields(self) -> dict[str, Any]:
        """Return a field for each parameter."""
        return super().get_fields() | parameter_serializer_fields()


class NewBenchmarkSerializer(Plain):
    """Order of a benchmark: its sources, its size, and its steps."""

    sources = BenchmarkSourceSerializer(many=True)
    per_source = _number(NUMBERS["per_source"])
    train = _number(NUMBERS["train"], 0)
    train_sources = api.texts()
    per_conversation = _number(NUMBERS["per_conversation"], 1)
    seed = _number(NUMBERS["seed"], 0)
    steps = serializers.ListField(child=serializers.ChoiceField(choices=STEPS), default=lambda: list(STEPS))
    clean = serializers.BooleanField(default=False)
    verbatim = api.texts(help_text="Sources that are cleaned; none: all.")
    part_tokens = _setting(PART_TOKENS)
    allow_fewer = serializers.BooleanField(default=False)
    exclude = exclude_field()
    endpoint = api.optional_text()
    parameters = ParametersSerializer(required=False)


class StartedBenchmarkSerializer(NewBenchmarkSerializer):
    """A benchmark to start: its order and its name."""

    name = serializers.CharField(max_length=100)
    leave_out_failed = serializers.BooleanField(default=False)


class EstimatedBenchmarkSerializer(NewBenchmarkSerializer):
    """A benchmark to estimate; its name may be left out and changes nothing."""

    name = serializers.CharField(required=False, max_length=100)
    leave_out_failed = serializers.BooleanField(required=False)


class GoOnSerializer(Plain):
    """Whether failed calls are left out instead of tried again."""

    leave_out_failed = serializers.BooleanField(default=False)


StepEstimateSerializer = api.serializer_of(benchmark_actions.Step, "StepEstimate")


class BenchmarkEstimateSerializer(Plain):
    """Approximate size and cost of a benchmark."""

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


@api.listing(BenchmarkSerializer, filters=BENCHMARKS)
def benchmarks(request: Request) -> QuerySet[Benchmark]:
    """List benchmarks, latest first."""
    return Benchmark.objects.select_related("corpus", "endpoint", "created_by").order_by("-id")


@api.post(StartedBenchmarkSerializer, BenchmarkSerializer, status=201)
def start_benchmark(request: Request) -> Benchmark:
    """Start making a benchmark in the background, or resume the one of this name and order."""
    data = api.data(request)
    return benchmark_actions.start(
        by=api.user(request),
        name=data["name"],
        sources=_sources(data),
        order=_order(data),
        endpoint=_endpoint(request, data),
        leave_out_failed=data["leave_out_failed"],
    )


@api.post(EstimatedBenchmarkSerializer, BenchmarkEstimateSerializer)
def estimate_benchmark(request: Request) -> benchmark_actions.MakingEstimate:
    """Estimate instances, calls, tokens and cost; nothing is sent and nothing is stored."""
    data = api.data(request)
    return benchmark_actions.estimate(_sources(data), _order(data), _endpoint(request, data))


@api.get(BenchmarkSerializer)
def benchmark(request: Request, pk: int) -> Benchmark:
    """Return the progress of a benchmark, its figures, and the shares of yes in its review."""
    return access.benchmark(pk)


@api.get(responses={(200, "application/x-ndjson"): OpenApiTypes.STR})
def benchmark_file(request: Request, pk: int) -> FileResponse:
    """Return the dialogues in the native format, one a line: the same bytes as were imported."""
    benchmark = access.benchmark(pk)
    if benchmark.corpus is None:
        raise ValidationError({"detail": "The benchmark is not made yet."})
    name = f"benchmark-{benchmark.pk}.jsonl"
    return file_response(export(benchmark.corpus), media_type="application/x-ndjson", name=name)


@api.post(GoOnSerializer, BenchmarkSerializer)
def go_on_benchmark(request: Request, pk: int) -> Benchmark:
    """Try the failed calls again, or leave them out."""
    return benchmark_actions.go_on(by=api.user(request), benchmark=access.benchmark(pk), **api.data(request))


@api.post(gives=BenchmarkSerializer)
def cancel_benchmark(request: Request, pk: int) -> Benchmark:
    """Stop a benchmark and its runs; answered calls stay."""
    return benchmark_actions.cancel(by=api.user(request), benchmark=access.benchmark(pk))


@api.post(gives=BenchmarkSerializer)
def mark_benchmark_checked(request: Request, pk: int) -> Benchmark:
    """Mark a benchmark as checked for offensive content, by whom and when."""
    return benchmark_actions.mark_checked(by=api.user(request), benchmark=access.benchmark(pk))


def _order(data: dict[str, Any]) -> Order:
    names = (
        "per_source",
        "train",
        "per_conversation",
        "seed",
        "clean",
        "part_tokens",
        "allow_fewer",
        "exclude",
    )
    options: dict[str, Any] = {name: data[name] for name in names}
    options["parameters"] = data.get("parameters", {})
    lists = {name: tuple(data[name]) for name in ("train_sources", "steps", "verbatim")}
    return Order(**(options | lists))


def _sources(data: dict[str, Any]) -> list[Source]:
    pairs = ((corpus_named(entry["corpus"]), entry["source"].strip()) for entry in data["sources"])
    return [(corpus, source_name or corpus.name) for corpus, source_name in pairs]


def _endpoint(request: Request, data: dict[str, Any]) -> Endpoint | None:
    return endpoint_named(data["endpoint"], api.user(request)) if data["endpoint"] else None


# Examples for fine-tuning.


class SftQuerySerializer(Plain):
    """A corpus, the part of it to export, and the settings of the generator."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all())
    part = serializers.ChoiceField(choices=list(tuning.CHOICES), default="", allow_blank=True)
    exclude = exclude_field()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the generator's settings."""
        return super().get_fields() | {
            setting.name: _setting(setting) for setting in CocoevalContinuation.settings
        }


class SftSerializer(SftQuerySerializer, ExportPartSerializer):
    """A corpus, the part of it to export (with its purpose where that is test), and the settings."""


@download(
    SftSerializer, query=[SftQuerySerializer], file=files(["application/x-ndjson"]), permission=IsResearcher
)
def sft(request: Request) -> HttpResponseBase:
    """Send examples for fine-tuning as chat-format JSONL; `Concord-Rows` counts them.

    One line for each window of people's own continuations: the prompt that `cocoeval_continuation` would
    send, and the reply with what people said. `part` is training (without it) or evaluation of a benchmark,
    else a part of the split: test by POST with its purpose. Many are written by a job, as labels are.
    """
    sent = request.query_params.dict() if request.method == "GET" else request.data
    data = api.checked(SftSerializer(data=sent))
    corpus, part, by = data["corpus"], data["part"], api.user(request)
    if part in ("test", "all") and request.method == "GET" and splits.lock_of(corpus):
        raise ValidationError({"part": ["Test is locked: use POST with a part and a purpose."]})
    with refused_as("detail"):
        settings = tuning.settings_of(
            {setting.name: data[setting.name] for setting in CocoevalContinuation.settings}
        )
        selection, named_part = tuning.taken_for(
            corpus=corpus, part=part, purpose=data["purpose"], exclude=data["exclude"], by=by
        )
        order = downloads.Order(
            tuning.SFT, corpus, None, selection, "jsonl", choice={"part": named_part, **settings}
        )
        return response_of(downloads.order_or_job(order=order, by=by), order.name)


urlpatterns: list[URLPattern] = [
    path("generators/", api.route(generators), name="api-generators"),
    path("productions/", api.route(productions, start_productions), name="api-productions"),
    path("productions/estimate/", api.route(estimate_productions), name="api-estimate-productions"),
    path("productions/<int:pk>/", api.route(production), name="api-production"),
    path("productions/<int:pk>/steps/", api.route(production_steps), name="api-production-steps"),
    path("benchmarks/", api.route(benchmarks, start_benchmark), name="api-benchmarks"),
    path("benchmarks/estimate/", api.route(estimate_benchmark), name="api-estimate-benchmark"),
    path("benchmarks/<int:pk>/", api.route(benchmark), name="api-benchmark"),
    path("benchmarks/<int:pk>/file/", api.route(benchmark_file), name="api-benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", api.route(go_on_benchmark), name="api-go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", api.route(cancel_benchmark), name="api-cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", api.route(mark_benchmark_checked), name="api-checked-benchmark"),
    path("exports/sft.jsonl", api.route(*sft), name="api-export-sft"),
]
