"""What a step of a batch is done with: the worker, what makes calls ready, and when to stop.

A file takes minutes to send, and thousands of results as long to read: calls that are asked at once have
their turns meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeVar

from jobs.asking.outcomes import Counts
from jobs.asking.taking import Taker
from jobs.kinds import CALLS
from jobs.queue import calls as claiming
from jobs.queue.heartbeat import Heart

T = TypeVar("T")
SHORT = 0.25
"""Seconds that are waited for the provider before other calls have a turn, and between two turns."""
TURN = 5.0
"""Seconds of a turn; what is under way then is still finished."""


@dataclass(slots=True)
class Working:
    """One slice of a worker's time for batches; `meanwhile` counts what came of calls asked at once."""

    heart: Heart
    taker: Taker
    stopping: Callable[[], bool]
    only: Sequence[int] | None = None
    meanwhile: Counts = field(default_factory=Counts)
    _since: float = field(default_factory=time.monotonic)

    @property
    def worker(self) -> str:
        """Its name, as in leases."""
        return self.heart.name

    def beside(self, asking: Callable[[], T]) -> T:
        """Return what asking the provider comes to, in a thread of its own that may not use the database."""
        with ThreadPoolExecutor(1, thread_name_prefix="provider") as pool:
            future: Future[T] = pool.submit(asking)
            while not wait([future], timeout=SHORT).done:
                self._turn()
        return future.result()

    def breathe(self) -> None:
        """Give calls that are asked at once a turn, where the last one is some time ago."""
        if time.monotonic() - self._since > 2 * TURN:
            self._turn()

    def _turn(self) -> None:
        from jobs.asking.desk import ask_all  # the openai client, only where calls are made

        if not self.stopping() and claiming.lanes(CALLS, self.only):
            self.meanwhile.add(ask_all(self.heart, time.monotonic() + TURN, self.stopping, self.only))
        self._since = time.monotonic()
