"""The HTTP API of what is done to runs that are there, and of what they have cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config.permissions import IsResearcher
from jobs import access, runs
from jobs.calls import batch_actions
from jobs.calls.batch_actions import as_row
from jobs.errors import JobError
from jobs.models import Batch, CallCount, Run
from judges.api.views import AdoptSerializer, BatchSerializer, CapsSerializer, RunSerializer, SpentSerializer

# The HTTP API of batches: those of a run, and what is done to one.


class Batches(generics.ListAPIView[Batch]):
    """Researchers: the batches of a run, oldest first."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = BatchSerializer

    def get_queryset(self) -> QuerySet[Batch]:
        """Return the batches of the run."""
        return Batch.objects.filter(run=self.kwargs.get("pk", 0)).order_by("pk")


class _ChangeBatches(generics.GenericAPIView[Batch]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = BatchSerializer
    queryset = Batch.objects.none()

    def changed(self, request: Request, verb: Callable[..., Batch], **arguments: Any) -> Response:
        """Do something to the batch, and return it; 400 with one line where that cannot be."""
        assert isinstance(request.user, User)
        try:
            batch = verb(by=request.user, batch=access.batch(self.kwargs["pk"]), **arguments)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(BatchSerializer(as_row(batch)).data)


class LookAtBatch(_ChangeBatches):
    """Researchers: look at a batch now."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Let a worker ask the provider at once how far it is."""
        return self.changed(request, batch_actions.look_now)


class AdoptBatch(_ChangeBatches):
    """Researchers: say which of the provider's batches one is of which that is unclear."""

    @extend_schema(request=AdoptSerializer, responses=BatchSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """It is looked at and collected; a run that paused for it goes on."""
        serializer = AdoptSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return self.changed(request, batch_actions.adopt, **serializer.validated_data)


class GiveUpBatch(_ChangeBatches):
    """Researchers: give up a batch of which it is unclear what became."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Its calls are asked again, and may be paid for twice."""
        return self.changed(request, batch_actions.give_up)


class _Change(generics.GenericAPIView[Run]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Run.objects.none()

    def changed(self, request: Request, verb: Callable[..., Run], **arguments: Any) -> Response:
        """Do something to the run, and return it; 400 with one line where that cannot be."""
        assert isinstance(request.user, User)
        run = access.run(self.kwargs["pk"])
        try:
            verb(by=request.user, run=run, **arguments)
        except JobError as error:
            raise ValidationError({"detail": str(error)}) from None
        return Response(RunSerializer(access.run(run.pk)).data)


class PauseRun(_Change):
    """Researchers: pause a run; what is under way is finished."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Ask nothing more until the run is resumed."""
        return self.changed(request, runs.pause)


class ResumeRun(_Change):
    """Researchers: go on with a paused run."""

    @extend_schema(request=None)
    def post(self, request: Request, pk: int) -> Response:
        """Go on; a run whose cap is reached pauses again at once."""
        return self.changed(request, runs.resume)


class CapRun(_Change):
    """Researchers: change what a run may take."""

    @extend_schema(request=CapsSerializer, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Set or lift caps; a run that was paused at one goes on."""
        serializer = CapsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return self.changed(request, runs.set_caps, caps=serializer.validated_data)


@extend_schema(
    parameters=[
        OpenApiParameter("by", str, enum=list(runs.SPENT_BY), description="judge where nothing is said")
    ]
)
class Costs(generics.ListAPIView[CallCount]):
    """Researchers: what judges have cost, by judge, campaign or run, dearest first."""

    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = SpentSerializer
    queryset = CallCount.objects.none()

    def get_queryset(self) -> Any:
        """Return one row a judge, campaign or run and currency."""
        by = self.request.query_params.get("by", "judge")
        if by not in runs.SPENT_BY:
            raise ValidationError({"by": f"One of {', '.join(runs.SPENT_BY)}."})
        return runs.spent(by)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return the rows of a page as they are read."""
        return [runs.spending_row(row) for row in super().paginate_queryset(queryset) or []]
