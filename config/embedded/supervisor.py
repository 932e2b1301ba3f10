"""Running all of Concord from one process: PostgreSQL, the web server and the workers."""

from __future__ import annotations

import http.client
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

from config.embedded import children, postgres
from config.embedded.children import Child, Program
from config.embedded.instance import claim_home, claim_port, free_home
from config.embedded.layout import EmbeddedError, Layout, make_home
from config.embedded.logs import rotate_all
from config.embedded.resources import allow_many_files

LOOK_EVERY = 0.25
PATIENCE = 10.0
SAY_EVERY = 5.0
STOP_SECONDS = 8.0
ASKS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Waiting:
    """Says every few seconds what is waited for."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._began = self._said = time.monotonic()

    def look(self, what: str) -> None:
        """Say what is waited for, unless that was said just now."""
        now = time.monotonic()
        if now - self._said >= SAY_EVERY:
            self._said = now
            self._say(f"Waiting for {what}, {now - self._began:.0f} s so far...")


class Stopped(BaseException):
    """The supervisor was asked to end. Nothing in between may swallow it."""


class Supervisor:
    """Everything embedded in one home, from the first check to the last process stopped.

    `keys` are variables of the environment for the programs that make calls, and for no other.
    """

    def __init__(
        self,
        places: Layout,
        *,
        host: str,
        port: int,
        say: Callable[[str], object],
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self.places = places
        self.host = host
        self.port = port
        self.say = say
        self.keys = keys or {}
        self.children: list[Child] = []
        self.database: postgres.Use | None = None
        self._home: int | None = None
        self._trouble = self._obstacle = ""
        self._listening: socket.socket | None = None

    @property
    def address(self) -> str:
        """Where a browser on this machine finds the pages."""
        name = "localhost" if self.host in {"0.0.0.0", "::"} else self.host
        return f"http://[{name}]:{self.port}" if ":" in name else f"http://{name}:{self.port}"

    def claim(self) -> None:
        """Make sure that home and port are ours, before anything is started. EmbeddedError otherwise."""
        for number in ASKS:
            signal.signal(number, _ask_to_stop)
        allow_many_files()
        make_home(self.places)
        self._home = claim_home(self.places, self.address)
        self._listening = claim_port(self.host, self.port)

    def start_database(self) -> None:
        """Start the embedded PostgreSQL."""
        self.database = postgres.use(self.places.home)
        waiting = Waiting(self.say)
        self.database.ensure(waiting=lambda: waiting.look("PostgreSQL to accept connections"))

    def start_web(self, folder: Path, *, processes: int) -> list[Child]:
        """Start the web server's processes on the socket that stays open while one of them is away."""
        assert self._listening is not None, "claim comes first"
        return [self.start(program, folder) for program in children.web(self._listening.fileno(), processes)]

    def start(self, program: Program, folder: Path) -> Child:
        """Start a program and keep it running from now on."""
        child = Child(program, self.places, folder, self.keys if program.makes_calls else {})
        self.children.append(child)
        child.start()
        return child

    def wait_for_answer(self, web: list[Child]) -> None:
        """Return once the web server answers, however long that takes; EmbeddedError if it ends instead."""
        waiting = Waiting(self.say)
        while not self._answers():
            if all(child.status is not None for child in web):
                raise EmbeddedError(f"The web server did not start: {web[0].last_words()}")
            alive = [child.program.name for child in web if child.status is None]
            waiting.look(f"the web server to answer ({', '.join(alive)} started)")
            time.sleep(0.05)

    def watch(self) -> None:
        """Keep everything running until a signal asks to stop."""
        while True:
            self._look_after_database()
            rotate_all(self.places.logs)
            for child in self.children:
                self._look_after(child)
            time.sleep(LOOK_EVERY)

    def _look_after_database(self) -> None:
        """Start a database that is away; where it cannot be started, say so once and go on trying."""
        if self.database is None or self.database.is_ready():
            self._trouble = ""
            return
        try:
            self.database.again(patience=PATIENCE)
        except EmbeddedError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                self.say(f"{error} Trying again.")

    def _look_after(self, child: Child) -> None:
        try:
            line = child.look()
        except OSError as error:  # no room for its log, no process to be had: a later look tries again
            line = f"{child.program.name} cannot be started now: {error.strerror}."
            line = "" if line == self._obstacle else line
            self._obstacle = line or self._obstacle
        if line:
            self.say(line)

    def stop(self) -> None:
        """Stop everything, PostgreSQL last. Never raises for a process that is gone already."""
        for number in ASKS:
            signal.signal(number, signal.SIG_IGN)
        for child in self.children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children:
            child.stop(deadline)
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        if self.database is not None:
            self.database.release()
        if self._home is not None:
            free_home(self._home)
            self._home = None

    def _answers(self) -> bool:
        name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        connection = http.client.HTTPConnection(name, self.port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return True


def _ask_to_stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped
