"""Who a process is, beyond its number: so that a worker can tell that another one of its machine is gone.

A process number alone is not enough: numbers are used again, containers number for themselves, and a machine
that was restarted begins anew. Where the system does not say (no /proc), nobody is ever taken for dead and
leases run out by themselves.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@cache
def machine() -> str:
    """Return what processes that see each other share: this start of the system, its process numbers."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def birth(pid: int) -> str:
    """Return when a process was started, in ticks of the system; '' where there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    state, started = fields[0], fields[19]
    return "" if state in {"Z", "X"} else started


def is_gone(*, on: str, pid: int | None, born: str) -> bool:
    """Whether a process is known to be gone: it was of this machine, and its number is free or another's."""
    return bool(on and born and pid is not None and on == machine() and birth(pid) != born)
