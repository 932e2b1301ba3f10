"""Health checks for load balancers and container engines: `/healthz` and `/readyz`."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.commands import migrations_wait
from config.embedded.layout import EmbeddedError
from config.embedded.programs import QUEUES
from config.trouble import passing
from jobs.models import Worker

logger = logging.getLogger(__name__)
_all_applied = threading.Event()
SEEN_LATELY = timedelta(seconds=90)


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Open to everyone: 200 while this process answers; it looks at nothing else."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Open to everyone: 200 when `database`, `migrations` and every queue of `workers` are true, else 503."""
    database = migrations = False
    workers = dict.fromkeys(QUEUES, False)
    try:
        connection.ensure_connection()
        database = True
        migrations = not _pending_migrations()
        if migrations:
            workers = _workers_seen()
    except (Error, EmbeddedError) as error:
        # The answer says what could not be reached; why is for the log alone. A connection that was open
        # may prove broken only with its first question.
        database = database and passing(error) is None
        logger.warning("not ready: %s", error)
    ready = migrations and all(workers.values())
    answer = {"database": database, "migrations": migrations, "workers": workers}
    status = "ok" if ready else "unavailable"
    return JsonResponse({"status": status, **answer}, status=200 if ready else 503)


def _pending_migrations() -> bool:
    """Whether a migration of this code waits. Once none does, none will, and it is not looked for again."""
    if not _all_applied.is_set() and not migrations_wait():
        _all_applied.set()
    return not _all_applied.is_set()


def _workers_seen() -> dict[str, bool]:
    """Per queue, whether a worker has said lately that it lives."""
    since = timezone.now() - SEEN_LATELY
    seen = set(Worker.objects.filter(last_seen__gte=since).values_list("queue", flat=True))
    return {queue: queue in seen for queue in QUEUES}
