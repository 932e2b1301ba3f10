"""Client of an endpoint: one request, and the meaning of its failure.

    CallError
      Again       worth a retry: 429, 5xx, timeouts, connection errors; `delay` as the server asked
      Malformed   a response whose content is not text; retried once
      Withheld    an incomplete reply: cut off, filtered, or a refusal by the model
      NoLogprobs  a reply without the log-probabilities of its prompt: final for every call of the run
      Refused     final for this call: 400 and the like
        Shut      final for every call of the run: a refused or missing key, no such model or URL,
                  an address not allowed for the endpoint, a parameter that it does not support

The client itself never retries: a retry is a pending row, so that it survives the worker.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai
from django.db import Error, connection
from django.utils import timezone
from openai import AsyncOpenAI

from jobs import errors
from jobs.endpoints import endpoint_actions
from jobs.endpoints.costs import as_sent, request_body
from jobs.endpoints.endpoint_actions import key_of, remember
from jobs.endpoints.parameters import OWN_FIELDS, forms_for
from jobs.endpoints.responses import (
    Again,
    CallError,
    Malformed,
    NoLogprobs,
    Reply,
    Withheld,
    echoed,
    holds_mark,
    received,
    redact,
)
from jobs.endpoints.wire import MOST_BYTES, AddressRefused, TooLong, http_client
from jobs.errors import JobError
from jobs.fake_models import aliased, has_mark, is_fake
from jobs.models import Run
from jobs.models.endpoint import Endpoint
from jobs.prompt import Prompt

# Test of an endpoint: one short question, sent from where the judges' requests are sent.
#
# The web process may lack the endpoint's key, or access to its network; workers of the queue `calls` have
# both. The test runs in a thread of its own, so that a silent endpoint does not block judges.

logger = logging.getLogger(__name__)
LONGEST = 20
"""Maximum seconds that a test waits for the reply."""
AT_ONCE = 8
"""Endpoints tested concurrently."""
PATH = "/chat/completions"
DEFECTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Exceptions that a bug in the client may raise on server output: they fail only the test of that
endpoint.
"""
QUESTION = Prompt("You are asked whether you can be reached.", "Answer with the one word: yes")
_busy = threading.Lock()


def begin(queue: str) -> None:
    """Start a thread that tests waiting endpoints, unless one is running."""
    if queue == Run.Queue.CALLS and not _busy.locked() and _mine():
        threading.Thread(target=_test_waiting, name="probing", daemon=True).start()


def waiting() -> list[Endpoint]:
    """Return the endpoints with a requested, unfinished test."""
    return list(Endpoint.objects.filter(test_asked__isnull=False, test_done=None))


def _mine() -> list[Endpoint]:
    """Return endpoints waiting for a test whose key this process has, or no process has."""
    return [
        endpoint
        for endpoint in waiting()
        if endpoint_actions.has_key(endpoint) or not endpoint_actions.others_have(endpoint)
    ]


def test(endpoint: Endpoint) -> Endpoint:
    """Ask the endpoint for one word and store the result: reply and latency, or why there is none."""
    requested_at = endpoint.test_asked
    error, milliseconds, reply = _answer(endpoint)
    fields = {"test_done": timezone.now(), "test_error": error, "test_ms": milliseconds, "test_reply": reply}
    # Not if another test was requested in the meantime, perhaps after a change.
    Endpoint.objects.filter(pk=endpoint.pk, test_asked=requested_at).update(**fields)
    endpoint.refresh_from_db()
    return endpoint


def _answer(endpoint: Endpoint) -> tuple[str, int | None, str]:
    """Return the error, the milliseconds, and the beginning of the reply."""
    hurried = copy(endpoint)
    hurried.timeout_s = min(endpoint.timeout_s, LONGEST)
    fakes: set[int] = set()
    try:
        reply = asyncio.run(_ask(hurried, fakes))
    except Withheld as error:
        # A reply cut off at its token limit is still a reply: the test passes.
        if error.kind == errors.TRUNCATED:
            return "", error.reply.latency_ms, _first_words(error.reply)
        return _failure_message(endpoint, error), None, ""
    except CallError as error:
        return _failure_message(endpoint, error), None, ""
    except DEFECTS as error:
        logger.exception("a test of the endpoint %s failed", endpoint.name)
        return f"a defect in Concord: {type(error).__name__}", None, ""
    finally:
        remember({}, fakes)
    text = _first_words(reply)
    return ("" if text else "the reply is empty"), reply.latency_ms, text


def _first_words(reply: Reply) -> str:
    return " ".join(reply.text.replace("\x00", "\ufffd").split())[:200]


def _failure_message(endpoint: Endpoint, error: CallError) -> str:
    """Return the reason for the missing reply, with the URL and a hint at a common mistake."""
    address = f"{endpoint.base_url.rstrip('/')}{PATH}"
    message = f"{address}: {error!s}"[:900].replace("\x00", "\ufffd")
    if error.status in (404, 405) and not urlsplit(endpoint.base_url).path.strip("/"):
        message += f". Most servers answer under /v1: try {endpoint.base_url.rstrip('/')}/v1 as its base URL."
    return message


async def _ask(endpoint: Endpoint, fakes: set[int]) -> Reply:

    clients = Clients()
    try:
        # In a test any server may answer: a fake model under another name is marked, not refused.
        return await clients.ask(endpoint, aliased(endpoint.model), QUESTION, {})
    finally:
        await clients.close()
        fakes.update(clients.fakes)


def _test_waiting() -> None:
    """Test waiting endpoints in parallel, so that a silent or faulty endpoint does not delay others."""
    with _busy:
        try:
            endpoints = _mine()
        except Error as error:
            logger.warning("no test of an endpoint: %s", error)
            return
        finally:
            connection.close()
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="probe") as pool:
            for endpoint in endpoints:
                pool.submit(_test_alone, endpoint)


def _test_alone(endpoint: Endpoint) -> None:
    try:
        test(endpoint)
    except Error as error:
        logger.warning("no test of the endpoint %s: %s", endpoint.name, error)
    finally:
        connection.close()


# Reason of a refused request, from the error of an OpenAI-compatible server; pure.
#
# Servers report it in different places: a field `param`, a `code`, a list of locations, or only in a
# sentence.

_CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_CONTEXT = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available|maximum|model's)[^.]{0,40}(?:context|tokens)",
    re.I,
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""Error codes for an account without credit; some servers send them with status 429."""
_WORDS = frozenset({"temperature", "seed", "stop"})
"""Parameter names that are also ordinary words."""


def kind_of(error: Any, message: str) -> str:
    """Return the error kind of a refusal of this one request; '' if the request's form may be the reason."""
    codes = {str(error.get(name)) for name in ("code", "type")} if isinstance(error, Mapping) else set()
    if codes & _CONTEXT_CODES or _CONTEXT.search(message):
        return errors.CONTEXT_TOO_LONG
    inner = error.get("innererror") if isinstance(error, Mapping) else None
    if isinstance(inner, Mapping):
        codes.add(str(inner.get("code")))
    return errors.CONTENT_FILTER if codes & _FILTER_CODES else ""


def is_spent(error: Any) -> bool:
    """Whether the account has no credit left: no request can succeed until that changes."""
    return isinstance(error, Mapping) and any(str(error.get(name)) in _SPENT for name in ("code", "type"))


def refused_parameter(error: Any, message: str, sent: Collection[str]) -> str:
    """Return the sent parameter that a server refuses, '' if the error names none."""
    for place in _places(error):
        parts = re.split(r"[.\[\]/]", place)
        if parameter := next((name for name in sent if name in parts), ""):
            return parameter
    # The longest first: a complaint about top_logprobs is not a complaint about logprobs.
    return next((name for name in sorted(sent, key=len, reverse=True) if _complains(message, name)), "")


def _places(error: Any) -> Iterator[str]:
    """Yield the locations that an error names: `param`, or the `loc` of each entry in a list of details."""
    if not isinstance(error, Mapping):
        return
    if isinstance(error.get("param"), str):
        yield error["param"]
    details = error.get("detail")
    for entry in details if isinstance(details, list) else ():
        place = entry.get("loc") if isinstance(entry, Mapping) else None
        if isinstance(place, list):
            yield ".".join(str(part) for part in place)


def _complains(message: str, name: str) -> bool:
    """Whether a sentence complains about a parameter; a name that is an ordinary word counts only in quotes
    or as a parameter.
    """
    if name not in _WORDS:
        return re.search(rf"(?<!\w){name}(?!\w)", message) is not None
    stands_out = (
        rf"['\"`]{name}['\"`]"
        rf"|(?:parameter|argument|field|option|property)s?:? {name}(?!\w)"
        rf"|(?<!\w){name}(?: ?:| (?:is|must|should|cannot|does|was|has|may) )"
    )
    return re.search(stands_out, message, re.I) is not None


__all__ = ["Again", "CallError", "Clients", "Malformed", "NoLogprobs", "Refused", "Reply", "Shut", "Withheld"]
LONGEST_DELAY = 300.0
_NO_KEY = "-"
_PATH, _ECHO_PATH = "/chat/completions", "/completions"


class Refused(CallError):
    """A retry would be refused again."""


class Shut(Refused):
    """No call of this run can succeed until somebody changes something."""

    kind = errors.ACCESS


class FakeModelAnswers(Shut):
    """A fake model answers under another model's name; the code that catches this marks the endpoint."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        super().__init__(
            f"At the endpoint {endpoint.name} a fake model answers under the name {model}: nothing of its "
            "reply is kept. The endpoint is marked now: start anew, and what it answers says so."
        )


async def at_once() -> None:
    """Default `turn`: no wait before a request."""


def openai_client(endpoint: Endpoint, most_bytes: int = MOST_BYTES) -> AsyncOpenAI:
    """Return a client for an endpoint, with its key; raise Shut if the key is missing."""
    try:
        key = key_of(endpoint)
    except JobError as error:
        raise Shut(str(error)) from None
    return AsyncOpenAI(
        api_key=key or _NO_KEY,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=endpoint.timeout_s,
        http_client=http_client(endpoint, most_bytes),
    )


class Clients:
    """One client per endpoint configuration, for one event loop; close it in that loop.

    `learned` maps endpoints to the newly found form of structured output that they support, `fakes` holds
    endpoints where a fake model answered: the user of the client stores both.
    """

    def __init__(self) -> None:
        self._clients: dict[tuple[object, ...], AsyncOpenAI] = {}
        self._forms: dict[int, str] = {}
        self.learned: dict[int, str] = {}
        self.fakes: set[int] = set()

    async def ask(
        self,
        endpoint: Endpoint,
        model: str,
        prompt: Prompt,
        parameters: Mapping[str, Any],
        turn: Callable[[], Awaitable[None]] = at_once,
    ) -> Reply:
        """Return the reply to a prompt; raise Again, Malformed, Withheld, NoLogprobs, Refused or Shut.

        `turn` is awaited before every request; there may be several until a reply form is accepted. A fake
        model's reply to a request for another model (`jobs.fake_models`) raises Shut.
        """
        try:
            reply = await self._ask(endpoint, model, prompt, parameters, turn)
        except (Malformed, NoLogprobs, Withheld):
            self._require_mark(endpoint, model)
            raise
        self._require_mark(endpoint, model)
        return reply

    def _require_mark(self, endpoint: Endpoint, model: str) -> None:
        if endpoint.pk in self.fakes and not is_fake(model):
            raise FakeModelAnswers(endpoint, model)

    async def _ask(
        self,
        endpoint: Endpoint,
        model: str,
        prompt: Prompt,
        parameters: Mapping[str, Any],
        turn: Callable[[], Awaitable[None]],
    ) -> Reply:
        client = self._client(endpoint)
        *stricter, last = forms_for(prompt, self._forms.get(endpoint.pk, endpoint.reply_form))
        for form in stricter:
            try:
                request = request_body(model, prompt, parameters, form)
                return await self._in_form(form, client, endpoint, prompt, request, turn)
            except FormRefused:
                continue
        request = request_body(model, prompt, parameters, last)
        return await self._in_form(last, client, endpoint, prompt, request, turn)

    async def _in_form(
        self,
        form: str,
        client: AsyncOpenAI,
        endpoint: Endpoint,
        prompt: Prompt,
        request: dict[str, Any],
        turn: Callable[[], Awaitable[None]],
    ) -> Reply:
        """Send a request in one reply form, and remember the form if the endpoint answers."""
        await turn()
        try:
            reply = await self._send(client, endpoint, prompt, request)
        except Withheld as error:
            error.reply = replace(error.reply, form=form)
            raise
        if prompt.schema is not None and self._forms.get(endpoint.pk, endpoint.reply_form) != form:
            self._forms[endpoint.pk] = self.learned[endpoint.pk] = form
        return replace(reply, form=form)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    def _client(self, endpoint: Endpoint) -> AsyncOpenAI:
        # An endpoint may be moved to another server in the meantime: that is another client.
        keyed = (endpoint.key_env, endpoint.stored_key)
        key = (endpoint.pk, endpoint.base_url, *keyed, endpoint.allow_private, endpoint.timeout_s)
        if key not in self._clients:
            self._clients[key] = openai_client(endpoint)
        return self._clients[key]

    async def _send(
        self, client: AsyncOpenAI, endpoint: Endpoint, prompt: Prompt, request: dict[str, Any]
    ) -> Reply:
        begun = time.perf_counter()
        path = _PATH if prompt.scored_from is None else _ECHO_PATH
        try:
            async with asyncio.timeout(endpoint.timeout_s):
                # Not `completions.create`: validating a body against the SDK's types costs more than sending
                # it.
                answer = await client.post(path, cast_to=httpx2.Response, content=as_sent(request))
        except TimeoutError:
            raise Again(f"no reply within {endpoint.timeout_s} s") from None
        except TROUBLE as error:
            call_error = transport_error(error, endpoint, client.api_key, request)
            if prompt.scored_from is not None and call_error.status in (404, 405):
                why = f"The endpoint {endpoint.name} gives no log-probabilities of a prompt: {call_error}"
                raise Shut(why, kind=errors.PARAMETER) from None
            raise call_error from None
        if has_mark(answer.headers):
            self.fakes.add(endpoint.pk)
        latency_ms = round(1000 * (time.perf_counter() - begun))
        if prompt.scored_from is not None:
            return echoed(
                answer.content,
                latency_ms,
                prompt.user,
                prompt.scored_from,
                client.api_key,
                name=endpoint.name,
            )
        prompt_has_mark = holds_mark(request["messages"])
        return received(answer.content, latency_ms, client.api_key, prompt_has_mark=prompt_has_mark)


TROUBLE = (
    *(openai.OpenAIError, aiohttp.ClientError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(OSError, EOFError, ValueError, LookupError, RuntimeError),
)
"""Exceptions that a request may raise, whatever the server sends; `transport_error` maps them."""


def transport_error(
    error: Exception, endpoint: Endpoint, key: str, request: Mapping[str, Any] | None = None
) -> CallError:
    """Return the CallError for an exception of a request."""
    if isinstance(error, openai.APIConnectionError):
        call_error = connection_error(error, endpoint, key)
        call_error.unsent = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in _causes(error))
        return call_error
    if isinstance(error, openai.APIStatusError):
        return status_error(error, key, endpoint.name, request or {})
    if isinstance(error, TooLong):
        return Malformed(redact(str(error), key))
    return Again(f"the response was not valid: {_in_words(error, key)}")


def _in_words(error: BaseException, key: str) -> str:
    text = " ".join(redact(str(error), key).split())
    return text[:300] or type(error).__name__


class FormRefused(Refused):
    """The server may not support structured output."""


def status_error(error: openai.APIStatusError, key: str, name: str, request: Mapping[str, Any]) -> CallError:
    """Return the CallError for an HTTP error status."""
    message = redact(_server_message(error), key)[:500]
    delay = _retry_after(error.response.headers.get("retry-after"))
    call_error = meaning(error.status_code, error.body, message, delay, name, request)
    call_error.status = error.status_code
    return call_error


def meaning(
    status: int, body: object, error_text: str, delay: float | None, name: str, request: Mapping[str, Any]
) -> CallError:
    """Return the CallError for a status and error (`body`, in words `error_text`) of a request to endpoint
    `name`.
    """
    message = f"HTTP {status}: {error_text}"
    if is_spent(body):
        return Shut(message)
    if status in {408, 409, 425, 429} or status >= 500:
        return Again(message, delay, kind=_KIND_OF_STATUS.get(status, errors.SERVER))
    if status in {401, 402, 403, 404, 405}:
        return Shut(message)
    if 300 <= status < 400:
        return Shut(f"HTTP {status}: the endpoint redirects; give its final address")
    if kind := kind_of(body, error_text):
        return Refused(message, kind=kind)
    sent = [field for field in request if field not in OWN_FIELDS]
    if refused := refused_parameter(body, error_text, sent):
        why = f"The endpoint {name} does not take the parameter {refused} as it was given. {message}"
        return Shut(f"{why[:800]} Leave it out, or choose another value or model.", kind=errors.PARAMETER)
    if "response_format" in request and status in {400, 422}:
        return FormRefused(message)
    return Refused(message)


_KIND_OF_STATUS = {429: errors.RATE_LIMIT, 408: errors.TRANSPORT}


def _server_message(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping) and isinstance(body.get("message"), str):
        return str(body["message"])
    return error.response.text or error.message


def connection_error(error: openai.APIConnectionError, endpoint: Endpoint, key: str) -> CallError:
    """Distinguish a refused address, an endless body, a refused connection and a silent server."""
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
    if any(isinstance(cause, aiohttp.ClientResponseError) for cause in causes):
        return Again(f"the response was not valid: {_in_words(causes[-1], key)}")
    return Again(f"no connection to {endpoint.base_url}: {_in_words(causes[-1], key)[:200]}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, innermost last; aiohttp keeps the OS error in a separate attribute."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        if isinstance(cause, aiohttp.ClientConnectorError):
            yield cause.os_error
        cause = cause.__cause__


def _retry_after(text: str | None) -> float | None:
    """Return the seconds of a Retry-After header (a number or a date), at most five minutes."""
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
