"""Spread of a set of messages: the mean edge of their minimum spanning tree under cosine distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.tools import Matrix

Distances = NDArray[np.float64]
EXACT = 2000
ROWS = 256


@dataclass(frozen=True)
class Tree:
    """A minimum spanning tree: its total length, and its longest edge as two indexes with its length."""

    length: float
    longest: tuple[int, int, float]


def prim(distances: Distances, members: NDArray[np.intp], unit: Matrix | None = None) -> Tree:
    """Return the minimum spanning tree over some rows of a distance matrix, by Prim's algorithm.

    Zero is a length like any other. Takes n^2 steps and n numbers of memory beside the matrix. Where that is
    in single precision, `unit` gives the edges' lengths in double.
    """
    if len(members) < 2:
        return Tree(0.0, (0, 0, 0.0))
    nearest = np.full(len(members), np.inf)
    parent = np.zeros(len(members), dtype=np.intp)
    waiting = np.ones(len(members), dtype=bool)
    ends = np.empty((len(members) - 1, 2), dtype=np.intp)
    at = 0
    for edge in range(len(members) - 1):
        waiting[at] = False
        nearest[at] = np.inf
        row = distances[members[at], members]
        closer = waiting & (row < nearest)
        nearest[closer] = row[closer]
        parent[closer] = at
        new = int(nearest.argmin())
        ends[edge] = members[parent[new]], members[new]
        at = new
    return _tree(ends, distances[ends[:, 0], ends[:, 1]] if unit is None else _lengths(unit, ends))


def _tree(ends: NDArray[np.intp], lengths: Distances) -> Tree:
    length, left, right = max((float(one), *pair) for one, pair in zip(lengths, ends.tolist(), strict=True))
    return Tree(float(np.sum(np.sort(lengths))), (left, right, length))


def _lengths(unit: Matrix, ends: NDArray[np.intp]) -> Distances:
    found = (1.0 - float(unit[left] @ unit[right]) for left, right in ends)
    return np.clip(np.fromiter(found, np.float64, len(ends)), 0.0, 2.0)


def cosine_distances(unit: Matrix) -> Distances:
    """Return 1 - cosine of unit rows, at least 0, with an exact zero diagonal.

    Above `EXACT` rows it is in single precision: good enough to tell edges apart, and half as large.
    """
    count = len(unit)
    distances: Distances = np.empty((count, count), np.float64 if count <= EXACT else np.float32)
    for begin in range(0, count, ROWS):
        block = unit[begin : begin + ROWS] @ unit.T
        distances[begin : begin + ROWS] = np.clip(np.subtract(1.0, block, out=block), 0.0, 2.0, out=block)
    np.fill_diagonal(distances, 0.0)
    return distances
