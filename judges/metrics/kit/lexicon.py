"""The lexical units of a scene, indexed once so that every turn's context is looked up, not rebuilt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from judges.metrics.kit.base import Settings
from judges.metrics.kit.neighbours import Neighbours
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.units import Extract
from judges.metrics.kit.vectors import unit_vectors


class Lexicon:
    """Units by turn, turns by unit, and all units in the order of their first turn.

    `messages` extracts units of messages that are not units of contexts; they come last.
    """

    def __init__(self, scene: Scene, extract: Extract, messages: Extract | None = None) -> None:
        self.turns = [extract(turn.text) for turn in scene.turns]
        self.places: dict[str, list[int]] = {}
        self.seen = [0]
        for position, found in enumerate(self.turns):
            for unit in sorted(found):
                self.places.setdefault(unit, []).append(position)
            self.seen.append(len(self.places))
        self.order = {unit: index for index, unit in enumerate(self.places)}
        self.said = [messages(turn.text) if messages else frozenset() for turn in scene.continuation.turns]
        for unit in sorted(frozenset[str]().union(*self.said)):
            self.order.setdefault(unit, len(self.order))
        self.spoken = [0, *accumulate(bool(turn.text.strip()) for turn in scene.turns)]
        self.filled = [0, *accumulate(bool(found) for found in self.turns)]
        self._scene = scene

    def frequency(self, unit: str, context: Sequence[int]) -> int:
        """Return in how many turns of a context a unit occurs."""
        places = self.places.get(unit, ())
        if span := self._scene.span(context):
            return bisect_left(places, span[1]) - bisect_left(places, span[0])
        return len(set(places) & set(context))

    def documents(self, context: Sequence[int]) -> int:
        """Return how many turns of a context have units."""
        if span := self._scene.span(context):
            return self.filled[span[1]] - self.filled[span[0]]
        return sum(bool(self.turns[p]) for p in context)

    def near(self, units: list[str], context: Sequence[int], settings: Settings, tools: Tools) -> set[str]:
        """Return those units, none of them in the context, that have a near one there."""
        threshold = settings.number("threshold")
        near = self._scene.once(
            ("neighbours", id(self), settings.text("vectors"), tools.embed.name, threshold),
            lambda: self._neighbours(threshold, settings, tools),
        )
        span = self._scene.span(context)
        if span and not self.spoken[span[0]]:
            end = self.seen[span[1]]
            return {unit for unit in units if near.before(self.order[unit], end)}
        known = sorted(set().union(*({self.order[unit] for unit in self.turns[p]} for p in context)))
        rows = np.array([self.order[unit] for unit in units], dtype=np.intp)
        found = near.among(rows, np.array(known, dtype=np.intp))
        return {unit for unit, one in zip(units, found, strict=True) if one}

    def _neighbours(self, threshold: float, settings: Settings, tools: Tools) -> Neighbours:
        """Compare what the continuation says, in its order, as that is what will be asked for."""
        said = frozenset[str]().union(*self.turns[self._scene.offset :], *self.said)
        asked = np.array(sorted(self.order[unit] for unit in said), dtype=np.intp)
        return Neighbours(
            list(self.order), asked, lambda units: unit_vectors(units, settings, tools), threshold
        )
