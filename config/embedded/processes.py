"""Process checks: a server's readiness, and children that must not outlive us."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from config.embedded.layout import EmbeddedError

# System requirements: open files, and disk space. Checked before anything starts.

FILES, FEWEST_FILES = 65_536, 256
SMALLEST_ROOM_MB = 150


def allow_many_files() -> None:
    """Raise the limit of open files as far as the system allows; EmbeddedError if that is too low.

    Every connection is one open file.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    if max(soft, target) < FEWEST_FILES:
        raise EmbeddedError(
            f"Only {max(soft, target)} files may be open at once, Concord needs {FEWEST_FILES}: "
            "raise the limit, as with `ulimit -n 4096`."
        )


def check_room(folder: Path) -> None:
    """Raise EmbeddedError if a new database would not fit on the disk of `folder`."""
    free = shutil.disk_usage(folder).free >> 20
    if free < SMALLEST_ROOM_MB:
        raise EmbeddedError(
            f"The disk of {folder} has {free} MiB left, a new database needs {SMALLEST_ROOM_MB}: make room, "
            "or set CONCORD_HOME to a folder on another disk."
        )


STOP_SECONDS = 30.0
PR_SET_PDEATHSIG = 1
# Lines of postmaster.pid: the pid, ..., the socket's folder, ..., the status.
PID_LINE, SOCKET_LINE, STATUS_LINE = 0, 4, 7


def is_ready(data: Path, pid: int | None = None) -> bool:
    """Whether the server on `data` reports that it accepts connections (and is process `pid`, if given)."""
    lines = postmaster_file(data)
    if len(lines) <= STATUS_LINE or lines[STATUS_LINE] != "ready":
        return False
    server_pid = int(lines[PID_LINE])
    return server_pid == pid if pid is not None else is_postgres(server_pid, data)


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn`: the kernel sends `number` to the child when its parent dies, in any way
    (Linux).
    """
    parent = os.getpid()
    library = ctypes.CDLL(None, use_errno=True)
    return lambda: follow_parent(number, parent, library)


def follow_parent(number: signal.Signals, parent: int, library: ctypes.CDLL | None = None) -> None:
    """Have the kernel send `number` to this process when `parent` dies; exit now if it is already dead."""
    if not sys.platform.startswith("linux"):
        return
    (library or ctypes.CDLL(None, use_errno=True)).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def postmaster_file(data: Path) -> list[str]:
    """Return the lines of the server's postmaster.pid; none if the file is missing."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [line.strip() for line in lines]


def is_postgres(pid: int, data: Path) -> bool:
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
