"""Where Celery looks for tasks."""

from __future__ import annotations

from celery import shared_task

from jobs.kinds import QUEUES, never, queue_of
from jobs.queue import timing, waking, worker
from jobs.queue.worker import Heartbeat

# Celery's part: thin tasks around the same claim-and-work functions, safe to run twice.
#
# A task is a slice; what it held when it died comes back with its lease. While work waits, a task sends its
# successor.

SLICE = 20.0


@shared_task(name=waking.TASK, ignore_result=True)
def work_queue(queue: str, follow: bool = True) -> int:
    """Work on a queue for one slice; return how many pieces were touched."""
    with Heartbeat(queue, is_task=True) as heartbeat:
        touched = queue_of(queue).work(queue, seconds=SLICE, heartbeat=heartbeat, stopping=never)
    if follow and (soon := queue_of(queue).waiting(queue)):
        waking.send(queue, countdown=0 if soon == "ready" else 1)
    return touched


@shared_task(name="jobs.sweep", ignore_result=True)
def sweep() -> int:
    """Return lost leases, and wake all queues: lost messages and dead workers cost one period at most."""
    returned = worker.sweep()
    for queue in QUEUES:
        # No successors, or one more chain of tasks would begin at every sweep.
        waking.send(queue, False, expires=timing.SWEEP_EVERY)
    return returned


__all__ = ["sweep", "work_queue"]
