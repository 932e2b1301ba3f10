"""Server-sent events: open connections that the event loop wakes, without a thread or a transaction each.

A view authorises the request and returns an `EventStream` of a topic; `publish` sends a text to all streams
of a topic once its transaction is committed. Events only say that something changed: the client reads it by
an ordinary request, which is authorised again, so that an event that is lost or comes twice does no harm.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.http import HttpResponse

from config.web.limits import Gone, Receive, wait_for_leaving

CHANNEL = "concord_events"
QUIET_SECONDS = 15.0
"""Seconds between signs of life on a stream without events; clients and proxies take longer silence for a
broken connection."""
STREAM_SECONDS = 300.0
"""Longest life of a stream: its client connects again and is authorised anew."""
MOST_WAITING = 50
"""Events that a stream holds for a client that does not read; more are merged into a request to read all."""
RETRY_SECONDS = 2.0
RETRY_MS = 1000
REOPENED = "reopened"
"""Event after a gap: the client should read the state, whatever it has received."""

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
logger = logging.getLogger(__name__)


class EventStream(HttpResponse):
    """A response that stays open and passes on the events of a topic; the view has authorised its client."""

    def __init__(self, topic: str) -> None:
        super().__init__(content_type="text/event-stream")
        self.topic = topic
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"  # nginx would collect events before it sends them


def publish(topic: str, text: str) -> None:
    """Send a line of text, at most 7,000 bytes, to the streams of a topic once the transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{topic} {text}"])


class Streams:
    """The open streams of one process, and its one database connection that listens for their events."""

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)
        self._listener: asyncio.Task[None] | None = None

    async def send(self, start: dict[str, Any], topic: str, receive: Receive, send: Send) -> None:
        """Send a topic's events until the client leaves (raises Gone) or the stream has lasted its time."""
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        loop = asyncio.get_running_loop()
        ends = loop.time() + STREAM_SECONDS
        headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        disconnect = asyncio.create_task(wait_for_leaving(receive))
        with self._queue(topic) as queue:
            try:
                await send({**start, "headers": headers})
                text = f"retry: {RETRY_MS}\n\n{_event(REOPENED)}"
                while (remaining := ends - loop.time()) > 0:
                    async with asyncio.timeout_at(ends):  # a client that reads nothing ends there, too
                        await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
                    text = await _next(queue, disconnect, min(remaining, QUIET_SECONDS))
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except TimeoutError:
                raise Gone from None
            finally:
                disconnect.cancel()

    @contextmanager
    def _queue(self, topic: str) -> Iterator[asyncio.Queue[str]]:
        queue: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        self._queues[topic].add(queue)
        try:
            yield queue
        finally:
            self._queues[topic].discard(queue)
            if not self._queues[topic]:
                del self._queues[topic]

    async def _listen(self) -> None:
        """Pass notifications on for ever; after each new connection, have all clients read the state."""
        while True:
            try:
                async with await _connect() as listener:
                    await listener.execute(f"LISTEN {CHANNEL}")
                    for topic in list(self._queues):
                        self._pass_on(topic, REOPENED)
                    async for notice in listener.notifies():
                        topic, _, text = notice.payload.partition(" ")
                        self._pass_on(topic, text)
            except (psycopg.Error, OSError) as error:
                logger.warning("events are delayed, the database is away: %s", str(error).splitlines()[:1])
            await asyncio.sleep(RETRY_SECONDS)

    def _pass_on(self, topic: str, text: str) -> None:
        for queue in self._queues.get(topic, ()):
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                text = REOPENED
            queue.put_nowait(text)


async def _connect() -> psycopg.AsyncConnection[Any]:
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory", None)  # Django's are for connections without asyncio
    return await psycopg.AsyncConnection.connect(**parameters, autocommit=True)


async def _next(queue: asyncio.Queue[str], disconnect: asyncio.Task[None], seconds: float) -> str:
    """Return the next event, or a sign of life after `seconds`. Raises Gone once the client has left."""
    event = asyncio.create_task(queue.get())
    try:
        await asyncio.wait({event, disconnect}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if disconnect.done():
            raise Gone
        return _event(event.result()) if event.done() else ":\n\n"
    finally:
        event.cancel()


def _event(text: str) -> str:
    """Return an event of one line, since a line break would end its data."""
    return f"data: {' '.join(text.split())}\n\n"
