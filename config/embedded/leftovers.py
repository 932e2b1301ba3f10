"""What an earlier start left running: a server without a keeper, parts without a server, half an `initdb`.

A kill may hit any of the processes at any moment, and each outlives the others by a little. PostgreSQL does
not start while any process of an earlier server is there, and rightly so: two servers on the same data would
destroy it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from config.embedded.layout import PORT, Layout
from config.embedded.processes import PID_LINE, SOCKET_LINE, STOP_SECONDS, is_postgres, postmaster_file

PROGRAMS = {"postgres", "initdb"}
LOCK_FILE = f".s.PGSQL.{PORT}.lock"
PATIENCE = 5.0
"""Seconds that the parts of a killed server get to notice it by themselves."""


def stop_leftovers(places: Layout) -> None:
    """Return once no process of an earlier server is left on the data. Only the keeper may call this."""
    _stop_server(places.data)
    deadline = time.monotonic() + PATIENCE
    while parts := list(_parts(places)):
        for pid, program in parts:
            # What initdb has made so far is thrown away; a server's part may still be writing.
            if program == "initdb" or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    # A server that was killed as it began leaves its socket's lock with a number that another program may
    # have by now. Nobody but the keeper starts a server in this folder.
    (places.socket / LOCK_FILE).unlink(missing_ok=True)


def _stop_server(data: Path) -> None:
    """Stop a server that runs without a keeper, and forget one that died without tidying up."""
    lines = postmaster_file(data)
    if not lines or not lines[PID_LINE].isdigit():
        return
    pid = int(lines[PID_LINE])
    if is_postgres(pid, data):
        _stop(pid, data)
        return
    # The number may belong to another program by now, which would keep PostgreSQL from starting.
    (data / "postmaster.pid").unlink(missing_ok=True)
    if len(lines) > SOCKET_LINE and lines[SOCKET_LINE]:
        Path(lines[SOCKET_LINE], LOCK_FILE).unlink(missing_ok=True)


def _stop(pid: int, data: Path) -> None:
    """Stop a server in fast mode, then at once."""
    deadline = time.monotonic() + STOP_SECONDS
    number = signal.SIGINT
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        while is_postgres(pid, data):
            if time.monotonic() > deadline:
                number = signal.SIGQUIT if number == signal.SIGINT else signal.SIGKILL
                os.kill(pid, number)
                deadline += STOP_SECONDS
            time.sleep(0.05)


def _parts(places: Layout) -> Iterator[tuple[int, str]]:
    """Processes (number and program) that work in the server's folders.

    Only Linux tells; elsewhere PostgreSQL's own check has to do.
    """
    if not sys.platform.startswith("linux"):
        return
    folders = {str(places.root), str(places.data), str(places.root / "data.new")}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            folder = os.readlink(entry / "cwd").removesuffix(" (deleted)")
            program = Path(os.readlink(entry / "exe").removesuffix(" (deleted)")).name
        except OSError:  # it has ended, or is somebody else's
            continue
        if folder in folders and program in PROGRAMS:
            yield int(entry.name), program
