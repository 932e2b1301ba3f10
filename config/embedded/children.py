"""The programs that the supervisor runs, and how it starts, watches and stops one of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from config.embedded.layout import Layout
from config.embedded.logs import last_lines, open_log
from config.embedded.processes import die_with_parent

LONGEST_PAUSE = 30.0
SETTLED = 10.0


@dataclass(frozen=True)
class Program:
    """What to run. `farewell` is the signal it gets when the supervisor itself is killed.

    `files` are the open files that it takes over. Only what `makes_calls` is given the keys of endpoints.
    """

    name: str
    command: tuple[str, ...]
    farewell: signal.Signals = signal.SIGTERM
    files: tuple[int, ...] = ()
    makes_calls: bool = False


@dataclass
class Child:
    """A program that is kept running, with `more` in its environment; its output goes to a log of its own."""

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
        """How the program ended; None while it runs."""
        return self.process.poll() if self.process else 0

    def last_words(self) -> str:
        """How the program ended, and the last lines that it wrote."""
        lines = last_lines(self.log)
        said = ":\n" + "\n".join(f"  {line}" for line in lines) if lines else ", without a word"
        return f"{self.program.name} ended ({_describe(self.status or 0)}){said}\n(see {self.log})"

    @property
    def log(self) -> Path:
        """Where the program writes."""
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
        """Start the program again if it has ended; returns a line to show when it has."""
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
        # At once where it had run for a while; a program that keeps ending is given ever more time.
        self.pause = 0.0 if now - self.started > SETTLED else min(max(self.pause * 2, 1.0), LONGEST_PAUSE)
        self.due = now + self.pause
        return f"{self.program.name} ended ({_describe(status)}) and starts again: see {self.log}"

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def stop(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds) for the program's end, then kill what is left of it."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        self._end_group()
        self.process.wait()

    def _end_group(self) -> None:
        """Kill the program and what it started; a session's group bears its leader's number."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return


def _describe(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


# What a running Concord consists of, apart from PostgreSQL.

WEB_PROCESSES, MOST_WEB_PROCESSES = 2, 64
CALLS = "calls"
QUEUES = (CALLS, "metrics", "jobs")


def web(listening: int, processes: int = WEB_PROCESSES) -> list[Program]:
    """The web server: processes that share the supervisor's listening socket; each answers for the other."""
    command = (sys.executable, "-m", "config.web", "--fd", str(listening))
    names = [f"web-{number}" for number in range(1, processes + 1)]
    # Killed outright with the supervisor, because a slow end would hold the port.
    return [Program(name, command, signal.SIGKILL, (listening,)) for name in names]


def fake_model(listening: int) -> Program:
    """The fake model of the demo, on a listening socket of the supervisor's."""
    return Program(
        "fake-model", (sys.executable, "-m", "demo.fake_model", "--fd", str(listening)), files=(listening,)
    )


def workers(project: Path, *, broker: bool, run: Path) -> list[Program]:
    """One worker per queue: the plain loop, or with a broker Celery's, and the sweeper with the clock."""
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
    """Arguments of a Celery worker for one queue."""
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
    """Arguments of the worker that sweeps and has the clock in it."""
    return (*celery_worker("sweep"), "--beat", "--schedule", str(schedule))
