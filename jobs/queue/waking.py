"""Wake-ups for workers: a message only wakes them, the work itself is rows.

Without a broker a NOTIFY reaches the plain loops; with a broker, Celery tasks are sent after the commit. A
message that cannot be sent is logged and costs time, never the answer: the sweep finds the work.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)
CHANNEL = "concord_work"
TASK = "jobs.work"


def wake(queue: str, workers: int = 1) -> None:
    """Wake the workers of a queue once the current transaction is committed."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(partial(_send_all, queue, workers), robust=True)
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, queue])


def _send_all(queue: str, workers: int) -> None:
    """Send a message per worker, until one fails: each try may take seconds."""
    all(send(queue) for _ in range(workers))


def send(queue: str, *arguments: Any, **options: Any) -> bool:
    """Send a wake-up now; return whether the broker accepted it."""
    try:
        current_app.send_task(TASK, args=[queue, *arguments], queue=queue, **options)
    except (OperationalError, OSError) as error:
        logger.warning("no wake-up for %s, the sweep finds its work: the broker is away (%s)", queue, error)
        return False
    return True
