"""Start, cancel and retry jobs: every state change that a user requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from config.models import Event
from jobs.errors import JobError
from jobs.kinds import JOBS, KINDS, lane_of
from jobs.models import Job
from jobs.queue.waking import wake

# Folders in the home for files that jobs read or write: private, created on first use.


def private_folder(name: str) -> Path:
    """Return the folder of that name in the home, created with access for the owner only."""
    path = Path(settings.HOME) / name
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


ACTIVE = (Job.State.QUEUED, Job.State.RUNNING)


@transaction.atomic
def start(*, kind: str, subject: str, by: User | None, params: Mapping[str, Any] | None = None) -> Job:
    """Queue a job, or return the active job of the same kind and subject: only one runs at a time.

    Raises KeyError for a kind that is not in the table.
    """
    if kind not in KINDS:
        raise KeyError(kind)
    active = active_job(kind, subject)
    if active is not None:
        return active
    try:
        with transaction.atomic():
            job = Job.objects.create(
                kind=kind, lane=lane_of(kind), subject=subject, params=dict(params or {}), created_by=by
            )
    except IntegrityError:  # another request was faster
        return Job.objects.get(kind=kind, subject=subject, state__in=ACTIVE)
    _log(by, "start job", job)
    wake(JOBS)
    return job


def active_job(kind: str, subject: str) -> Job | None:
    """Return the queued or running job of a kind and subject, or None."""
    return Job.objects.filter(kind=kind, subject=subject, state__in=ACTIVE).first()


@transaction.atomic
def cancel(*, job: Job, by: User | None) -> Job:
    """Cancel a job: a queued job at once, a running job at its next step; a finished job stays as it is."""
    job = Job.objects.select_for_update().get(pk=job.pk)
    if not job.active:
        return job
    if job.state == Job.State.QUEUED:
        job.state, job.finished_at = Job.State.CANCELLED, timezone.now()
    else:
        job.cancel_asked = True
        job.note = f"cancelled by {by.get_username()}"[:200] if by else job.note
    job.save(update_fields=["state", "finished_at", "cancel_asked", "note"])
    _log(by, "cancel job", job)
    return job


@transaction.atomic
def retry(*, job: Job, by: User | None) -> Job:
    """Queue a failed or cancelled job again. Raises JobError for a job in any other state."""
    job = Job.objects.select_for_update().get(pk=job.pk)
    if job.state not in (Job.State.FAILED, Job.State.CANCELLED):
        raise JobError(f"The job is {job.state}: only one that failed or was cancelled can be done again.")
    other = active_job(job.kind, job.subject)
    if other is not None:
        return other
    job.state, job.error, job.note, job.cancel_asked = Job.State.QUEUED, "", "", False
    job.attempts, job.done, job.total, job.finished_at = 0, 0, 0, None
    job.save()
    _log(by, "retry job", job)
    wake(JOBS)
    return job


def _log(by: User | None, verb: str, job: Job) -> None:
    detail = {"kind": job.kind, "about": job.subject}
    Event.objects.create(by=by, verb=verb, subject=f"job {job.pk}", detail=detail)
