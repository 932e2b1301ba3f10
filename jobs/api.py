"""HTTP API of background jobs, under /api/v1/. Researchers only, as by default."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config import api
from config.bulk import BulkOutcomeSerializer
from config.lists import Filters, holds, one_of, since
from jobs import access, job_actions
from jobs.bulk_acts import JOB_ACTS, RUN_ACTS
from jobs.kinds import KINDS
from jobs.models import Job
from jobs.models.job import JobLane


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job: its `lane` (short, long), `done` of `total` units of its kind, its `result`, and the `error` if
    it failed."""

    class Meta:
        model = Job
        fields = (
            *("id", "kind", "lane", "subject", "state", "done", "total", "note", "result", "error"),
            *("attempts", "created_at", "started_at", "finished_at"),
        )


class JobAnswer(serializers.Serializer[Any]):
    """Id of the job that does the work."""

    job = serializers.IntegerField()


def accepted(job: Job | int | None) -> Response:
    """Respond with 202 and the id of the job that does the work."""
    return Response({"job": job.pk if isinstance(job, Job) else job}, status=202)


JOBS = Filters(
    {
        "state": one_of("state", Job.State.values),
        "kind": one_of("kind", KINDS),
        "lane": one_of("lane", JobLane.values),
        "text": holds("subject"),
        "since": since("created_at"),
    },
    order=("id", "created_at", "finished_at"),
)


@api.listing(JobSerializer, filters=JOBS)
def jobs(request: Request) -> QuerySet[Job]:
    """List all jobs, latest first."""
    return Job.objects.all()


@api.get(JobSerializer)
def job(request: Request, pk: int) -> Job:
    """Read a job."""
    return access.job(pk)


@api.post(gives=JobSerializer)
def cancel(request: Request, pk: int) -> Job:
    """Cancel a job: a waiting one at once, a running one at its next step."""
    return job_actions.cancel(job=access.job(pk), by=api.user(request))


@api.post(gives=JobSerializer)
def retry(request: Request, pk: int) -> Job:
    """Retry a job that failed or was cancelled."""
    return job_actions.retry(job=access.job(pk), by=api.user(request))


@api.post(JOB_ACTS.input, BulkOutcomeSerializer)
def change_jobs(request: Request) -> Any:
    """Cancel several jobs or retry them: each is changed or refused by itself."""
    return JOB_ACTS.change(by=api.user(request), **api.data(request))


@api.post(RUN_ACTS.input, BulkOutcomeSerializer)
def change_runs(request: Request) -> Any:
    """Pause, resume, cancel or retry several runs: each is changed or refused by itself."""
    return RUN_ACTS.change(by=api.user(request), **api.data(request))


urlpatterns: list[URLPattern] = [
    path("jobs/", api.route(jobs), name="api-jobs"),
    path("jobs/changes/", api.route(change_jobs), name="api-change-jobs"),
    path("runs/changes/", api.route(change_runs), name="api-change-runs"),
    path("jobs/<int:pk>/", api.route(job), name="api-job"),
    path("jobs/<int:pk>/cancel/", api.route(cancel), name="api-cancel-job"),
    path("jobs/<int:pk>/retry/", api.route(retry), name="api-retry-job"),
]
