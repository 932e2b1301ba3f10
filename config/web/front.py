"""ASGI application: reads a complete request, within its limits, and lets a thread answer it."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.urls import get_resolver

from config.trouble import Answer, short, wants_json
from config.web import limits
from config.web.events import Streams
from config.web.limits import Body, Gone, Receive, Refused, linger, wait_for_leaving
from config.web.protocol import STOPPING, STREAM, most_downloads

# Runs Django, a WSGI application, in threads: environment, responses, and scheduling.

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

LONG_SECONDS = 1.0
MOST_LONG = 12
PART = 128 * 2**10
"""Bytes read of a response at once; a shorter response is complete before it is sent."""


def environ_of(scope: MutableMapping[str, Any], body: IO[bytes], size: int) -> Environ:
    """Return the WSGI environment of a request (PEP 3333). `size`: bytes of the body, which has been read."""
    address, port = scope.get("server") or ("localhost", 80)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": address,
        "SERVER_PORT": str(port or 80),
        "REMOTE_ADDR": scope["client"][0] if scope.get("client") else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw, value in scope["headers"]:
        # `X_Forwarded_Proto` would pass for `X-Forwarded-Proto`, which a proxy sets.
        if b"_" in raw:
            continue
        key = "HTTP_" + raw.decode("latin-1").upper().replace("-", "_")
        text = value.decode("latin-1")
        between = "; " if raw == b"cookie" else ","
        environ[key] = f"{environ[key]}{between}{text}" if key in environ else text
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ.pop("HTTP_CONTENT_LENGTH", None)
    environ["CONTENT_LENGTH"] = str(size)
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    return environ


class Blocks:
    """Response body, read part by part by any thread: no thread is held while the client reads."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.ended = False
        self._blocks = blocks
        self._is_whole = not getattr(blocks, "streaming", True)
        self._iterator = iter(blocks)
        self._mutex = threading.Lock()

    def take(self) -> bytes:
        """Return the next part: PART bytes or somewhat more, fewer at the end; a complete body if
        available.
        """
        parts: list[bytes] = []
        size = 0
        with self._mutex:
            for block in self._iterator:
                parts.append(block)
                size += len(block)
                if size >= PART and not self._is_whole:
                    return b"".join(parts)
            self.ended = True
        return b"".join(parts)

    def close(self) -> None:
        """Close the application's resources of this body."""
        with self._mutex:
            close = getattr(self._blocks, "close", None)
            if close is not None:
                close()


@dataclass
class Answered:
    """Start of a response, the first part of its body, and the rest; None if there is no more.

    `topic`: that of a stream of events, which has no body of its own; '' for other responses.
    """

    start: dict[str, Any]
    body: bytes
    rest: Blocks | None
    topic: str = ""


class Places:
    """Scheduler of requests: a few at a time, plus one for each that takes longer than a moment.

    Requests that write files run one at a time, and never take all of the additional slots: pages are served
    however many files are requested.
    """

    def __init__(self, places: int) -> None:
        self._free = asyncio.Semaphore(places)
        self._files = asyncio.Semaphore(1)
        self._long = 0
        self._threads = ThreadPoolExecutor(places + MOST_LONG, thread_name_prefix="request")

    async def run(self, function: Callable[..., Any], *arguments: Any, is_file: bool = False) -> Any:
        """Run a function in a thread once it is its turn, and return its result."""
        if not is_file:
            return await self._run(function, arguments, [self._free], MOST_LONG)
        await self._files.acquire()
        return await self._run(function, arguments, [self._free, self._files], MOST_LONG // 2)

    async def _run(
        self, function: Callable[..., Any], arguments: Any, turns: list[asyncio.Semaphore], most_long: int
    ) -> Any:
        """Run a function that has all of its turns but the first; they are given back for it."""
        try:
            await turns[0].acquire()
        except asyncio.CancelledError:
            for turn in turns[1:]:
                turn.release()
            raise
        loop = asyncio.get_running_loop()
        gave_way = False
        clock: asyncio.TimerHandle

        def give_way() -> None:
            nonlocal gave_way, clock
            if self._long < most_long:
                self._long += 1
                gave_way = True
                for turn in turns:
                    turn.release()
            else:
                clock = loop.call_later(LONG_SECONDS, give_way)

        def finished(_work: asyncio.Future[Any]) -> None:
            clock.cancel()
            if gave_way:
                self._long -= 1
                return
            for turn in turns:
                turn.release()

        clock = loop.call_later(LONG_SECONDS, give_way)
        work = loop.run_in_executor(self._threads, function, *arguments)
        work.add_done_callback(finished)
        return await asyncio.shield(work)


def call(application: Application, environ: Environ) -> Answered:
    """Call the application in this thread, and read the first part of its response."""
    start: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], _failure: Any = None) -> None:
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        start.update(type="http.response.start", status=int(status[:3]), headers=pairs)

    response = application(environ, start_response)
    blocks = Blocks(response)
    is_longer = False
    try:
        body = blocks.take()
        is_longer = not blocks.ended
    finally:
        if not is_longer:
            blocks.close()
    return Answered(start, body, blocks if is_longer else None, getattr(response, "topic", ""))


# Long responses: the event loop waits for the client, a thread only reads the next part.
#
# So a slow client costs one file and some memory, with a limit per client and a total limit.

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

THREADS = 2
STALL_SECONDS = 90.0
GRACE_SECONDS = 60.0
SLOWEST_RATE = 1024
"""Minimum average bytes per second of a client after the grace period."""
OF_ONE_CLIENT = 4
"""Share of all downloads that one client may have: one in this many."""
RETRY_SECONDS = 10
_CLOSED = "handler is closed"
"""Error text of the event loop for a write to a connection that the client has closed."""


class Downloads:
    """Long responses that one process is sending, at most `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._clients = Counter[str]()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="download")

    @contextmanager
    def of(self, client: str) -> Iterator[None]:
        """Count a download in its context. Raises Refused at the limit of the client or of all together."""
        if self._clients[client] >= max(1, self.most // OF_ONE_CLIENT):
            sentence = "Too many downloads at once from your address. Try again when one of them has ended."
            raise Refused(429, sentence, retry=RETRY_SECONDS)
        if self._clients.total() >= self.most:
            raise Refused(503, "Too many downloads at once. Try again in a moment.", retry=RETRY_SECONDS)
        self._clients[client] += 1
        try:
            yield
        finally:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]

    async def send(self, answered: Answered, rest: Blocks, receive: Receive, send: Send) -> None:
        """Send a response part by part, each when the client has room for it. Raises Gone if it has left.

        An exception in the middle goes on to the server, which then breaks the connection: a partial download
        never looks complete.
        """
        loop = asyncio.get_running_loop()
        disconnect = asyncio.create_task(wait_for_leaving(receive))
        began, sent, part = loop.time(), 0, answered.body
        try:
            await send(answered.start)
            while part:
                if disconnect.done():
                    raise Gone
                slowest = began + GRACE_SECONDS + sent / SLOWEST_RATE
                async with asyncio.timeout_at(min(slowest, loop.time() + STALL_SECONDS)):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                sent += len(part)
                part = b"" if rest.ended else await loop.run_in_executor(self._threads, rest.take)
        except TimeoutError:
            raise Gone from None
        finally:
            disconnect.cancel()

    def drop(self, rest: Blocks) -> None:
        """Close a response's resources once nothing more is read from it."""
        self._threads.submit(rest.close)


def until_gone(send: Send) -> Send:
    """Return `send`, wrapped to raise Gone if the connection was closed."""

    async def send_or_leave(message: MutableMapping[str, Any]) -> None:
        try:
            await send(message)
        except RuntimeError as error:
            if _CLOSED not in str(error):
                raise
            raise Gone from None

    return send_or_leave


HEALTH = Answer(200, [("Content-Type", "application/json"), ("Content-Length", "16")], b'{"status": "ok"}')
Scope = MutableMapping[str, Any]
logger = logging.getLogger(__name__)


class Front:
    """Web application of one process.

    Threads of one process take turns, so more of them would only delay the slowest responses.
    """

    def __init__(self, application: Application, *, threads: int = THREADS) -> None:
        self.application = application
        self.threads = threads
        self._places: Places | None = None
        self._downloads: Downloads | None = None
        self._streams = Streams()

    @classmethod
    def of_django(cls) -> Front:
        """Return the front of Django, with all routes and views imported now, not at the first request."""
        front = cls(get_wsgi_application())
        _ = get_resolver().url_patterns
        return front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["path"] == "/healthz" and scope["method"] in {"GET", "HEAD"}:
            await _answer(send, HEALTH, [("Cache-Control", "no-store")])
            return
        body = Body(receive)
        try:
            await self._serve(scope, body, send)
        except Refused as refusal:
            await _answer(send, _page(scope, refusal), [("Connection", "close")], receive=receive)
        except Gone:
            return
        finally:
            body.close()

    async def _serve(self, scope: Scope, body: Body, send: Send) -> None:
        send = until_gone(send)
        if self._places is None or self._downloads is None:
            self._places, self._downloads = Places(self.threads), Downloads(most_downloads())
        await self._read(scope, body)
        body.file.seek(0)
        environ = environ_of(scope, body.file, body.size)
        client, is_file = limits.client_of(environ), limits.is_file(environ["PATH_INFO"])
        with ExitStack() as counted:
            if is_file:
                counted.enter_context(self._downloads.of(client))
            answered: Answered = await self._places.run(call, self.application, environ, is_file=is_file)
            if answered.topic and not scope.get(STOPPING):
                scope[STREAM] = True
                await self._streams.send(answered.start, answered.topic, body.receive, send)
                return
            if answered.rest is None:
                await send(answered.start)
                await send({"type": "http.response.body", "body": answered.body, "more_body": False})
                return
            counted.callback(self._downloads.drop, answered.rest)
            if not is_file:
                counted.enter_context(self._downloads.of(client))
            await self._downloads.send(answered, answered.rest, body.receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _read(self, scope: Scope, body: Body) -> None:
        """Read the body. A body beyond the general limit is checked before it is read or stored."""
        length = _length(scope)
        if length <= limits.ANYBODY and await self._within(body, limits.ANYBODY):
            return
        environ = environ_of(scope, BytesIO(), 0)
        limit = limits.largest(environ["PATH_INFO"])
        if length > limit:
            raise limits.too_large(limit)
        assert self._places is not None
        await self._places.run(_check, environ)
        body.accept_held()
        if not await self._within(body, limit):
            raise limits.too_large(limit)

    async def _within(self, body: Body, limit: int) -> bool:
        try:
            return await body.read(limit)
        except OSError as problem:
            logger.error("A request was refused, because it could not be stored: %s", problem)
            raise Refused(507, "There is no room to store the request. Try again later.") from None


def _check(environ: dict[str, Any]) -> None:
    try:
        limits.check(environ)
    finally:
        close_old_connections()


def _length(scope: Scope) -> int:
    """Return the declared length of a request; 0 without one."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
    return 0


def _page(scope: Scope, refusal: Refused) -> Answer:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    kind, accept = headers.get(b"content-type", ""), headers.get(b"accept", "")
    scripted = wants_json(scope["path"], accept, kind)
    return short(refusal.status, str(refusal), for_scripts=scripted, retry=refusal.retry)


async def _answer(
    send: Send, answer: Answer, more: list[tuple[str, str]], *, receive: Receive | None = None
) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in (*answer.headers, *more)]
    await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
    await send({"type": "http.response.body", "body": answer.body, "more_body": receive is not None})
    if receive is not None:
        await linger(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
