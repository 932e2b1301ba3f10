"""`manage.py api` in tests: sends a request as the command does, and returns the response as plain data."""

from __future__ import annotations

import io
import json
from typing import Any

from django.core.management import call_command
from django.core.signals import request_finished
from django.db import close_old_connections


def api(*words: str, account: str) -> Any:
    """Call a route as an account and return the printed response. A refusal raises CommandError."""
    out = io.StringIO()
    request_finished.disconnect(close_old_connections)  # the test's transaction goes on
    try:
        call_command("api", *words, "--as", account, stdout=out)
    finally:
        request_finished.connect(close_old_connections)
    return json.loads(out.getvalue() or "null")
