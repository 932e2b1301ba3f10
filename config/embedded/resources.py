"""What the system must give: open files, and room on the disk. Found out before anything starts."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

from config.embedded.layout import EmbeddedError

FILES, FEWEST_FILES = 65_536, 256
SMALLEST_ROOM_MB = 150


def allow_many_files() -> None:
    """Allow as many open files as the system lets us; EmbeddedError where those are too few.

    Every connection is one.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if max(soft, wanted) < FEWEST_FILES:
        raise EmbeddedError(
            f"Only {max(soft, wanted)} files may be open at once, Concord needs {FEWEST_FILES}: "
            "raise the limit, as with `ulimit -n 4096`."
        )


def check_room(folder: Path) -> None:
    """EmbeddedError where a new database would not fit on the disk that `folder` lies on."""
    free = shutil.disk_usage(folder).free >> 20
    if free < SMALLEST_ROOM_MB:
        raise EmbeddedError(
            f"The disk of {folder} has {free} MiB left, a new database needs {SMALLEST_ROOM_MB}: make room, "
            "or set CONCORD_HOME to a folder on another disk."
        )
