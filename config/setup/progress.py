"""pip's many lines as few."""

from __future__ import annotations

import threading
import time

from config.setup.common import VENV, say

EVERY = 5.0


class Progress:
    """Says every few seconds what pip is doing, so that no step is silent."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.started = time.monotonic()
        self.looked_up = 0
        self.doing = "starting pip"

    def read(self, line: str) -> None:
        """Note what a line of pip says."""
        word, _, rest = line.partition(" ")
        name = rest.partition(" (")[0]
        if word == "Collecting":
            self.looked_up += 1
            self.doing = f"found {self.looked_up}, now {name}"
        elif word == "Downloading":
            self.doing = f"found {self.looked_up}, downloading {name.rpartition('/')[2].partition('-')[0]}"
        elif word == "Installing":
            self.doing = "unpacking"

    def tick(self) -> None:
        """Show the state until done."""
        while not self.done.wait(EVERY):
            unpacked = f", {_unpacked()} unpacked" if self.doing == "unpacking" else ""
            say(f"  {time.monotonic() - self.started:3.0f} s: {self.doing}{unpacked}")


def _unpacked() -> int:
    """How many packages are in place."""
    return sum(1 for _ in VENV.glob("lib/python*/site-packages/*.dist-info"))
