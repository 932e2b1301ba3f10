"""One slice of work: the claim-and-work function that the plain loop and Celery's tasks both call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from jobs.asking.outcomes import Counts
from jobs.errors import JobError
from jobs.models import Run
from jobs.queue.heartbeat import Heart
from jobs.queue.progress import never


def work(
    queue: str,
    *,
    seconds: float,
    heart: Heart,
    stopping: Callable[[], bool] = never,
    only: Sequence[int] | None = None,
) -> Counts:
    """Claim calls of a queue and do them until none is ready, the time is over or `stopping` says so.

    What is under way when the time is over is still finished. `only` narrows it to some runs. Returns what
    was done.
    """
    until = time.monotonic() + seconds
    if queue == Run.Queue.CALLS:
        from jobs.asking.desk import ask_all  # the openai client, only where calls are made
        from jobs.batches import steps

        counts = steps.work(heart, until, stopping, only)
        counts.add(ask_all(heart, until, stopping, only))
        return counts
    if queue == Run.Queue.METRICS:
        from jobs.asking.computing import compute_all

        return compute_all(heart, until, stopping, only)
    raise JobError(f"There is no queue {queue!r}; there are {', '.join(Run.Queue.values)}.")
