"""What is sent back: a status and a body, or silence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent back after `delay` seconds. `hang` sends nothing, `reset` closes the connection."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    instead: Literal["", "hang", "reset"] = ""


def ok(body: Any, delay: float = 0.0) -> Response:
    """Return a response with status 200."""
    return Response(200, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), delay=delay)


def failure(
    status: int, message: str, code: str | None = None, param: str | None = None, **headers: str
) -> Response:
    """Return an error in the API's form."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Response(status, json.dumps({"error": error}).encode("utf-8", "replace"), named)
