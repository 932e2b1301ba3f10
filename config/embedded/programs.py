"""What a running Concord consists of, apart from PostgreSQL."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from config.embedded.children import Program

WEB_PROCESSES, WEB_THREADS = 2, 2
QUEUES = ("calls", "metrics", "jobs")


def web(host: str, port: int) -> Program:
    """The web server: two processes with two threads each, every one with its own database connection.

    Threads of one process take turns, so more of them only lengthen the slowest answers.
    """
    options = [
        "--interface",
        "wsgi",
        "--http",
        "1",
        "--no-ws",
        "--workers",
        str(WEB_PROCESSES),
        "--host",
        host,
    ]
    threads = ["--blocking-threads", str(WEB_THREADS), "--workers-kill-timeout", "4"]
    address = ["--port", str(port), "--log-level", "warning", "config.wsgi:application"]
    # Killed outright with the supervisor, because a slow end would hold the port.
    return Program("web", (sys.executable, "-m", "granian", *options, *threads, *address), signal.SIGKILL)


def workers(project: Path, *, broker: bool, run: Path) -> list[Program]:
    """One worker per queue: the plain loop, or with a broker Celery's workers and its clock (`beat`)."""
    if not broker:
        manage = str(project / "manage.py")
        return [Program(f"worker-{queue}", (sys.executable, manage, "work", queue)) for queue in QUEUES]
    celery = (sys.executable, "-m", "celery", "-A", "config.celery")
    clock = ("beat", "--loglevel", "warning", "--schedule", str(run / "beat"), "--pidfile=")
    return [
        *(Program(f"worker-{queue}", (*celery, *celery_worker(queue))) for queue in QUEUES),
        Program("beat", (*celery, *clock)),
    ]


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
