"""Batches of the fake model: files, batches and their results, in memory, with what was asked and paid.

A batch is done when its time is over (`batch_slow:MS`), all at once; results come in an order of their own.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from demo.fake_model.draws import u
from demo.fake_model.misbehaving import Misbehaviour
from demo.fake_model.responses import Response, failure, ok

MOST_LINES = 50_000
COMPLETED, EXPIRED, CANCELLED, FAILED = "completed", "expired", "cancelled", "failed"
ENDED = (COMPLETED, EXPIRED, CANCELLED, FAILED)
Answer = Callable[[Any], Response]
"""From the body of a chat completion to its response."""


@dataclass(slots=True)
class Batch:
    """A submitted batch: the lines of its file, and how it stands."""

    id: str
    file: str
    metadata: dict[str, str]
    lines: list[dict[str, Any]]
    seconds: float
    made: float = field(default_factory=time.time)
    cancelled: float | None = None
    state: str = ""
    trouble: str = ""
    output: str = ""
    errors: str = ""
    completed: int = 0
    failed: int = 0


class Batches:
    """All batches of a server. `paid` counts how often each request was answered, `submitted` how often it
    stood in a batch, both by the request's JSON; `lines` counts all lines. Safe to ask from many threads."""

    def __init__(self, answer: Answer, misbehaviours: Sequence[Misbehaviour] = (), *, seed: int = 0) -> None:
        self.answer, self.misbehaviours, self.seed = answer, misbehaviours, seed
        self.files: dict[str, bytes] = {}
        self.made: dict[str, Batch] = {}
        self.paid: Counter[str] = Counter()
        self.submitted: Counter[str] = Counter()
        self.tried = self.looked = self.done = self.kept = 0
        self._lock = threading.RLock()

    def respond(self, method: str, path: str, body: Any) -> Response | None:
        """Return the response to a request about files and batches; None for any other."""
        parts = urlsplit(path)
        route = parts.path.rstrip("/").removeprefix("/v1/").split("/")
        with self._lock:
            match [method, *route]:
                case ["POST", "files"]:
                    return self._upload(body)
                case ["GET", "files", name, "content"]:
                    return self._content(name)
                case ["GET" | "DELETE", "files", name]:
                    return self._file_itself(method, name)
                case ["POST", "batches"]:
                    return self._create(body)
                case ["GET", "batches"]:
                    return self._list(parse_qs(parts.query))
                case ["GET", "batches", name]:
                    return self._one(name)
                case ["POST", "batches", name, "cancel"]:
                    return self._cancel(name)
                case ["GET", "counts"]:
                    return ok(self.counts())
        return None

    def counts(self) -> dict[str, int]:
        """Return how many batches were made, and how many of their lines were submitted and paid for."""
        return {
            "batches": len(self.made),
            "submitted": self.submitted.total(),
            "paid": self.paid.total(),
            "paid_twice": sum(n - 1 for n in self.paid.values()),
            "looked": self.looked,
            "files": len(self.files),
        }

    def _upload(self, body: Any) -> Response:
        content = body.get("file") if isinstance(body, dict) else None
        if not isinstance(content, bytes) or body.get("purpose") != "batch":
            return failure(400, "a form with a file and purpose=batch is needed")
        name = self._keep(content)
        slow = [one for one in self.misbehaviours if one.kind.startswith("batch_upload_slow:")]
        delay = sum(int(one.amount) for one in slow) / 1000
        return ok({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"}, delay)

    def _keep(self, content: bytes) -> str:
        self.kept += 1
        name = f"file-{self.kept}"
        self.files[name] = content
        return name

    def _file_itself(self, method: str, name: str) -> Response:
        if method == "DELETE" and any(one.kind == "batch_undeletable" for one in self.misbehaviours):
            return failure(403, "files are not deleted here, as the error model says", "forbidden")
        if name not in self.files:
            return failure(404, f"there is no file {name[:80]}", "not_found")
        if method == "DELETE":
            del self.files[name]
            return ok({"id": name, "object": "file", "deleted": True})
        return ok({"id": name, "object": "file", "bytes": len(self.files[name]), "purpose": "batch"})

    def _content(self, name: str) -> Response:
        content = self.files.get(name)
        return (
            failure(404, f"there is no file {name[:80]}", "not_found")
            if content is None
            else Response(200, content)
        )

    def _create(self, body: Any) -> Response:
        content = self.files.get(str(body.get("input_file_id"))) if isinstance(body, dict) else None
        if content is None or body.get("endpoint") != "/v1/chat/completions":
            return failure(400, "an uploaded file and the endpoint /v1/chat/completions are needed")
        number, self.tried = self.tried, self.tried + 1
        met = self._met("submission", number, str(number))
        for one in met:
            if one.kind == "batch_429":
                pause = {} if one.retry_after is None else {"retry_after": f"{one.retry_after:g}"}
                return failure(
                    429, "too many batches, as the error model says", "rate_limit_exceeded", **pause
                )
        lines, trouble = _lines(content)
        seconds = sum(int(one.amount) for one in met if one.kind.startswith("batch_slow:")) / 1000
        metadata = body.get("metadata") or {}
        batch = Batch(f"batch_{len(self.made) + 1}", body["input_file_id"], metadata, lines, seconds)
        self.made[batch.id] = batch
        if trouble or any(one.kind == "batch_refused" for one in met):
            batch.state, batch.trouble = FAILED, trouble or "refused, as the error model says"
            return ok(_told(batch))
        self.submitted.update(_key(line["body"]) for line in lines)
        if any(one.kind == "batch_reset" for one in met):
            return Response(0, b"", instead="reset")
        return ok(_told(batch))

    def _list(self, query: dict[str, list[str]]) -> Response:
        if any(one.kind == "batch_unlisted" for one in self.misbehaviours):
            return failure(404, "batches are not listed here", "not_found")
        rows = [self._done(batch) for batch in reversed(self.made.values())]
        after, most = query.get("after", [""])[0], int(query.get("limit", ["20"])[0])
        ids = [batch.id for batch in rows]
        start = ids.index(after) + 1 if after in ids else 0
        page = rows[start : start + most]
        more = start + most < len(rows)
        return ok({"object": "list", "data": [_told(batch) for batch in page], "has_more": more})

    def _one(self, name: str) -> Response:
        self.looked += 1
        if name not in self.made:
            return failure(404, f"there is no batch {name[:80]}", "not_found")
        return ok(_told(self._done(self.made[name])))

    def _cancel(self, name: str) -> Response:
        if name not in self.made:
            return failure(404, f"there is no batch {name[:80]}", "not_found")
        batch = self._done(self.made[name])
        if batch.state in ENDED:
            return failure(400, f"the batch is {batch.state}")
        batch.cancelled = time.time()
        return ok(_told(batch, state="cancelling"))

    def _done(self, batch: Batch) -> Batch:
        """Return a batch as it stands now: done where its time is over, cut short where it was cancelled."""
        if batch.state in ENDED:
            return batch
        if batch.cancelled is not None:
            self._finish(batch, cut=True)
        elif time.time() - batch.made >= batch.seconds:
            self._finish(batch, cut=False)
        return batch

    def _finish(self, batch: Batch, *, cut: bool) -> None:
        results: list[tuple[bool, dict[str, Any]]] = []
        for line in sorted(batch.lines, key=lambda line: u(self.seed, "order", batch.id, line["custom_id"])):
            if cut and u(self.seed, "cancelled", batch.id, line["custom_id"]) < 0.5:
                results.append((False, _undone(line, "batch_cancelled")))
            else:
                results.append(self._result(line))
        codes = {(row["error"] or {}).get("code") for _, row in results}
        batch.state = CANCELLED if cut else EXPIRED if "batch_expired" in codes else COMPLETED
        batch.completed = sum(good for good, _ in results)
        batch.failed = len(results) - batch.completed
        batch.output = self._file(row for good, row in results if good)
        batch.errors = self._file(row for good, row in results if not good)

    def _file(self, rows: Any) -> str:
        content = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        return self._keep(content) if content else ""

    def _result(self, line: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Return whether a line was answered, and what stands in the file."""
        key = _key(line["body"])
        met = self._met(key, self.done, str(self.submitted[key]))
        self.done += 1
        if any(one.kind == "batch_expires" for one in met):
            return False, _undone(line, "batch_expired")
        if any(one.kind == "batch_fails" for one in met):
            return False, _row(line, failure(500, "the line fails, as the error model says", "server_error"))
        response = self.answer(line["body"])
        if response.instead:
            response = failure(500, "the model did not answer", "server_error")
        good = response.status == 200
        self.paid[key] += good
        return good, _row(line, response)

    def _met(self, text: str, number: int, times: str) -> list[Misbehaviour]:
        return [
            one
            for one in self.misbehaviours
            if one.kind.startswith("batch_")
            and (number < one.first or u(self.seed, "misbehaviour", one.kind, text, times) < one.rate)
        ]


def _lines(content: bytes) -> tuple[list[dict[str, Any]], str]:
    """Return the lines of an uploaded file, and what is wrong with them ('' for nothing)."""
    try:
        rows = [json.loads(line) for line in content.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return [], "a line is not valid JSON"
    names = [row.get("custom_id") if isinstance(row, dict) else None for row in rows]
    if not rows or len(rows) > MOST_LINES:
        return [], f"a batch has 1 to {MOST_LINES:,} lines"
    if None in names or len(set(names)) < len(names):
        return [], "each line needs a custom_id of its own"
    return rows, ""


def _key(body: Any) -> str:
    return json.dumps(body, sort_keys=True, ensure_ascii=False)


def _row(line: dict[str, Any], response: Response) -> dict[str, Any]:
    told = {"status_code": response.status, "request_id": "fake", "body": json.loads(response.body)}
    return {"id": "fake", "custom_id": line["custom_id"], "response": told, "error": None}


def _undone(line: dict[str, Any], code: str) -> dict[str, Any]:
    error = {"code": code, "message": "This request was not executed."}
    return {"id": "fake", "custom_id": line["custom_id"], "response": None, "error": error}


def _told(batch: Batch, state: str = "") -> dict[str, Any]:
    age = time.time() - batch.made
    errors = {"object": "list", "data": [{"code": "invalid", "message": batch.trouble}]}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": batch.file,
        "completion_window": "24h",
        "status": state or batch.state or ("validating" if age < batch.seconds / 10 else "in_progress"),
        "output_file_id": batch.output or None,
        "error_file_id": batch.errors or None,
        "errors": errors if batch.state == FAILED else None,
        "created_at": int(batch.made),
        "request_counts": {
            "total": len(batch.lines),
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "metadata": batch.metadata,
    }
