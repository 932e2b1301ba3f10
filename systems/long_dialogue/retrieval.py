"""Which entries of a memory stand in a prompt: the best by BM25 or by cosine, as many as fit.

Of equal entries the more recent is better. Where the chosen ones do not fit, the last of them are left out,
so that k is lowered; the k that was used is kept with the answer (`dialsim.md`, section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annotation.scripts.evidence import Moment
from systems.long_dialogue.bm25 import Floats, Index, ranking, tokens
from systems.long_dialogue.material import Embeds, Vectors
from systems.long_dialogue.memory import Entry, Memory

BM25, EMBEDDING = "bm25", "embedding"
RETRIEVERS = (BM25, EMBEDDING)
TIME, RANK = "time", "rank"
ORDERS = (TIME, RANK)
Cost = Callable[[Entry], int]
"""How many tokens an entry takes in a prompt."""


class Retriever(Protocol):
    """Scores entries against a query."""

    def scores(self, query: str, there: int, beside: Sequence[Entry]) -> Floats:
        """Return the scores of the first `there` entries, then of those beside them: more is better."""


class ByWords:
    """BM25 over the words of entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._index = Index([tokens(entry.text) for entry in entries])

    def scores(self, query: str, there: int, beside: Sequence[Entry]) -> Floats:
        """Return what `bm25` gives them with the statistics of this moment."""
        return self._index.scores(tokens(query), there, [tokens(entry.text) for entry in beside])


class ByVectors:
    """The cosine of an entry's vector and the query's, to six digits, so that equal texts are equal."""

    def __init__(self, entries: Sequence[Entry], embeds: Embeds) -> None:
        self._embeds = embeds
        self._rows = self._unit(list(map(_sought, entries)))

    def scores(self, query: str, there: int, beside: Sequence[Entry]) -> Floats:
        """Return the cosines, from -1 to 1; 0 for a vector that is zero."""
        rows = self._unit([query, *map(_sought, beside)])
        asked, more = rows[0], rows[1:]
        known = self._rows[:there] @ asked if there else np.zeros(0)
        cosines: Floats = np.concatenate([known, more @ asked]).astype(np.float64)
        return np.round(cosines, 6)

    def _unit(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        rows = np.asarray(self._embeds(texts), dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _sought(entry: Entry) -> str:
    return entry.sought or entry.text


class Search:
    """A memory with what ranks its entries."""

    def __init__(self, memory: Memory, retriever: Retriever) -> None:
        self.memory, self.retriever = memory, retriever
        entries = memory.entries
        self._times = np.fromiter((entry.time for entry in entries), np.float64, len(entries))

    def best(self, query: str, moment: Moment, k: int, more: Sequence[Entry] = ()) -> list[Entry]:
        """Return the k best entries of a moment, the best first; `more` are entries beside the memory's."""
        there, running = self.memory.at(moment)
        beside = [*more, *running]
        scores = self.retriever.scores(query, there, beside)
        times = np.concatenate([self._times[:there], [entry.time for entry in beside]])
        entries = self.memory.entries
        return [
            entries[place] if place < there else beside[place - there] for place in ranking(scores, times)[:k]
        ]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The entries that stand in a prompt, in their order there; None where k has no meaning."""

    entries: tuple[Entry, ...]
    k: int | None = None


def fitting(ranked: Sequence[Entry], cost: Cost, budget: int | None) -> list[Entry]:
    """Return the first entries that together take at most `budget` tokens."""
    kept, left = [], budget
    for entry in ranked:
        if left is not None:
            left -= cost(entry)
            if left < 0:
                break
        kept.append(entry)
    return kept


def in_order(ranked: Sequence[Entry], order: str) -> Chosen:
    """Return entries as they stand in the prompt; `ranked` has the best first."""
    entries = tuple(ranked) if order == RANK else tuple(sorted(ranked, key=lambda entry: entry.time))
    return Chosen(entries, len(ranked))
