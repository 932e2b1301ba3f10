"""BM25 over entries in order of time, asked at any moment with the statistics of exactly that moment.

    score(q, d) = sum over tokens w of q of  idf(w) * f(w, d) * (K1 + 1)
                                             / (f(w, d) + K1 * (1 - B + B * |d| / mean length))
    idf(w)      = ln(1 + (N - n(w) + 0.5) / (n(w) + 0.5))

f counts w in entry d, |d| is its length in tokens, N the number of entries, n(w) those that hold w; a word
that the query repeats counts each time (`dialsim.md`, section 7). Entries are indexed once. At a moment at
which the first n of them are there, n(w) is found by bisection in the word's places, and the mean length by
sums that are kept; entries beside the index, such as a session that still goes on, join for one query.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from annotation.text.tokens import UNSPACED

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
