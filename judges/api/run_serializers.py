"""What the API reads and writes about what runs may take and have taken."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.models import Batch

CAP_HELP = "The run pauses before the first call that could pass so {}; null: no limit."


def cap_fields() -> dict[str, Any]:
    """Return the fields of what a run may take, by their names."""
    shared: dict[str, Any] = {"required": False, "allow_null": True, "min_value": 0}
    whole = shared | {"max_value": 2**53}
    money = shared | {"max_digits": 14, "decimal_places": 6}
    return {
        "cap_calls": serializers.IntegerField(help_text=CAP_HELP.format("many calls"), **whole),
        "cap_tokens": serializers.IntegerField(help_text=CAP_HELP.format("many tokens"), **whole),
        "cap_cost": serializers.DecimalField(help_text=CAP_HELP.format("much money"), **money),
    }


class TakenSerializer(serializers.Serializer[Any]):
    """What asking a model would take, about, and to whom the text goes."""

    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField()
    endpoint = serializers.CharField()
    model = serializers.CharField()
    host = serializers.CharField()
    is_here = serializers.BooleanField()


class CapsSerializer(serializers.Serializer[Any]):
    """What a run may take. What is left out stays as it is; null lifts a cap."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields."""
        return cap_fields()


class SpentSerializer(serializers.Serializer[Any]):
    """What a judge, a campaign or a run took in all."""

    key = serializers.IntegerField(allow_null=True, help_text="Id of the judge, campaign or run.")
    name = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    runs = serializers.IntegerField()
    asked = serializers.IntegerField(help_text="Completions that were paid for.")
    cached = serializers.IntegerField(help_text="Calls that took the reply of an equal request.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="null: the endpoint had no prices.")
    at_least = serializers.BooleanField(help_text="Of some calls the cost is not known.")
    saved = serializers.FloatField(help_text="What the cached calls would have cost.")


class BatchSerializer(serializers.Serializer[Any]):
    """A batch of a run's calls. `completed_there` and `failed_there` are what the provider counts;
    `answered`, `failed` and `returned` (to wait for another batch) what came of its calls once collected."""

    id = serializers.IntegerField()
    run_id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Batch.State.choices)
    provider_id = serializers.CharField(allow_blank=True)
    provider_state = serializers.CharField(allow_blank=True)
    size = serializers.IntegerField(help_text="Calls in it.")
    completed_there = serializers.IntegerField(allow_null=True)
    failed_there = serializers.IntegerField(allow_null=True)
    answered = serializers.IntegerField(allow_null=True)
    failed = serializers.IntegerField(allow_null=True)
    returned = serializers.IntegerField(allow_null=True)
    share = serializers.FloatField(help_text="Of the ordinary price.")
    created_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    looked_at = serializers.DateTimeField(allow_null=True)
    next_look = serializers.DateTimeField(allow_null=True)
    cancel_sent_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    files = serializers.ChoiceField(
        choices=Batch.Files.choices,
        allow_blank=True,
        help_text="Those at the provider, once it has ended; empty: none that are Concord's to delete.",
    )
    files_note = serializers.CharField(allow_blank=True, help_text="Why they are there still.")


class AdoptSerializer(serializers.Serializer[Any]):
    """Which of the provider's batches it is."""

    provider_id = serializers.CharField(max_length=200)
