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
from types import TracebackType

from django.conf import settings
from django.db import Error, close_old_connections, connection
from django.utils import timezone

from judges.models import Worker
from judges.work import claiming, identity, probing

logger = logging.getLogger(__name__)
BEAT = 5.0
FORGOTTEN_AFTER = 3600
SWEEP_EVERY = 15.0


class Heart:
    """Use as a context; inside it the worker is seen, and the calls it holds stay leased.

    One that is `passing` (a Celery task) leaves its row: the process lives on and comes back under its name.
    """

    def __init__(self, queue: str, *, passing: bool = False) -> None:
        self.queue, self.passing = queue, passing
        unique = "" if passing else f"-{secrets.token_hex(3)}"
        self.name = f"{socket.gethostname()}-{os.getpid()}-{queue}{unique}"[:200]
        pid = os.getpid()
        self._process = {"machine": identity.machine(), "pid": pid, "began": identity.began(pid)}
        self._held: set[int] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Heart:
        self._say()
        # What a worker of this machine held when it was killed is free again, not when its lease ends.
        claiming.sweep()
        self._thread.start()
        probing.begin(self.queue)
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

    def hold(self, calls: Iterable[int]) -> None:
        """Keep these calls leased from now on."""
        with self._lock:
            self._held.update(calls)

    def let_go(self, calls: Iterable[int]) -> None:
        """These calls are finished or given back."""
        with self._lock:
            self._held.difference_update(calls)

    def _beat(self) -> None:
        wait = min(BEAT, settings.LEASE_SECONDS / 4)
        swept = 0.0
        while not self._stop.wait(wait):
            close_old_connections()
            try:
                self._say()
                probing.begin(self.queue)
                if time.monotonic() - swept > SWEEP_EVERY:
                    claiming.sweep()
                    swept = time.monotonic()
            except Error as error:
                # The next beat tries again; if the database stays away, the leases expire and come back.
                logger.warning("no heartbeat: %s", error)
        connection.close()

    def _say(self) -> None:
        now = timezone.now()
        fields = {"queue": self.queue, "last_seen": now} | self._process
        Worker.objects.update_or_create(name=self.name, defaults=fields)
        with self._lock:
            held = list(self._held)
        if held:
            claiming.renew(worker=self.name, calls=held)


def forget_the_dead() -> None:
    """Remove the rows of workers that were not seen for an hour."""
    since = timezone.now() - timedelta(seconds=FORGOTTEN_AFTER)
    Worker.objects.filter(last_seen__lt=since).delete()
