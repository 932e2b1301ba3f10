"""The unprivileged account that runs PostgreSQL when Concord itself is run by root."""

from __future__ import annotations

import pwd
import shutil
import subprocess
from dataclasses import dataclass

from config.embedded.layout import EmbeddedError, Layout

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
