"""Cosines of many texts to all turns of a scene, a block of rows at a time.

A short conversation's are computed once and shared by the metrics that read them; of a long one only some
rows are held, so that memory grows with the length and not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, cosine

NUMBERS = 2_000_000
"""How many cosines are held at once: 16 MB."""

Make = Callable[[int, int], Matrix]


class Blocks:
    """Cosines of the rows that `make(begin, end)` gives, `count` in all, to the rows of a matrix."""

    def __init__(self, make: Make, count: int, columns: Matrix) -> None:
        self._make = make
        self._count = count
        self._columns = columns
        self._size = max(1, NUMBERS // max(len(columns), 1))
        self._begin = -1
        self._held: Matrix = np.empty((0, 0))

    def row(self, index: int) -> Matrix:
        """Return one row's cosines; asking in order computes each block once."""
        begin = index // self._size * self._size
        if begin != self._begin:
            self._held = np.empty((0, 0))
            self._held = cosine(self._make(begin, min(begin + self._size, self._count)), self._columns)
            self._begin = begin
        row: Matrix = self._held[index - begin]
        return row


def likeness(scene: Scene, turn: int, tools: Tools) -> Matrix:
    """Return the cosines of a turn of the continuation to every position of its scene."""
    return scene.once(("likeness", tools.embed.name), lambda: between(scene, tools.unit(scene))).row(turn)


def between(scene: Scene, unit: Matrix) -> Blocks:
    """Return the cosines of the continuation's turns to all positions, from unit rows of all positions."""
    said = unit[scene.offset :]
    return Blocks(lambda begin, end: said[begin:end], len(said), unit)


class RunningBest:
    """Each position's best cosine to the first of some turns, the first two, and so on."""

    def __init__(self, unit: Matrix, own: Sequence[int], sharing: int) -> None:
        """`own` are the turns' positions; `sharing` of these together hold as much as one `Blocks`."""
        self._unit = unit
        self._own = own
        self._size = max(1, NUMBERS // max(len(unit) * sharing, 1))
        self._begin = 0
        self._held: Matrix = np.empty((0, len(unit)))

    def row(self, count: int) -> Matrix:
        """Return each position's best cosine to the first `count` turns, at least one."""
        wanted = (count - 1) // self._size * self._size
        if wanted < self._begin or not len(self._held):
            self._load(0, None)
        while self._begin < wanted:
            self._load(self._begin + self._size, self._held[-1].copy())
        row: Matrix = self._held[count - 1 - self._begin]
        return row

    def _load(self, begin: int, before: Matrix | None) -> None:
        self._held = np.empty((0, 0))
        found = cosine(self._unit[self._own[begin : begin + self._size]], self._unit)
        if before is not None:
            np.maximum(found[0], before, out=found[0])
        self._held = np.maximum.accumulate(found, axis=0, out=found)
        self._begin = begin
