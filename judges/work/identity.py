"""Which process a worker is, so that another one on the same machine can tell whether it is gone.

A process number alone says little: numbers are used again, after a restart of the machine and before. The
machine's boot and the namespace that the number counts in (a container has its own) say where it is valid,
and the time at which the process began says that it is still the same one. Read from /proc; elsewhere nothing
is known, and what a lost worker held comes back when its lease ends.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_GONE = ("Z", "X", "x")
"""States of a process that has ended and was not yet waited for."""


@cache
def machine() -> str:
    """Return what is the same for all processes that see each other's numbers; '' where it is not known."""
    try:
        return f"{_BOOT.read_text().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def began(pid: int) -> int | None:
    """Return when a process began, in the kernel's ticks since boot; None where it is gone or not known."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may itself hold spaces and parentheses.
    state, *fields = text.rpartition(")")[2].split()
    return None if state in _GONE else int(fields[18])


def is_gone(pid: int | None, beginning: int | None) -> bool:
    """Whether a process of this machine, known by number and beginning, runs no longer."""
    return pid is not None and beginning is not None and began(pid) != beginning
