"""What a step of a batch is done with: the worker, what makes calls ready, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jobs.asking.taking import Taker
from jobs.queue.heartbeat import Heart


@dataclass(frozen=True, slots=True)
class Working:
    """One slice of a worker's time for batches."""

    heart: Heart
    taker: Taker
    stopping: Callable[[], bool]

    @property
    def worker(self) -> str:
        """Its name, as in leases."""
        return self.heart.name
