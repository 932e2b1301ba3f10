"""Queue of single jobs: claim jobs by lane, run each in a thread, store its end, take back lost jobs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from config.trouble import FULL, temporary_trouble
from jobs.errors import JobCancelled, JobInterrupted, JobLost, JobRefused
from jobs.kinds import JobLane, Progress, kind_of, load_kinds, never
from jobs.models import Job
from jobs.queue import timing

if TYPE_CHECKING:
    from jobs.queue.worker import Heartbeat

logger = logging.getLogger(__name__)
LOST = "its worker was lost each time it was tried"
Result = Mapping[str, Any]


def ready(_queue: str) -> bool:
    """Whether a job is queued."""
    return Job.objects.filter(state=Job.State.QUEUED).exists()


def beat(_queue: str) -> None:
    """Do nothing: jobs need no extra work at a heartbeat."""


def waiting(queue: str) -> str:
    """Return `ready` if a job is queued, else ''."""
    return "ready" if ready(queue) else ""


def work(_queue: str, *, seconds: float, heartbeat: Heartbeat, stopping: Callable[[], bool] = never) -> int:
    """Run queued jobs until none is left, time is up or `stopping`; return their number.

    The lanes are served side by side, each one job at a time, the oldest first: a worker runs at most one job
    a lane. A job in progress when time is up still finishes; while it is a long one, short ones still begin.
    """
    load_kinds()  # before there are two threads: an import reads its file in a fork
    until, count = time.monotonic() + seconds, 0
    lanes = {key: WorkerLane(key) for key in JobLane.values}
    try:
        while True:
            for worker_lane in lanes.values():
                worker_lane.settle(heartbeat, stopping)
            has_time = time.monotonic() < until
            for worker_lane in lanes.values():
                is_short = worker_lane.key == JobLane.SHORT
                may_begin = has_time or (is_short and lanes[JobLane.LONG].job is not None)
                if may_begin and not stopping() and worker_lane.begin(heartbeat, stopping):
                    count += 1
            busy = [each.work for each in lanes.values() if each.work is not None]
            if busy:
                wait(busy, timeout=timing.LANE_POLL, return_when=FIRST_COMPLETED)
            elif stopping() or not any(each.rests for each in lanes.values()):
                return count
            else:
                time.sleep(timing.LANE_POLL)
    finally:
        for worker_lane in lanes.values():
            worker_lane.close(heartbeat)


class WorkerLane:
    """One lane of a worker: its job in progress, in a thread of its own."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.job: Job | None = None
        self.work: Future[None] | None = None
        self._rests_until = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"lane-{key}")

    @property
    def rests(self) -> bool:
        """Whether it waits for a temporary problem to pass."""
        return time.monotonic() < self._rests_until

    def begin(self, heartbeat: Heartbeat, stopping: Callable[[], bool]) -> bool:
        """Claim a job and begin it; False if the lane is occupied, rests, or has no queued job."""
        if self.job is not None or self.rests:
            return False
        self.job = claim(worker=heartbeat.name, in_lane=self.key)
        if self.job is None:
            return False
        heartbeat.hold([self.job.pk])
        self.work = self._thread.submit(_do_and_close, self.job, heartbeat.name, stopping)
        return True

    def settle(self, heartbeat: Heartbeat, stopping: Callable[[], bool]) -> None:
        """Store the end of a finished job, if its run did not; after a temporary problem the lane rests."""
        if self.job is None or self.work is None or not self.work.done():
            return
        job, error = self.job, self.work.exception()
        try:
            if settle(job, heartbeat.name, error, stopping):
                self._rests_until = time.monotonic() + timing.TROUBLE_PAUSE
        finally:
            heartbeat.let_go([job.pk])
            self.job = self.work = None

    def close(self, heartbeat: Heartbeat) -> None:
        """Wait for the job in progress, and end the thread."""
        self._thread.shutdown()
        if self.job is not None:
            heartbeat.let_go([self.job.pk])


@transaction.atomic
def claim(*, worker: str, in_lane: str | None = None) -> Job | None:
    """Lease the oldest queued job (of a lane, if one is named) to a worker; None if there is none."""
    waiting = Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(state=Job.State.QUEUED)
    if in_lane is not None:
        waiting = waiting.filter(lane=in_lane)
    job = waiting.order_by("pk").first()
    if job is None:
        return None
    now = timezone.now()
    job.state, job.worker, job.attempts = Job.State.RUNNING, worker, job.attempts + 1
    job.note = ""
    job.lease_expires, job.started_at = now + timedelta(seconds=timing.lease()), job.started_at or now
    job.save()
    return job


def settle(job: Job, worker: str, error: BaseException | None, stopping: Callable[[], bool] = never) -> bool:
    """Store how a job ended that raised `error`, None if it stored its end itself; it fails only that job.

    Returns whether it met a temporary problem, so that the next try should wait.
    """
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
    """Put a job back; if even that fails on a full disk, try until there is room."""
    while True:
        try:
            return put_back(job, worker, sentence)
        except DatabaseError as error:
            if temporary_trouble(error) is None or stopping():
                raise
            connection.close()
            _pause(stopping)


def _pause(stopping: Callable[[], bool]) -> None:
    """Wait for a temporary problem to pass."""
    until = time.monotonic() + timing.TROUBLE_PAUSE
    while time.monotonic() < until and not stopping():
        time.sleep(0.2)


def _do_and_close(job: Job, worker: str, stopping: Callable[[], bool]) -> None:
    try:
        do(job, worker=worker, stopping=stopping)
    finally:
        connection.close()


def do(job: Job, *, worker: str, stopping: Callable[[], bool] = never) -> None:
    """Run a claimed job and store its end. Unexpected errors propagate."""
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
    """Store the end of a job, unless another worker has its lease."""
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
    """Return an interrupted job to the queue, as if it had not been tried."""
    leased = Job.objects.filter(pk=job.pk, worker=worker, state=Job.State.RUNNING)
    leased.update(state=Job.State.QUEUED, worker="", lease_expires=None, attempts=F("attempts") - 1)


def put_back(job: Job, worker: str, sentence: str) -> None:
    """Return a job to the queue after a temporary problem, described by `sentence`.

    On a full disk it is retried until there is room; after other temporary problems, up to its maximum
    attempts.
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
    """Take back at once the jobs of a worker whose process is gone; return their number."""
    return _take_back(worker=worker)


def sweep() -> int:
    """Take back jobs whose lease expired; return their number."""
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
