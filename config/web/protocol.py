"""HTTP in uvicorn, with limits on the time and size of a request's headers."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Listening socket of the web server.

BACKLOG = 1024
UNREAD_SECONDS = 60


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; OSError if the address is taken or not ours.

    Connections whose client has read nothing of a response for a minute are dropped (Linux).
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


HEADER_SECONDS = 10.0
LARGEST_HEADERS = 64 * 2**10
KEPT_FILES = 64
"""Files reserved for other work out of a process's limit: the database, uploads, modules."""
MOST_DOWNLOADS = 1024
TELL_EVERY = 60.0
RETRY_SECONDS = 5
FULL = (
    f"HTTP/1.1 503 Service Unavailable\r\nRetry-After: {RETRY_SECONDS}\r\nContent-Length: 0\r\n"
    "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
).encode()
STREAM = "concord.stream"
"""Key of a request's scope while it is answered by a stream of events, which ends only when it is closed."""
STOPPING = "concord.stopping"
"""Key of the scope of a request in progress once the server stops: it begins no stream any more."""
logger = logging.getLogger(__name__)


def most_downloads() -> int:
    """Return the number of long responses that this process may send at once: each may be an open file."""
    return min(MOST_DOWNLOADS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8)


def most_connections() -> int:
    """Return the number of connections that this process may have open at once."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] - KEPT_FILES - most_downloads()


class LimitedHeaders(HttpToolsProtocol):
    """Closes connections with late or too many headers, and connections over the limit.

    A process without free file descriptors could neither query its database nor report the problem.
    """

    _last_logged_at = -TELL_EVERY
    _clock: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            self._refuse(transport)
        else:
            self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Pass data on; the timer runs from the first byte of a request to the end of its headers."""
        if self.timeout_keep_alive_task is not None:
            self._start_clock()
        super().data_received(data)
        if self._clock is not None:
            self._header_bytes += len(data)
            if self._header_bytes > LARGEST_HEADERS:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """Start the timer, unless the connection's first byte has."""
        self._start_clock()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop the timer: from here on the front watches the body."""
        self._stop_clock()
        super().on_headers_complete()

    def shutdown(self) -> None:
        """Let the response in progress end, but not a stream of events: its client connects again.

        What a stream has not sent is discarded, since a client that reads nothing would keep it open.
        """
        super().shutdown()
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            return
        cycle.scope[STOPPING] = True
        if cycle.scope.get(STREAM):
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_clock()
        super().connection_lost(exc)

    def _refuse(self, transport: asyncio.Transport) -> None:
        """Answer 503 before reading a request, and log the reason in one line, once a minute."""
        if time.monotonic() - LimitedHeaders._last_logged_at > TELL_EVERY:
            LimitedHeaders._last_logged_at = time.monotonic()
            logger.error(
                "All %d connections are taken that the limit of open files allows: more are answered with "
                "503. Raise it, as with `ulimit -n 4096`.",
                most_connections(),
            )
        transport.write(FULL)
        transport.close()

    def _start_clock(self) -> None:
        if self._clock is None:
            self._header_bytes = 0
            self._clock = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_slow(self) -> None:
        self._clock = None
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._start_clock()  # an earlier response is still being sent
        else:
            self.transport.abort()
