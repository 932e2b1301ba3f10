"""Runs all of Concord from one process: PostgreSQL, the web server and the workers."""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from config.embedded import logs, postgres
from config.embedded.layout import EmbeddedError, Layout, make_home
from config.embedded.logs import last_lines, open_log, rotate_all
from config.embedded.processes import allow_many_files, die_with_parent
from config.web.protocol import listen

# Programs of the supervisor: start, watch and stop.

LONGEST_PAUSE = 30.0
SETTLED = 10.0


@dataclass(frozen=True)
class Program:
    """A program to run. `farewell` is the signal it gets when the supervisor itself is killed.

    `files` are the open files that it takes over. Only programs with `makes_calls` get the keys of endpoints.
    """

    name: str
    command: tuple[str, ...]
    farewell: signal.Signals = signal.SIGTERM
    files: tuple[int, ...] = ()
    makes_calls: bool = False


@dataclass
class Child:
    """A program that is kept running, with `more` in its environment; its output goes to its own log."""

    program: Program
    places: Layout
    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = 0.0
    due: float = field(default=0.0)

    @property
    def status(self) -> int | None:
        """Exit status of the program; None while it runs."""
        return self.process.poll() if self.process else 0

    def last_words(self) -> str:
        """Exit status of the program, and the last lines of its output."""
        lines = last_lines(self.log)
        detail = ":\n" + "\n".join(f"  {line}" for line in lines) if lines else ", without a word"
        return f"{self.program.name} ended ({_describe(self.status or 0)}){detail}\n(see {self.log})"

    @property
    def log(self) -> Path:
        """Log file of the program."""
        return self.places.logs / f"{self.program.name}.log"

    def start(self) -> None:
        """Start the program in a session of its own, so that Ctrl-C reaches the supervisor alone."""
        environment = {**os.environ, "CONCORD_SUPERVISED": "1", "PYTHONUNBUFFERED": "1", **self.more}
        with open_log(self.log) as log:
            self.process = subprocess.Popen(
                self.program.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, pass_fds=self.program.files,
                preexec_fn=die_with_parent(self.program.farewell),
            )  # fmt: skip
        self.started = time.monotonic()

    def look(self) -> str | None:
        """Restart the program if it has ended; return a line to show in that case."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due:
                self.start()
            return None
        status = self.process.poll()
        if status is None:
            return None
        self._end_group()
        self.process = None
        # At once if it had run for a while; a program that keeps ending gets growing pauses.
        self.pause = 0.0 if now - self.started > SETTLED else min(max(self.pause * 2, 1.0), LONGEST_PAUSE)
        self.due = now + self.pause
        return f"{self.program.name} ended ({_describe(status)}) and starts again: see {self.log}"

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def stop(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds) for the program's end, then kill the rest of it."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        self._end_group()
        self.process.wait()

    def _end_group(self) -> None:
        """Kill the program and its children; the process group has the session leader's number."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return


def _describe(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


# Programs of a running Concord, apart from PostgreSQL.

WEB_PROCESSES, MOST_WEB_PROCESSES = 2, 64
CALLS = "calls"
QUEUES = (CALLS, "metrics", "jobs")


def web_programs(listening: int, processes: int = WEB_PROCESSES) -> list[Program]:
    """Return the web server's processes, which share the supervisor's listening socket."""
    command = (sys.executable, "-m", "config.web", "--fd", str(listening))
    names = [f"web-{number}" for number in range(1, processes + 1)]
    # Killed immediately with the supervisor, because a slow end would hold the port.
    return [Program(name, command, signal.SIGKILL, (listening,)) for name in names]


def fake_model_program(listening: int) -> Program:
    """Return the fake model of the demo, on a listening socket of the supervisor."""
    return Program(
        "fake-model", (sys.executable, "-m", "demo.fake_model", "--fd", str(listening)), files=(listening,)
    )


def worker_programs(project: Path, *, broker: bool, run: Path) -> list[Program]:
    """Return one worker per queue: the plain loop, or with a broker Celery's, and the sweeper with the
    scheduler.
    """
    if not broker:
        manage = str(project / "manage.py")
        return [_worker(queue, (sys.executable, manage, "work", queue)) for queue in QUEUES]
    celery = (sys.executable, "-m", "celery", "-A", "config.celery")
    return [
        *(_worker(queue, (*celery, *celery_worker(queue))) for queue in QUEUES),
        Program("beat", (*celery, *celery_sweeper(run / "beat"))),
    ]


def _worker(queue: str, command: tuple[str, ...]) -> Program:
    return Program(f"worker-{queue}", command, makes_calls=queue == CALLS)


def celery_worker(queue: str) -> tuple[str, ...]:
    """Return the arguments of a Celery worker for one queue."""
    return (
        "worker",
        "--queues",
        queue,
        "--concurrency",
        "1",
        "--hostname",
        f"{queue}@%h",
        "--loglevel",
        "warning",
    )


def celery_sweeper(schedule: Path) -> tuple[str, ...]:
    """Return the arguments of the worker that sweeps, with the scheduler in it."""
    return (*celery_worker("sweep"), "--beat", "--schedule", str(schedule))


# One Concord per home, one server per port: checked before anything starts.

# After `kill -9` of an earlier supervisor the kernel needs a moment to kill its children too.
PORT_PATIENCE = 3.0


def claim_home(places: Layout, address: str) -> int:
    """Lock the home for this process and return the lock; EmbeddedError names the Concord that holds it."""
    path = places.run / "serve.lock"
    deadline = time.monotonic() + PORT_PATIENCE
    while (descriptor := logs.acquire(path, wait=False)) is None:
        holder = path.read_text().strip()
        if holder or time.monotonic() > deadline:
            raise EmbeddedError(
                f"Concord already runs in {places.home} ({holder or 'starting'}): stop it first."
            )
        time.sleep(0.05)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{address}, process {os.getpid()}\n".encode())
    return descriptor


def free_home(descriptor: int) -> None:
    """Release the home."""
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def claim_port(host: str, port: int) -> socket.socket:
    """Return the socket that the web server's processes share; EmbeddedError if the port is not available."""
    deadline = time.monotonic() + PORT_PATIENCE
    while not isinstance(problem := _try_port(host, port), socket.socket):
        if problem.errno != errno.EADDRINUSE:
            raise EmbeddedError(
                f"Cannot listen on {host} port {port} ({problem.strerror}): set HOST and PORT."
            )
        if time.monotonic() > deadline:
            other = f"PORT={port + 1}"
            raise EmbeddedError(f"Port {port} on {host} is in use: choose another, as in {other} make up.")
        time.sleep(0.1)
    return problem


def _try_port(host: str, port: int) -> socket.socket | OSError:
    try:
        return listen(host, port)
    except OSError as error:
        return error


LOOK_EVERY = 0.25
PATIENCE = 10.0
SAY_EVERY = 5.0
STOP_SECONDS = 8.0
ASKS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Waiting:
    """Shows every few seconds what it is waiting for."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._began = self._last_message_at = time.monotonic()

    def look(self, awaited: str) -> None:
        """Show the awaited event, unless shown recently."""
        now = time.monotonic()
        if now - self._last_message_at >= SAY_EVERY:
            self._last_message_at = now
            self._say(f"Waiting for {awaited}, {now - self._began:.0f} s so far...")


class Stopped(BaseException):
    """The supervisor was told to stop. No handler in between may swallow it."""


class Supervisor:
    """Everything embedded in one home, from the first check to the last stopped process.

    `keys` are environment variables for the programs that make calls, and for no other.
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
        """URL of the pages for a browser on this machine."""
        name = "localhost" if self.host in {"0.0.0.0", "::"} else self.host
        return f"http://[{name}]:{self.port}" if ":" in name else f"http://{name}:{self.port}"

    def claim(self) -> None:
        """Claim home and port before anything is started. EmbeddedError otherwise."""
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
        """Start the web server's processes on the socket, which stays open while one of them restarts."""
        assert self._listening is not None, "claim comes first"
        return [self.start(program, folder) for program in web_programs(self._listening.fileno(), processes)]

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
        """Keep everything running until a stop signal."""
        while True:
            self._look_after_database()
            rotate_all(self.places.logs)
            for child in self.children:
                self._look_after(child)
            time.sleep(LOOK_EVERY)

    def _look_after_database(self) -> None:
        """Start a database that is down; if that fails, report it once and keep trying."""
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
        except OSError as error:  # no space for its log, no process available: a later check tries again
            line = f"{child.program.name} cannot be started now: {error.strerror}."
            line = "" if line == self._obstacle else line
            self._obstacle = line or self._obstacle
        if line:
            self.say(line)

    def stop(self) -> None:
        """Stop everything, PostgreSQL last. Never raises for a process that is already gone."""
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
