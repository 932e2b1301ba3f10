"""Small conversations, and an embedder whose vectors can be computed by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from annotation.text.words import words
from judges.metrics import Embedder, Scene, Score, Tools, instrument_for
from judges.metrics.kit.models import Vectors


class WordCounts(Embedder):
    """Embeds a text as its word counts, one dimension per word, so that cosines can be computed by hand."""

    DIMENSION = 2048

    def __init__(self) -> None:
        super().__init__("word counts")

    def _compute(self, texts: list[str]) -> Iterator[tuple[str, Vectors]]:
        self.computed += len(texts)
        for text in texts:
            row = np.zeros(self.DIMENSION, np.float32)
            for word in words(text):
                row[crc32(word.encode()) % self.DIMENSION] += 1
            yield text, row

    def unknown(self, text: str) -> tuple[int, int]:
        return 0, len(words(text))

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        rows = np.array([self([text])[0] for text in texts])
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def tools() -> Tools:
    """Return tools with the embedder that counts words."""
    return Tools(embed=WordCounts())


def turns(*lines: str) -> tuple[Turn, ...]:
    """Return turns from lines like `Ana: hello`."""
    return tuple(Turn(*(part.strip() for part in line.split(":", 1))) for line in lines)


def talk(*lines: str, people: tuple[Participant, ...] = (), agenda: Agenda | None = None, **extra) -> Scene:
    """Return a whole conversation as a scene, from lines like `Ana: hello`."""
    dialogue = Dialogue("talk", turns(*lines), participants=people, agenda=agenda, **extra)
    return Scene(dialogue, dialogue.own())


def reply(*lines: str, people: tuple[Participant, ...] = (), agenda: Agenda | None = None, **extra) -> Scene:
    """Return a scene whose last line is a predicted turn after the others."""
    said = turns(*lines)
    last = Turn(said[-1].speaker, said[-1].text, at=len(said) - 1)
    predicted = Continuation("x", "model-x", (last,), mode="static")
    dialogue = Dialogue("reply", said[:-1], people, (predicted,), agenda=agenda, **extra)
    return Scene(dialogue, predicted)


def answer(response: str, reference: str) -> Scene:
    """Return a scene of one static turn with a reference."""
    said = (Turn("A", "What do you do?"), Turn("B", reference))
    predicted = Continuation("x", "model-x", (Turn("B", response, at=1),), mode="static")
    return Scene(Dialogue("answer", said, (), (predicted,)), predicted)


def score(key: str, scene: Scene, with_tools: Tools | None = None, turn: int | None = 0) -> Score:
    """Return the score of the scene's first turn or of the whole conversation, unfitted."""
    instrument = instrument_for(key)
    item = None if instrument.metric.kind == "dialogue" else turn
    return instrument.score(scene, item, with_tools or tools())
