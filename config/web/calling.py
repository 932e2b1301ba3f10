"""Running Django, a WSGI application, in threads: its environment, its answers, and whose turn it is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from config.web.bodies import Gone, Receive

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

LONG_SECONDS = 1.0
MOST_LONG = 12
STALL_SECONDS = 90.0


def environ_of(scope: MutableMapping[str, Any], body: IO[bytes], size: int) -> Environ:
    """The WSGI environment of a request (PEP 3333). `size`: bytes of the body, which has been read."""
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


@dataclass
class Answered:
    """An answer's start, and its body where that was not sent piece by piece."""

    start: dict[str, Any]
    body: bytes | None


class Places:
    """Whose turn it is: a few requests at a time, and one more for each that takes longer than a moment."""

    def __init__(self, places: int) -> None:
        self._free = asyncio.Semaphore(places)
        self._long = 0
        self._threads = ThreadPoolExecutor(places + MOST_LONG, thread_name_prefix="request")

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function in a thread once it is its turn, and return what it returns."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        gave_way = False

        def give_way() -> None:
            nonlocal gave_way
            if self._long < MOST_LONG:
                self._long += 1
                gave_way = True
                self._free.release()

        clock = loop.call_later(LONG_SECONDS, give_way)
        work = loop.run_in_executor(self._threads, function, *arguments)

        def finished(_work: asyncio.Future[Any]) -> None:
            clock.cancel()
            if gave_way:
                self._long -= 1
            else:
                self._free.release()

        work.add_done_callback(finished)
        return await asyncio.shield(work)


def call(application: Application, environ: Environ, push: Callable[[Message], None]) -> Answered:
    """Call the application in this thread; a download goes out through `push`, block by block.

    Whatever is raised in the middle of a download goes on to the server, which then breaks the connection:
    half a download never looks complete.
    """
    start: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], _failure: Any = None) -> None:
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        start.update(type="http.response.start", status=int(status[:3]), headers=pairs)

    blocks = application(environ, start_response)
    try:
        if not getattr(blocks, "streaming", True):
            return Answered(start, b"".join(blocks))
        push(start)
        for block in blocks:
            push({"type": "http.response.body", "body": block, "more_body": True})
        return Answered(start, None)
    finally:
        close = getattr(blocks, "close", None)
        if close is not None:
            close()


class Download:
    """The way of a long answer's blocks from a thread to the client."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._left: asyncio.Task[Any] | None = None

    def push(self, message: Message) -> None:
        """Send a message from a thread, and wait until the client has room for it. Gone where it has left."""
        asyncio.run_coroutine_threadsafe(self._forward(message), self._loop).result(STALL_SECONDS)

    async def _forward(self, message: Message) -> None:
        if self._left is None:
            self._left = asyncio.create_task(_wait_for_leaving(self._receive))
        if self._left.done():
            raise Gone
        await self._send(message)


async def _wait_for_leaving(receive: Receive) -> None:
    while (await receive())["type"] == "http.request":
        pass
