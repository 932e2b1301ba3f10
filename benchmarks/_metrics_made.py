"""Synthetic conversations and embeddings, which isolate the cost of the metrics themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import Embedder
from judges.metrics.kit.models import Vectors

TABLE = np.random.default_rng(0).normal(size=(1024, 384)).astype(np.float32)


class Hashed(Embedder):
    """Vectors drawn from a hash of the text, so that growth is that of the metrics, not of the model."""

    def _compute(self, texts: list[str]) -> Iterator[tuple[str, Vectors]]:
        for text in texts:
            yield text, np.random.default_rng(crc32(text.encode())).normal(size=384).astype(np.float32)

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        """Return unit vectors, as sc_gini@reference requires."""
        rows = self(texts)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Cheap(Embedder):
    """Vectors from a small table, looked up by the hash of the text, for very many texts."""

    def _compute(self, texts: list[str]) -> Iterator[tuple[str, Vectors]]:
        for text in texts:
            yield text, TABLE[crc32(text.encode()) % len(TABLE)].copy()


def made(size: int, name: str = "made") -> Dialogue:
    """Return a conversation of `size` turns by five speakers, with some repeated turns."""
    rng = np.random.default_rng([size, crc32(name.encode())])
    turns: list[Turn] = []
    for number in range(size):
        text = " ".join(f"word{word}" for word in rng.choice(2000, size=rng.integers(3, 22)))
        again = number > 10 and rng.random() < 0.1
        turns.append(Turn(f"s{rng.integers(5)}", turns[rng.integers(number)].text if again else text))
    people = tuple(Participant(f"s{number}", profile=(f"word{number}",)) for number in range(5))
    agenda = Agenda({f"a{number}": f"word{number}" for number in range(6)}, terminal="a5")
    return Dialogue(name, (), people, (Continuation("x", "made", tuple(turns)),), agenda=agenda)
