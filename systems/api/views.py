"""The HTTP API of generators and productions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.corpora_serializers import JobAnswer
from config.filters import Filters, named, numbered, one_of
from config.permissions import IsResearcher
from jobs.errors import JobError
from jobs.models import Job
from judges.api.serializers import RunSerializer
from judges.rating.lookup import corpus_named, endpoint_named, split_for
from judges.rating.settings import settings_of
from systems import access
from systems.api.serializers import (
    EstimateSerializer,
    GeneratorSerializer,
    NewProductionsSerializer,
    ProductionSerializer,
    StepSerializer,
)
from systems.generators import GENERATORS
from systems.models import Production, ProductionCall
from systems.producing import job as starting
from systems.producing.dialogues import Dialogues
from systems.producing.estimates import estimate
from systems.producing.plans import Generation

PRODUCTIONS = Filters(
    {
        "run": numbered("run_id", "run"),
        "corpus": named("dialogue__corpus__name", "corpus"),
        "dialogue": named("dialogue__key", "dialogue"),
        "system": named("writer__name", "system"),
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
        listed = [
            {
                "key": one.key,
                "version": one.version,
                "title": one.title,
                "produces": one.produces,
                "settings": [asdict(setting) for setting in one.settings],
            }
            for one in GENERATORS.values()
        ]
        return Response(GeneratorSerializer(listed, many=True).data)


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
            started = starting.start(
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
            found = estimate(_generation(data).plan(), _dialogues(data), data["trials"])
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(EstimateSerializer(found.as_json()).data)


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
        found = access.production(self.kwargs["pk"])
        return found.links.select_related("call").order_by("step", "part")


def _checked(request: Request) -> dict[str, Any]:
    wanted = NewProductionsSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    data: dict[str, Any] = wanted.validated_data
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
