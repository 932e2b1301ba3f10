"""Sending long answers: the event loop waits for the reader, a thread only fetches the next part.

So slow readers cost a file and some memory, of which there is a limit for each client and one for all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from config.web.bodies import Gone, Receive, Refused
from config.web.calling import Answered, Blocks

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

THREADS = 2
STALL_SECONDS = 90.0
GRACE_SECONDS = 60.0
SLOWEST_RATE = 1024
"""Bytes a second that a reader must take on average once the grace is over."""
OF_ONE_CLIENT = 4
"""One client may have a part of all downloads: this is one in so many."""
RETRY_SECONDS = 10
_CLOSED = "handler is closed"
"""What the event loop says of a write to a connection that the client has left."""


class Downloads:
    """The long answers that one process is sending, `most` at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._clients = Counter[str]()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="download")

    @contextmanager
    def of(self, client: str) -> Iterator[None]:
        """Count a download while it lasts. Refused where the client, or all together, have too many."""
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
        """Send an answer part by part, each when the client has room for it. Gone where it has left.

        Whatever is raised in the middle goes on to the server, which then breaks the connection: half a
        download never looks complete.
        """
        loop = asyncio.get_running_loop()
        leaving = asyncio.create_task(_wait_for_leaving(receive))
        began, sent, part = loop.time(), 0, answered.body
        try:
            await send(answered.start)
            while part:
                if leaving.done():
                    raise Gone
                slowest = began + GRACE_SECONDS + sent / SLOWEST_RATE
                async with asyncio.timeout_at(min(slowest, loop.time() + STALL_SECONDS)):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                sent += len(part)
                part = b"" if rest.ended else await loop.run_in_executor(self._threads, rest.take)
        except TimeoutError:
            raise Gone from None
        finally:
            leaving.cancel()

    def drop(self, rest: Blocks) -> None:
        """Let go of what an answer holds, once nothing is taken of it any more."""
        self._threads.submit(rest.close)


def until_gone(send: Send) -> Send:
    """Return `send`, which raises Gone where the connection was closed under it."""

    async def send_or_leave(message: MutableMapping[str, Any]) -> None:
        try:
            await send(message)
        except RuntimeError as error:
            if _CLOSED not in str(error):
                raise
            raise Gone from None

    return send_or_leave


async def _wait_for_leaving(receive: Receive) -> None:
    while (await receive())["type"] == "http.request":
        pass
