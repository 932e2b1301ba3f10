"""Use of the embedded PostgreSQL: settings for Django, and the server's lifetime for this process."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from config.embedded import logs
from config.embedded.keeper import BUSY, READY
from config.embedded.layout import PORT, EmbeddedError, Layout, layout, make_home
from config.embedded.logs import last_trouble, open_log
from config.embedded.processes import is_ready
from config.embedded.server import DATABASE, SUPERUSER

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0
STOP_SECONDS = 40.0
BRIEF_SECONDS = 1.0
LOOK_EVERY = 0.5
KEEPERS = (
    *("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    *("CONCORD_HOME", "CONCORD_POSTGRES_OPTIONS"),
)
"""Environment variables that the keeper gets from its starter."""
WAIT_BRIEFLY = "CONCORD_WAIT_BRIEFLY"
"""Set by the web server, whose supervisor restarts the database."""


def connection_settings(home: str | os.PathLike[str]) -> dict[str, Any]:
    """Return Django's settings for the database in `home`. Creates and starts nothing."""
    return {
        "ENGINE": "config.embedded.backend",
        "NAME": DATABASE,
        "USER": SUPERUSER,
        "PASSWORD": "",
        "HOST": str(layout(home).socket),
        "PORT": str(PORT),
        "OPTIONS": {"sslmode": "disable"},
        "EMBEDDED_HOME": str(home),
    }


class Use:
    """This process's use of one embedded server: it runs at least until `release` or the process's end."""

    def __init__(self, places: Layout) -> None:
        self.places = places
        self._descriptor: int | None = None
        self._mutex = threading.Lock()
        self._process = os.getpid()

    def ensure(self, *, waiting: Callable[[], object] | None = None) -> None:
        """Return once the server accepts connections, starting it if needed; EmbeddedError if it cannot
        start.

        After the first call in a process this is one comparison; `again` checks anew. With `waiting`, which
        is called throughout, it waits for as long as somebody keeps the server.
        """
        if self._descriptor is None:
            self.again(waiting=waiting)

    def again(self, *, patience: float = START_SECONDS, waiting: Callable[[], object] | None = None) -> None:
        """Like `ensure`, but check whether the server really runs, for at most `patience` seconds."""
        with self._mutex:
            make_home(self.places)
            try:
                self._start(patience, waiting)
            except OSError as error:
                why = error.strerror or str(error)
                raise EmbeddedError(
                    f"The database in {self.places.home} cannot be started: {why}."
                ) from error

    def come_back(self) -> None:
        """Like `again`; if `WAIT_BRIEFLY` is set, wait briefly and do not start the server."""
        if not os.environ.get(WAIT_BRIEFLY):
            return self.again()
        deadline = time.monotonic() + BRIEF_SECONDS
        while not self.is_ready():
            if time.monotonic() > deadline:
                raise EmbeddedError("PostgreSQL is away.")
            time.sleep(0.05)

    def _start(self, patience: float, waiting: Callable[[], object] | None) -> None:
        if self._descriptor is None:
            self._descriptor = self._join()
            atexit.register(self.release)
        deadline = time.monotonic() + patience
        while not self.is_ready():
            self._start_keeper(waiting)
            if waiting is not None:
                waiting()
            elif time.monotonic() > deadline:
                why = last_trouble(self.places.postgres_log)
                raise EmbeddedError(f"PostgreSQL is not ready after {patience:.0f} s: {why}.")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        """Whether a kept server accepts connections."""
        return not logs.is_free(self.places.keeper_lock) and is_ready(self.places.data)

    def release(self) -> None:
        """Stop using the server; if nobody else uses it, wait until it has stopped."""
        if self._descriptor is None or self._process != os.getpid():
            return
        os.close(self._descriptor)
        self._descriptor = None
        deadline = time.monotonic() + STOP_SECONDS
        while not logs.is_free(self.places.keeper_lock) and time.monotonic() < deadline:
            nobody = logs.is_free(self.places.users_lock)
            if not nobody and logs.is_free(self.places.users_lock, shared=True):
                return
            time.sleep(0.02)

    def _join(self) -> int:
        """Hold the users' lock, waiting for a keeper that is just stopping."""
        descriptor = logs.acquire(self.places.users_lock, shared=True)
        if descriptor is None:
            raise EmbeddedError(f"{self.places.users_lock} is locked: try again.")
        return descriptor

    def _start_keeper(self, waiting: Callable[[], object] | None) -> None:
        """Start a keeper if there is none, and wait for its answer."""
        starting = logs.acquire(self.places.start_lock)
        try:
            if not logs.is_free(self.places.keeper_lock):
                return
            answer = _run_keeper(self.places, waiting)
            if answer not in {READY, BUSY}:
                raise EmbeddedError(answer or f"PostgreSQL did not start: see {self.places.postgres_log}")
        finally:
            if starting is not None:
                os.close(starting)


def _run_keeper(places: Layout, waiting: Callable[[], object] | None) -> str:
    """Start the keeper and return its one line; empty if it died before writing one."""
    search_path = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    # Only the needed variables: it outlives its starter, which may have been given keys.
    needed = {name: os.environ[name] for name in KEEPERS if name in os.environ}
    environment = needed | {"PYTHONPATH": os.pathsep.join(search_path)}
    with open_log(places.postgres_log) as log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "config.embedded.keeper", str(places.home)],
            cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            start_new_session=True, text=True,
        )  # fmt: skip
    while True:
        try:
            return keeper.communicate(timeout=LOOK_EVERY)[0].strip()
        except subprocess.TimeoutExpired:
            if waiting is not None:
                waiting()


_uses: dict[Path, Use] = {}


def use(home: str | os.PathLike[str]) -> Use:
    """Return this process's use of the server in `home`; the same object every time."""
    places = layout(home)
    existing = _uses.get(places.home)
    if existing is None:
        existing = _uses.setdefault(places.home, Use(places))
    return existing
