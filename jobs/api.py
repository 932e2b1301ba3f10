"""The HTTP API of background work, under /api/v1/."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from config.lists import Filters, holds, one_of, since
from jobs import access, actions
from jobs.errors import JobError
from jobs.kinds import KINDS
from jobs.models import Job

# Jobs over HTTP. Researchers only, as by default.


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job: `done` of `total` units of its kind; `result` is what it came to, `error` why it failed."""

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "subject",
            "state",
            "done",
            "total",
            "note",
            "result",
            "error",
            "attempts",
            "created_at",
            "started_at",
            "finished_at",
        ]


JOBS = Filters(
    {
        "state": one_of("state", Job.State.values),
        "kind": one_of("kind", KINDS),
        "text": holds("subject"),
        "since": since("created_at"),
    },
    order=("id", "created_at", "finished_at"),
)


@extend_schema_view(get=extend_schema(parameters=JOBS.parameters))
class Jobs(generics.ListAPIView[Job]):
    """All jobs, latest first."""

    serializer_class = JobSerializer
    queryset = Job.objects.all()

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those that are asked for."""
        return JOBS.of(self.request, queryset)


class OneJob(generics.RetrieveAPIView[Job]):
    """One job."""

    serializer_class = JobSerializer
    queryset = Job.objects.all()

    def get_object(self) -> Job:
        """Return the job."""
        return access.job(self.kwargs["pk"])


@extend_schema(request=None, responses=JobSerializer)
@api_view(["POST"])
def cancel(request: Request, pk: int) -> Response:
    """Cancel a job: a waiting one at once, a running one at its next step."""
    job = actions.cancel(job=access.job(pk), by=_user(request))
    return Response(JobSerializer(job).data)


@extend_schema(request=None, responses=JobSerializer)
@api_view(["POST"])
def retry(request: Request, pk: int) -> Response:
    """Do a job again that failed or was cancelled."""
    try:
        job = actions.retry(job=access.job(pk), by=_user(request))
    except JobError as error:
        raise ValidationError({"detail": str(error)}) from None
    return Response(JobSerializer(job).data)


def _user(request: Any) -> User:
    assert isinstance(request.user, User)
    return request.user


# API routes of background work, under /api/v1/.

urlpatterns: list[URLPattern] = [
    path("jobs/", Jobs.as_view(), name="api-jobs"),
    path("jobs/<int:pk>/", OneJob.as_view(), name="api-job"),
    path("jobs/<int:pk>/cancel/", cancel, name="api-cancel-job"),
    path("jobs/<int:pk>/retry/", retry, name="api-retry-job"),
]
