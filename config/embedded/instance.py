"""One Concord per home, one server per port: found out before anything starts."""

from __future__ import annotations

import errno
import os
import socket
import time

from config.embedded import logs
from config.embedded.layout import EmbeddedError, Layout
from config.web.protocol import listen

# After `kill -9` of an earlier supervisor the kernel needs a moment to take its children down too.
PATIENCE = 3.0


def claim_home(places: Layout, address: str) -> int:
    """Lock the home for this process; EmbeddedError names the Concord that has it. Returns the lock."""
    path = places.run / "serve.lock"
    deadline = time.monotonic() + PATIENCE
    while (descriptor := logs.acquire(path, wait=False)) is None:
        holder = path.read_text().strip()
        if holder or time.monotonic() > deadline:
            raise EmbeddedError(
                f"Concord already runs in {places.home} ({holder or 'starting'}): stop it first."
            )
        time.sleep(0.05)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{address}, process {os.getpid()}\n".encode())
    return descriptor


def free_home(descriptor: int) -> None:
    """Give the home back."""
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def claim_port(host: str, port: int) -> socket.socket:
    """The socket that the web server's processes share; EmbeddedError if nothing can listen there now."""
    deadline = time.monotonic() + PATIENCE
    while not isinstance(problem := _try_port(host, port), socket.socket):
        if problem.errno != errno.EADDRINUSE:
            raise EmbeddedError(
                f"Cannot listen on {host} port {port} ({problem.strerror}): set HOST and PORT."
            )
        if time.monotonic() > deadline:
            other = f"PORT={port + 1}"
            raise EmbeddedError(f"Port {port} on {host} is in use: choose another, as in {other} make up.")
        time.sleep(0.1)
    return problem


def _try_port(host: str, port: int) -> socket.socket | OSError:
    try:
        return listen(host, port)
    except OSError as error:
        return error
