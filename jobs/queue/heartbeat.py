"""A worker's heartbeat: a thread that renews its leases, says that it lives, and sweeps up after others."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import TracebackType

from django.db import Error, close_old_connections, connection
from django.utils import timezone

from jobs.kinds import CALLS, all_queues, queue_of, sweeps
from jobs.models.job import Worker
from jobs.queue import timing

# Who a process is, beyond its number: so that a worker can tell that another one of its machine is gone.
#
# A process number alone is not enough: numbers are used again, containers number for themselves, and a
# machine that was restarted begins anew. Where the system does not say (no /proc), nobody is ever taken for
# dead and leases run out by themselves.

_PROC = Path("/proc")


@cache
def machine() -> str:
    """Return what processes that see each other share: this start of the system, its process numbers."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def birth(pid: int) -> str:
    """Return when a process was started, in ticks of the system; '' where there is no such process."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold anything
    state, started = fields[0], fields[19]
    return "" if state in {"Z", "X"} else started


def is_gone(*, on: str, pid: int | None, born: str) -> bool:
    """Whether a process is known to be gone: it was of this machine, and its number is free or another's."""
    return bool(on and born and pid is not None and on == machine() and birth(pid) != born)


# Putting in order what lost workers left: what a dead process held at once, what expired at its time.
#
# Safe to run at any moment and by several processes.


def sweep() -> int:
    """Take back what expired or whose worker is gone, do what other rooms ask; return how many leases."""
    returned = bury_the_dead() + sum(queue.sweep() for queue in all_queues())
    for other in sweeps():
        other()
    return returned


def bury_the_dead() -> int:
    """Take back what workers of this machine held whose process is gone, and strike them off.

    Workers of other machines are struck off when they were not seen for an hour; their leases expire.
    Returns how many leases were taken back.
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


class Heart:
    """Use as a context; inside it the worker is seen, and what it holds stays leased.

    One that is `passing` (a Celery task) leaves its row: the process lives on and comes back under its name.
    """

    def __init__(self, queue: str, *, passing: bool = False) -> None:
        self.queue, self.passing = queue, passing
        unique = "" if passing else f"-{secrets.token_hex(3)}"
        self.name = f"{socket.gethostname()}-{os.getpid()}-{queue}{unique}"[:200]
        self._process = {
            "machine": machine(),
            "pid": os.getpid(),
            "birth": birth(os.getpid()),
        }
        self._held: set[int] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Heart:
        self._say()
        # What a worker of this machine held when it was killed is free now, not when its lease ends.
        bury_the_dead()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        if self.passing:
            return
        try:
            Worker.objects.filter(name=self.name).delete()
        except Error as trouble:
            logger.warning("the worker's row stays: %s", trouble)

    def hold(self, held: Iterable[int]) -> None:
        """Keep these leased from now on."""
        with self._lock:
            self._held.update(held)

    def let_go(self, held: Iterable[int]) -> None:
        """These are finished or given back."""
        with self._lock:
            self._held.difference_update(held)

    def let_all_go(self) -> None:
        """Nothing is held any more: the work was broken off, and its leases are to end."""
        with self._lock:
            self._held.clear()

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
            from jobs.endpoints import keys  # which imports the models

            seen["lacks"] = keys.lacking()
        Worker.objects.update_or_create(name=self.name, defaults=seen)
        with self._lock:
            held = list(self._held)
        if held:
            queue_of(self.queue).renew(worker=self.name, held=held)
