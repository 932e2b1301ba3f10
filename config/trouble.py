"""Responses to database errors: try again soon, disk full, or an error of ours."""

from __future__ import annotations

import errno
import html
import json
import logging
import sys
from dataclasses import dataclass
from http import HTTPStatus

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from config.embedded.layout import EmbeddedError
from config.middleware import POLICY
from config.refusals import shaped

# Short responses that need neither a template nor the database: JSON for scripts, a small page for people.

RETRY_SECONDS = 5
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · Concord</title>'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<link rel="stylesheet" href="/static/css/concord.css"></head>'
    '<body><main class="page"><div class="empty">'
    "<h1>{title}</h1><p>{sentence}</p></div></main></body></html>"
)


@dataclass(frozen=True)
class Answer:
    """Status, headers and body of a response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def short(status: int, sentence: str, *, for_scripts: bool, retry: int | None = None) -> Answer:
    """Return a response that says in one sentence what happened. `retry`: seconds until the next try."""
    if for_scripts:
        kind, body = "application/json", json.dumps(shaped(status, {"detail": sentence}))
    else:
        kind, title = "text/html; charset=utf-8", HTTPStatus(status).phrase
        body = PAGE.format(title=title, sentence=html.escape(sentence))
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body.encode()))),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
    ]
    if retry is not None:
        headers.append(("Retry-After", str(retry)))
    return Answer(status, headers, body.encode())


def wants_json(path: str, accept: str, content_type: str, requested_with: str = "") -> bool:
    """Whether a request is from a script: to the API, sending or accepting JSON, or by a page's script."""
    return (
        path.startswith("/api/")
        or "json" in content_type
        or ("json" in accept and "html" not in accept)
        or bool(requested_with)
    )


AWAY = "The database is unavailable for a moment. What was confirmed is kept; send everything else again."
FULL = "There is no room left on the server's disk, so nothing can be saved now. What was confirmed is kept."
BUSY = "Concord is busy. What was confirmed is kept; send everything else again."
SENTENCES = {"53100": FULL, "53300": BUSY, "53200": BUSY, "40001": BUSY, "40P01": BUSY, "55P03": BUSY}
"""Messages by PostgreSQL's error codes (appendix A of its manual)."""
SYSTEM = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EMFILE: BUSY, errno.ENFILE: BUSY}
AWAY_CLASSES = ("08", "57P")


def temporary_trouble(error: BaseException | None) -> str | None:
    """Return the message for a temporary error, None for any other.

    An error without a code is from the connection itself: refused, or broken midway.
    """
    if isinstance(error, EmbeddedError | InterfaceError):
        return AWAY
    if isinstance(error, OSError) and error.errno in SYSTEM:
        return SYSTEM[error.errno]
    if not isinstance(error, OperationalError):
        return None
    code = getattr(error.__cause__, "sqlstate", None)
    if code is None or code.startswith(AWAY_CLASSES):
        return AWAY
    return SENTENCES.get(code)


def unavailable(request: HttpRequest, sentence: str) -> HttpResponse:
    """Return 503 with Retry-After: JSON for scripts, a small page for people; no database or template."""
    header = request.headers.get
    scripted = wants_json(
        request.path, header("Accept", ""), request.content_type or "", header("HX-Request", "")
    )
    answer = short(503, sentence, for_scripts=scripted, retry=RETRY_SECONDS)
    return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))


class ShortWhilePassing(logging.Filter):
    """Logs one line instead of a traceback for each request that met a temporary error."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record of a temporary error; every record is kept."""
        error = record.exc_info[1] if record.exc_info else None
        if temporary_trouble(error):
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            record.msg, record.args = "%s (answered with 503)", (reason,)
            record.exc_info = record.exc_text = None
        return True


def current() -> str | None:
    """Return the message for the error currently being handled, None if it is not temporary."""
    return temporary_trouble(sys.exc_info()[1])
