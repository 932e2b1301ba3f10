"""What metrics compute with: vectors of a scene's turns, models, and what was fitted on a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.embedding import Embedder
from judges.metrics.kit.scene import Scene

T = TypeVar("T")
Matrix = NDArray[np.float64]
NOISE = 1e-12
"""Cosines that differ by less are equal."""


class Models:
    """Loaded models by what they are for and their name: each loads once per process, at first need."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, str], Any] = {}

    def get(self, purpose: str, name: str, load: Callable[[str], T]) -> T:
        """Return what `load(name)` gave the first time."""
        if (purpose, name) not in self._loaded:
            self._loaded[purpose, name] = load(name)
        return self._loaded[purpose, name]


@dataclass(frozen=True)
class Tools:
    """Handed to every metric. `fitted` is what the metric's own `fit` learned, None where it has none."""

    embed: Embedder = field(default_factory=Embedder)
    models: Models = field(default_factory=Models)
    fitted: Any = None

    def vectors(self, scene: Scene) -> Matrix:
        """Return the embeddings of a scene's turns, one row a position; zeros for turns without text."""
        return scene.once(("vectors", self.embed.name), lambda: self._vectors(scene))

    def unit(self, scene: Scene) -> Matrix:
        """Return the embeddings of a scene's turns, each divided by its length."""
        return scene.once(("unit", self.embed.name), lambda: normalised(self.vectors(scene)))

    def unit_texts(self, texts: list[str]) -> Matrix:
        """Return the embeddings of texts, each divided by its length: shape (len(texts), dimension)."""
        return normalised(self.embed(texts).astype(np.float64))

    def _vectors(self, scene: Scene) -> Matrix:
        spoken = [p for p, turn in enumerate(scene.turns) if turn.text.strip()]
        made = self.embed([scene.turns[p].text for p in spoken]).astype(np.float64)
        rows = np.zeros((len(scene.turns), made.shape[1] if spoken else 1))
        if spoken:
            rows[spoken] = made
        return rows


def normalised(rows: Matrix) -> Matrix:
    """Divide each row by its Euclidean length; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def cosine(left: Matrix, right: Matrix) -> Matrix:
    """Return the cosine similarities of unit rows, held within -1 and 1 against rounding."""
    found: Matrix = np.asarray(left @ right.T)
    return np.clip(found, -1.0, 1.0, out=found)


def first_greatest(values: Matrix) -> int:
    """Return the index of the greatest value, the first among those that only rounding tells apart."""
    return int((values >= values.max() - NOISE).argmax())


def rows_at(rows: Matrix, positions: Sequence[int]) -> Matrix:
    """Return some rows: a view where they stand together, so that long contexts are not copied."""
    if positions and positions[-1] - positions[0] + 1 == len(positions):
        return rows[positions[0] : positions[-1] + 1]
    return rows[list(positions)]
