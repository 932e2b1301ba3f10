"""Running Django, a WSGI application, in threads: its environment, its answers, and whose turn it is."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote_to_bytes

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

LONG_SECONDS = 1.0
MOST_LONG = 12
PART = 128 * 2**10
"""Bytes that are taken of an answer at once; a shorter one is there whole before it is sent."""


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


class Blocks:
    """An answer's body, taken part by part, by whichever thread: none is held while the client reads."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.ended = False
        self._blocks = blocks
        self._is_whole = not getattr(blocks, "streaming", True)
        self._iterator = iter(blocks)
        self._mutex = threading.Lock()

    def take(self) -> bytes:
        """The next part: PART bytes or somewhat more, fewer at the end; a whole body where it is there."""
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
        """Let go of what the application holds for this body."""
        with self._mutex:
            close = getattr(self._blocks, "close", None)
            if close is not None:
                close()


@dataclass
class Answered:
    """An answer's start, the first part of its body, and what gives the rest; None where there is no more."""

    start: dict[str, Any]
    body: bytes
    rest: Blocks | None


class Places:
    """Whose turn it is: a few requests at a time, and one more for each that takes longer than a moment.

    Of those that write files one has its turn at a time, and they never take all of the additional places:
    pages find room however many files are asked for.
    """

    def __init__(self, places: int) -> None:
        self._free = asyncio.Semaphore(places)
        self._files = asyncio.Semaphore(1)
        self._long = 0
        self._threads = ThreadPoolExecutor(places + MOST_LONG, thread_name_prefix="request")

    async def run(self, function: Callable[..., Any], *arguments: Any, is_file: bool = False) -> Any:
        """Run a function in a thread once it is its turn, and return what it returns."""
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
    """Call the application in this thread, and take the first part of its answer."""
    start: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], _failure: Any = None) -> None:
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        start.update(type="http.response.start", status=int(status[:3]), headers=pairs)

    blocks = Blocks(application(environ, start_response))
    is_longer = False
    try:
        body = blocks.take()
        is_longer = not blocks.ended
    finally:
        if not is_longer:
            blocks.close()
    return Answered(start, body, blocks if is_longer else None)
