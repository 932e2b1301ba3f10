"""Transactions that the database breaks off because they wait for one another: done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db import OperationalError
from psycopg.errors import DeadlockDetected

T = TypeVar("T")
TRIES = 5


def again_after_deadlock(work: Callable[[], T]) -> T:
    """Return what a transaction comes to, done anew where a deadlock undid it, up to TRIES times in all.

    The work must be one transaction of its own, so that nothing of it is left behind. Raises what the last
    try raised.
    """
    for _ in range(TRIES - 1):
        try:
            return work()
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
    return work()
