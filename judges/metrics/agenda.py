"""What agenda metrics share: turns about an item, how well they cover it, and the agenda's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.records import Agenda
from judges.metrics.base import Parameter, Settings
from judges.metrics.scene import Scene
from judges.metrics.tools import Matrix, Tools, cosine, rows_at

NO_AGENDA = "the dialogue has no agenda"

PARAMETERS = {
    "relevance": Parameter(0.6, "cosine above which a turn is about an item", low=-1.0, high=1.0),
    "gamma": Parameter(5.0, "how many turns it takes to cover an item", low=1e-9),
    "coverage": Parameter(0.3, "coverage above which an item is saturated", low=0.0, high=2.0),
}


@dataclass(frozen=True)
class Coverage:
    """An agenda against some turns. `similar` has a row per turn and a column per item, in agenda order."""

    agenda: Agenda
    keys: list[str]
    positions: list[int]
    unit: Matrix
    similar: Matrix
    items: Matrix
    settings: Settings

    def about(self, key: str) -> list[int]:
        """Return the positions of the turns about an item: cosine above `relevance`."""
        column = self.similar[:, self.keys.index(key)]
        return [p for p, value in zip(self.positions, column, strict=True) if value > self._relevance]

    def covered(self, key: str) -> float | None:
        """Return InfoCov, None with fewer than two turns about the item.

        (1 - e^(-n/gamma)) times the mean of 1 - cosine over pairs of the n turns: MPCEval eq. 9.
        """
        rows = self.unit[self.about(key)]
        count = len(rows)
        if count < 2:
            return None
        pairs = cosine(rows, rows)[np.triu_indices(count, 1)]
        return (1 - math.exp(-count / self.settings.number("gamma"))) * float(np.mean(1 - pairs))

    def saturated(self, key: str) -> bool:
        """Whether an item's coverage is above `coverage`: MPCEval eq. 26."""
        covered = self.covered(key)
        return covered is not None and covered > self.settings.number("coverage")

    def current(self) -> str | None:
        """Return the item that most turns are about (the first among equals), None where no turn is."""
        counts = [len(self.about(key)) for key in self.keys]
        return self.keys[counts.index(max(counts))] if any(counts) else None

    @property
    def _relevance(self) -> float:
        return self.settings.number("relevance")


def cover(scene: Scene, positions: Sequence[int], settings: Settings, tools: Tools) -> Coverage | None:
    """Return the dialogue's agenda against some turns, None where it has no agenda item with text."""
    agenda = scene.dialogue.agenda
    keys = [key for key, text in agenda.items.items() if text.strip()] if agenda else []
    if agenda is None or not keys:
        return None
    items = scene.once(
        ("agenda", tools.embed.name), lambda: tools.unit_texts([agenda.items[key] for key in keys])
    )
    unit = tools.unit(scene)
    similar = scene.once(("agenda similarity", tools.embed.name), lambda: cosine(unit, items))
    return Coverage(agenda, keys, list(positions), unit, rows_at(similar, positions), items, settings)


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
