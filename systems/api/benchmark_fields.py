"""What the API reads and writes about benchmarks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.api.parameter_fields import given_parameters, parameter_fields
from systems.making.orders import LARGEST_SEED, MOST, STEPS, Order
from systems.making.telling import as_json
from systems.models import Benchmark


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
        return given_parameters(attrs)

    def get_fields(self) -> dict[str, Any]:
        """Return one field for each parameter."""
        return super().get_fields() | parameter_fields()


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
        """Return what is asked for."""
        data = self.validated_data
        names = ("per_source", "train", "per_conversation", "seed", "clean", "part_tokens", "allow_fewer")
        given: dict[str, Any] = {name: data[name] for name in names}
        given["parameters"] = data.get("parameters", {})
        lists = {name: tuple(data[name]) for name in ("train_sources", "steps", "verbatim")}
        return Order(**(given | lists))


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
