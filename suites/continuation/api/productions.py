"""The HTTP API of generators and productions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.lists import Filters, numbered, one_of, with_name
from config.permissions import IsResearcher
from jobs.api import JobAnswer
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, parameters_from_data
from jobs.errors import JobError
from jobs.models import Job, Run
from judges.api.runs import RunSerializer, TakenSerializer, cap_fields
from judges.runs.lookup import PARTS, corpus_named, endpoint_named, split_for
from judges.runs.selection import settings_of
from suites.continuation import access
from suites.continuation.generators import GENERATORS
from suites.continuation.models import Production, ProductionCall
from suites.continuation.productions import actions
from suites.continuation.productions.actions import MOST_TRIALS, estimate
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation

# The HTTP API of generators and productions.

# What the API reads and writes about generators and productions.


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


class Generators(APIView):
    """Researchers: the generators, with their settings."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(responses={200: GeneratorSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """List them."""
        rows = [
            {
                "key": generator.key,
                "version": generator.version,
                "title": generator.title,
                "produces": generator.produces,
                "settings": [asdict(setting) for setting in generator.settings],
            }
            for generator in GENERATORS.values()
        ]
        return Response(GeneratorSerializer(rows, many=True).data)


@extend_schema_view(get=extend_schema(parameters=PRODUCTIONS.parameters))
class Productions(generics.ListAPIView[Production]):
    """Researchers: what is or was written, latest first; POST starts or resumes generation."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = ProductionSerializer
    queryset = Production.objects.select_related("writer", "dialogue__corpus", "continuation").order_by("-id")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return PRODUCTIONS.of(self.request, queryset)

    @extend_schema(request=NewProductionsSerializer, responses={201: RunSerializer, 202: JobAnswer})
    def post(self, request: Request) -> Response:
        """Start generation, or resume the run of the same system, condition and selection; return the run.

        202 with the id of a job for many dialogues; the job's result names the run.
        """
        data = _checked(request)
        assert isinstance(request.user, User)
        try:
            started = actions.start_job(
                by=request.user,
                generation=_generation(data),
                dialogues=_dialogues(data),
                trials=data["trials"],
                settings=settings_of(data),
            )
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        if isinstance(started, Job):
            return Response({"job": started.pk}, status=status.HTTP_202_ACCEPTED)
        return Response(RunSerializer(started).data, status=status.HTTP_201_CREATED)


class EstimateProductions(APIView):
    """Researchers: what generation would take, before it is started."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)

    @extend_schema(request=NewProductionsSerializer, responses={200: EstimateSerializer})
    def post(self, request: Request) -> Response:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        data = _checked(request)
        try:
            generation_estimate = estimate(_generation(data).plan(), _dialogues(data), data["trials"])
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(EstimateSerializer(generation_estimate.as_json()).data)


class OneProduction(generics.RetrieveAPIView[Production]):
    """Researchers: one production."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = ProductionSerializer
    queryset = Productions.queryset

    def get_object(self) -> Production:
        """Return the production."""
        return access.production(self.kwargs["pk"])


class Steps(generics.ListAPIView[ProductionCall]):
    """Researchers: the calls of a production in order, with raw replies and errors."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = StepSerializer
    queryset = ProductionCall.objects.none()

    def get_queryset(self) -> QuerySet[ProductionCall]:
        """Return the links to the calls."""
        if getattr(self, "swagger_fake_view", False):
            return ProductionCall.objects.none()
        production = access.production(self.kwargs["pk"])
        return production.links.select_related("call").order_by("step", "part")


def _checked(request: Request) -> dict[str, Any]:
    serializer = NewProductionsSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = serializer.validated_data
    return data


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
