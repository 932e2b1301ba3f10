"""Measures two checkouts in turns, so that a machine that is slow for a while is slow for both."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import _home

SIDE = Path(__file__).with_name("_annotate_side.py")
WINDOW = 2.5
MANY = ("1", "20")


class Side:
    """Annotators of one checkout, in their own process."""

    def __init__(self, folder: Path, tasks: int, turns: int) -> None:
        own = folder / ".venv" / "bin" / "python"
        command = [str(own if own.exists() else sys.executable), str(SIDE), str(tasks), str(turns)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while (line := self._line()) != "ready":
            if not line:
                raise RuntimeError(f"{folder}: its annotators did not start")

    def measure(self, many: str) -> dict[str, float]:
        """Let `many` annotators work for a moment and return their figures."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{many} {WINDOW}\n")
        self.process.stdin.flush()
        found: dict[str, float] = json.loads(self._line())
        return found

    def end(self) -> None:
        """Shut down the process with its server and database."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


def compare(folder: Path, *, tasks: int, turns: int, rounds: int) -> dict[str, Any]:
    """Return medians of both checkouts and of the ratios within each round (this checkout over the other)."""
    sides = {"other": Side(folder, tasks, turns), "this": Side(_home.PROJECT, tasks, turns)}
    found: dict[tuple[str, str], list[dict[str, float]]] = {(s, many): [] for s in sides for many in MANY}
    for number in range(rounds):
        order = list(sides) if number % 2 else list(sides)[::-1]
        for many in MANY:
            for side in order:
                found[side, many].append(sides[side].measure(many))
    for one in sides.values():
        one.end()
    return {f"annotators_{many}": _told(found["this", many], found["other", many]) for many in MANY}


def _told(this: list[dict[str, float]], other: list[dict[str, float]]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in ("cycles_per_second", "p50_ms", "p95_ms"):
        ratios = sorted(a[name] / b[name] for a, b in zip(this, other, strict=True))
        told[name] = {
            "this": round(statistics.median(one[name] for one in this), 1),
            "other": round(statistics.median(one[name] for one in other), 1),
            "ratio": round(statistics.median(ratios), 3),
            "ratios": [round(ratio, 3) for ratio in ratios],
        }
    return told
