"""General pages: home, errors, and health checks."""

from __future__ import annotations

import logging
import shutil
import threading
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config import trouble
from config.commands import migrations_wait
from config.embedded.layout import EmbeddedError, layout
from config.embedded.supervisor import QUEUES
from config.permissions import is_administrator, is_researcher
from config.trouble import temporary_trouble
from jobs.models import Worker

# Context of every page's frame.


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return the viewer's roles, lazily: pages without the frame need no query."""
    return {
        "viewer_is_researcher": lambda: is_researcher(request.user),
        "viewer_is_administrator": lambda: is_administrator(request.user),
        "viewer_section": lambda: _section(request),
    }


SECTIONS = {
    "my-campaigns": {"my", "work", "adjudicate"},
    "schemes": {"schemes", "prompts", "endpoints", "raters", "runs/costs"},
    "people": {"people", "groups"},
    "": {"account", "jobs", "webhooks", "shared", "sign-in", "join", "link"},
}
"""Entries of the navigation, with the first words of their addresses; all others are in corpora."""


def _section(request: HttpRequest) -> str:
    path = request.path_info.strip("/")
    beginnings = (path.partition("/")[0], path)
    return next((name for name, words in SECTIONS.items() if not words.isdisjoint(beginnings)), "corpora")


# Health checks for load balancers and container engines: `/healthz` and `/readyz`.

logger = logging.getLogger(__name__)
_all_applied = threading.Event()
SEEN_LATELY = timedelta(seconds=90)
LEAST_ROOM = 16 * 2**20
"""Minimum free bytes on a disk: the size of a file of PostgreSQL's write-ahead log."""


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Open to everyone: 200 while this process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Open to everyone: 200 if database, migrations, storage and all workers are healthy, else 503."""
    database = migrations = False
    workers = dict.fromkeys(QUEUES, False)
    try:
        connection.ensure_connection()
        database = True
        migrations = not _pending_migrations()
        if migrations:
            workers = _workers_seen()
    except (Error, EmbeddedError) as error:
        # The response says what could not be reached; the reason goes only to the log. An open connection may
        # prove broken only at its first query.
        database = database and temporary_trouble(error) is None
        logger.warning("not ready: %s", error)
    storage = _has_room()
    ready = migrations and storage and all(workers.values())
    answer = {"database": database, "migrations": migrations, "storage": storage, "workers": workers}
    status = "ok" if ready else "unavailable"
    return JsonResponse({"status": status, **answer}, status=200 if ready else 503)


def _pending_migrations() -> bool:
    """Whether a migration of this release is pending. Once none is, none will be: no further checks."""
    if not _all_applied.is_set() and not migrations_wait():
        _all_applied.set()
    return not _all_applied.is_set()


def _has_room() -> bool:
    """Whether the disks of uploads, and of the embedded database if used, have enough space."""
    places = layout(settings.HOME)
    folders = [places.home] if settings.DATABASE_URL else [places.home, places.root]
    return all(shutil.disk_usage(folder).free >= LEAST_ROOM for folder in folders if folder.exists())


def _workers_seen() -> dict[str, bool]:
    """Return, per queue, whether a worker has sent a heartbeat recently."""
    since = timezone.now() - SEEN_LATELY
    seen = set(Worker.objects.filter(last_seen__gte=since).values_list("queue", flat=True))
    return {queue: queue in seen for queue in QUEUES}


def home(request: HttpRequest) -> HttpResponse:
    """Redirect any signed-in user: researchers to the corpora, annotators to their campaigns."""
    return redirect("corpora" if is_researcher(request.user) else "my-campaigns")


@login_not_required
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the 403 page."""
    return _error_response(request, 403, "Not for this account.")


@login_not_required
def missing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the 404 page."""
    return _error_response(request, 404, "There is nothing here.")


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    """Return the 500 page: plain, and without the database. 503 for temporary trouble."""
    if sentence := trouble.current():
        return trouble.unavailable(request, sentence)
    return _error_response(request, 500, "Something broke.")


NOTICES = {
    403: ("This page is not for you", "Your account may not see it. Ask an administrator if it should."),
    404: ("Nothing is here", "The address may be mistyped, or what it named was deleted."),
}
"""Title and text of the page of an error, by status."""


def _error_response(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    """Return an error as JSON for a program, as a page for a person."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"detail": detail}, status=status)
    if status not in NOTICES:
        return render(request, f"errors/{status}.html", status=status)
    title, text = NOTICES[status]
    context = {"title": title, "text": text, "href": reverse("home"), "action": "To the start"}
    return render(request, "errors/notice.html", context, status=status)
