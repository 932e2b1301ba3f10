"""Celery's part: thin tasks around the same claim-and-work function, safe to run twice.

A task is a slice far shorter than the broker's visibility timeout; what it held when it died comes back with
its lease. While calls wait, a task sends its successor.
"""

from __future__ import annotations

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from annotation import assigning
from judges.models import Call, Run
from judges.runs import ACTIVE
from judges.work import claiming
from judges.work.heart import Heart, forget_the_dead
from judges.work.slices import work

SLICE = 20.0
SWEEP_EVERY = 15.0


@shared_task(name="judges.work", ignore_result=True)
def work_queue(queue: str, follow: bool = True) -> int:
    """Work on a queue for one slice; return how many calls were finished."""
    with Heart(queue, passing=True) as heart:
        counts = work(queue, seconds=SLICE, heart=heart)
    if follow and (soon := _waiting(queue)):
        work_queue.apply_async((queue,), queue=queue, countdown=0 if soon == "ready" else 1)
    return counts.done + counts.failed


@shared_task(name="judges.sweep", ignore_result=True)
def sweep() -> int:
    """Return expired leases, and wake both queues: lost messages and dead workers cost one period at most."""
    returned = claiming.sweep()
    assigning.return_expired()
    forget_the_dead()
    for queue in Run.Queue.values:
        # No successors, or one more chain of tasks would begin at every sweep.
        work_queue.apply_async((queue, False), queue=queue, expires=SWEEP_EVERY)
    return returned


def _waiting(queue: str) -> str:
    """Return `ready` where a call can be claimed now, `later` where one waits for its time, else ''."""
    pending = Call.objects.filter(run__queue=queue, run__state__in=ACTIVE, state=Call.State.PENDING)
    if pending.filter(Q(not_before=None) | Q(not_before__lte=timezone.now())).exists():
        return "ready"
    return "later" if pending.exists() else ""
