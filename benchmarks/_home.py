"""Temporary database and web server for a benchmark, started as `make up` does and removed afterwards."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 60.0


@contextlib.contextmanager
def home() -> Iterator[Path]:
    """Set up an embedded PostgreSQL with all tables and Django in a folder, which is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="concord-bench-"))
    os.environ["CONCORD_HOME"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "CONCORD_DEBUG"):
        os.environ.pop(name, None)
    import django
    from django.core.management import call_command
    from django.db import connections

    from config.embedded import postgres
    from config.embedded.server import remove_home

    django.setup()
    try:
        call_command("migrate", verbosity=0)
        yield folder
    finally:
        connections.close_all()
        used = postgres.use(str(folder))
        used.release()
        remove_home(used.places)


@contextlib.contextmanager
def web() -> Iterator[int]:
    """Run the web server with the processes of `make up` on a free port; yield the port."""
    from config.embedded import supervisor

    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        listening.set_inheritable(True)
        port, number = int(listening.getsockname()[1]), listening.fileno()
        processes = [
            subprocess.Popen(program.command, cwd=PROJECT, pass_fds=[number])
            for program in supervisor.web_programs(number)
        ]
        try:
            for process in processes:
                _wait(port, process)
            yield port
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(20)


def _wait(port: int, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the web server ended with {process.returncode}")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the web server did not answer within {START_SECONDS:.0f} s")
