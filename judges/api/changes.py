"""The HTTP API of what is done to runs that are there, and of what they have cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config.permissions import IsResearcher
from jobs import access, runs, spending
from jobs.errors import JobError
from jobs.models import CallCount, Run
from judges.api.run_serializers import CapsSerializer, SpentSerializer
from judges.api.serializers import RunSerializer


class _Change(generics.GenericAPIView[Run]):
    permission_classes: tuple[type[BasePermission], ...] = (IsResearcher,)
    serializer_class = RunSerializer
    queryset = Run.objects.none()

    def changed(self, request: Request, verb: Callable[..., Run], **told: Any) -> Response:
        """Do something to the run, and return it; 400 with one line where that cannot be."""
        assert isinstance(request.user, User)
        run = access.run(self.kwargs["pk"])
        try:
            verb(by=request.user, run=run, **told)
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
        told = CapsSerializer(data=request.data)
        told.is_valid(raise_exception=True)
        return self.changed(request, runs.set_caps, caps=told.validated_data)


@extend_schema(
    parameters=[
        OpenApiParameter("by", str, enum=list(spending.BY), description="judge where nothing is said")
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
        if by not in spending.BY:
            raise ValidationError({"by": f"One of {', '.join(spending.BY)}."})
        return spending.spent(by)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return the rows of a page as they are read."""
        return [spending.as_row(row) for row in super().paginate_queryset(queryset) or []]
