"""Transport shared by all requests: token, retries, idempotency keys, pages, files and refusals.

ConcordError        Concord refused a request: `status`, `detail`, `code`, `fields`, `body`
|-- Unreachable     no response after all tries
"""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = 200
LONGEST_WAIT = 60.0
AGAIN = frozenset({429, 502, 503, 504})
"""Temporary statuses, worth a retry."""
BUSY = "idempotency_key_busy"
SAFE = frozenset({"GET", "PUT", "DELETE"})
"""Idempotent methods; a POST is idempotent if it has a key."""
File = bytes | Path | tuple[str, bytes]
"""A file to send: its bytes, its path, or its name with its bytes."""


class ConcordError(Exception):
    """A refusal: `detail` is a sentence, `code` is for programs, `fields` has errors by request field."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.detail = str(body.get("detail", f"HTTP {status}"))
        self.code = str(body.get("code", ""))
        self.fields: Mapping[str, list[str]] = body.get("fields") or {}
        self.body = body
        super().__init__(f"{status} {self.code}: {self.detail}")


class Unreachable(ConcordError):
    """No response after all tries."""

    def __init__(self, why: str) -> None:
        super().__init__(0, {"detail": why, "code": "unreachable"})


class Transport:
    """A connection to a Concord, such as `https://concord.example.org`, as the token's owner.

    An idempotent request is tried up to `tries` times: on network errors and on 429, 502, 503 and 504, after
    0.5, 1, 2 ... seconds (or after the time in `Retry-After`). A POST has its own idempotency key, so a retry
    takes effect only once.
    """

    def __init__(self, address: str, token: str, *, timeout: float = 60, tries: int = 5) -> None:
        self.root = address.rstrip("/") + "/api/v1"
        self.timeout, self.tries = timeout, tries
        self._token = token

    def quoted(self, part: Any) -> str:
        """Return a part of a path, URL-encoded."""
        return urllib.parse.quote(str(part), safe="")

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: Mapping[str, Any] | None = None,
        keyed: bool = False,
    ) -> Any:
        """Send a request and return the response: JSON as Python, a file as bytes, None if empty."""
        headers = {"Authorization": f"Token {self._token}", "Accept": "*/*"}
        data: bytes | None = None
        if form is not None:
            data, headers["Content-Type"] = _multipart(form)
        elif method != "GET" and (body is not None or method != "DELETE"):
            data, headers["Content-Type"] = (
                json.dumps({} if body is None else body).encode(),
                "application/json",
            )
        if keyed:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        asked = urllib.request.Request(
            self.root + path + _query(query), data=data, headers=headers, method=method
        )
        return self._tried(asked, keyed or method in SAFE)

    def pages(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Yield the rows of a list, requesting pages as needed."""
        offset = 0
        while True:
            page = self.send("GET", path, query={**(query or {}), "limit": PAGE, "offset": offset})
            yield from page["results"]
            offset += PAGE
            if not page["next"]:
                return

    def _tried(self, asked: urllib.request.Request, may_repeat: bool) -> Any:
        for number in range(1, self.tries + 1):
            last = not may_repeat or number == self.tries
            try:
                with urllib.request.urlopen(asked, timeout=self.timeout) as answer:
                    return _read(answer.headers.get("Content-Type", ""), answer.read())
            except urllib.error.HTTPError as error:
                refused = ConcordError(error.code, _refusal(error))
                if last or not (refused.status in AGAIN or refused.code == BUSY):
                    raise refused from None
                after = error.headers.get("Retry-After", "")
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                if last:
                    raise Unreachable(f"{asked.full_url}: {getattr(error, 'reason', error)}") from None
                after = ""
            time.sleep(_wait(number, after))
        raise Unreachable("tries must be 1 or more")


def _wait(number: int, after: str) -> float:
    if after.isascii() and after.isdigit():
        return min(float(after), LONGEST_WAIT)
    return min(0.5 * 2.0 ** (number - 1), LONGEST_WAIT) * random.uniform(0.8, 1.2)


def _read(kind: str, content: bytes) -> Any:
    if not content:
        return None
    return json.loads(content) if kind.startswith("application/json") else content


def _refusal(error: urllib.error.HTTPError) -> Mapping[str, Any]:
    try:
        body = json.loads(error.read())
    except ValueError:
        return {"detail": error.reason}
    return body if isinstance(body, Mapping) else {"detail": str(body)}


def _query(query: Mapping[str, Any] | None) -> str:
    pairs = [
        (name, str(one).lower() if isinstance(one, bool) else str(one))
        for name, value in (query or {}).items()
        if value is not None
        for one in (value if isinstance(value, Sequence) and not isinstance(value, str) else [value])
    ]
    return f"?{urllib.parse.urlencode(pairs)}" if pairs else ""


def _multipart(form: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a multipart form as bytes, and its media type."""
    boundary = uuid.uuid4().hex
    parts: list[bytes] = []
    for name, value in _single(form):
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
        if isinstance(value, bytes | Path | tuple):
            file, data = _file(value)
            safe = urllib.parse.quote(file, safe=" .-_()")
            head += f'; filename="{safe}"\r\nContent-Type: application/octet-stream'
        else:
            data = (str(value).lower() if isinstance(value, bool) else str(value)).encode()
        parts.append(f"{head}\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _single(form: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield a form's fields one value at a time: a list repeats its name, and None is omitted."""
    for name, value in form.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                yield name, one


def _file(value: File) -> tuple[str, bytes]:
    if isinstance(value, Path):
        return value.name, value.read_bytes()
    return value if isinstance(value, tuple) else ("upload", value)
