"""Asking an endpoint: one request, and what its failure means.

    CallError
      Again       worth another try: 429, 5xx, timeouts, connection errors; `delay` as the server asked
      Malformed   a response whose text is not a text; asked for once more
      Refused     final for this call: 400 and the like
        Shut      final for every call of the run: a refused or missing key, no such model or address,
                  an address that the endpoint may not be at

The client itself never retries: a retry is a row that waits, so that it survives the worker.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import openai
from openai import AsyncOpenAI

from jobs.endpoints.actions import key_of
from jobs.endpoints.bodies import SCHEMA, TEXT, request_body
from jobs.endpoints.receiving import Again, CallError, Malformed, Reply, received
from jobs.endpoints.wire import AddressRefused, TooLong, http_client
from jobs.errors import JobError
from jobs.models import Endpoint
from jobs.prompt import Prompt

__all__ = ["Again", "CallError", "Clients", "Malformed", "Refused", "Reply", "Shut"]
LONGEST_DELAY = 300.0
_NO_KEY = "none"


class Refused(CallError):
    """Asking again would be refused again."""


class Shut(Refused):
    """No call of this run can succeed until somebody changes something."""


class Clients:
    """One client per endpoint, for one event loop; close it there."""

    def __init__(self) -> None:
        self._clients: dict[int, AsyncOpenAI] = {}
        self._without_schema: set[int] = set()

    async def ask(
        self, endpoint: Endpoint, model: str, prompt: Prompt, parameters: Mapping[str, Any]
    ) -> Reply:
        """Return the reply to a prompt; raise Again, Malformed, Refused or Shut."""
        client = self._client(endpoint)
        request = request_body(model, prompt, parameters, TEXT)
        if prompt.schema is not None and endpoint.pk not in self._without_schema:
            try:
                with_schema = request_body(model, prompt, parameters, SCHEMA)
                return await self._send(client, endpoint, with_schema)
            except _FormRefused:
                reply = await self._send(client, endpoint, request)
                self._without_schema.add(endpoint.pk)
                return reply
        return await self._send(client, endpoint, request)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    def _client(self, endpoint: Endpoint) -> AsyncOpenAI:
        if endpoint.pk not in self._clients:
            try:
                key = key_of(endpoint)
            except JobError as error:
                raise Shut(str(error)) from None
            self._clients[endpoint.pk] = AsyncOpenAI(
                api_key=key or _NO_KEY,
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=endpoint.timeout_s,
                http_client=http_client(endpoint),
            )
        return self._clients[endpoint.pk]

    async def _send(self, client: AsyncOpenAI, endpoint: Endpoint, request: dict[str, Any]) -> Reply:
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(endpoint.timeout_s):
                answer = await client.chat.completions.with_raw_response.create(**request)
        except TimeoutError:
            raise Again(f"no reply within {endpoint.timeout_s} s") from None
        except openai.APIConnectionError as error:
            raise _connection_error(error, endpoint) from None
        except openai.APIStatusError as error:
            raise _status_error(error, client.api_key, form="response_format" in request) from None
        except TooLong as error:
            raise Malformed(str(error)) from None
        except (openai.APIError, ValueError, RecursionError) as error:
            raise Again(f"the response was not valid: {_redact(str(error), client.api_key)}") from None
        return received(answer.http_response.content, round(1000 * (time.perf_counter() - begun)))


class _FormRefused(Refused):
    """The server may not know structured output."""


def _status_error(error: openai.APIStatusError, key: str, *, form: bool) -> CallError:
    status = error.status_code
    message = f"HTTP {status}: {_redact(_server_message(error), key)}"
    if status in {408, 409, 425, 429} or status >= 500:
        return Again(message, _retry_after(error.response.headers.get("retry-after")))
    if status in {401, 402, 403, 404, 405}:
        return Shut(message)
    if 300 <= status < 400:
        return Shut(f"HTTP {status}: the endpoint redirects; give its final address")
    if form and status in {400, 422}:
        return _FormRefused(message)
    return Refused(message)


def _server_message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping) and isinstance(body.get("message"), str):
        return str(body["message"])[:500]
    return (error.response.text or error.message)[:500]


def _redact(text: str, key: str) -> str:
    return text.replace(key, "[key]") if len(key) > 3 and key != _NO_KEY else text


def _connection_error(error: openai.APIConnectionError, endpoint: Endpoint) -> CallError:
    """Tell a refused address, a body without an end, a refused connection and a silent server apart."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, AddressRefused):
            return Shut(
                f"{endpoint.base_url} is not asked: {cause}. An administrator may allow it on the page of "
                "the endpoints (a server in a private network)."
            )
        if isinstance(cause, TooLong):
            return Malformed(str(cause))
    refused = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
    if isinstance(error, openai.APITimeoutError) and not refused:
        return Again(f"no reply within {endpoint.timeout_s} s")
    return Again(f"no connection to {endpoint.base_url}: {str(causes[-1])[:200]}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it came from, innermost last; aiohttp keeps the system's error aside."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        if isinstance(cause, aiohttp.ClientConnectorError):
            yield cause.os_error
        cause = cause.__cause__


def _retry_after(text: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for (a number or a date), at most five minutes."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    if math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_DELAY)
