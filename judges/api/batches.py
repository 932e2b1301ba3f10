"""The HTTP API of batches: those of a run, and what is done to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config.permissions import IsResearcher
from jobs import access
from jobs.batches import actions
from jobs.batches.actions import as_row
from jobs.errors import JobError
from jobs.models import Batch
from judges.api.run_serializers import AdoptSerializer, BatchSerializer


class Batches(generics.ListAPIView[Batch]):
    """Researchers: the batches of a run, oldest first."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = BatchSerializer

    def get_queryset(self) -> QuerySet[Batch]:
        """Return the batches of the run."""
        return Batch.objects.filter(run=self.kwargs.get("pk", 0)).order_by("pk")


class _Change(generics.GenericAPIView[Batch]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = BatchSerializer
    queryset = Batch.objects.none()

    def changed(self, request: Request, verb: Callable[..., Batch], **told: Any) -> Response:
        """Do something to the batch, and return it; 400 with one line where that cannot be."""
        assert isinstance(request.user, User)
        try:
            batch = verb(by=request.user, batch=access.batch(self.kwargs["pk"]), **told)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BatchSerializer(as_row(batch)).data)


class LookAtBatch(_Change):
    """Researchers: look at a batch now."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Let a worker ask the provider at once how far it is."""
        return self.changed(request, actions.look_now)


class AdoptBatch(_Change):
    """Researchers: say which of the provider's batches one is of which that is unclear."""

    @extend_schema(request=AdoptSerializer, responses=BatchSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """It is looked at and collected; a run that paused for it goes on."""
        told = AdoptSerializer(data=request.data)
        told.is_valid(raise_exception=True)
        return self.changed(request, actions.adopt, **told.validated_data)


class GiveUpBatch(_Change):
    """Researchers: give up a batch of which it is unclear what became."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Its calls are asked again, and may be paid for twice."""
        return self.changed(request, actions.give_up)
