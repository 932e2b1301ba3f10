"""Locations of the embedded parts on disk, for one CONCORD_HOME and its user."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

SYSTEM_STATE = Path("/var/lib/concord")
PORT = 5432
# Maximum bytes of a Unix socket's path: 107 on Linux and 103 on macOS.
LONGEST_SOCKET_PATH = 103


class EmbeddedError(Exception):
    """An embedded part cannot be used. The message is one line that says what to do."""


@dataclass(frozen=True)
class Layout:
    """The folders and files of one CONCORD_HOME.

    As root, PostgreSQL's own folder lies under /var/lib, because the server refuses to run as root and
    its user must reach its data without any other folder being opened to it.
    """

    home: Path
    as_root: bool

    @property
    def digest(self) -> str:
        """Short name of this home, for use outside it."""
        return hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]

    @property
    def root(self) -> Path:
        """The folder owned by PostgreSQL."""
        return SYSTEM_STATE / self.digest if self.as_root else self.home / "postgres"

    @property
    def data(self) -> Path:
        """The database cluster."""
        return self.root / "data"

    @property
    def socket(self) -> Path:
        """Folder of the server's socket: in `root` unless that makes its path too long."""
        inside = self.root / "socket"
        if len(os.fsencode(inside / f".s.PGSQL.{PORT}")) <= LONGEST_SOCKET_PATH:
            return inside
        return Path("/tmp") / f"concord-{os.geteuid()}-{self.digest}"

    @property
    def run(self) -> Path:
        """Lock files."""
        return self.home / "run"

    @property
    def logs(self) -> Path:
        """Logs of the embedded parts."""
        return self.home / "logs"

    @property
    def postgres_log(self) -> Path:
        """Output of PostgreSQL and its keeper."""
        return self.logs / "postgres.log"

    @property
    def users_lock(self) -> Path:
        """Held shared by every process that uses the server."""
        return self.run / "users.lock"

    @property
    def keeper_lock(self) -> Path:
        """Held by the keeper."""
        return self.run / "keeper.lock"

    @property
    def start_lock(self) -> Path:
        """Held while starting a keeper."""
        return self.run / "start.lock"


def layout(home: str | os.PathLike[str]) -> Layout:
    """Return the layout of `home` for the current user. Only resolves the path's links; changes nothing."""
    return Layout(Path(home).resolve(), as_root=os.geteuid() == 0)


def make_home(places: Layout) -> None:
    """Create the home with its `run` and `logs` folders; EmbeddedError if that fails."""
    try:
        if not places.home.exists():
            places.home.mkdir(parents=True)
            places.home.chmod(0o700)
        for folder in (places.run, places.logs):
            folder.mkdir(exist_ok=True)
            if folder.stat().st_mode & 0o077:
                folder.chmod(0o700)
        writable = all(os.access(folder, os.W_OK) for folder in (places.home, places.run, places.logs))
    except OSError as error:
        raise not_writable(places.home, error.strerror or str(error)) from error
    if not writable:
        raise not_writable(places.home, "Permission denied")
    if places.as_root and (places.home / "postgres" / "data").exists():
        raise EmbeddedError(
            f"{places.home} holds the database of an ordinary user: run Concord as that user, "
            "or set CONCORD_HOME to another folder."
        )


def not_writable(home: Path, why: str) -> EmbeddedError:
    """Return the error for a home that is not writable."""
    return EmbeddedError(
        f"Cannot write to {home} ({why}): make it writable or set CONCORD_HOME to a folder that is."
    )
