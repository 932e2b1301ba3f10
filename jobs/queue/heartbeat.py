"""A worker's heartbeat: a thread that renews its leases, says that it lives, and sweeps up after others."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterable
from types import TracebackType

from django.db import Error, close_old_connections, connection
from django.utils import timezone

from jobs.kinds import CALLS, queue_of
from jobs.models import Worker
from jobs.queue import identity, sweeping, timing

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
            "machine": identity.machine(),
            "pid": os.getpid(),
            "birth": identity.birth(os.getpid()),
        }
        self._held: set[int] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Heart:
        self._say()
        # What a worker of this machine held when it was killed is free now, not when its lease ends.
        sweeping.bury_the_dead()
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
                    sweeping.sweep()
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
