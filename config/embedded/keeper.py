"""Keeper process that runs PostgreSQL while anyone uses it: `python -m config.embedded.keeper HOME`.

It detaches from its starter at once and reports the result of the start in one line on standard output.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import IO

from config.embedded import logs
from config.embedded.layout import EmbeddedError, Layout, layout
from config.embedded.logs import open_log, rotate
from config.embedded.server import Server

READY, BUSY = "ready", "busy"
LOOK_EVERY = 0.1
ASKS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
RESTART_PAUSE = 1.0


class Stop(Exception):
    """The keeper was told to end."""


def main(home: str) -> int:
    """Run the server of `home` until nobody uses it; return the exit status."""
    if os.fork():
        return 0
    os.setsid()
    for number in ASKS:
        signal.signal(number, _ask_to_stop)
    places = layout(home)
    with open_log(places.postgres_log) as log:
        return _keep(places, log)


def _keep(places: Layout, log: IO[bytes]) -> int:
    own = logs.acquire(places.keeper_lock, wait=False)
    if own is None:
        _report(BUSY)
        return 1
    users: int | None = None
    server: Server | None = None
    try:
        server = Server(places, log)
        server.prepare()
        server.start()
        _report(READY)
        users = _wait_until_unused(places, server)
    except (EmbeddedError, OSError) as error:
        log.write(f"{error}\n".encode())
        _report(str(error))
        return 1
    except Stop:
        return 0
    finally:
        for number in ASKS:
            signal.signal(number, signal.SIG_IGN)
        if server:
            server.stop()
        # A newcomer waits for `users`; once it gets the lock, no keeper may be left.
        os.close(own)
        if users is not None:
            os.close(users)
    return 0


def _wait_until_unused(places: Layout, server: Server) -> int:
    """Return the users' lock once nobody else holds it; restart the server whenever it dies."""
    while True:
        users = logs.acquire(places.users_lock, wait=False)
        if users is not None:
            return users
        if server.process and server.process.poll() is not None:
            _start_again(server)
        rotate(places.postgres_log)
        time.sleep(LOOK_EVERY)


def _start_again(server: Server) -> None:
    """Restart a server that died; if that fails (a full disk, say), a later check tries again."""
    time.sleep(RESTART_PAUSE)
    try:
        server.start()
    except (EmbeddedError, OSError) as error:
        server.log.write(f"{error}\n".encode())
        server.log.flush()


def _report(line: str) -> None:
    """Answer the starter, once, and close everything it handed over."""
    os.write(1, f"{line}\n".encode())
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


def _ask_to_stop(_number: int, _frame: FrameType | None) -> None:
    raise Stop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
