"""Vectors of words: from a file of static vectors, or from the embedding model as a stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from judges.metrics.kit.base import Settings
from judges.metrics.kit.errors import ModelMissing
from judges.metrics.kit.tools import Matrix, Tools, normalised


class WordVectors:
    """Static word vectors in word2vec's text form (fastText's .vec): one word and its numbers a line."""

    def __init__(self, path: str) -> None:
        rows: dict[str, Matrix] = {}
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                word, *numbers = line.rstrip().split(" ")
                if len(numbers) > 1:
                    rows[word] = np.array(numbers, dtype=np.float32).astype(np.float64)
        if not rows:
            raise ModelMissing(f"{path} holds no word vectors")
        self.rows = rows
        self.nothing = np.zeros(len(next(iter(rows.values()))))

    def __call__(self, units: Sequence[str]) -> Matrix:
        """Return one row per unit; a unit of several words has their mean, an unknown one zeros."""
        return np.array([self._row(unit) for unit in units])

    def _row(self, unit: str) -> Matrix:
        found = [self.rows[word] for word in unit.split() if word in self.rows]
        return np.mean(found, axis=0) if found else self.nothing


def unit_vectors(units: Sequence[str], settings: Settings, tools: Tools) -> Matrix:
    """Return unit vectors of units, from the file that `vectors` names or else from the embedding model."""
    if not settings.text("vectors"):
        return tools.unit_texts(list(units))
    return normalised(word_vectors(settings, tools)(units))


def word_vectors(settings: Settings, tools: Tools) -> WordVectors:
    """Return the word vectors of the file that `vectors` names; raise ModelMissing where it is absent."""
    name = settings.text("vectors")
    if not Path(name).is_file():
        raise ModelMissing(f"there is no file of word vectors {name!r}: download one in word2vec's text form")
    return tools.models.get("word vectors", name, WordVectors)
