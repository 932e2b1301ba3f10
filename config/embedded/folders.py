"""Making the folders that belong to the server's account alone."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from config.embedded.layout import SYSTEM_STATE, EmbeddedError, Layout

# The unprivileged account that runs PostgreSQL when Concord itself is run by root.

NAME = "concord"


@dataclass(frozen=True)
class Account:
    """A user and group by number."""

    uid: int
    gid: int

    def arguments(self) -> dict[str, object]:
        """Arguments that make `subprocess` run a program as this account and with no other rights."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def postgres_account(places: Layout) -> Account | None:
    """Who runs PostgreSQL: the owner of existing data, else the system user `concord`.

    None means the current user, who is not root.
    """
    if not places.as_root:
        return None
    if places.data.exists():
        owner = places.data.stat()
        if owner.st_uid != 0:
            return Account(owner.st_uid, owner.st_gid)
    return _system_user()


def _system_user() -> Account:
    for name in (NAME, "nobody"):
        if name == NAME:
            _create_user()
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root: create a system user named concord.")


def _create_user() -> None:
    """Add the system user if it is missing and the system has `useradd`; `nobody` serves otherwise."""
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        command = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if command:
            shell = shutil.which("nologin", path="/usr/sbin:/sbin:/usr/bin:/bin") or "/bin/false"
            options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
            subprocess.run([command, *options, "--shell", shell, NAME], check=False, capture_output=True)


def own_folder(path: Path, account: Account | None) -> None:
    """Make `path` a folder that only the server's account can enter; refused if someone else made it."""
    if not path.exists():
        path.mkdir(mode=0o700)
        if account:
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    found = path.lstat()
    if account and found.st_uid == os.geteuid() and stat.S_ISDIR(found.st_mode):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)  # an earlier start got no further
        found = path.lstat()
    owner = account.uid if account else os.geteuid()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
        raise EmbeddedError(
            f"{path} belongs to someone else: remove it or set CONCORD_HOME to another folder."
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)


def set_aside_removed_home(places: Layout) -> None:
    """Move data aside whose home was removed, so that a new home at the same path starts empty.

    As root the data lies outside the home; a name written in both places ties them together.
    """
    make_system_state()
    here = places.home / "instance"
    there = SYSTEM_STATE / f"{places.digest}.home"
    if not here.exists():
        _write_whole(here, f"{secrets.token_hex(16)}\n{places.home}\n")
    if there.exists() and there.read_text() != here.read_text() and places.root.exists():
        places.root.rename(places.root.with_name(f"{places.root.name}.removed-{time.time_ns()}"))
    if not there.exists() or there.read_text() != here.read_text():
        _write_whole(there, here.read_text())


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there with all of its content or not at all, whenever we are killed."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def remove_home(places: Layout) -> None:
    """Remove a home with its data, also where that lies outside. Nothing may use it any more."""
    for folder in (places.root, places.socket, places.home):
        shutil.rmtree(folder, ignore_errors=True)
    (SYSTEM_STATE / f"{places.digest}.home").unlink(missing_ok=True)


def make_system_state() -> None:
    """The folder under which everything lies that root's PostgreSQL needs; others may enter it."""
    SYSTEM_STATE.mkdir(parents=True, exist_ok=True)
    if stat.S_IMODE(SYSTEM_STATE.stat().st_mode) != 0o755:
        SYSTEM_STATE.chmod(0o755)
