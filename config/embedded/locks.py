"""Advisory file locks that the kernel drops when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def acquire(path: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """Lock `path` and return the descriptor that holds the lock; None if `wait` is false and it is taken.

    Closing the descriptor lets go. A forked child holds the same lock until it closes its copy too;
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
    """Whether the lock could be taken right now."""
    descriptor = acquire(path, shared=shared, wait=False)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True
