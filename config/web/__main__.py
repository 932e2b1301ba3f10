"""`python -m config.web`: the web server alone, as `manage.py serve` and the container start it."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

import django
import uvicorn
from uvicorn.supervisors import Multiprocess

from config.embedded.postgres import WAIT_BRIEFLY
from config.embedded.processes import allow_many_files, follow_parent
from config.web.protocol import LimitedHeaders, listen

if TYPE_CHECKING:
    from config.web.front import Front

PARENT = "CONCORD_WEB_PARENT"
IDLE_SECONDS = 30
LAST_SECONDS = 8


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM or Ctrl-C; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m config.web", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port (8000)")
    parser.add_argument("--processes", type=int, default=2, help="how many processes answer (2)")
    parser.add_argument("--fd", type=int, help="a listening socket to take over, in a single process")
    options = parser.parse_args(arguments)
    allow_many_files()
    if options.fd is not None:
        os.environ[WAIT_BRIEFLY] = "1"
        uvicorn.Server(_settings(1)).run(sockets=[socket.socket(fileno=options.fd)])
        return 0
    try:
        listener = listen(options.host, options.port)
    except OSError as problem:
        parser.error(f"cannot listen on {options.host} port {options.port}: {problem.strerror}")
    os.environ[PARENT] = str(os.getpid())
    Multiprocess(_settings(options.processes), [listener]).run()
    return 0


def application() -> Front:
    """Return the application; a process among several ends with its parent."""
    if os.environ.get(PARENT) == str(os.getppid()):
        follow_parent(signal.SIGKILL, os.getppid())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from config.web.front import Front  # models can be imported only now

    return Front.of_django()


def _settings(processes: int) -> uvicorn.Config:
    return uvicorn.Config(
        "config.web.__main__:application", factory=True, workers=processes, http=LimitedHeaders, ws="none",
        lifespan="off", interface="asgi3", log_config=None, log_level="warning", access_log=False,
        proxy_headers=False, server_header=False, timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LAST_SECONDS, backlog=1024,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
