"""The queues of calls, as `jobs.kinds` asks for them: requests to endpoints, and metrics to compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from jobs.asking import slices
from jobs.batches import leases
from jobs.endpoints import keys, probing
from jobs.kinds import CALLS
from jobs.models import Call, Run
from jobs.queue import calls as claiming
from jobs.queue.progress import never
from jobs.runs import ACTIVE

if TYPE_CHECKING:
    from jobs.queue.heartbeat import Heart

__all__ = ["beat", "ready", "release", "renew", "sweep", "waiting", "work"]


def ready(queue: str) -> bool:
    """Whether a call can be claimed now."""
    if queue == CALLS:
        from jobs.asking import desk  # noqa: F401  (a second to import, while nothing waits for it yet)
        from jobs.batches import steps
        from jobs.webhooks import delivering

        lacks = keys.lacking()
        servable = any(lane not in lacks for lane in claiming.lanes(queue))
        return servable or steps.is_due() or delivering.is_due()
    return bool(claiming.lanes(queue))


def work(queue: str, *, seconds: float, heart: Heart, stopping: Callable[[], bool] = never) -> int:
    """Claim calls and do them for a slice of time; return how many were touched. Webhooks go beside them."""
    _tell_webhooks(queue)
    counts = slices.work(queue, seconds=seconds, heart=heart, stopping=stopping)
    return counts.done + counts.failed + counts.again


def renew(*, worker: str, held: Sequence[int]) -> None:
    """Extend the leases of calls that a worker holds."""
    claiming.renew(worker=worker, calls=held)


def beat(queue: str) -> None:
    """With every heartbeat of a worker of calls: endpoints whose test was asked for, and webhooks."""
    probing.begin(queue)
    _tell_webhooks(queue)
    leases.renew()


def _tell_webhooks(queue: str) -> None:
    """Send in a thread of its own what webhooks are to be told."""
    if queue == CALLS:
        from jobs.webhooks import delivering

        delivering.begin(queue)


def release(*, worker: str) -> int:
    """Take back at once what a worker held whose process is gone; return how many calls."""
    leases.release(worker=worker)
    return claiming.release(worker=worker)


def sweep() -> int:
    """Take back calls whose lease expired; return how many. The leases of batches end by themselves."""
    return claiming.sweep()


def waiting(queue: str) -> str:
    """Return `ready` where a call can be claimed now, `later` where one waits for its time, else ''."""
    if queue == CALLS:
        from jobs.batches import steps

        if steps.is_due():
            return "ready"
    pending = Call.objects.filter(run__queue=queue, run__state__in=ACTIVE, state=Call.State.PENDING)
    pending = pending.filter(run__mode=Run.Mode.AT_ONCE)
    ready_now = pending.filter(Q(not_before=None) | Q(not_before__lte=timezone.now()))
    if ready_now.exclude(run__endpoint__in=keys.lacking()).exists():
        return "ready"
    return "later" if pending.exists() else ""
