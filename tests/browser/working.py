"""Background work beside the browser."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connection

from jobs.kinds import never, queue_of
from jobs.queue.worker import Heartbeat


def aside(work: Callable[[], object]) -> threading.Thread:
    """Run work in its own thread, because the browser's thread has an event loop that blocks any other."""

    def run() -> None:
        work()
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def work_off(queue: str) -> None:
    """Run the queued jobs as the queue's worker does, beside the browser."""

    def work() -> None:
        with Heartbeat(queue) as heartbeat:
            queue_of(queue).work(queue, seconds=20, heartbeat=heartbeat, stopping=never)

    aside(work).join()
