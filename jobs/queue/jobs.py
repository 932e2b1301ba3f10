"""The queue of single jobs: claim one, do it in a thread, write how it ended, take back what was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from config.trouble import FULL, temporary_trouble
from jobs.errors import JobCancelled, JobInterrupted, JobLost, JobRefused
from jobs.kinds import Progress, kind_of, never
from jobs.models import Job
from jobs.queue import timing

if TYPE_CHECKING:
    from jobs.queue.worker import Heartbeat

logger = logging.getLogger(__name__)
LOST = "its worker was lost each time it was tried"
Result = Mapping[str, Any]


def ready(_queue: str) -> bool:
    """Whether a job waits."""
    return Job.objects.filter(state=Job.State.QUEUED).exists()


def beat(_queue: str) -> None:
    """Nothing more is done with a heartbeat."""


def waiting(queue: str) -> str:
    """Return `ready` where a job waits, else ''."""
    return "ready" if ready(queue) else ""


def work(_queue: str, *, seconds: float, heartbeat: Heartbeat, stopping: Callable[[], bool] = never) -> int:
    """Do waiting jobs, the oldest first, until none waits, the time is over or `stopping`; return how many.

    One that is under way when the time is over is still finished.
    """
    until, count = time.monotonic() + seconds, 0
    while not stopping() and time.monotonic() < until:
        job = claim(worker=heartbeat.name)
        if job is None:
            break
        heartbeat.hold([job.pk])
        try:
            met_trouble = _in_thread(job, heartbeat.name, stopping)
        finally:
            heartbeat.let_go([job.pk])
        count += 1
        if met_trouble:
            _pause(stopping)
    return count


@transaction.atomic
def claim(*, worker: str) -> Job | None:
    """Lease the oldest waiting job to a worker and return it, None where none waits."""
    waiting = Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(state=Job.State.QUEUED)
    job = waiting.order_by("pk").first()
    if job is None:
        return None
    now = timezone.now()
    job.state, job.worker, job.attempts = Job.State.RUNNING, worker, job.attempts + 1
    job.note = ""
    job.lease_expires, job.started_at = now + timedelta(seconds=timing.lease()), job.started_at or now
    job.save()
    return job


def _in_thread(job: Job, worker: str, stopping: Callable[[], bool]) -> bool:
    """Do a job in a thread of its own; whatever goes wrong in it fails that job and no other.

    Returns whether it met trouble that passes by itself, so that the next try had better wait.
    """
    with ThreadPoolExecutor(1, thread_name_prefix=f"job-{job.pk}") as pool:
        future: Future[None] = pool.submit(_do_and_close, job, worker, stopping)
        error = future.exception()
    if isinstance(error, JobLost):
        logger.warning("%s went to another worker", job)
    elif sentence := temporary_trouble(error):
        logger.warning("%s waits: %s", job, sentence)
        _put_back_once_possible(job, worker, sentence, stopping)
        return True
    elif error is not None:
        logger.error("%s failed", job, exc_info=error)
        close(
            job,
            worker,
            Job.State.FAILED,
            error=f"unexpected {type(error).__name__}: the server's log says more",
        )
    return False


def _put_back_once_possible(job: Job, worker: str, sentence: str, stopping: Callable[[], bool]) -> None:
    """Put a job back; on a full disk that cannot be written either, until there is room."""
    while True:
        try:
            return put_back(job, worker, sentence)
        except DatabaseError as error:
            if temporary_trouble(error) is None or stopping():
                raise
            connection.close()
            _pause(stopping)


def _pause(stopping: Callable[[], bool]) -> None:
    """Give trouble time to pass."""
    until = time.monotonic() + timing.TROUBLE_PAUSE
    while time.monotonic() < until and not stopping():
        time.sleep(0.2)


def _do_and_close(job: Job, worker: str, stopping: Callable[[], bool]) -> None:
    try:
        do(job, worker=worker, stopping=stopping)
    finally:
        connection.close()


def do(job: Job, *, worker: str, stopping: Callable[[], bool] = never) -> None:
    """Do a claimed job and write how it ended. Unexpected errors pass."""
    with Progress(job.pk, worker, stopping) as progress:
        try:
            result = kind_of(job.kind).run(job, progress)
        except JobRefused as refusal:
            close(job, worker, Job.State.FAILED, error=str(refusal), result=refusal.detail)
        except JobCancelled:
            close(job, worker, Job.State.CANCELLED)
        except JobInterrupted:
            give_back(job, worker)
        else:
            close(job, worker, Job.State.DONE, result=result)


def close(job: Job, worker: str, state: Job.State, *, error: str = "", result: Result | None = None) -> None:
    """Write how a job ended, unless its lease went to another."""
    leased = Job.objects.filter(pk=job.pk, worker=worker, state=Job.State.RUNNING)
    ended: dict[str, Any] = {
        "state": state,
        "error": error,
        "result": dict(result or {}),
        "worker": "",
        "lease_expires": None,
        "finished_at": timezone.now(),
    }
    if state == Job.State.DONE:
        ended["done"] = F("total")
    leased.update(**ended)


def give_back(job: Job, worker: str) -> None:
    """Return a job that was interrupted: it waits again, as if it had not been tried."""
    leased = Job.objects.filter(pk=job.pk, worker=worker, state=Job.State.RUNNING)
    leased.update(state=Job.State.QUEUED, worker="", lease_expires=None, attempts=F("attempts") - 1)


def put_back(job: Job, worker: str, sentence: str) -> None:
    """Let a job wait that met trouble which passes by itself; `sentence` says what it waits for.

    It is tried again until there is room on the disk, and so often as it may be after any other trouble.
    """
    leased = Job.objects.filter(pk=job.pk, worker=worker, state=Job.State.RUNNING)
    waits = {"state": Job.State.QUEUED, "worker": "", "lease_expires": None, "note": sentence[:200]}
    if leased.filter(cancel_asked=True).exists():
        close(job, worker, Job.State.CANCELLED)
    elif sentence == FULL:
        leased.update(**waits, attempts=F("attempts") - 1)
    elif job.attempts >= job.max_attempts:
        close(job, worker, Job.State.FAILED, error=sentence)
    else:
        leased.update(**waits)


def renew(*, worker: str, ids: Sequence[int]) -> None:
    """Extend the leases of jobs that a worker holds: the heartbeat."""
    expires = timezone.now() + timedelta(seconds=timing.lease())
    Job.objects.filter(pk__in=ids, worker=worker, state=Job.State.RUNNING).update(lease_expires=expires)


def release(*, worker: str) -> int:
    """Take back at once what a worker held whose process is gone; return how many."""
    return _take_back(worker=worker)


def sweep() -> int:
    """Take back jobs whose lease expired; return how many."""
    return _take_back(lease_expires__lt=timezone.now())


@transaction.atomic
def _take_back(**lost: Any) -> int:
    leased = Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        state=Job.State.RUNNING, **lost
    )
    jobs = Job.objects.filter(pk__in=list(leased.values_list("pk", flat=True)))
    count = jobs.count()
    ended = {"worker": "", "lease_expires": None, "finished_at": timezone.now()}
    jobs.filter(cancel_asked=True).update(state=Job.State.CANCELLED, **ended)
    running = jobs.filter(state=Job.State.RUNNING)
    running.filter(attempts__gte=F("max_attempts")).update(state=Job.State.FAILED, error=LOST, **ended)
    jobs.filter(state=Job.State.RUNNING).update(state=Job.State.QUEUED, worker="", lease_expires=None)
    return count
