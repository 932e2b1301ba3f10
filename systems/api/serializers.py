"""What the API reads and writes about generators and productions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.api.parameter_fields import given_parameters, parameter_fields
from jobs.models import Run
from judges.api.run_serializers import TakenSerializer, cap_fields
from judges.rating.lookup import PARTS
from systems.models import Production, ProductionCall
from systems.producing.actions import MOST_TRIALS


class SettingSerializer(serializers.Serializer[Any]):
    """A setting of a generator. One that `varies` is a part of the condition."""

    name = serializers.CharField()
    default = serializers.JSONField()
    help = serializers.CharField()
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)
    choices = serializers.ListField(child=serializers.JSONField())
    varies = serializers.BooleanField()


class GeneratorSerializer(serializers.Serializer[Any]):
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


class NewProductionsSerializer(serializers.Serializer[Any]):
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
        help_text="Only so many dialogues; 0: all.",
    )
    use_cache = serializers.BooleanField(required=False, default=None, allow_null=True)
    mode = serializers.ChoiceField(choices=Run.Mode.choices, required=False, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the sampling parameters together."""
        return attrs | {"parameters": given_parameters(attrs)}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, one for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_fields() | cap_fields()


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
