"""Creating, starting and stopping the PostgreSQL server. Only the keeper does this."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from config.embedded.binaries import programs
from config.embedded.folders import own_folder, postgres_account, set_aside_removed_home
from config.embedded.layout import PORT, EmbeddedError, Layout
from config.embedded.logs import last_trouble
from config.embedded.processes import (
    PID_LINE,
    SOCKET_LINE,
    STOP_SECONDS,
    die_with_parent,
    is_postgres,
    is_ready,
    postmaster_file,
)
from config.embedded.resources import check_room

# What an earlier start left running: a server without a keeper, parts without a server, half an `initdb`.
#
# A kill may hit any of the processes at any moment, and each outlives the others by a little. PostgreSQL
# does not start while any process of an earlier server is there, and rightly so: two servers on the same
# data would destroy it.

PROGRAMS = {"postgres", "initdb"}
LOCK_FILE = f".s.PGSQL.{PORT}.lock"
PATIENCE = 5.0
"""Seconds that the parts of a killed server get to notice it by themselves."""


def stop_leftovers(places: Layout) -> None:
    """Return once no process of an earlier server is left on the data. Only the keeper may call this."""
    _stop_server(places.data)
    deadline = time.monotonic() + PATIENCE
    while parts := list(_parts(places)):
        for pid, program in parts:
            # What initdb has made so far is thrown away; a server's part may still be writing.
            if program == "initdb" or time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    # A server that was killed as it began leaves its socket's lock with a number that another program may
    # have by now. Nobody but the keeper starts a server in this folder.
    (places.socket / LOCK_FILE).unlink(missing_ok=True)


def _stop_server(data: Path) -> None:
    """Stop a server that runs without a keeper, and forget one that died without tidying up."""
    lines = postmaster_file(data)
    if not lines or not lines[PID_LINE].isdigit():
        return
    pid = int(lines[PID_LINE])
    if is_postgres(pid, data):
        _stop(pid, data)
        return
    # The number may belong to another program by now, which would keep PostgreSQL from starting.
    (data / "postmaster.pid").unlink(missing_ok=True)
    if len(lines) > SOCKET_LINE and lines[SOCKET_LINE]:
        Path(lines[SOCKET_LINE], LOCK_FILE).unlink(missing_ok=True)


def _stop(pid: int, data: Path) -> None:
    """Stop a server in fast mode, then at once."""
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
    """Processes (number and program) that work in the server's folders.

    Only Linux tells; elsewhere PostgreSQL's own check has to do.
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
        except OSError:  # it has ended, or is somebody else's
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
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    # A refused row may hold a password's hash or somebody's words: neither values nor statements are logged.
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
        """Create what is missing: folders, the cluster, its database. EmbeddedError if it cannot be."""
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
        """Start the server and wait until it accepts connections; a server left over is stopped first."""
        stop_leftovers(self.places)
        # The setting is a list: quoted, so that a comma or a space in the path does not split it.
        folder = str(self.places.socket).replace('"', '""')
        options = OPTIONS | {"unix_socket_directories": f'"{folder}"'}
        command = [str(self.bin / "postgres"), "-D", str(self.places.data)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        command += shlex.split(os.environ.get("CONCORD_POSTGRES_OPTIONS", ""))
        # In fast mode when the keeper dies: nothing may use the data that no keeper looks after.
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
        """How PostgreSQL's programs are run: as their account, in their folder, in a plain environment."""
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
        output = {"stdout": self.log, "stderr": self.log}
        account = self.account.arguments() if self.account else {}
        return {"cwd": self.places.root, "env": environment, **output, **account}

    def _initialise(self) -> None:
        """Make the cluster in a folder beside its place, and move it there once it is complete."""
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
