"""What a running Concord consists of, apart from PostgreSQL."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from config.embedded.children import Program

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
