"""Spread of a set of messages: the mean edge of their minimum spanning tree under cosine distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.metrics.tools import Matrix

Distances = NDArray[np.float64]


@dataclass(frozen=True)
class Tree:
    """A minimum spanning tree: its total length, and its longest edge as two indexes with its length."""

    length: float
    longest: tuple[int, int, float]


def prim(distances: Distances, members: NDArray[np.intp]) -> Tree:
    """Return the minimum spanning tree over some rows of a distance matrix, by Prim's algorithm.

    Zero is a length like any other. Takes n^2 steps and n numbers of memory beside the matrix.
    """
    if len(members) < 2:
        return Tree(0.0, (0, 0, 0.0))
    nearest = np.full(len(members), np.inf)
    parent = np.zeros(len(members), dtype=np.intp)
    waiting = np.ones(len(members), dtype=bool)
    edges: list[tuple[float, int, int]] = []
    at = 0
    for _ in range(len(members) - 1):
        waiting[at] = False
        nearest[at] = np.inf
        row = distances[members[at], members]
        closer = waiting & (row < nearest)
        nearest[closer] = row[closer]
        parent[closer] = at
        new = int(nearest.argmin())
        edges.append((float(nearest[new]), int(members[parent[new]]), int(members[new])))
        at = new
    length, left, right = max(edges)
    return Tree(float(np.sum(np.sort([edge[0] for edge in edges]))), (left, right, length))


def cosine_distances(unit: Matrix) -> Distances:
    """Return 1 - cosine of unit rows, at least 0, with an exact zero diagonal."""
    distances: Distances = unit @ unit.T
    np.subtract(1.0, distances, out=distances)
    np.clip(distances, 0.0, 2.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances
