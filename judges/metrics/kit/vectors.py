"""Vectors of words: from a file of static vectors, or from the embedding model as a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotation.text.tokens import words
from judges.metrics.kit.base import ModelMissing, Settings
from judges.metrics.kit.embedding import Embedder
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, normalised

# Which lexical units have a near one before them: cosines in single precision, doubtful ones in double.

Indexes = NDArray[np.intp]
Single = NDArray[np.float32]

DOUBT = 1e-4
"""Single precision is wrong by less."""
WIDTH = 4096
ROWS = 512
NEVER = np.iinfo(np.intp).max


class Neighbours:
    """Units in the order of their first turn, and for each of them the first unit that is near.

    `vectors` gives the unit vectors of some units; near is a cosine of at least `threshold`. Units are
    `asked` for in this order, and a block of them is compared at once, with what comes before each.
    """

    def __init__(
        self, units: Sequence[str], asked: Indexes, vectors: Callable[[list[str]], Matrix], threshold: float
    ) -> None:
        self._units = units
        self._vectors = vectors
        self._threshold = threshold
        self._rows = _single(units, vectors)
        self._asked = asked
        self._place = {int(unit): place for place, unit in enumerate(asked)}
        self._first = np.full(len(asked), -1, dtype=np.intp)

    def before(self, unit: int, end: int) -> bool:
        """Whether one of the first `end` units, of which the unit is none, is near."""
        place = self._place[unit]
        if self._first[place] < 0:
            begin = place // ROWS * ROWS
            self._first[begin : begin + ROWS] = self._compare(self._asked[begin : begin + ROWS])
        return bool(self._first[place] < end)

    def among(self, units: Indexes, columns: Indexes) -> NDArray[np.bool_]:
        """Return which of some units are near one of others."""
        found = self._rows[units] @ self._rows[columns].T
        hits = (self._hit(unit, row, columns) for unit, row in zip(units, found, strict=True))
        return np.array([one != NEVER for one in hits], dtype=bool)

    def _compare(self, block: Indexes) -> Indexes:
        """Return for each unit the first unit before it that is near, NEVER where none is."""
        first = np.full(len(block), NEVER, dtype=np.intp)
        for begin in range(0, int(block.max()), WIDTH):
            waiting = np.flatnonzero((first == NEVER) & (block > begin))
            columns = np.arange(begin, min(begin + WIDTH, len(self._rows)), dtype=np.intp)
            found = self._rows[block[waiting]] @ self._rows[begin : begin + WIDTH].T
            for index in np.flatnonzero(found.max(axis=1, initial=-1.0) >= self._threshold - DOUBT):
                at = waiting[index]
                earlier = columns[: max(0, block[at] - begin)]
                first[at] = self._hit(block[at], found[index, : len(earlier)], earlier)
        return first

    def _hit(self, unit: np.intp, row: Single, columns: Indexes) -> np.intp:
        """Return the first of some columns that is near a unit, NEVER where none is."""
        for column in np.flatnonzero(row >= self._threshold - DOUBT):
            sure = row[column] >= self._threshold + DOUBT
            if sure or self._cosine(unit, columns[column]) >= self._threshold:
                return columns[column]
        return np.intp(NEVER)

    def _cosine(self, left: np.intp, right: np.intp) -> float:
        rows = self._vectors([self._units[int(left)], self._units[int(right)]])
        return float(rows[0] @ rows[1])


def _single(units: Sequence[str], vectors: Callable[[list[str]], Matrix]) -> Single:
    """Return the units' vectors in single precision; double precision is held for some at a time."""
    parts = [
        vectors(list(units[begin : begin + WIDTH])).astype(np.float32)
        for begin in range(0, len(units), WIDTH)
    ]
    return np.concatenate(parts)


# Whether a metric can read a text at all: tokens that its model does not know, words without letters.
#
# Above a bound the value stands, with a flag that says so: an unknown token is the same vector whatever was
# written, so two texts of unknown tokens look alike however different they are.

MOST_UNKNOWN = 0.2
"""Share of a conversation's tokens that a model may not know. Plain English has none, with emoji some 2%."""
MOST_WITHOUT_LETTERS = 0.5
"""Share of a conversation's words (`annotation.text.tokens`) that may be digits or pictures alone."""


def flag(instrument: Instrument, scene: Scene, embed: Embedder) -> str:
    """Return what makes a scene's values of a metric doubtful, as a phrase; '' where nothing does.

    Counts the texts that the metric embeds, or the words that it compares. A model whose tokenizer knows
    every text (of bytes, say) or is not there is not flagged.
    """
    needs = instrument.metric.needs
    if "embeddings" in needs:
        texts = tuple(instrument.texts(scene))
        unknown, total = scene.once(("unknown", embed.name, texts), lambda: _counted(embed, texts))
        if total and unknown / total > MOST_UNKNOWN:
            return f"{unknown / total:.0%} of {total:,} tokens are unknown to the model {embed.name}"
    if "words" in needs:
        bare, total = scene.once(("without letters",), lambda: _without_letters(scene))
        if total and bare / total > MOST_WITHOUT_LETTERS:
            return f"{bare / total:.0%} of {total:,} words have no letter"
    return ""


def _counted(embed: Embedder, texts: Iterable[str]) -> tuple[int, int]:
    counts = [embed.unknown(text) for text in texts]
    return sum(unknown for unknown, _ in counts), sum(total for _, total in counts)


def _without_letters(scene: Scene) -> tuple[int, int]:
    counts = [_bare(turn.text) for turn in scene.turns]
    return sum(bare for bare, _ in counts), sum(total for _, total in counts)


@lru_cache(maxsize=4096)
def _bare(text: str) -> tuple[int, int]:
    found = words(text)
    return sum(not any(character.isalpha() for character in word) for word in found), len(found)


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
