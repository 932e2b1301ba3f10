"""Reading a request's body within limits of time and size, before a thread is taken for the request."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, MutableMapping
from typing import IO, Any

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

GRACE_SECONDS = 20.0
SLOWEST_RATE = 4096
"""Bytes a second that a body must make on average once the grace is over."""
IN_MEMORY = 2**20
LINGER_SECONDS = 2.0


class Refused(Exception):
    """A request is answered with `status` and the message, its body read or not.

    `retry`: seconds after which to try again.
    """

    def __init__(self, status: int, sentence: str, *, retry: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.retry = retry


class Gone(Exception):
    """The client closed the connection."""


class Body:
    """A body as it arrives: in memory while small, beyond that in a file without a name."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.size = 0
        self.more = True
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed by `close`)
        self._held = b""
        self._began = asyncio.get_running_loop().time()

    async def read(self, limit: int) -> bool:
        """Read until the body ends (True) or has more than `limit` bytes (False).

        Raises Refused (408) where it comes too slowly and Gone where the client has left.
        """
        while self.more and self.size <= limit:
            try:
                async with asyncio.timeout_at(self._began + GRACE_SECONDS + self.size / SLOWEST_RATE):
                    message = await self.receive()
            except TimeoutError:
                raise Refused(408, "The request came too slowly. Try again.") from None
            if message["type"] != "http.request":
                raise Gone
            part = message.get("body", b"")
            self.size += len(part)
            self.more = bool(message.get("more_body"))
            if self.size <= limit:
                self.file.write(part)
            else:
                self._held = part
        return self.size <= limit

    def accept_held(self) -> None:
        """Take the part that went beyond the last limit: a larger one was granted."""
        self.file.write(self._held)

    def close(self) -> None:
        """Give memory and file back."""
        self.file.close()


async def linger(receive: Receive) -> None:
    """Read and drop what a refused client still sends, briefly: a reset would destroy the answer."""
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
    except TimeoutError:
        return
