"""What agenda metrics share: turns about an item, how well they cover it, and the agenda's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.records import Agenda
from judges.metrics.kit.base import Parameter, Settings
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, cosine, rows_at

# Spread of a set of messages: the mean edge of their minimum spanning tree under cosine distance.

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


NO_AGENDA = "the dialogue has no agenda"

PARAMETERS = {
    "relevance": Parameter(0.6, "cosine above which a turn is about an item", low=-1.0, high=1.0),
    "gamma": Parameter(5.0, "how many turns it takes to cover an item", low=1e-9),
    "coverage": Parameter(0.3, "coverage above which an item is saturated", low=0.0, high=2.0),
}


@dataclass(frozen=True)
class Theme:
    """Where the turns about an agenda item stand, and the sums of cosines over pairs of the first of them."""

    at: list[int]
    pairs: list[float]


@dataclass(frozen=True)
class Coverage:
    """An agenda against some turns, which stand at `positions`; `items` has a unit row per key."""

    scene: Scene
    agenda: Agenda
    keys: list[str]
    positions: list[int]
    unit: Matrix
    items: Matrix
    every: Matrix
    settings: Settings

    @property
    def similar(self) -> Matrix:
        """The cosines of the turns, a row each, to the items, in agenda order."""
        return rows_at(self.every, self.positions)

    def about(self, key: str) -> list[int]:
        """Return the positions of the turns about an item: cosine above `relevance`."""
        return list(self.scene.among(self._theme(key).at, self.positions))

    def covered(self, key: str) -> float | None:
        """Return InfoCov, None with fewer than two turns about the item.

        (1 - e^(-n/gamma)) times the mean of 1 - cosine over pairs of the n turns: MPCEval eq. 9.
        """
        about, theme = self.about(key), self._theme(key)
        count = len(about)
        if count < 2:
            return None
        first = theme.at[count - 1] == about[-1]
        pairs = theme.pairs[count - 1] if first else pair_sums(self.unit, about)[-1]
        apart = max(0.0, 1 - pairs / (count * (count - 1) / 2))
        return (1 - math.exp(-count / self.settings.number("gamma"))) * apart

    def saturated(self, key: str) -> bool:
        """Whether an item's coverage is above `coverage`: MPCEval eq. 26."""
        covered = self.covered(key)
        return covered is not None and covered > self.settings.number("coverage")

    def current(self) -> str | None:
        """Return the item that most turns are about (the first among equals), None where no turn is."""
        counts = [len(self.scene.among(self._theme(key).at, self.positions)) for key in self.keys]
        return self.keys[counts.index(max(counts))] if any(counts) else None

    def _theme(self, key: str) -> Theme:
        relevance = self.settings.number("relevance")
        return self.scene.once(("theme", id(self.every), key, relevance), lambda: self._find(key, relevance))

    def _find(self, key: str, relevance: float) -> Theme:
        column = self.every[:, self.keys.index(key)]
        found = np.flatnonzero(column > relevance).tolist()
        at = [p for p in found if self.scene.turns[p].text.strip()]
        return Theme(at, pair_sums(self.unit, at))


def cover(scene: Scene, positions: list[int], settings: Settings, tools: Tools) -> Coverage | None:
    """Return the dialogue's agenda against turns with text, None where it has no agenda item with text."""
    agenda = scene.dialogue.agenda
    keys = [key for key, text in agenda.items.items() if text.strip()] if agenda else []
    if agenda is None or not keys:
        return None
    items = scene.once(
        ("agenda", tools.embed.name), lambda: tools.unit_texts([agenda.items[key] for key in keys])
    )
    unit = tools.unit(scene)
    similar = scene.once(("agenda similarity", tools.embed.name), lambda: cosine(unit, items))
    return Coverage(scene, agenda, keys, positions, unit, items, similar, settings)


def pair_sums(unit: Matrix, positions: Sequence[int]) -> list[float]:
    """Return the sum of cosines over the pairs of the first turn, the first two, and so on."""
    together = np.zeros(unit.shape[1])
    total, found = 0.0, list[float]()
    for position in positions:
        total += float(together @ unit[position])
        together += unit[position]
        found.append(total)
    return found


def next_item(agenda: Agenda, start: str, saturated: Callable[[str], bool]) -> str | None:
    """Return the first unsaturated item that a depth-first search from `start` finds, None without one.

    MPCEval algorithm 1: successors before predecessors, in the order of the agenda's edges.
    """
    discovered: set[str] = set()
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if item in discovered:
            continue
        discovered.add(item)
        if not saturated(item):
            return item
        after = [end for begin, end in agenda.edges if begin == item]
        before = [begin for begin, end in agenda.edges if end == item]
        waiting.extend(reversed(after + before))
    return None


def linearised(agenda: Agenda) -> list[str]:
    """Return the agenda's items in the order of a depth-first walk from its start.

    MPCEval algorithm 2. Where no start is named, the first item is it; items that the walk does not reach
    follow in the agenda's order, each with what it leads to.
    """
    start = agenda.start if agenda.start is not None else next(iter(agenda.items), None)
    found: dict[str, None] = {}
    for root in [start, *agenda.items] if start is not None else []:
        waiting = [root]
        while waiting:
            item = waiting.pop()
            if item not in found:
                found[item] = None
                waiting.extend(reversed([end for begin, end in agenda.edges if begin == item]))
    return list(found)


def texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield what agenda metrics embed: the turns and the items."""
    if scene.dialogue.agenda:
        yield from filter(str.strip, scene.dialogue.agenda.items.values())
        yield from (turn.text for turn in scene.turns if turn.text.strip())
