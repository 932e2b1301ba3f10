"""The lexical units of a scene, indexed once so that every turn's context is looked up, not rebuilt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from judges.metrics.base import Settings
from judges.metrics.scene import Scene
from judges.metrics.tools import Matrix, Tools
from judges.metrics.units import Extract
from judges.metrics.vectors import unit_vectors


class Lexicon:
    """Units by turn, turns by unit, and all units in the order of their first turn."""

    def __init__(self, scene: Scene, extract: Extract) -> None:
        self.turns = [extract(turn.text) for turn in scene.turns]
        self.places: dict[str, list[int]] = {}
        self.seen = [0]
        for position, found in enumerate(self.turns):
            for unit in sorted(found):
                self.places.setdefault(unit, []).append(position)
            self.seen.append(len(self.places))
        self.order = {unit: index for index, unit in enumerate(self.places)}
        self.spoken = [0, *accumulate(bool(turn.text.strip()) for turn in scene.turns)]
        self.filled = [0, *accumulate(bool(found) for found in self.turns)]
        self._scene = scene

    def frequency(self, unit: str, context: Sequence[int]) -> int:
        """Return in how many turns of a context a unit occurs."""
        places = self.places.get(unit, ())
        if span := self._span(context):
            return bisect_left(places, span[1]) - bisect_left(places, span[0])
        return len(set(places) & set(context))

    def documents(self, context: Sequence[int]) -> int:
        """Return how many turns of a context have units."""
        if span := self._span(context):
            return self.filled[span[1]] - self.filled[span[0]]
        return sum(bool(self.turns[p]) for p in context)

    def nearest(self, units: list[str], context: Sequence[int], settings: Settings, tools: Tools) -> Matrix:
        """Return each unit's best cosine to the units of a context; -1 where the context has none."""
        rows = self._scene.once(
            ("unit vectors", id(self), settings.text("vectors"), tools.embed.name),
            lambda: unit_vectors(list(self.places), settings, tools),
        )
        known = self._known(context)
        if isinstance(known, np.ndarray) and not len(known):
            return np.full(len(units), -1.0)
        best: Matrix = (rows[[self.order[unit] for unit in units]] @ rows[known].T).max(axis=1)
        return best

    def _known(self, context: Sequence[int]) -> slice | NDArray[np.intp]:
        """Return the rows of a context's units: a slice where the context begins with the scene."""
        span = self._span(context)
        if span and not self.spoken[span[0]] and self.seen[span[1]]:
            return slice(0, self.seen[span[1]])
        found = sorted(set().union(*({self.order[unit] for unit in self.turns[p]} for p in context)))
        return np.array(found, dtype=np.intp)

    def _span(self, context: Sequence[int]) -> tuple[int, int] | None:
        """Return where a context begins and ends, None where turns with text are missing in between."""
        if not context:
            return 0, 0
        start, stop = context[0], context[-1] + 1
        whole = self.spoken[stop] - self.spoken[start] == len(context) and start < stop
        return (start, stop) if whole else None
