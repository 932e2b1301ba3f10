"""Starts the real program for a test and inspects its processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from config.embedded import postgres
from config.embedded.layout import Layout, layout

PROJECT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, str(PROJECT / "manage.py")]
NOBODY = 65534
# Python itself may be in a folder that an ordinary user cannot read; this capability permits reading, not
# writing.
ORDINARY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
MAY_LOOK = [
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
    "--bounding-set=-all,+dac_read_search",
]


def as_ordinary_user() -> list[str]:
    """Return the command-line prefix that runs the rest without root's privileges."""
    return [*ORDINARY, *MAY_LOOK] if os.geteuid() == 0 else []


# Processes are killed here, but not the machine, so data handed to it for writing is kept. A commit is still
# written before it is confirmed.
POSTGRES_OPTIONS = "-c fsync=off -c full_page_writes=off"


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a program in `home`; one web process, unless `more` overrides it."""
    dropped = {"DJANGO_SETTINGS_MODULE", "MAKELEVEL"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    own = {"CONCORD_POSTGRES_OPTIONS": POSTGRES_OPTIONS, "CONCORD_WEB_PROCESSES": "1"}
    return kept | {"CONCORD_HOME": str(home)} | own | more


def manage(
    home: Path, *arguments: str, prefix: list[str] | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with `more` in its environment."""
    command = [*(prefix or []), *MANAGE, *arguments]
    return subprocess.run(command, env=environment(home, **more), capture_output=True, text=True, timeout=600)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processes(home: Path, places: Layout | None = None) -> dict[str, list[psutil.Process]]:
    """Return the living processes that belong to `home`, by kind."""
    found: dict[str, list[psutil.Process]] = {}
    root = str((places or layout(home)).root)
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                continue
        except psutil.NoSuchProcess:
            continue
        mine = any(root in word for word in words) or _home_of(process) == str(home)
        kind = _kind(words) if mine else None
        if kind:
            found.setdefault(kind, []).append(process)
    return found


def _home_of(process: psutil.Process) -> str | None:
    """Return the home that a process was started with, None if it cannot be read."""
    try:
        return process.environ().get("CONCORD_HOME")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _kind(words: list[str]) -> str | None:
    marks = {"config.web": "web", "config.embedded.keeper": "keeper", "serve": "supervisor", "-D": "postgres"}
    marks["demo.fake_model"] = "fake model"
    for mark, kind in marks.items():
        if mark in words:
            return kind
    return f"worker-{words[-1]}" if "work" in words else None


def wait_until(what: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a condition to become true; raise AssertionError if it does not in time."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what.__doc__ or what}"
        time.sleep(0.05)


def status_of(port: int | str, page: str = "healthz") -> int | None:
    """Return the HTTP status of a page, None if nothing responds."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


class Running:
    """A started `manage.py serve`."""

    def __init__(
        self,
        home: Path,
        *,
        port: int | str | None = None,
        prefix: list[str] | None = None,
        options: list[str] | None = None,
        **more: str,
    ) -> None:
        self.home = home
        self.port = port or free_port()
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [*(prefix or []), *MANAGE, "serve", *(options or [])],
            env=environment(home, PORT=str(self.port), **more),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.append(line.rstrip())

    def wait_until_ready(self, seconds: float = 300.0) -> None:
        """Wait for the line that names the address; long, because the machine may be busy."""
        wait_until(lambda: self.process.poll() is not None or self._is_ready(), seconds)
        assert self.process.poll() is None, self.lines

    def _is_ready(self) -> bool:
        return any("is ready" in line for line in list(self.lines))

    def stop(self) -> int:
        """Ask the process to stop and return its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(300)
        self._reader.join(5)
        if self.process.stdout:
            self.process.stdout.close()
        return status


@contextmanager
def running(home: Path, *, prefix: list[str] | None = None, **more: str) -> Iterator[Running]:
    """Start a server and wait for a response; stop it at the end if the test has not."""
    server = Running(home, prefix=prefix, **more)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


def query(home: Path, statement: str) -> list[tuple[object, ...]]:
    """Run SQL in the running database of `home`."""
    import psycopg

    settings = postgres.connection_settings(home)
    with psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        dbname=settings["NAME"],
        autocommit=True,
    ) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []
