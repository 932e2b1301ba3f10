"""What the API reads and writes about runs, calls and endpoints."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs.api.parameter_fields import given_parameters, parameter_fields
from jobs.batches.actions import of_run
from jobs.endpoints.limits import width_of
from jobs.endpoints.parameters import FORMS
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress
from judges.api.run_serializers import BatchSerializer, TakenSerializer, cap_fields
from judges.rating.lookup import PARTS
from judges.rating.plans import LEAST_BUDGET, MOST_SAMPLES


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run with its progress."""

    name = serializers.CharField()
    rater = serializers.CharField(source="rater.name", default=None, allow_null=True)
    spec = serializers.JSONField(source="identity")
    endpoint = serializers.CharField(source="endpoint.name", default=None, allow_null=True)
    address = serializers.CharField(help_text="Of the server that it asks; empty where it asks none.")
    revision = serializers.CharField(help_text="Of its model there, where the endpoint names one.")
    corpus = serializers.CharField(source="corpus.name")
    campaign = serializers.CharField(source="campaign.name", default=None, allow_null=True)
    progress = serializers.SerializerMethodField()
    batches = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = (
            *("id", "kind", "name", "rater", "spec", "endpoint", "address", "revision", "corpus", "campaign"),
            *("queue", "scope", "samples"),
            *("state", "error", "created_at", "started_at", "finished_at", "mode", "progress", "batches"),
        )

    @extend_schema_field(serializers.DictField())
    def get_progress(self, run: Run) -> dict[str, Any]:
        """Counts, rate, time left, tokens and cost."""
        return progress(run).as_json()

    @extend_schema_field(BatchSerializer(many=True))
    def get_batches(self, run: Run) -> list[dict[str, Any]]:
        """The batches in which it asked, oldest first; also those of a run that goes on at once since."""
        return of_run(run)


class CallSerializer(serializers.ModelSerializer[Call]):
    """A call with its raw reply."""

    dialogue = serializers.CharField(source="continuation.dialogue.key", default=None, allow_null=True)
    continuation = serializers.CharField(source="continuation.key", default=None, allow_null=True)
    turn = serializers.IntegerField(source="item.turn.position", default=None, allow_null=True)
    turn_number = serializers.IntegerField(source="item.turn.number", default=None, allow_null=True)
    endpoint = serializers.CharField(source="run.endpoint.name", default=None, allow_null=True)
    address = serializers.CharField(source="run.address")
    revision = serializers.CharField(source="run.revision")

    class Meta:
        model = Call
        fields = (
            *("id", "dialogue", "continuation", "turn", "turn_number", "part", "sample", "state", "attempts"),
            *("endpoint", "address", "revision"),
            *(
                "error",
                "error_kind",
                "flags",
                "reply",
                "reply_form",
                "reasoning",
                "cached",
                "batch",
                "saved",
                "asked",
                "sent",
                "lost",
                "prompt_hash",
                "tokens_in",
                "tokens_out",
                "cost",
                "latency_ms",
                "finished_at",
            ),
        )


class NewRunSerializer(serializers.Serializer[Any]):
    """What starts a run: a protocol (with its endpoint) or a metric, over a corpus or a campaign by name."""

    corpus = serializers.CharField(required=False, default="", allow_blank=True)
    campaign = serializers.CharField(required=False, default="", allow_blank=True)
    systems = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    include_self = serializers.BooleanField(required=False, default=False)
    samples = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        max_value=MOST_SAMPLES,
        help_text="Answers to ask for per call; null: one, of pairwise two, one in each order.",
    )
    part = serializers.ChoiceField(
        choices=PARTS,
        required=False,
        default="",
        allow_blank=True,
        help_text="dev or test of the split, or training, which is left out where it is not named",
    )
    open_test = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=500,
        help_text="what test is opened for; a judge's run that covers test items of a split in use needs it, "
        "once per judge",
    )
    metric = serializers.CharField(required=False, default="", allow_blank=True)
    protocol = serializers.CharField(required=False, default="", allow_blank=True)
    variant = serializers.CharField(required=False, default="", allow_blank=True)
    prompt = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="A version of a prompt as name@number, in place of a protocol and variant.",
    )
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="For a protocol that takes any scheme: key or key@version. Over a campaign, its own.",
    )
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    shows = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    budget = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=LEAST_BUDGET, max_value=2**31 - 1
    )
    use_cache = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="Take the reply that an equal request of another run got; null: yes, or as the run has it.",
    )
    mode = serializers.ChoiceField(
        choices=Run.Mode.choices,
        required=False,
        default=None,
        allow_null=True,
        help_text="Ask one by one, at once, or in the provider's batches, within a day; null: at once, or as "
        "the run has it.",
    )
    needs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="Per need of the protocol, the name (or fingerprint) of the judge or metric that it reads.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a metric, or a protocol or a prompt."""
        if bool(attrs["metric"]) == bool(attrs["protocol"] or attrs["prompt"]):
            raise serializers.ValidationError("Name either a metric, or a protocol or a prompt.")
        return attrs | {"parameters": given_parameters(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, one for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_fields() | cap_fields()


class UnansweredSerializer(serializers.Serializer[Any]):
    """Calls of which it is known beforehand that they have no answer."""

    calls = serializers.IntegerField()
    reason = serializers.CharField()
    about = serializers.BooleanField(help_text="told from a part of the calls")


class EstimateSerializer(TakenSerializer):
    """What a judge's run would take: calls to make, about how many tokens, and to whom the text goes."""

    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    about = serializers.BooleanField(help_text="calls and dialogues are told from a part of a large corpus")
    mode = serializers.ChoiceField(choices=Run.Mode.choices)
    unanswered = UnansweredSerializer(many=True)


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was asked.
    `fake_model`: replies had the mark of one, whatever its model is called."""

    at_once = serializers.SerializerMethodField()
    reply_form = serializers.ChoiceField(
        choices=[("", "not known yet"), *FORMS.items()], required=False, allow_blank=True
    )

    def get_at_once(self, endpoint: Endpoint) -> int:
        """Return how many requests at once it takes now."""
        return width_of(endpoint, getattr(endpoint, "pace", None))

    class Meta:
        model = Endpoint
        fields = (
            *("id", "name", "base_url", "model", "revision", "family", "tokenizer", "key_env", "price_in"),
            *("price_out", "currency"),
            *("concurrency", "at_once", "requests_per_minute", "tokens_per_minute"),
            *("reply_form", "fake_model"),
            *("batch_share", "batch_most", "keep_batch_files"),
            *("timeout_s", "allow_private", "active", "from_environment"),
            *("test_asked", "test_done", "test_error", "test_ms"),
        )
        read_only_fields = (
            "fake_model",
            "from_environment",
            "test_asked",
            "test_done",
            "test_error",
            "test_ms",
        )


class NeedSerializer(serializers.Serializer[Any]):
    """Answers of another rater that a protocol reads."""

    role = serializers.CharField()
    question = serializers.CharField(help_text="scheme/question")
    aggregate = serializers.CharField(help_text="How the rater's samples become one value.")
    missing = serializers.CharField(help_text="What happens where a turn has no value.")
    optional = serializers.BooleanField(help_text="It may be left unbound, and keeps nothing back.")
    also = serializers.ListField(
        child=serializers.CharField(), help_text="Further questions of the same scheme that are read with it."
    )


class ProtocolSerializer(serializers.Serializer[Any]):
    """A judge protocol."""

    key = serializers.CharField()
    title = serializers.CharField()
    version = serializers.IntegerField()
    covers = serializers.CharField()
    network = serializers.BooleanField()
    variants = serializers.ListField(child=serializers.CharField())
    takes_scheme = serializers.BooleanField(help_text="It asks the questions of whichever scheme is named.")
    needs = NeedSerializer(many=True)


class MetricSerializer(serializers.Serializer[Any]):
    """A metric."""

    key = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField()
    aspect = serializers.CharField()
    needs = serializers.ListField(child=serializers.CharField())
    obstacle = serializers.CharField(
        default="", help_text="Why it has no value in `corpus`, where one is named."
    )
    warning = serializers.CharField(default="", help_text="Why its values in `corpus` may mean little.")
    documentation = serializers.CharField()
    variants = serializers.ListField(child=serializers.CharField())
