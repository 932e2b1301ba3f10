"""Asking an endpoint: one request, and what its failure means.

    CallError
      Again       worth another try: 429, 5xx, timeouts, connection errors; `delay` as the server asked
      Malformed   a response whose text is not a text; asked for once more
      Withheld    a reply that is no whole answer: cut off, filtered, refused by the model
      Refused     final for this call: 400 and the like
        Shut      final for every call of the run: a refused or missing key, no such model or address,
                  an address that the endpoint may not be at, a parameter that it does not take

The client itself never retries: a retry is a row that waits, so that it survives the worker.
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
from jobs.endpoints import actions
from jobs.endpoints.actions import key_of, remember
from jobs.endpoints.costs import as_sent, request_body
from jobs.endpoints.parameters import PARAMETERS, forms_for
from jobs.endpoints.responses import Again, CallError, Malformed, Reply, Withheld, received, redact
from jobs.endpoints.wire import MOST_BYTES, AddressRefused, TooLong, http_client
from jobs.errors import JobError
from jobs.fake_models import aliased, has_mark, is_fake
from jobs.models import Run
from jobs.models.endpoint import Endpoint
from jobs.prompt import Prompt

# Testing an endpoint: one short question, asked where the judges' questions are asked from.
#
# The web process may not have the endpoint's key, nor reach its network; the workers of the queue `calls` do.
# A thread of its own, so that a silent endpoint holds no judge up.

logger = logging.getLogger(__name__)
LONGEST = 20
"""Seconds that a test waits for the reply."""
AT_ONCE = 8
"""Endpoints that are tested at the same time."""
PATH = "/chat/completions"
DEFECTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a defect in the client may raise on what a server sends: it fails the test of that endpoint alone."""
QUESTION = Prompt("You are asked whether you can be reached.", "Answer with the one word: yes")
_busy = threading.Lock()


def begin(queue: str) -> None:
    """Test what waits to be tested, in a thread; nothing happens while one is under way."""
    if queue == Run.Queue.CALLS and not _busy.locked() and _mine():
        threading.Thread(target=_test_waiting, name="probing", daemon=True).start()


def waiting() -> list[Endpoint]:
    """Return the endpoints whose test is asked for and not done."""
    return list(Endpoint.objects.filter(test_asked__isnull=False, test_done=None))


def _mine() -> list[Endpoint]:
    """Endpoints waiting for a test that this process has the key for, or no process has."""
    return [
        endpoint for endpoint in waiting() if actions.has_key(endpoint) or not actions.others_have(endpoint)
    ]


def test(endpoint: Endpoint) -> Endpoint:
    """Ask the endpoint one short question and keep what came of it: a time, or why there is no reply."""
    requested_at = endpoint.test_asked
    error, milliseconds = _answer(endpoint)
    fields = {"test_done": timezone.now(), "test_error": error, "test_ms": milliseconds}
    # Not where it was asked for again meanwhile, perhaps after a change.
    Endpoint.objects.filter(pk=endpoint.pk, test_asked=requested_at).update(**fields)
    endpoint.refresh_from_db()
    return endpoint


def _answer(endpoint: Endpoint) -> tuple[str, int | None]:
    hurried = copy(endpoint)
    hurried.timeout_s = min(endpoint.timeout_s, LONGEST)
    fakes: set[int] = set()
    try:
        reply = asyncio.run(_ask(hurried, fakes))
    except Withheld as error:
        # Cut off at its most tokens it answers all the same: that is what was asked.
        if error.kind == errors.TRUNCATED:
            return "", error.reply.latency_ms
        return _failure_message(endpoint, error), None
    except CallError as error:
        return _failure_message(endpoint, error), None
    except DEFECTS as error:
        logger.exception("a test of the endpoint %s failed", endpoint.name)
        return f"a defect in Concord: {type(error).__name__}", None
    finally:
        remember({}, fakes)
    return ("" if reply.text.strip() else "the reply is empty"), reply.latency_ms


def _failure_message(endpoint: Endpoint, error: CallError) -> str:
    """Return why there is no reply, with the address that was asked and what is often wrong with it."""
    address = f"{endpoint.base_url.rstrip('/')}{PATH}"
    message = f"{address}: {error!s}"[:900].replace("\x00", "\ufffd")
    if error.status in (404, 405) and not urlsplit(endpoint.base_url).path.strip("/"):
        message += f". Most servers answer under /v1: try {endpoint.base_url.rstrip('/')}/v1 as its base URL."
    return message


async def _ask(endpoint: Endpoint, fakes: set[int]) -> Reply:

    clients = Clients()
    try:
        # Whoever answers, it is a test: a fake model behind another name is marked, and not refused.
        return await clients.ask(endpoint, aliased(endpoint.model), QUESTION, {})
    finally:
        await clients.close()
        fakes.update(clients.fakes)


def _test_waiting() -> None:
    """Test what waits, each endpoint by itself: none waits for another that is silent or odd."""
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


# What a refused request was refused for, read from the error of an OpenAI-compatible server; pure.
#
# Servers say it in different places: a field `param`, a `code`, a list of places, or only in a sentence.

_CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_CONTEXT = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:available|maximum|model's)[^.]{0,40}(?:context|tokens)",
    re.I,
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""What servers call an account that has no money left; some say it with status 429."""
_WORDS = frozenset({"temperature", "seed", "stop"})
"""Names of parameters that are words of a sentence, too."""


def kind_of(error: Any, message: str) -> str:
    """Return the kind of a refusal that concerns this one request; '' where it may concern its form."""
    codes = {str(error.get(name)) for name in ("code", "type")} if isinstance(error, Mapping) else set()
    if codes & _CONTEXT_CODES or _CONTEXT.search(message):
        return errors.CONTEXT_TOO_LONG
    inner = error.get("innererror") if isinstance(error, Mapping) else None
    if isinstance(inner, Mapping):
        codes.add(str(inner.get("code")))
    return errors.CONTENT_FILTER if codes & _FILTER_CODES else ""


def is_spent(error: Any) -> bool:
    """Whether a server says that nothing is left to pay with: no request can succeed until that changes."""
    return isinstance(error, Mapping) and any(str(error.get(name)) in _SPENT for name in ("code", "type"))


def refused_parameter(error: Any, message: str, sent: Collection[str]) -> str:
    """Return which of the parameters that were sent a server refuses, '' where it says nothing of the
    kind."""
    for place in _places(error):
        parts = re.split(r"[.\[\]/]", place)
        if parameter := next((name for name in sent if name in parts), ""):
            return parameter
    # The longest first: a complaint about top_logprobs is not one about logprobs.
    return next((name for name in sorted(sent, key=len, reverse=True) if _complains(message, name)), "")


def _places(error: Any) -> Iterator[str]:
    """Yield what an error names as its place: `param`, or the `loc` of each entry of a list of details."""
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
    """Whether a sentence complains about a parameter; a name that is a word counts only where it stands
    out."""
    if name not in _WORDS:
        return re.search(rf"(?<!\w){name}(?!\w)", message) is not None
    stands_out = (
        rf"['\"`]{name}['\"`]"
        rf"|(?:parameter|argument|field|option|property)s?:? {name}(?!\w)"
        rf"|(?<!\w){name}(?: ?:| (?:is|must|should|cannot|does|was|has|may) )"
    )
    return re.search(stands_out, message, re.I) is not None


__all__ = ["Again", "CallError", "Clients", "Malformed", "Refused", "Reply", "Shut", "Withheld"]
LONGEST_DELAY = 300.0
_NO_KEY = "-"
_PATH = "/chat/completions"


class Refused(CallError):
    """Asking again would be refused again."""


class Shut(Refused):
    """No call of this run can succeed until somebody changes something."""

    kind = errors.ACCESS


class FakeModelAnswers(Shut):
    """A fake model answers under another model's name; whoever catches it has the endpoint marked."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        super().__init__(
            f"At the endpoint {endpoint.name} a fake model answers under the name {model}: nothing of its "
            "reply is kept. The endpoint is marked now: start anew, and what it answers says so."
        )


async def at_once() -> None:
    """Wait for nothing before a request."""


def openai_client(endpoint: Endpoint, most_bytes: int = MOST_BYTES) -> AsyncOpenAI:
    """Return a client for an endpoint, with its key; raise Shut where that is missing."""
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
    """One client per endpoint as it is set up, for one event loop; close it there.

    `learned` says which form of structured output endpoints took that had not been asked for one before, or
    had taken a stricter one, `fakes` at which a fake model answered: for whoever uses the client to keep.
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
        """Return the reply to a prompt; raise Again, Malformed, Withheld, Refused or Shut.

        `turn` is awaited before every request, of which there may be several until a form is taken. A reply
        of a fake model to a request for another (`jobs.fake_models`) is Shut.
        """
        try:
            reply = await self._ask(endpoint, model, prompt, parameters, turn)
        except (Malformed, Withheld):
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
        """Ask in one form, and remember it where the endpoint answers."""
        await turn()
        try:
            reply = await self._send(client, endpoint, request)
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
        # An endpoint may be set to another server while this works: that is another client.
        key = (endpoint.pk, endpoint.base_url, endpoint.key_env, endpoint.allow_private, endpoint.timeout_s)
        if key not in self._clients:
            self._clients[key] = openai_client(endpoint)
        return self._clients[key]

    async def _send(self, client: AsyncOpenAI, endpoint: Endpoint, request: dict[str, Any]) -> Reply:
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(endpoint.timeout_s):
                # Not `completions.create`: walking a body along the SDK's types costs more than sending it.
                answer = await client.post(_PATH, cast_to=httpx2.Response, content=as_sent(request))
        except TimeoutError:
            raise Again(f"no reply within {endpoint.timeout_s} s") from None
        except TROUBLE as error:
            raise transport_error(error, endpoint, client.api_key, request) from None
        if has_mark(answer.headers):
            self.fakes.add(endpoint.pk)
        return received(answer.content, round(1000 * (time.perf_counter() - begun)), client.api_key)


TROUBLE = (
    *(openai.OpenAIError, aiohttp.ClientError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(OSError, EOFError, ValueError, LookupError, RuntimeError),
)
"""What a request may raise, whatever the server sends: `transport_error` gives it a name."""


def transport_error(
    error: Exception, endpoint: Endpoint, key: str, request: Mapping[str, Any] | None = None
) -> CallError:
    """Tell what an error of a request means."""
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
    """The server may not know structured output."""


def status_error(error: openai.APIStatusError, key: str, name: str, request: Mapping[str, Any]) -> CallError:
    """Tell what a status means: for this try, for this call, for its form, or for the whole run."""
    message = redact(_server_message(error), key)[:500]
    delay = _retry_after(error.response.headers.get("retry-after"))
    call_error = meaning(error.status_code, error.body, message, delay, name, request)
    call_error.status = error.status_code
    return call_error


def meaning(
    status: int, body: object, error_text: str, delay: float | None, name: str, request: Mapping[str, Any]
) -> CallError:
    """Tell what a status with an error (`body`, in words `told`) means for a request to endpoint `name`."""
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
    sent = [parameter for parameter in PARAMETERS if parameter in request]
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
    if any(isinstance(cause, aiohttp.ClientResponseError) for cause in causes):
        return Again(f"the response was not valid: {_in_words(causes[-1], key)}")
    return Again(f"no connection to {endpoint.base_url}: {_in_words(causes[-1], key)[:200]}")


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
