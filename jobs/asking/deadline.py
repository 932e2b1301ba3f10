"""A limit on the processor time of reading one reply.

Readers are linear, so this is never met; it is there for the reader that somebody writes next. The timer
counts the process's own time, so a busy machine does not make a reply unreadable. It interrupts regular
expressions, too. Only a process's main thread can set it, which is where replies are read.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlow(Exception):
    """What was to be done within the limit took longer."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooSlow inside the block once it has used so many seconds of the processor."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
