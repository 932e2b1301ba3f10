"""What a database error means for whoever asked: try again soon, no room, or the fault is ours."""

from __future__ import annotations

import errno
import logging
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from config.embedded.layout import EmbeddedError
from config.web.answers import RETRY_SECONDS, short, wants_json

AWAY = (
    "The database is away for a moment. Nothing that was confirmed is lost; what was not is to be sent again."
)
FULL = "There is no room left on the server's disk, so nothing can be saved now. What was confirmed is kept."
BUSY = "Too much is going on at once. What was not confirmed is to be sent again."
SENTENCES = {"53100": FULL, "53300": BUSY, "53200": BUSY, "40001": BUSY, "40P01": BUSY, "55P03": BUSY}
"""By PostgreSQL's error codes (appendix A of its manual)."""
SYSTEM = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EMFILE: BUSY, errno.ENFILE: BUSY}
AWAY_CLASSES = ("08", "57P")


def passing(error: BaseException | None) -> str | None:
    """The sentence for an error that passes by itself; None for one that does not.

    An error without a code is the connection's own: refused, or broken in the middle.
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
    """503 with Retry-After: JSON for scripts, a small page for people. Needs no database and no template."""
    header = request.headers.get
    scripted = wants_json(
        request.path, header("Accept", ""), request.content_type or "", header("HX-Request", "")
    )
    answer = short(503, sentence, for_scripts=scripted, retry=RETRY_SECONDS)
    return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))


class ShortWhilePassing(logging.Filter):
    """One line instead of a traceback for each request that met trouble which passes by itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten such a record; every record is kept."""
        error = record.exc_info[1] if record.exc_info else None
        if passing(error):
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            record.msg, record.args = "%s (answered with 503)", (reason,)
            record.exc_info = record.exc_text = None
        return True


def current() -> str | None:
    """The sentence for the error that is being handled right now, if it passes by itself."""
    return passing(sys.exc_info()[1])
