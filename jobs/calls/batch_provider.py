"""Provider API for batches: files, state, and single requests."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any, TypeVar

import openai
from openai import AsyncOpenAI

from jobs.endpoints.client import (
    TROUBLE,
    Again,
    CallError,
    Clients,
    FakeModelAnswers,
    Malformed,
    Refused,
    openai_client,
    status_error,
    transport_error,
)
from jobs.endpoints.endpoint_actions import remember
from jobs.endpoints.responses import decoded, redact
from jobs.fake_models import has_mark, is_fake
from jobs.models import Endpoint
from jobs.prompt import Prompt, object_schema

# Batch files: one request or result per line, matched by name alone. Pure functions, strict with the
# provider's output.

URL = "/v1/chat/completions"
"""Path of all requests in a batch; the same for every provider, whatever its base URL."""
MOST_LINE = 4_000_000
"""Maximum bytes read of one result; the same limit as for a direct reply."""
NOT_DONE = frozenset({"batch_expired", "batch_cancelled"})
"""Error codes of requests that were never executed, and so not paid for."""
_NAME = re.compile(r"call-([1-9]\d{0,17})")


@dataclass(frozen=True, slots=True)
class Line:
    """Result of a call: a response (`status`, decoded `body`), or an error `code` with its `message`."""

    call: int
    status: int | None = None
    body: Any = None
    code: str = ""
    message: str = ""


def request_line(call: int, body: Mapping[str, Any]) -> bytes:
    """Return the line of a call's request, including the newline."""
    request = {"custom_id": f"call-{call}", "method": "POST", "url": URL, "body": body}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_lines(file: IO[bytes], key: str = "") -> Iterator[Line | None]:
    """Yield the parsed lines of a result file, with the endpoint's key redacted; None for a line that names
    no call.
    """
    while text := file.readline(MOST_LINE + 1):
        if len(text) > MOST_LINE and not text.endswith(b"\n"):
            while (rest := file.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif text.strip():
            yield read_line(text, key)


def read_line(text: bytes, key: str = "") -> Line | None:
    """Parse a line of a result file; None if it is not a result."""
    try:
        entry = decoded(text, key)
    except (ValueError, RecursionError):
        return None
    name = _NAME.fullmatch(str(entry.get("custom_id"))) if isinstance(entry, dict) else None
    if name is None:
        return None
    call, response, error = int(name[1]), entry.get("response"), entry.get("error")
    if isinstance(response, dict) and _is_status(response.get("status_code")):
        return Line(call, response["status_code"], response.get("body"))
    if isinstance(error, dict):
        return Line(call, code=str(error.get("code"))[:100], message=str(error.get("message"))[:500])
    return None


def chunked(lines: Iterable[Line | None], size: int) -> Iterator[list[Line]]:
    """Yield lines in order, in chunks of up to `size`, with only the first line of each call per chunk."""
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


# Ids of batches and files at the provider; pure.

_ID = re.compile(r"[\w.:=+-]{1,200}", re.ASCII)


def is_id(text: str) -> bool:
    """Whether a text is a valid id: ids are used in URLs, so they contain no slash and no whitespace."""
    return bool(_ID.fullmatch(text)) and not set(text) <= {"."}


# Requests about batches, each with a connection of its own.
#
#     CallError (jobs.endpoints.client)
#       NotOffered     the endpoint has no such URL (405, 501)
#         Gone         not found (404)
#
# Every response is validated before it is used.

T = TypeVar("T")
KEY, RUN = "concord_batch", "concord_run"
"""Metadata keys of a batch: its own key, and its run."""
MOST_FILE = 2_000_000_000
"""Maximum bytes of a results file."""
ASK_SECONDS, FILE_SECONDS = 60.0, 600.0
PAGE, MOST_PAGES = 100, 100
_NOWHERE = (405, 501)
QUESTION = Prompt(
    "You are asked whether you can be reached.",
    'Answer with the one word: yes. Write it as the JSON object {"answer": "yes"}.',
    object_schema({"answer": {"type": "string"}}),
)
"""Sent before the first batch, to learn which form of structured output this endpoint supports."""


class NotOffered(Refused):
    """The endpoint does not support the request."""


class Gone(NotOffered):
    """The object does not exist, or the endpoint has no such URL."""


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider describes it; `trouble` is the reason for a refusal, `code` the provider's
    error code.
    """

    id: str
    state: str
    key: str = ""
    output: str = ""
    errors: str = ""
    completed: int | None = None
    failed: int | None = None
    created: datetime | None = None
    trouble: str = ""
    code: str = ""


def upload(endpoint: Endpoint, file: IO[bytes], name: str, model: str) -> str:
    """Upload a file of requests for a model; return its id.

    Raises CallError; FakeModelAnswers, before any request is answered, if a fake model serves under a real
    model's name.
    """

    async def send(client: AsyncOpenAI) -> str:
        upload_file = (name, file, "application/jsonl")
        answer = await client.files.with_raw_response.create(
            file=upload_file, purpose="batch", timeout=FILE_SECONDS
        )
        if has_mark(answer.http_response.headers) and not is_fake(model):
            raise FakeModelAnswers(endpoint, model)
        return checked_id(_decoded(answer.http_response.content, client.api_key).get("id"))

    return _run_request(endpoint, send, FILE_SECONDS)


def create(endpoint: Endpoint, *, file: str, key: str, run: int) -> RemoteBatch:
    """Submit a batch and return it. Raises CallError.

    Only Refused, and Again for the number of requests (429), mean that no such batch exists now.
    """

    async def send(client: AsyncOpenAI) -> RemoteBatch:
        answer = await client.batches.with_raw_response.create(
            input_file_id=file,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={KEY: key, RUN: str(run)},
            extra_headers={"Idempotency-Key": key},
            timeout=ASK_SECONDS,
        )
        return read_batch(_decoded(answer.http_response.content, client.api_key))

    return _run_request(endpoint, send, ASK_SECONDS)


def look(endpoint: Endpoint, batch: str) -> RemoteBatch:
    """Return the current state of a batch. Raises CallError, and NotOffered if no batch has that id."""

    async def send(client: AsyncOpenAI) -> RemoteBatch:
        answer = await client.batches.with_raw_response.retrieve(batch, timeout=ASK_SECONDS)
        return read_batch(_decoded(answer.http_response.content, client.api_key))

    return _run_request(endpoint, send, ASK_SECONDS)


def cancel(endpoint: Endpoint, batch: str) -> RemoteBatch:
    """Request the cancellation of a batch and return it. Raises CallError."""

    async def send(client: AsyncOpenAI) -> RemoteBatch:
        answer = await client.batches.with_raw_response.cancel(batch, timeout=ASK_SECONDS)
        return read_batch(_decoded(answer.http_response.content, client.api_key))

    return _run_request(endpoint, send, ASK_SECONDS)


def find(endpoint: Endpoint, *, key: str, since: datetime) -> list[RemoteBatch]:
    """Return the provider's batches with a key, oldest first, among all batches created since a time.

    Raises NotOffered if the provider does not list batches, or has too many; CallError for other errors.
    """

    async def send(client: AsyncOpenAI) -> list[RemoteBatch]:
        matches: list[RemoteBatch] = []
        after: str | openai.Omit = openai.omit
        for _ in range(MOST_PAGES):
            listing = client.batches.with_raw_response.list(limit=PAGE, after=after, timeout=ASK_SECONDS)
            page = _decoded((await listing).http_response.content, client.api_key)
            rows = page.get("data")
            if not isinstance(rows, list):
                raise Again("the list of batches is none")
            page_batches = [read_batch(row) for row in rows]
            matches += [batch for batch in page_batches if batch.key == key]
            older = bool(page_batches) and all(
                batch.created is not None and batch.created < since for batch in page_batches
            )
            if not page_batches or older or page.get("has_more") is not True:
                return matches[::-1]
            after = page_batches[-1].id
        raise NotOffered(f"the endpoint lists more than {PAGE * MOST_PAGES:,} batches")

    return _run_request(endpoint, send, ASK_SECONDS * 5)


def download(endpoint: Endpoint, file: str, to: IO[bytes]) -> None:
    """Write a file of results to `to`. Raises CallError, also if the download breaks off."""

    async def send(client: AsyncOpenAI) -> None:
        contents = client.files.with_streaming_response.content(file, timeout=FILE_SECONDS)
        async with contents as answer:
            async for part in answer.iter_bytes():
                to.write(part)

    _run_request(endpoint, send, FILE_SECONDS)


def delete(endpoint: Endpoint, file: str) -> None:
    """Delete a file; a missing file counts as deleted. Raises CallError if the file stays."""

    async def send(client: AsyncOpenAI) -> None:
        answer = await client.files.with_raw_response.delete(file, timeout=ASK_SECONDS)
        body = answer.http_response.content
        if body.strip() and _decoded(body, client.api_key).get("deleted") is False:
            raise Refused("the endpoint says that it did not delete it")

    async def find(client: AsyncOpenAI) -> None:
        await client.files.with_raw_response.retrieve(file, timeout=ASK_SECONDS)

    try:
        _run_request(endpoint, send, ASK_SECONDS)
    except Gone as error:
        with suppress(Gone):
            _run_request(endpoint, find, ASK_SECONDS)
            raise NotOffered(f"the endpoint deletes no files ({error})") from None


def learn_form(endpoint: Endpoint, model: str) -> str:
    """Return the form of structured output that an endpoint supports, found with a test request.

    Raises CallError.
    """

    async def ask() -> Clients:
        clients = Clients()
        try:
            await clients.ask(endpoint, model, QUESTION, {})
        except Malformed:
            pass  # still an answer
        finally:
            await clients.close()
        return clients

    learned = asyncio.run(ask()).learned
    remember(learned)
    return learned.get(endpoint.pk, endpoint.reply_form)


def read_batch(data: Any) -> RemoteBatch:
    """Parse a batch from the provider's JSON; raise Again if it is not a batch."""
    if not isinstance(data, dict) or not isinstance(data.get("status"), str):
        raise Again("what came is not a batch")
    counts = data["request_counts"] if isinstance(data.get("request_counts"), dict) else {}
    metadata = data["metadata"] if isinstance(data.get("metadata"), dict) else {}
    trouble, code = _trouble(data.get("errors"))
    return RemoteBatch(
        checked_id(data.get("id")),
        data["status"][:40],
        str(metadata.get(KEY, "")),
        _file(data.get("output_file_id")),
        _file(data.get("error_file_id")),
        _count(counts.get("completed")),
        _count(counts.get("failed")),
        _time(data.get("created_at")),
        trouble,
        code,
    )


def checked_id(value: Any) -> str:
    """Return an id that is safe in a URL; raise Again for anything else."""
    if not isinstance(value, str) or not is_id(value):
        raise Again("the endpoint gave an id that is none")
    return value


def _file(value: Any) -> str:
    return checked_id(value) if value else ""


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if is_count else None


def _time(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(value, UTC)
    return None


def _trouble(errors: Any) -> tuple[str, str]:
    """Return the first error of a batch: its message, with its line number, and its code."""
    rows = errors.get("data") if isinstance(errors, dict) else None
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
    if first is None:
        return "", ""
    place = f" (line {first['line']})" if isinstance(first.get("line"), int) else ""
    return f"{str(first.get('message'))[:500]}{place}", str(first.get("code"))[:100]


def _decoded(body: bytes, key: str) -> dict[str, Any]:
    try:
        data = decoded(body, key)
    except (ValueError, RecursionError) as error:
        raise Again(f"the response was not valid: {redact(str(error), key)[:200]}") from None
    if not isinstance(data, dict):
        raise Again("the response was not valid: not an object")
    return data


def _run_request(endpoint: Endpoint, send: Callable[[AsyncOpenAI], Awaitable[T]], seconds: float) -> T:
    return asyncio.run(_within(endpoint, send, seconds))


async def _within(endpoint: Endpoint, send: Callable[[AsyncOpenAI], Awaitable[T]], seconds: float) -> T:
    client = openai_client(endpoint, MOST_FILE)
    try:
        async with asyncio.timeout(seconds):
            return await send(client)
    except CallError:
        raise
    except TimeoutError:
        raise Again(f"no reply within {seconds:g} s") from None
    except openai.APIStatusError as error:
        status_failure = status_error(error, client.api_key, endpoint.name, {})
        if error.status_code == 404:
            raise Gone(str(status_failure)) from None
        raise (NotOffered(str(status_failure)) if error.status_code in _NOWHERE else status_failure) from None
    except TROUBLE as error:
        call_error = transport_error(error, endpoint, client.api_key)
        raise (Again(str(call_error)) if isinstance(call_error, Malformed) else call_error) from None
    finally:
        await client.close()
