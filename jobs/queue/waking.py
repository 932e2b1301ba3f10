"""Telling workers that there is work: a message is only a wake-up, the work itself is rows.

Without a broker a NOTIFY reaches the plain loops; with one, Celery tasks are sent after the commit.
"""

from __future__ import annotations

from functools import partial

from celery import current_app
from django.conf import settings
from django.db import connection, transaction

CHANNEL = "concord_work"
TASK = "jobs.work"


def wake(queue: str, workers: int = 1) -> None:
    """Wake the workers of a queue once the current transaction is committed."""
    if settings.CELERY_BROKER_URL:
        for _ in range(workers):
            transaction.on_commit(partial(_send, queue))
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, queue])


def _send(queue: str) -> None:
    current_app.send_task(TASK, args=[queue], queue=queue)
