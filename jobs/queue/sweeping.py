"""Putting in order what lost workers left: what a dead process held at once, what expired at its time.

Safe to run at any moment and by several processes.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from jobs.kinds import all_queues, queue_of, sweeps
from jobs.models import Worker
from jobs.queue import identity, timing


def sweep() -> int:
    """Take back what expired or whose worker is gone, do what other rooms ask; return how many leases."""
    returned = bury_the_dead() + sum(queue.sweep() for queue in all_queues())
    for other in sweeps():
        other()
    return returned


def bury_the_dead() -> int:
    """Take back what workers of this machine held whose process is gone, and strike them off.

    Workers of other machines are struck off when they were not seen for an hour; their leases expire.
    Returns how many leases were taken back.
    """
    returned = 0
    for worker in Worker.objects.all():
        if identity.is_gone(on=worker.machine, pid=worker.pid, born=worker.birth):
            returned += queue_of(worker.queue).release(worker=worker.name)
            worker.delete()
    since = timezone.now() - timedelta(seconds=timing.FORGOTTEN_AFTER)
    Worker.objects.filter(last_seen__lt=since).delete()
    return returned
