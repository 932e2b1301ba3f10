"""Celery over Redis or RabbitMQ. The broker carries wake-ups; the work itself is rows in PostgreSQL.

Each of these runs `celery -A config.celery`: a worker of a queue (`worker --queues calls`, or
`metrics`, or `jobs`), and the sweeper, which has a queue of its own and the clock in it
(`worker --beat --queues sweep`): other queues may be busy for minutes.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from kombu import Connection

from jobs.queue.timing import SWEEP_EVERY

# A task takes 20 seconds plus the requests in progress (two minutes at most). A message not acknowledged
# within this time is delivered to another worker, which is harmless but wastes one poll.
VISIBILITY_SECONDS = 900
RESTORE_EVERY = 10
SWEEP = "sweep"
RECONNECT_EVERY = 2
LONGEST_ANSWER = 5
"""Seconds after which a broker that accepted the connection but sends nothing counts as unreachable."""


def transport_options(broker: str) -> dict[str, Any]:
    """Return the options a broker needs to redeliver a lost worker's messages. RabbitMQ needs none."""
    if not broker.startswith(("redis", "rediss", "sentinel", "unix")):
        return {}
    return {
        "visibility_timeout": VISIBILITY_SECONDS,
        "unacked_restore_interval": RESTORE_EVERY,
        # Otherwise only every tenth of these checks is made.
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 3,
        "socket_timeout": LONGEST_ANSWER,
    }


class Broker(Connection):
    """A connection retried every two seconds without limit (kombu's default: every 30, a hundred times), so
    that the workers return as soon as the broker does."""

    def ensure_connection(  # type: ignore[override]  # the stubs name each option
        self, *args: Any, **options: Any
    ) -> Connection:
        """Connect, retrying without limit."""
        return super().ensure_connection(*args, **{"interval_max": RECONNECT_EVERY, **options})


class Amqp(AMQP):
    """Celery's messaging with these connections."""

    Connection = Broker


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
broker_url = os.environ.get("CELERY_BROKER_URL", "")

app = Celery("concord", broker=broker_url or None, amqp=Amqp, set_as_current=True)
app.conf.update(
    imports=("jobs.tasks",),
    broker_transport_options=transport_options(broker_url),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_default_queue="calls",
    task_ignore_result=True,
    # Acknowledged when done, so that a killed worker's messages go to another worker; one at a time.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    # A page must not wait long for an unreachable broker: the sweeper finds the work anyway.
    task_publish_retry_policy={
        "max_retries": 1,
        "interval_start": 0.1,
        "interval_step": 0.1,
        "interval_max": 0.2,
    },
    beat_schedule={
        "sweep": {
            "task": "jobs.sweep",
            "schedule": SWEEP_EVERY,
            "options": {"queue": SWEEP, "expires": SWEEP_EVERY},
        },
    },
)
