"""Log files: readable only by their owner, and rotated when too large, even while open."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import IO

# Advisory file locks that the kernel drops when their holder ends, in whatever way.


def acquire(path: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """Lock `path` and return the descriptor that holds the lock; None if `wait` is false and it is taken.

    Closing the descriptor releases the lock. A forked child holds the same lock until it closes its copy too;
    a started program does not inherit it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_free(path: Path, *, shared: bool = False) -> bool:
    """Whether the lock is free right now."""
    descriptor = acquire(path, shared=shared, wait=False)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


LARGEST = 20_000_000


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending; remove others' access that an earlier release left."""
    rotate(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "ab")


def rotate(path: Path) -> None:
    """Move the content of an oversized log to `.log.1`. Programs that have it open continue from its
    start.
    """
    try:
        if path.stat().st_size <= LARGEST:
            return
        earlier = path.with_suffix(".log.1")
        earlier.unlink(missing_ok=True)
        with path.open("rb") as source, os.fdopen(_create(earlier), "wb") as target:
            shutil.copyfileobj(source, target)
        os.truncate(path, 0)
    except FileNotFoundError:
        return
    except OSError:
        os.truncate(path, 0)  # no room for a copy: freeing space matters most


def rotate_all(folder: Path) -> None:
    """Rotate every log in a folder."""
    for path in folder.glob("*.log"):
        rotate(path)


def last_lines(path: Path, most: int = 5) -> list[str]:
    """Return the last lines of a log; none if it is empty or unreadable."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - 8192))
            return log.read().decode(errors="replace").splitlines()[-most:]
    except OSError:
        return []


def last_trouble(path: Path) -> str:
    """Return PostgreSQL's reason for stopping, from the end of its log; else the location of the log."""
    marks = ("FATAL:", "PANIC:", "error:", "No space left")
    for line in reversed(last_lines(path, 40)):
        matching_mark = next((mark for mark in marks if mark in line), None)
        if matching_mark:
            return f"{line[line.index(matching_mark) :].partition(': ')[2] or line} (see {path})"
    return f"see {path}"


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
