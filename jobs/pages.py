"""Pages of background jobs: the list, and actions on a job."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from config.listing import Column, Listing
from config.permissions import researcher_only, user_of
from jobs import access, job_actions
from jobs.bulk_acts import JOB_ACTS, RUN_ACTS
from jobs.errors import JobError
from jobs.models import Job, Run

# What runs and what failed, on every page.

LATELY = timedelta(days=1)


def work_status(request: HttpRequest) -> dict[str, Any]:
    """Return the numbers of jobs and runs that are under way and that failed lately, lazily."""
    return {"viewer_jobs": lambda: _work_status(request)}


def _work_status(request: HttpRequest) -> dict[str, int]:
    since = timezone.now() - LATELY
    jobs = Job.objects.aggregate(
        active=Count("pk", filter=Q(state__in=job_actions.ACTIVE)),
        failed=Count("pk", filter=Q(state=Job.State.FAILED, created_at__gte=since)),
    )
    runs = Run.objects.aggregate(
        active=Count("pk", filter=Q(state__in=(Run.State.QUEUED, Run.State.RUNNING))),
        failed=Count("pk", filter=Q(state=Run.State.FAILED, created_at__gte=since)),
    )
    return {name: jobs[name] + runs[name] for name in jobs}


# The researcher's list of jobs, and actions on a job.


JOBS = Listing(
    Column("Select", is_hidden=True),
    Column("Job", "kind"),
    Column("State", "state"),
    Column("Progress"),
    Column("By", "created_by__username"),
    Column("Asked for", "created_at", is_numeric=True),
    Column("Actions", is_hidden=True),
    search=("kind", "subject", "error", "created_by__username"),
    size=25,
)


@require_GET
@researcher_only
def job_list(request: HttpRequest) -> HttpResponse:
    """Researchers: list all jobs, latest first; the page refreshes the list while a job is active."""
    page = JOBS.page(request, Job.objects.select_related("created_by"))
    active = any(job.active for job in page)
    context = {"page": page, "active": active, "acts": JOB_ACTS.acts}
    return render(request, "jobs/list.html", context)


@require_POST
@researcher_only
def change_jobs(request: HttpRequest) -> HttpResponse:
    """Researchers: cancel the selected jobs, or run them again."""
    return JOB_ACTS.change_and_return(request)


@require_POST
@researcher_only
def change_runs(request: HttpRequest) -> HttpResponse:
    """Researchers: pause, resume, cancel or retry the selected runs."""
    return RUN_ACTS.change_and_return(request)


@require_POST
@researcher_only
def cancel_job(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel a job."""
    job_actions.cancel(job=access.job(pk), by=user_of(request))
    return redirect("jobs")


@require_POST
@researcher_only
def retry_job(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: retry a job that failed or was cancelled."""
    try:
        job_actions.retry(job=access.job(pk), by=user_of(request))
    except JobError as error:
        messages.error(request, str(error))
    return redirect("jobs")


# Addresses of the pages.

urlpatterns: list[URLPattern] = [
    path("jobs/", job_list, name="jobs"),
    path("jobs/changes/", change_jobs, name="change-jobs"),
    path("runs/changes/", change_runs, name="change-runs"),
    path("jobs/<int:pk>/cancel/", cancel_job, name="cancel-job"),
    path("jobs/<int:pk>/retry/", retry_job, name="retry-job"),
]
