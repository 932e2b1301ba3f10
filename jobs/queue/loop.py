"""The plain worker: does what is ready, then waits for a NOTIFY or a short poll. No broker needed."""

from __future__ import annotations

import logging
import signal
import threading
import time
from types import FrameType

import psycopg
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

from jobs.kinds import queue_of
from jobs.queue import heartbeat, timing
from jobs.queue.heartbeat import Heart
from jobs.queue.waking import CHANNEL

logger = logging.getLogger(__name__)
SLICE = 60.0
_PAUSE_WITHOUT_DATABASE = 2.0


class Loop:
    """A worker process of one queue, until SIGTERM, SIGINT or `stop`."""

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self._work = queue_of(queue)
        self._stop = threading.Event()
        self._swept: float | None = None
        self._ears: psycopg.Connection | None = None
        self._broken_off = False

    def stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """Finish or give back what is under way, and end."""
        self._stop.set()

    def run(self) -> None:
        """Work until told to stop."""
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        with Heart(self.queue) as heart:
            while not self._stop.is_set():
                try:
                    self._turn(heart)
                except (Error, psycopg.Error) as error:
                    heart.let_all_go()
                    self._broken_off = True
                    self._mend(error)
        if self._ears:
            self._ears.close()
        connection.close()

    def _turn(self, heart: Heart) -> None:
        close_old_connections()
        self._listen()  # before looking, so that nothing that comes meanwhile is missed
        if self._swept is None or time.monotonic() - self._swept > timing.SWEEP_EVERY:
            heartbeat.sweep()
            self._swept = time.monotonic()
        if self._broken_off:
            self._work.release(worker=heart.name)  # what the broken work held is anybody's again
            self._broken_off = False
        touched = 0
        if self._work.ready(self.queue):
            touched = self._work.work(self.queue, seconds=SLICE, heart=heart, stopping=self._stop.is_set)
        if not touched:
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
        """Without the database, say so and try again: it may be restarting. Other errors are defects."""
        if not isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError):
            raise error
        logger.warning("worker %s: %s", self.queue, str(error).splitlines()[0] if str(error) else type(error))
        connection.close()
        if self._ears:
            self._ears.close()
        self._stop.wait(_PAUSE_WITHOUT_DATABASE)
