"""How far a job is: written beside its transaction, so that others see it, and asked whether to go on."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from jobs.errors import JobCancelled, JobInterrupted, JobLost

EVERY = 0.5
"""Seconds between two writes, at least."""
_WRITE = """
UPDATE jobs_job SET done = %s, total = %s, note = %s
 WHERE id = %s AND worker = %s AND state = 'running' RETURNING cancel_asked
"""


def never() -> bool:
    """Do not stop early."""
    return False


class Progress:
    """Call it as the work goes: `progress(done, total)`. Use as a context, because it has its own connection.

    Raises JobCancelled, JobInterrupted or JobLost where the work must end; the caller lets that pass, and
    its transaction rolls back with it.
    """

    def __init__(self, job: int, worker: str, stopping: Callable[[], bool] = never) -> None:
        self.job, self.worker, self.stopping = job, worker, stopping
        self._outside: BaseDatabaseWrapper | None = None
        self._last = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._outside is not None:
            self._outside.close()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Say that `done` of `total` units are done, at most twice a second; raise where to stop."""
        if self.stopping():
            raise JobInterrupted
        if monotonic() - self._last < EVERY and done < total:
            return
        self._last = monotonic()
        if self._outside is None:
            self._outside = connection.copy()
        with self._outside.cursor() as cursor:
            cursor.execute(_WRITE, [done, total, note[:200], self.job, self.worker])
            row = cursor.fetchone()
        if row is None:
            raise JobLost
        if row[0]:
            raise JobCancelled
