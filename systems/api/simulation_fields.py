"""What the API reads and writes about simulations."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.runs import CAPS
from judges.rating.settings import RunSettings, settings_of
from systems.api.benchmark_fields import ParametersSerializer
from systems.models import Simulation
from systems.producing.actions import MOST_TRIALS
from systems.producing.plans import LONGEST_NAME
from systems.simulating.orders import SAMPLING, Order
from systems.simulating.telling import as_json


class SimulationSerializer(serializers.BaseSerializer[Simulation]):
    """A simulation: who answers, under which condition, how far it is, what it took."""

    def to_representation(self, instance: Simulation) -> dict[str, Any]:
        """Return all that is known of it."""
        return as_json(instance)


class SimulationStepSerializer(serializers.Serializer[Any]):
    """A run by which a step is made, with its calls."""

    step = serializers.CharField()
    title = serializers.CharField()
    run = serializers.IntegerField()
    state = serializers.CharField()
    calls = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SimulationCountsSerializer(serializers.Serializer[Any]):
    """Trials (`productions`), and what the runs took."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField())
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class SimulationToldSerializer(serializers.Serializer[Any]):
    """A simulation: who answers, under which condition, how far it is, what it took."""

    id = serializers.IntegerField()
    corpus = serializers.CharField()
    set = serializers.CharField(help_text="NAME:VERSION.")
    system = serializers.CharField()
    endpoint = serializers.CharField(allow_null=True)
    baseline = serializers.CharField(allow_null=True)
    condition = serializers.DictField()
    trials = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Simulation.State.choices)
    step = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    steps = SimulationStepSerializer(many=True)
    counts = SimulationCountsSerializer()
    fake_model = serializers.BooleanField(help_text="Whether a fake model answers.")
    fake_embedder = serializers.BooleanField(help_text="Whether a fake model embeds what is looked up.")
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        ref_name = "Simulation"


class NewSimulationSerializer(serializers.Serializer[Any]):
    """Who answers the questions of a set, and how: an endpoint's model, or a baseline (`agent`).

    `settings` are those of the generator `dialsim_agent` (memory, retriever, k, names, format ...) but for
    `set`; `parameters` that are not given are those of the paper.
    """

    set = serializers.CharField(help_text="NAME, or NAME:2 for its second version.", max_length=100)
    endpoint = serializers.CharField(required=False, default="", allow_blank=True)
    agent = serializers.CharField(required=False, default="", allow_blank=True, max_length=40)
    settings = serializers.DictField(required=False, default=dict)
    trials = serializers.IntegerField(required=False, default=3, min_value=1, max_value=MOST_TRIALS)
    parameters = ParametersSerializer(required=False)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NAME)
    condition = serializers.DictField(required=False, default=dict)
    cap_calls = serializers.IntegerField(required=False, default=None, allow_null=True, min_value=0)
    cap_tokens = serializers.IntegerField(required=False, default=None, allow_null=True, min_value=0)
    cap_cost = serializers.DecimalField(
        required=False, default=None, allow_null=True, min_value=0, max_digits=14, decimal_places=6
    )

    def order(self) -> Order:
        """Return what is asked for."""
        data = self.validated_data
        parameters = dict(SAMPLING) | dict(data.get("parameters") or {})
        return Order(
            data["agent"], data["settings"], data["trials"], parameters, data["name"], data["condition"]
        )

    def asking(self) -> RunSettings:
        """Return what each run may take."""
        return settings_of({name: self.validated_data[name] for name in CAPS})


class SimulationEstimateStepSerializer(serializers.Serializer[Any]):
    """What a step takes: all its calls, those that are there, and those to come with their tokens."""

    step = serializers.CharField()
    all = serializers.IntegerField()
    done = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class SimulationEstimateSerializer(serializers.Serializer[Any]):
    """What a simulation takes, about: trials (`productions`), questions, calls, tokens, cost."""

    productions = serializers.IntegerField()
    done = serializers.IntegerField()
    questions = serializers.IntegerField()
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    counted_by = serializers.CharField()
    left_out = serializers.DictField(child=serializers.IntegerField())
    steps = SimulationEstimateStepSerializer(many=True)
