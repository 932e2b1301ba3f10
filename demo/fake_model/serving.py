"""From a request to a response: role, errors, and misbehaviours."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from demo.fake_model.errors import ErrorModel, Misbehaviour, fold, u
from demo.fake_model.requests import BadRequest, Request, request
from demo.fake_model.role import Answer, Sampler
from demo.fake_model.roles import ROLES, Role, recognise

# Responses: a status and a body, or silence.


@dataclass(frozen=True, slots=True)
class Response:
    """A response sent after `delay` seconds. `hang` sends nothing, `reset` closes the connection."""

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
    """Return an error in the API's format."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    header_fields = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Response(status, json.dumps({"error": error}).encode("utf-8", "replace"), header_fields)


# Batches of the fake model: files, batches and results in memory, with counts of submissions and payments.
#
# A batch completes as a whole when its time is over (`batch_slow:MS`); results come in a different order.

MOST_LINES = 50_000
COMPLETED, EXPIRED, CANCELLED, FAILED = "completed", "expired", "cancelled", "failed"
ENDED = (COMPLETED, EXPIRED, CANCELLED, FAILED)
AnswerRequest = Callable[[Any], Response]
"""From the body of a chat completion to its response."""


@dataclass(slots=True)
class Batch:
    """A submitted batch: the lines of its file, and its state."""

    id: str
    file: str
    metadata: dict[str, str]
    lines: list[dict[str, Any]]
    seconds: float
    created: float = field(default_factory=time.time)
    cancelled: float | None = None
    state: str = ""
    trouble: str = ""
    output: str = ""
    errors: str = ""
    completed: int = 0
    failed: int = 0


class Batches:
    """All batches of a server. `paid` counts how often each request was answered, `submitted` how often it
    was in a batch, both by the request's JSON; `lines` counts all lines. Thread-safe.
    """

    def __init__(
        self, answer: AnswerRequest, misbehaviours: Sequence[Misbehaviour] = (), *, seed: int = 0
    ) -> None:
        self.answer, self.misbehaviours, self.seed = answer, misbehaviours, seed
        self.files: dict[str, bytes] = {}
        self.by_id: dict[str, Batch] = {}
        self.paid: Counter[str] = Counter()
        self.submitted: Counter[str] = Counter()
        self.tried = self.looked = self.done = self.file_count = 0
        self._lock = threading.RLock()

    def respond(self, method: str, path: str, body: Any) -> Response | None:
        """Return the response to a request about files and batches; None for any other request."""
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
                    return self._retrieve(name)
                case ["POST", "batches", name, "cancel"]:
                    return self._cancel(name)
                case ["GET", "counts"]:
                    return ok(self.counts())
        return None

    def counts(self) -> dict[str, int]:
        """Return the number of batches, and of their lines submitted and paid for."""
        return {
            "batches": len(self.by_id),
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
        slow = [
            misbehaviour
            for misbehaviour in self.misbehaviours
            if misbehaviour.kind.startswith("batch_upload_slow:")
        ]
        delay = sum(int(misbehaviour.amount) for misbehaviour in slow) / 1000
        return ok({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"}, delay)

    def _keep(self, content: bytes) -> str:
        self.file_count += 1
        name = f"file-{self.file_count}"
        self.files[name] = content
        return name

    def _file_itself(self, method: str, name: str) -> Response:
        if method == "DELETE" and any(
            misbehaviour.kind == "batch_undeletable" for misbehaviour in self.misbehaviours
        ):
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
        met = self._matching_misbehaviours("submission", number, str(number))
        for misbehaviour in met:
            if misbehaviour.kind == "batch_429":
                pause = (
                    {}
                    if misbehaviour.retry_after is None
                    else {"retry_after": f"{misbehaviour.retry_after:g}"}
                )
                return failure(
                    429, "too many batches, as the error model says", "rate_limit_exceeded", **pause
                )
        lines, trouble = _lines(content)
        seconds = (
            sum(
                int(misbehaviour.amount)
                for misbehaviour in met
                if misbehaviour.kind.startswith("batch_slow:")
            )
            / 1000
        )
        metadata = body.get("metadata") or {}
        batch = Batch(f"batch_{len(self.by_id) + 1}", body["input_file_id"], metadata, lines, seconds)
        self.by_id[batch.id] = batch
        if trouble or any(misbehaviour.kind == "batch_refused" for misbehaviour in met):
            batch.state, batch.trouble = FAILED, trouble or "refused, as the error model says"
            return ok(_batch_json(batch))
        self.submitted.update(_key(line["body"]) for line in lines)
        if any(misbehaviour.kind == "batch_reset" for misbehaviour in met):
            return Response(0, b"", instead="reset")
        return ok(_batch_json(batch))

    def _list(self, query: dict[str, list[str]]) -> Response:
        if any(misbehaviour.kind == "batch_unlisted" for misbehaviour in self.misbehaviours):
            return failure(404, "batches are not listed here", "not_found")
        rows = [self._done(batch) for batch in reversed(self.by_id.values())]
        after, most = query.get("after", [""])[0], int(query.get("limit", ["20"])[0])
        ids = [batch.id for batch in rows]
        start = ids.index(after) + 1 if after in ids else 0
        page = rows[start : start + most]
        more = start + most < len(rows)
        return ok({"object": "list", "data": [_batch_json(batch) for batch in page], "has_more": more})

    def _retrieve(self, name: str) -> Response:
        self.looked += 1
        if name not in self.by_id:
            return failure(404, f"there is no batch {name[:80]}", "not_found")
        return ok(_batch_json(self._done(self.by_id[name])))

    def _cancel(self, name: str) -> Response:
        if name not in self.by_id:
            return failure(404, f"there is no batch {name[:80]}", "not_found")
        batch = self._done(self.by_id[name])
        if batch.state in ENDED:
            return failure(400, f"the batch is {batch.state}")
        batch.cancelled = time.time()
        return ok(_batch_json(batch, state="cancelling"))

    def _done(self, batch: Batch) -> Batch:
        """Return the current state of a batch: completed if its time is over, cut short if it was
        cancelled.
        """
        if batch.state in ENDED:
            return batch
        if batch.cancelled is not None:
            self._finish(batch, cut=True)
        elif time.time() - batch.created >= batch.seconds:
            self._finish(batch, cut=False)
        return batch

    def _finish(self, batch: Batch, *, cut: bool) -> None:
        results: list[tuple[bool, dict[str, Any]]] = []
        for line in sorted(batch.lines, key=lambda line: u(self.seed, "order", batch.id, line["custom_id"])):
            if cut and u(self.seed, "cancelled", batch.id, line["custom_id"]) < 0.5:
                results.append((False, _unfinished_row(line, "batch_cancelled")))
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
        """Return whether a line was answered, and its result line."""
        key = _key(line["body"])
        met = self._matching_misbehaviours(key, self.done, str(self.submitted[key]))
        self.done += 1
        if any(misbehaviour.kind == "batch_expires" for misbehaviour in met):
            return False, _unfinished_row(line, "batch_expired")
        if any(misbehaviour.kind == "batch_fails" for misbehaviour in met):
            return False, _row(line, failure(500, "the line fails, as the error model says", "server_error"))
        response = self.answer(line["body"])
        if response.instead:
            response = failure(500, "the model did not answer", "server_error")
        good = response.status == 200
        self.paid[key] += good
        return good, _row(line, response)

    def _matching_misbehaviours(self, text: str, number: int, times: str) -> list[Misbehaviour]:
        return [
            misbehaviour
            for misbehaviour in self.misbehaviours
            if misbehaviour.kind.startswith("batch_")
            and (
                number < misbehaviour.first
                or u(self.seed, "misbehaviour", misbehaviour.kind, text, times) < misbehaviour.rate
            )
        ]


def _lines(content: bytes) -> tuple[list[dict[str, Any]], str]:
    """Return the lines of an uploaded file, and the error in it ('' for none)."""
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
    content = {"status_code": response.status, "request_id": "fake", "body": json.loads(response.body)}
    return {"id": "fake", "custom_id": line["custom_id"], "response": content, "error": None}


def _unfinished_row(line: dict[str, Any], code: str) -> dict[str, Any]:
    error = {"code": code, "message": "This request was not executed."}
    return {"id": "fake", "custom_id": line["custom_id"], "response": None, "error": error}


def _batch_json(batch: Batch, state: str = "") -> dict[str, Any]:
    age = time.time() - batch.created
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
        "created_at": int(batch.created),
        "request_counts": {
            "total": len(batch.lines),
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "metadata": batch.metadata,
    }


# From a role's answer to a completion: spoilt if required, with token counts and probabilities.

_WORD_COMPLETIONS = re.compile(r"\S+")
REFUSAL = "I cannot help with that."
THOUGHTS = "I look at what is written in braces.\nhumanness - 1\nfinal: 1"
_LEAST = 1e-9


def spoilt(answer: Answer, kinds: Collection[str]) -> str:
    """Return the text of an answer, spoilt in the named ways."""
    fields = None if answer.fields is None else dict(answer.fields)
    lines = list(answer.lines)
    if "wrong_count" in kinds:
        fields, lines = _wrong_count(fields), lines[:-1]
    if "wrong_turn" in kinds and fields is not None:
        fields |= {f"{behaviour}_turns": [999] for behaviour in _counted(fields)}
    if "extra_field" in kinds:
        fields, lines = None if fields is None else {**fields, "remark": "none"}, [*lines, "remark - none"]
    text = Answer(fields, lines).text
    if "wrong_form" in kinds:
        text = "All in all: " + "; ".join(lines) + "." if fields is None else json.dumps([fields])
    return "I would rather not say { 'oops': " if "malformed" in kinds else text


def _wrong_count(fields: dict[str, Any] | None) -> dict[str, Any] | None:
    if not fields:
        return fields
    if counted := _counted(fields):
        return fields | {f"{behaviour}_count": fields[f"{behaviour}_count"] + 1 for behaviour in counted}
    return dict(list(fields.items())[:-1])


def _counted(fields: Mapping[str, Any]) -> list[str]:
    """Return the behaviour to spoil: the first detected one, else the first; none without counts."""
    behaviours = [name.removesuffix("_count") for name in fields if name.endswith("_count")]
    return sorted(behaviours, key=lambda behaviour: not fields[f"{behaviour}_count"])[:1]


def choice(
    index: int,
    text: str,
    answers: Sequence[tuple[str, Mapping[str, float]]],
    kinds: Collection[str],
    chat_request: Request,
) -> tuple[dict[str, Any], int]:
    """Return one choice of a completion and the number of its words."""
    finish = "stop"
    if "truncated" in kinds:
        text, finish = text[: len(text) // 2], "length"
    if (
        chat_request.most_tokens is not None
        and len(_WORD_COMPLETIONS.findall(text)) > chat_request.most_tokens
    ):
        text, finish = (
            text[: list(_WORD_COMPLETIONS.finditer(text))[chat_request.most_tokens - 1].end()],
            "length",
        )
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if "reasoning" in kinds:
        message["reasoning_content"] = THOUGHTS
    if "content_filter" in kinds:
        message["content"], finish = "", "content_filter"
    if "refusal" in kinds:
        message |= {"content": None, "refusal": REFUSAL}
        finish = "stop"
    result: dict[str, Any] = {"index": index, "message": message, "finish_reason": finish}
    if chat_request.logprobs is not None:
        tokens = logprobs(message["content"] or "", answers, chat_request.logprobs)
        result["logprobs"] = {"content": tokens, "refusal": None}
    return result, len(_WORD_COMPLETIONS.findall(message["content"] or ""))


def completion(
    model: str, choices: Sequence[Mapping[str, Any]], tokens_in: int, tokens_out: int
) -> dict[str, Any]:
    """Return the body of a completion; tokens are whitespace-separated words."""
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": list(choices),
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def logprobs(text: str, answers: Sequence[tuple[str, Mapping[str, float]]], top: int) -> list[dict[str, Any]]:
    """Return the tokens of a text: each answer in it, in order, with the chances of all values; the text
    between answers is one certain token.
    """
    tokens, at = [], 0
    for value, chances in answers:
        match = re.compile(rf"(?<![\w.]){re.escape(value)}(?![\w.])").search(text, at)
        if match is None:
            continue
        if match.start() > at:
            tokens.append(_token(text[at : match.start()], {}, top))
        tokens.append(_token(value, chances, top))
        at = match.end()
    return [*tokens, *([_token(text[at:], {}, top)] if at < len(text) else [])]


def _token(text: str, chances: Mapping[str, float], top: int) -> dict[str, Any]:
    ranked = sorted(chances.items(), key=lambda pair: (-pair[1], pair[0])) or [(text, 1.0)]
    alternatives = [_token_entry(value, chance) for value, chance in ranked[:top] if chance > 0]
    return _token_entry(text, chances.get(text, 1.0)) | {"top_logprobs": alternatives}


def _token_entry(text: str, chance: float) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(max(chance, _LEAST)), "bytes": list(text.encode())}


# Embeddings: a hashed bag of words, 64 numbers of length 1.

SIZE = 64
_WORD = re.compile(r"\w+")


def embed(text: str) -> list[float]:
    """Return the unit vector of a text: every word adds 1 or -1 at the position of its hash.

    A text without words, or whose words cancel out, gets the first unit vector.
    """
    vector = [0.0] * SIZE
    for word in _WORD.findall(fold(text)):
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        vector[digest[0] % SIZE] += 1.0 if digest[1] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *[0.0] * (SIZE - 1)]


def inputs(body: Any) -> list[str]:
    """Return the texts of an embeddings request; raise BadRequest if there are none."""
    value = body.get("input") if isinstance(body, dict) else None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest("input: a text or a list of texts is needed")
    return texts


MODEL = "fake-1"
PREFIX = "fake"
"""Prefix of every model's name: such answers never pass for a real model's."""


class FakeModel:
    """One error model with a seed, and the number of times each request came. Thread-safe."""

    def __init__(self, errors: ErrorModel | None = None, *, seed: int = 0) -> None:
        self.errors = errors or ErrorModel()
        self.seed = seed
        self._lock = threading.Lock()
        self._request_counts: Counter[str] = Counter()
        self.batches = Batches(self._answer_request, self.errors.misbehaviours, seed=seed)

    def respond(self, method: str, path: str, body: Any = None) -> Response:
        """Return the response to one request; `body` is its JSON."""
        route = (method, path.partition("?")[0].rstrip("/"))
        try:
            if route == ("GET", "/v1/models"):
                return ok(
                    {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "nobody"}]}
                )
            if route == ("POST", "/v1/embeddings"):
                return self._embeddings(body)
            if route == ("POST", "/v1/chat/completions"):
                return self._chat(body)
            if (response := self.batches.respond(method, path, body)) is not None:
                return response
        except BadRequest as problem:
            return failure(400, str(problem))
        return failure(404, f"there is no {path[:80]} here; there is /v1/chat/completions", "not_found")

    def _answer_request(self, body: Any) -> Response:
        """Return the response to a line of a batch."""
        try:
            return self._chat(body)
        except BadRequest as problem:
            return failure(400, str(problem))

    def _embeddings(self, body: Any) -> Response:
        texts = inputs(body)
        data = [{"object": "embedding", "index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
        words = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": words, "total_tokens": words}
        return ok({"object": "list", "model": MODEL, "data": data, "usage": usage})

    def _chat(self, body: Any) -> Response:
        chat_request = request(body)
        model = body.get("model")
        if not isinstance(model, str) or not model.startswith(PREFIX):
            return failure(
                404, f"there is no model {str(model)[:80]!r}; names begin with {PREFIX}", "model_not_found"
            )
        if body.get("stream"):
            raise BadRequest("stream: this server does not stream")
        role = sole(chat_request)
        with self._lock:
            number, times = self._request_counts.total(), self._request_counts[chat_request.key()]
            self._request_counts[chat_request.key()] += 1
        text = "\n".join(text for _, text in chat_request.messages)
        met = [
            misbehaviour
            for misbehaviour in self.errors.misbehaviours
            if misbehaviour.meets(seed=self.seed, role=role.key, text=text, number=number, times=times)
        ]
        delay = (
            sum(int(misbehaviour.amount) for misbehaviour in met if misbehaviour.kind.startswith("slow:"))
            / 1000
        )
        if refused := _refusal(met, body):
            return Response(refused.status, refused.body, refused.headers, delay, refused.instead)
        return ok(
            self.complete(chat_request, role, times=times, kinds=[misbehaviour.kind for misbehaviour in met]),
            delay,
        )

    def complete(
        self, chat_request: Request, role: Role, *, times: int = 0, kinds: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the completion of a prompt, given its role."""
        choices, words = [], 0
        for index in range(chat_request.choices):
            sampler = self.sampler_for(role.key, chat_request, times=times + index)
            text = spoilt(role.answer(chat_request, sampler), kinds)
            result, count = choice(index, text, sampler.answers, kinds, chat_request)
            choices.append(result)
            words += count
        return completion(str(chat_request.raw.get("model", MODEL)), choices, chat_request.words, words)

    def sampler_for(self, role: str, chat_request: Request, *, times: int = 0) -> Sampler:
        """Return the sampler of a role for a request that came `times` times before."""
        errors = self.errors.errors(role, chat_request.instruction)
        return Sampler(
            role, self.seed, errors, chat_request.instruction, chat_request.seed, times, self.errors.proposals
        )


def sole(chat_request: Request) -> Role:
    """Return the one role of a prompt; raise BadRequest if there is none, or more than one."""
    roles = recognise(chat_request)
    if len(roles) == 1:
        return roles[0]
    blocks = ", ".join(chat_request.titles[:20]) or "none"
    if not roles:
        raise BadRequest(
            f"the fake model does not recognise this prompt (quoted blocks: {blocks}); it plays "
            f"{', '.join(ROLES)}"
        )
    raise BadRequest(
        f"the fake model takes this prompt for several roles: {', '.join(role.key for role in roles)}"
    )


def _refusal(met: Sequence[Misbehaviour], body: Mapping[str, Any]) -> Response | None:
    """Return the response in place of an answer: the first such misbehaviour counts."""
    for misbehaviour in met:
        if misbehaviour.kind == "429":
            pause = (
                {} if misbehaviour.retry_after is None else {"retry_after": f"{misbehaviour.retry_after:g}"}
            )
            return failure(429, "rate limit reached, as the error model says", "rate_limit_exceeded", **pause)
        if misbehaviour.kind == "500":
            return failure(500, "the fake model fails, as its error model says", "server_error")
        if misbehaviour.kind in ("hang", "reset"):
            return Response(0, b"", instead="hang" if misbehaviour.kind == "hang" else "reset")
        if misbehaviour.kind == "no_schema" and "response_format" in body:
            message = "response_format is not supported by this server"
            return failure(400, message, "unsupported_parameter", "response_format")
        if misbehaviour.kind.startswith("no_parameter:") and misbehaviour.amount in body:
            message = f"Unsupported parameter: '{misbehaviour.amount}' is not supported with this model."
            return failure(400, message, "unsupported_parameter", misbehaviour.amount)
    return None
