"""A web server in a thread of the test, in front of the test's own application."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from config.web.front import Front
from config.web.protocol import LimitedHeaders, listen


@contextmanager
def serving(application: Any, *, threads: int = 2) -> Iterator[int]:
    """Serve a WSGI application on a free local port; yield the port."""
    found = listen("127.0.0.1", 0)
    settings = uvicorn.Config(
        Front(application, threads=threads), http=LimitedHeaders, ws="none", lifespan="off",
        interface="asgi3", log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=1, loop="asyncio",
    )  # fmt: skip
    server = uvicorn.Server(settings)
    server.capture_signals = _nothing  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[found])))
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while not server.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield int(found.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        found.close()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def send(port: int, data: bytes) -> socket.socket:
    """Open a connection, send `data`, and leave it open."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(data)
    return connection


def everything(connection: socket.socket) -> bytes:
    """Return all that the server sends until it closes the connection; empty if it resets it."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def ask(port: int, path: str = "/", *, method: str = "GET", more: str = "", body: bytes = b"") -> bytes:
    """Send one complete request on its own connection and return the complete response."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}"
    if body or method == "POST":
        head += f"Content-Length: {len(body)}\r\n"
    with send(port, head.encode() + b"\r\n" + body) as connection:
        return everything(connection)
