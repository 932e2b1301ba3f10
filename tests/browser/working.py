"""A worker beside the browser."""

from __future__ import annotations

import threading

from django.db import connection

from jobs.kinds import queue_of
from jobs.queue.heartbeat import Heart
from jobs.queue.progress import never


def work_off(queue: str) -> None:
    """Do what waits in a queue as its worker does, beside the browser."""

    def run() -> None:
        with Heart(queue) as heart:
            queue_of(queue).work(queue, seconds=20, heart=heart, stopping=never)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
