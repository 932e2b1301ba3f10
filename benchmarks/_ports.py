"""Free local ports for endpoints that run as separate processes."""

from __future__ import annotations

import socket
from contextlib import closing


def free_port() -> int:
    """Return a port that nothing listens on."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
