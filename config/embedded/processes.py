"""Which processes are there: a server's readiness, leftovers, and children that must not outlive us."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from config.embedded.layout import PORT

STOP_SECONDS = 30.0
PR_SET_PDEATHSIG = 1
# Lines of postmaster.pid: the process, ..., the socket's folder, ..., the status.
PID_LINE, SOCKET_LINE, STATUS_LINE = 0, 4, 7


def is_ready(data: Path, pid: int | None = None) -> bool:
    """Whether the server on `data` says it accepts connections (and is process `pid`, if given)."""
    lines = _postmaster_file(data)
    if len(lines) <= STATUS_LINE or lines[STATUS_LINE] != "ready":
        return False
    found = int(lines[PID_LINE])
    return found == pid if pid is not None else _is_postgres(found, data)


def stop_leftover(data: Path) -> None:
    """Stop a server that runs without a keeper, and forget one that died without tidying up."""
    lines = _postmaster_file(data)
    if not lines or not lines[PID_LINE].isdigit():
        return
    pid = int(lines[PID_LINE])
    if _is_postgres(pid, data):
        _stop(pid, data)
        return
    # The number may belong to another program by now, which would keep PostgreSQL from starting.
    (data / "postmaster.pid").unlink(missing_ok=True)
    if len(lines) > SOCKET_LINE and lines[SOCKET_LINE]:
        Path(lines[SOCKET_LINE], f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the kernel sends `number` to the child when its parent dies, however (Linux)."""
    parent = os.getpid()
    library = ctypes.CDLL(None, use_errno=True)
    return lambda: follow_parent(number, parent, library)


def follow_parent(number: signal.Signals, parent: int, library: ctypes.CDLL | None = None) -> None:
    """Have the kernel send `number` to this process when `parent` dies; end now if it has died already."""
    if not sys.platform.startswith("linux"):
        return
    (library or ctypes.CDLL(None, use_errno=True)).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _stop(pid: int, data: Path) -> None:
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    while _is_postgres(pid, data):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGQUIT)
            deadline += STOP_SECONDS
        time.sleep(0.05)


def _postmaster_file(data: Path) -> list[str]:
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [line.strip() for line in lines]


def _is_postgres(pid: int, data: Path) -> bool:
    """Whether process `pid` is a PostgreSQL server on `data`."""
    if sys.platform.startswith("linux"):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return False
    else:
        listing = ["ps", "-o", "command=", "-p", str(pid)]
        command = subprocess.run(listing, check=False, capture_output=True).stdout
    return b"postgres" in command and os.fsencode(data) in command
