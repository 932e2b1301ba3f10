"""Asking an endpoint: one request, and what its failure means.

    CallError
      Again       worth another try: 429, 5xx, timeouts, connection errors; `delay` as the server asked
      Refused     final for this call: 400 and the like
        Shut      final for every call of the run: a refused or missing key, no such model or address

The client itself never retries: a retry is a row that waits, so that it survives the worker.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import openai
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletion

from judges.endpoints import key_of
from judges.errors import JudgeError
from judges.models import Endpoint
from judges.protocols.base import Prompt

LONGEST_DELAY = 300.0
_NO_KEY = "none"


class CallError(Exception):
    """A request without a usable reply."""


class Again(CallError):
    """Worth another try; `delay` is what the server asked for in seconds, None where it said nothing."""

    def __init__(self, message: str, delay: float | None = None) -> None:
        super().__init__(message)
        self.delay = delay


class Refused(CallError):
    """Asking again would be refused again."""


class Shut(Refused):
    """No call of this run can succeed until somebody changes something."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. Tokens are None where the server does not count them."""

    text: str
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int


class Clients:
    """One client per endpoint, for one event loop; close it there."""

    def __init__(self) -> None:
        self._clients: dict[int, AsyncOpenAI] = {}
        self._without_schema: set[int] = set()

    async def ask(
        self, endpoint: Endpoint, model: str, prompt: Prompt, parameters: Mapping[str, Any]
    ) -> Reply:
        """Return the reply to a prompt; raise Again, Refused or Shut."""
        client = self._client(endpoint)
        request: dict[str, Any] = {"model": model, "messages": prompt.messages(), **parameters}
        if prompt.schema is not None and endpoint.pk not in self._without_schema:
            form = {"name": "reply", "strict": True, "schema": dict(prompt.schema)}
            with_schema = request | {"response_format": {"type": "json_schema", "json_schema": form}}
            try:
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
            except JudgeError as error:
                raise Shut(str(error)) from None
            self._clients[endpoint.pk] = AsyncOpenAI(
                api_key=key or _NO_KEY,
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=endpoint.timeout_s,
                # A redirect could carry the key to another server.
                http_client=DefaultAioHttpClient(follow_redirects=False),
            )
        return self._clients[endpoint.pk]

    async def _send(self, client: AsyncOpenAI, endpoint: Endpoint, request: dict[str, Any]) -> Reply:
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(endpoint.timeout_s):
                answer = await client.chat.completions.create(**request)
        except TimeoutError:
            raise Again(f"no reply within {endpoint.timeout_s} s") from None
        except openai.APIConnectionError as error:
            raise Again(_connection_trouble(error, endpoint)) from None
        except openai.APIStatusError as error:
            raise _status_error(error, client.api_key, form="response_format" in request) from None
        except (openai.APIError, ValueError) as error:
            raise Again(f"the reply was no valid response: {_redact(str(error), client.api_key)}") from None
        return _reply(answer, round(1000 * (time.perf_counter() - begun)))


class _FormRefused(Refused):
    """The server may not know structured output."""


def _reply(answer: ChatCompletion, latency_ms: int) -> Reply:
    choices = getattr(answer, "choices", None)
    if not choices:
        raise Again("the reply holds no choice")
    usage = answer.usage
    return Reply(
        text=choices[0].message.content or "",
        tokens_in=usage.prompt_tokens if usage else None,
        tokens_out=usage.completion_tokens if usage else None,
        latency_ms=latency_ms,
    )


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


def _connection_trouble(error: openai.APIConnectionError, endpoint: Endpoint) -> str:
    """Tell a refused connection from a silent server: the transport calls both a timeout."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    refused = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
    if isinstance(error, openai.APITimeoutError) and not refused:
        return f"no reply within {endpoint.timeout_s} s"
    return f"no connection to {endpoint.base_url}: {str(causes[-1])[:200]}"


def _retry_after(text: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for (a number or a date), at most five minutes."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), LONGEST_DELAY)
