"""Which lexical units have a near one before them: cosines in single precision, doubtful ones in double."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.tools import Matrix

Indexes = NDArray[np.intp]
Single = NDArray[np.float32]

DOUBT = 1e-4
"""Single precision is wrong by less."""
WIDTH = 4096
ROWS = 512
NEVER = np.iinfo(np.intp).max


class Neighbours:
    """Units in the order of their first turn, and for each of them the first unit that is near.

    `vectors` gives the unit vectors of some units; near is a cosine of at least `threshold`. Units are
    `asked` for in this order, and a block of them is compared at once, with what comes before each.
    """

    def __init__(
        self, units: Sequence[str], asked: Indexes, vectors: Callable[[list[str]], Matrix], threshold: float
    ) -> None:
        self._units = units
        self._vectors = vectors
        self._threshold = threshold
        self._rows = _single(units, vectors)
        self._asked = asked
        self._place = {int(unit): place for place, unit in enumerate(asked)}
        self._first = np.full(len(asked), -1, dtype=np.intp)

    def before(self, unit: int, end: int) -> bool:
        """Whether one of the first `end` units, of which the unit is none, is near."""
        place = self._place[unit]
        if self._first[place] < 0:
            begin = place // ROWS * ROWS
            self._first[begin : begin + ROWS] = self._compare(self._asked[begin : begin + ROWS])
        return bool(self._first[place] < end)

    def among(self, units: Indexes, columns: Indexes) -> NDArray[np.bool_]:
        """Return which of some units are near one of others."""
        found = self._rows[units] @ self._rows[columns].T
        hits = (self._hit(unit, row, columns) for unit, row in zip(units, found, strict=True))
        return np.array([one != NEVER for one in hits], dtype=bool)

    def _compare(self, block: Indexes) -> Indexes:
        """Return for each unit the first unit before it that is near, NEVER where none is."""
        first = np.full(len(block), NEVER, dtype=np.intp)
        for begin in range(0, int(block.max()), WIDTH):
            waiting = np.flatnonzero((first == NEVER) & (block > begin))
            columns = np.arange(begin, min(begin + WIDTH, len(self._rows)), dtype=np.intp)
            found = self._rows[block[waiting]] @ self._rows[begin : begin + WIDTH].T
            for index in np.flatnonzero(found.max(axis=1, initial=-1.0) >= self._threshold - DOUBT):
                at = waiting[index]
                earlier = columns[: max(0, block[at] - begin)]
                first[at] = self._hit(block[at], found[index, : len(earlier)], earlier)
        return first

    def _hit(self, unit: np.intp, row: Single, columns: Indexes) -> np.intp:
        """Return the first of some columns that is near a unit, NEVER where none is."""
        for column in np.flatnonzero(row >= self._threshold - DOUBT):
            sure = row[column] >= self._threshold + DOUBT
            if sure or self._cosine(unit, columns[column]) >= self._threshold:
                return columns[column]
        return np.intp(NEVER)

    def _cosine(self, left: np.intp, right: np.intp) -> float:
        rows = self._vectors([self._units[int(left)], self._units[int(right)]])
        return float(rows[0] @ rows[1])


def _single(units: Sequence[str], vectors: Callable[[list[str]], Matrix]) -> Single:
    """Return the units' vectors in single precision; double precision is held for some at a time."""
    parts = [
        vectors(list(units[begin : begin + WIDTH])).astype(np.float32)
        for begin in range(0, len(units), WIDTH)
    ]
    return np.concatenate(parts)
