"""`manage.py api` in tests: a request as the command makes it, and its answer as plain data."""

from __future__ import annotations

import io
import json
from typing import Any

from django.core.management import call_command


def api(*words: str, account: str) -> Any:
    """Call a route as an account; return what is printed. A refusal raises CommandError."""
    out = io.StringIO()
    call_command("api", *words, "--as", account, stdout=out)
    return json.loads(out.getvalue())
