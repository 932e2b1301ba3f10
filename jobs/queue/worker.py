"""A worker: its loop, and the heartbeat that renews its leases and sweeps."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

import psycopg
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection
from django.utils import timezone

from jobs.kinds import CALLS, all_queues, queue_of, sweeps
from jobs.models.job import Worker
from jobs.queue import timing
from jobs.queue.waking import CHANNEL

# Heartbeat of a worker: a thread that renews its leases, reports that it lives, and sweeps.

# Identity of a process beyond its pid, so that a worker can tell when another on its machine is gone.
#
# A pid alone is not enough: pids are reused, containers have their own, and a restarted machine begins anew.
# If the system does not provide the rest (no /proc), no worker is assumed dead and leases expire by
# themselves.

_PROC = Path("/proc")


@cache
def machine() -> str:
    """Return the machine's boot id and process namespace, shared by processes that can see each other."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def birth(pid: int) -> str:
    """Return the start time of a process, in system ticks; '' if there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before it may contain anything
    state, started = fields[0], fields[19]
    return "" if state in {"Z", "X"} else started


def is_gone(*, on: str, pid: int | None, born: str) -> bool:
    """Whether a process is known to be gone: it ran on this machine, and its pid is free or reused."""
    return bool(on and born and pid is not None and on == machine() and birth(pid) != born)


# Cleanup after lost workers: a dead process's work at once, other work when its lease expires.
#
# Safe to run at any moment and in several processes.


def sweep() -> int:
    """Take back work of expired leases and dead workers, run the other sweeps; return the number of
    leases.
    """
    returned = bury_the_dead() + sum(queue.sweep() for queue in all_queues())
    for other in sweeps():
        other()
    return returned


def bury_the_dead() -> int:
    """Take back the work of this machine's dead workers, and delete their rows.

    Workers of other machines are deleted when not seen for an hour; their leases expire. Returns the number
    of leases taken back.
    """
    returned = 0
    for worker in Worker.objects.all():
        if is_gone(on=worker.machine, pid=worker.pid, born=worker.birth):
            returned += queue_of(worker.queue).release(worker=worker.name)
            worker.delete()
    since = timezone.now() - timedelta(seconds=timing.FORGOTTEN_AFTER)
    Worker.objects.filter(last_seen__lt=since).delete()
    return returned


logger = logging.getLogger(__name__)


class Heartbeat:
    """Context in which a worker counts as alive, and its claimed work stays leased.

    With `is_task` (a Celery task) the row stays: the process lives on and returns under the same name.
    """

    def __init__(self, queue: str, *, is_task: bool = False) -> None:
        self.queue, self.is_task = queue, is_task
        unique = "" if is_task else f"-{secrets.token_hex(3)}"
        self.name = f"{socket.gethostname()}-{os.getpid()}-{queue}{unique}"[:200]
        self._process = {
            "machine": machine(),
            "pid": os.getpid(),
            "birth": birth(os.getpid()),
        }
        self._leased: set[int] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._say()
        # Work of a killed worker on this machine is freed now, not when its lease ends.
        bury_the_dead()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        if self.is_task:
            return
        try:
            Worker.objects.filter(name=self.name).delete()
        except Error as trouble:
            logger.warning("the worker's row stays: %s", trouble)

    def hold(self, ids: Iterable[int]) -> None:
        """Keep these ids leased from now on."""
        with self._lock:
            self._leased.update(ids)

    def let_go(self, ids: Iterable[int]) -> None:
        """Stop renewing these ids: finished or given back."""
        with self._lock:
            self._leased.difference_update(ids)

    def let_all_go(self) -> None:
        """Stop renewing everything: the work was interrupted, and its leases should end."""
        with self._lock:
            self._leased.clear()

    def _beat(self) -> None:
        swept = 0.0
        while not self._stop.wait(timing.beat()):
            close_old_connections()
            try:
                self._say()
                queue_of(self.queue).beat(self.queue)
                if time.monotonic() - swept > timing.SWEEP_EVERY:
                    sweep()
                    swept = time.monotonic()
            except Error as error:
                # The next beat tries again; if the database stays away, the leases expire and come back.
                logger.warning("no heartbeat: %s", error)
        connection.close()

    def _say(self) -> None:
        seen = {"queue": self.queue, "last_seen": timezone.now(), **self._process}
        if self.queue == CALLS:
            from jobs.endpoints import endpoint_actions  # which imports the models

            seen["lacks"] = endpoint_actions.lacking()
        Worker.objects.update_or_create(name=self.name, defaults=seen)
        with self._lock:
            ids = list(self._leased)
        if ids:
            queue_of(self.queue).renew(worker=self.name, ids=ids)


# The plain worker: does ready work, then waits for a NOTIFY or a short poll. No broker needed.

SLICE = 60.0
_PAUSE_WITHOUT_DATABASE = 2.0


class Loop:
    """Worker process of one queue, until SIGTERM, SIGINT or `stop`; with `until_empty`, until nothing
    waits.
    """

    def __init__(self, queue: str, *, until_empty: bool = False) -> None:
        self.queue, self.until_empty = queue, until_empty
        self._work = queue_of(queue)
        self._stop = threading.Event()
        self._swept: float | None = None
        self._ears: psycopg.Connection | None = None
        self._broken_off = False

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Finish or give back work in progress, and end."""
        self._stop.set()

    def run(self) -> None:
        """Work until stopped."""
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        with Heartbeat(self.queue) as heartbeat:
            while not self._stop.is_set():
                try:
                    self._turn(heartbeat)
                except (Error, psycopg.Error) as error:
                    heartbeat.let_all_go()
                    self._broken_off = True
                    self._mend(error)
        if self._ears:
            self._ears.close()
        connection.close()

    def _turn(self, heartbeat: Heartbeat) -> None:
        close_old_connections()
        self._listen()  # before checking for work, so that no notification is missed
        if self._swept is None or time.monotonic() - self._swept > timing.SWEEP_EVERY:
            sweep()
            self._swept = time.monotonic()
        if self._broken_off:
            self._work.release(worker=heartbeat.name)  # frees the interrupted work
            self._broken_off = False
        touched = 0
        if self._work.ready(self.queue):
            touched = self._work.work(
                self.queue, seconds=SLICE, heartbeat=heartbeat, stopping=self._stop.is_set
            )
        if not touched and self.until_empty and not self._work.waiting(self.queue):
            self.stop()
        elif not touched:
            self._wait()

    def _listen(self) -> None:
        if self._ears is None or self._ears.closed:
            self._ears = psycopg.connect(**connection.get_connection_params(), autocommit=True)
            self._ears.execute(f"LISTEN {CHANNEL}")

    def _wait(self) -> None:
        """Return at the first notification for this queue, or after the poll."""
        assert self._ears is not None
        for notice in self._ears.notifies(timeout=timing.POLL):
            if notice.payload == self.queue:
                return

    def _mend(self, error: Exception) -> None:
        """Log a lost database connection and wait to retry: it may be restarting. Raise other errors."""
        if not isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError):
            raise error
        logger.warning("worker %s: %s", self.queue, str(error).splitlines()[0] if str(error) else type(error))
        connection.close()
        if self._ears:
            self._ears.close()
        self._stop.wait(_PAUSE_WITHOUT_DATABASE)
