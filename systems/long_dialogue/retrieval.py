"""Which entries of a memory stand in a prompt: the best by BM25 or by cosine, as many as fit.

Of equal entries the more recent is better. Where the chosen ones do not fit, the last of them are left out,
so that k is lowered; the k that was used is kept with the answer (`dialsim.md`, section 7).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from annotation.scripts.answers import Moment
from annotation.text.words import UNSPACED
from systems.long_dialogue.material import Embeds, Vectors
from systems.long_dialogue.memory import Entry, Memory

# BM25 over entries in order of time, asked at any moment with the statistics of exactly that moment.
#
#     score(q, d) = sum over tokens w of q of  idf(w) * f(w, d) * (K1 + 1)
#                                              / (f(w, d) + K1 * (1 - B + B * |d| / mean length))
#     idf(w)      = ln(1 + (N - n(w) + 0.5) / (n(w) + 0.5))
#
# f counts w in entry d, |d| is its length in tokens, N the number of entries, n(w) those that hold w; a word
# that the query repeats counts each time (`dialsim.md`, section 7). Entries are indexed once. At a moment at
# which the first n of them are there, n(w) is found by bisection in the word's places, and the mean length by
# sums that are kept; entries beside the index, such as a session that still goes on, join for one query.

K1, B = 1.5, 0.75
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Tokens = Sequence[str]
_WORD = regex.compile(rf"[{UNSPACED}]\p{{M}}*|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}_])+")


def tokens(text: str) -> list[str]:
    """Return the words of a text in any script, lower-cased; a script without spaces gives its characters.

    An apostrophe parts words, so that `Ana's` holds the word `ana`.
    """
    return list(_WORD.findall(text.lower()))


@dataclass(frozen=True, slots=True)
class Posting:
    """Where a word stands: the numbers of its entries, ascending, and how often it stands in each."""

    entries: Whole
    counts: Floats


class Index:
    """Entries in order of time, as lists of tokens."""

    def __init__(self, entries: Sequence[Tokens]) -> None:
        self.lengths: Floats = np.fromiter(map(len, entries), dtype=np.float64, count=len(entries))
        self._sums: Floats = np.concatenate([np.zeros(1), np.cumsum(self.lengths)])
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for number, entry in enumerate(entries):
            for word, count in Counter(entry).items():
                places.setdefault(word, []).append(number)
                counts.setdefault(word, []).append(count)
        self._postings = {
            word: Posting(np.array(held, dtype=np.int64), np.array(counts[word], dtype=np.float64))
            for word, held in places.items()
        }

    def __len__(self) -> int:
        return len(self.lengths)

    def scores(self, query: Tokens, there: int, beside: Sequence[Tokens] = ()) -> Floats:
        """Return the scores of the first `there` entries and then of those beside the index, 0 or more.

        IndexError where the index does not have so many entries.
        """
        if not 0 <= there <= len(self):
            raise IndexError(f"{there} entries are asked for, and there are {len(self)}")
        number = there + len(beside)
        found = np.zeros(number)
        if not number:
            return found
        extra = [Counter(entry) for entry in beside]
        lengths = np.concatenate([self.lengths[:there], [float(len(entry)) for entry in beside]])
        mean = (self._sums[there] + lengths[there:].sum()) / number
        for word, times in Counter(query).items():
            places, counts = self._held(word, there, extra)
            if len(places):
                found[places] += times * _weights(counts, lengths[places], mean, number)
        return found

    def _held(self, word: str, there: int, extra: Sequence[Counter[str]]) -> tuple[Whole, Floats]:
        """Return the entries that hold a word at a moment, and how often each of them does."""
        posting = self._postings.get(word, _NOWHERE)
        end = int(np.searchsorted(posting.entries, there))
        more = [(there + at, count[word]) for at, count in enumerate(extra) if word in count]
        if not more:
            return posting.entries[:end], posting.counts[:end]
        places, counts = zip(*more, strict=True)
        return (
            np.concatenate([posting.entries[:end], np.array(places, dtype=np.int64)]),
            np.concatenate([posting.counts[:end], np.array(counts, dtype=np.float64)]),
        )


def ranking(scores: Floats, times: Floats) -> Whole:
    """Return the places of scores from the best to the worst; of equal ones the more recent comes first."""
    return np.lexsort((-times, -scores))


def _weights(counts: Floats, lengths: Floats, mean: float, number: int) -> Floats:
    """Return what a word adds to the score of each entry that holds it."""
    held = len(counts)
    idf = math.log(1 + (number - held + 0.5) / (held + 0.5))
    return idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / mean))


_NOWHERE = Posting(np.zeros(0, dtype=np.int64), np.zeros(0))


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
