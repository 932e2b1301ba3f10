"""Celery tasks."""

from __future__ import annotations

from celery import shared_task

from jobs.kinds import QUEUES, never, queue_of
from jobs.queue import timing, waking, worker
from jobs.queue.worker import Heartbeat

# Thin Celery tasks around the same claim-and-work functions, safe to run twice.
#
# A task is one slice; after a crash its work is freed when its leases expire. While work waits, a task sends
# its successor.

SLICE = 20.0


@shared_task(name=waking.TASK, ignore_result=True)
def work_queue(queue: str, follow: bool = True) -> int:
    """Work on a queue for one slice; return the number of pieces touched."""
    with Heartbeat(queue, is_task=True) as heartbeat:
        touched = queue_of(queue).work(queue, seconds=SLICE, heartbeat=heartbeat, stopping=never)
    if follow and (soon := queue_of(queue).waiting(queue)):
        waking.send(queue, countdown=0 if soon == "ready" else 1)
    return touched


@shared_task(name="jobs.sweep", ignore_result=True)
def sweep() -> int:
    """Return lost leases, and wake all queues: lost messages and dead workers cost at most one period."""
    returned = worker.sweep()
    for queue in QUEUES:
        # No successors, or one more chain of tasks would begin at every sweep.
        waking.send(queue, False, expires=timing.SWEEP_EVERY)
    return returned


__all__ = ["sweep", "work_queue"]
