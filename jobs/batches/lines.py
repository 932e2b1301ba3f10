"""The files of a batch: a request a line, a result a line, matched by name alone. Pure, and strict with what
comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from jobs.endpoints.redaction import decoded

URL = "/v1/chat/completions"
"""What all requests of a batch ask; the same for every provider, whatever its own address."""
MOST_LINE = 4_000_000
"""Bytes of a result that is read: as of a reply that comes at once."""
NOT_DONE = frozenset({"batch_expired", "batch_cancelled"})
"""What an error says whose request was never done, and so not paid for."""
_NAME = re.compile(r"call-([1-9]\d{0,17})")


@dataclass(frozen=True, slots=True)
class Line:
    """What came of a call: a response (`status`, decoded `body`), or an error `code` with its `message`."""

    call: int
    status: int | None = None
    body: Any = None
    code: str = ""
    message: str = ""


def request_line(call: int, body: Mapping[str, Any]) -> bytes:
    """Return the line of a call's request, with its end."""
    told = {"custom_id": f"call-{call}", "method": "POST", "url": URL, "body": body}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_lines(file: IO[bytes], key: str = "") -> Iterator[Line | None]:
    """Yield what each line of a result file says, without the endpoint's key; None for one that says nothing
    of a call."""
    while text := file.readline(MOST_LINE + 1):
        if len(text) > MOST_LINE and not text.endswith(b"\n"):
            while (rest := file.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif text.strip():
            yield read_line(text, key)


def read_line(text: bytes, key: str = "") -> Line | None:
    """Return what a line says; None where it is none of a batch's results."""
    try:
        told = decoded(text, key)
    except (ValueError, RecursionError):
        return None
    name = _NAME.fullmatch(str(told.get("custom_id"))) if isinstance(told, dict) else None
    if name is None:
        return None
    call, response, error = int(name[1]), told.get("response"), told.get("error")
    if isinstance(response, dict) and _is_status(response.get("status_code")):
        return Line(call, response["status_code"], response.get("body"))
    if isinstance(error, dict):
        return Line(call, code=str(error.get("code"))[:100], message=str(error.get("message"))[:500])
    return None


def chunked(lines: Iterable[Line | None], size: int) -> Iterator[list[Line]]:
    """Yield lines in order, up to `size` at a time and only the first of each call in it."""
    chunk: dict[int, Line] = {}
    for line in lines:
        if line is not None:
            chunk.setdefault(line.call, line)
        if len(chunk) >= size:
            yield list(chunk.values())
            chunk = {}
    if chunk:
        yield list(chunk.values())


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600
