"""The socket that the web server listens on."""

from __future__ import annotations

import socket

BACKLOG = 1024
UNREAD_SECONDS = 60


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; OSError where the address is taken or not ours.

    Its connections are dropped when their client has taken nothing of an answer for a minute (Linux).
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
        found.bind(address)
        found.listen(BACKLOG)
    except OSError:
        found.close()
        raise
    return found
