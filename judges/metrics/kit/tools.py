"""Inputs and tools of metrics: scenes, vectors of their turns, models, and state fitted on a corpus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from annotation.kinds import DECISION, KINDS
from annotation.records import EVENTS, SELF, Continuation, Dialogue, Participant, Turn
from annotation.scenario_records import POINTS
from judges.metrics.kit.models import Embedder

# Scenes: a continuation and its history as one sequence of turns.

T = TypeVar("T")


class Scene:
    """Input of metrics. `turns` is the history followed by the continuation's turns.

    Positions are indexes into `turns`; turn indexes count within the continuation. Results shared by several
    metrics (vectors, similarity matrices) are computed once per scene through `once`.
    """

    def __init__(self, dialogue: Dialogue, continuation: Continuation) -> None:
        history = () if continuation.id == SELF else dialogue.turns
        self.dialogue = dialogue
        self.continuation = continuation
        self.turns: tuple[Turn, ...] = history + continuation.turns
        self.offset = len(history)
        self._memo: dict[Any, Any] = {}
        self._participants = {person.id: person for person in dialogue.participants}

    def once(self, name: Any, make: Callable[[], T]) -> T:
        """Return the cached result under this name, computed with `make` the first time."""
        if name not in self._memo:
            self._memo[name] = make()
        return self._memo[name]

    def items(self, kind: str) -> list[int | None]:
        """Return the items of a kind: the indexes of turns that are not given, or [None].

        A system's answers to the points of a scenario are decisions, not turns; points that people decide
        have no items.
        """
        if not KINDS[kind].has_turn:
            return [None]
        decides = self.continuation.mode == "static" and self.dialogue.scenario is not None
        if decides != (kind == DECISION.key) or (decides and self.continuation.id == POINTS):
            return []
        return [index for index, turn in enumerate(self.continuation.turns) if not turn.given]

    def position(self, turn: int) -> int:
        """Return the position of a turn of the continuation in `turns`."""
        return self.offset + turn

    def target(self, turn: int) -> Turn:
        """Return a turn of the continuation."""
        return self.continuation.turns[turn]

    def before(self, turn: int) -> Sequence[int]:
        """Return the positions of the turns that precede a turn, as `Dialogue.context` defines it."""
        return list(chain.from_iterable(range(*run) for run in self._runs(turn)))

    def context(self, turn: int, window: int = 0, *, keep_blank: bool = False) -> list[int]:
        """Return the positions of a turn's context: all preceding turns, or the last `window` of them.

        Turns without text (silence) are left out unless `keep_blank` is set.
        """
        if keep_blank:
            positions = [place for place in self.before(turn) if self.turns[place].act not in EVENTS]
        else:
            spoken, upto = self._spoken()
            parts = (spoken[upto[start] : upto[stop]] for start, stop in self._runs(turn))
            positions = list(chain.from_iterable(parts))
        return positions[-window:] if window else positions

    def span(self, context: Sequence[int], *, keep_blank: bool = False) -> tuple[int, int] | None:
        """Return the begin and end of a context, None if turns are missing in between.

        Without `keep_blank`, only turns with text count as missing.
        """
        if not context:
            return 0, 0
        start, stop = context[0], context[-1] + 1
        upto = self._spoken()[1]
        length = stop - start if keep_blank else upto[stop] - upto[start]
        return (start, stop) if length == len(context) else None

    def among(
        self, positions: Sequence[int], context: Sequence[int], *, keep_blank: bool = False
    ) -> Sequence[int]:
        """Return those of the ascending `positions` that are in a context; without `keep_blank`, all of them
        must have text, as the context's positions have."""
        if (span := self.span(context, keep_blank=keep_blank)) is not None:
            return positions[bisect_left(positions, span[0]) : bisect_left(positions, span[1])]
        members = set(context)
        return [p for p in positions if p in members]

    def said_by(self, speaker: str, *, keep_blank: bool = False) -> list[int]:
        """Return the positions of a speaker's turns; only those with text unless `keep_blank` is set."""
        positions = self.once(("said by", keep_blank), lambda: self._by_speaker(keep_blank=keep_blank))
        return positions.get(speaker, [])

    def conversation(self, *, history: bool) -> list[int]:
        """Return the positions of a whole conversation's turns with text, with or without the history."""
        spoken, upto = self._spoken()
        return spoken if history else spoken[upto[self.offset] :]

    def participant(self, speaker: str) -> Participant:
        """Return the participant with a speaker id; an undeclared speaker's name is the id."""
        return self._participants.get(speaker) or Participant(speaker)

    def profile(self, speaker: str) -> str:
        """Return a speaker's role and profile as one text, empty if neither is known."""
        person = self.participant(speaker)
        return " ".join(part.strip() for part in (person.role, *person.profile) if part.strip())

    def reference(self, turn: int, against: str = "") -> Turn | None:
        """Return a turn's reference: the turn at the same position of the continuation `against`, else the
        dialogue's own turn at a static turn's point; None if there is neither."""
        if not against:
            return self.dialogue.reference(self.continuation, turn)
        for other in self.dialogue.all_continuations():
            if other.id == against and turn < len(other.turns):
                return other.turns[turn]
        return None

    def is_reference(self, turn: int, against: str = "") -> bool:
        """Whether a turn is its own reference: `against` is its continuation, or it repeats the dialogue's
        own turn."""
        if against:
            return self.continuation.id == against
        return self.dialogue.is_reference(self.continuation, turn)

    def is_conversation(self) -> bool:
        """Whether the turns follow one another, unlike those of a static continuation."""
        return self.continuation.mode == "rollout"

    def _given_at(self, index: int, at: int | None) -> bool:
        turn = self.continuation.turns[index]
        return turn.given and turn.at == at

    def _runs(self, turn: int) -> list[tuple[int, int]]:
        """Return the positions before a turn as runs of (begin, end)."""
        if self.continuation.mode == "rollout":
            return [(0, self.position(turn))]
        at = self.target(turn).at
        first = turn
        while first and self._given_at(first - 1, at):
            first -= 1
        seen = self.offset if at is None else min(at, self.offset)
        return [(0, seen), (self.position(first), self.position(turn))]

    def _spoken(self) -> tuple[list[int], list[int]]:
        """Return the positions of turns with text, and the number of them before each position."""
        return self.once("spoken", self._find_spoken)

    def _find_spoken(self) -> tuple[list[int], list[int]]:
        has_text = [bool(turn.text.strip()) and turn.act not in EVENTS for turn in self.turns]
        return [p for p, is_spoken in enumerate(has_text) if is_spoken], [0, *accumulate(has_text)]

    def _by_speaker(self, *, keep_blank: bool) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for position in range(len(self.turns)) if keep_blank else self._spoken()[0]:
            positions.setdefault(self.turns[position].speaker, []).append(position)
        return positions


Matrix = NDArray[np.float64]
NOISE = 1e-12
"""Cosines that differ by less are treated as equal."""


class Models:
    """Loaded models by purpose and name: each loads once per process, on first use."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, str], Any] = {}

    def get(self, purpose: str, name: str, load: Callable[[str], T]) -> T:
        """Return the cached result of `load(name)`."""
        if (purpose, name) not in self._loaded:
            self._loaded[purpose, name] = load(name)
        return self._loaded[purpose, name]


@dataclass(frozen=True)
class Tools:
    """Tools passed to every metric. `fitted` is the result of the metric's own `fit`, None without one."""

    embed: Embedder = field(default_factory=Embedder)
    models: Models = field(default_factory=Models)
    fitted: Any = None

    def vectors(self, scene: Scene) -> Matrix:
        """Return the embeddings of a scene's turns, one row per position; zeros for turns without text."""
        return scene.once(("vectors", self.embed.name), lambda: self._vectors(scene))

    def unit(self, scene: Scene) -> Matrix:
        """Return the embeddings of a scene's turns, each divided by its length."""
        return scene.once(("unit", self.embed.name), lambda: normalised(self.vectors(scene)))

    def unit_texts(self, texts: list[str]) -> Matrix:
        """Return the embeddings of texts, each divided by its length: shape (len(texts), dimension)."""
        return normalised(self.embed(texts).astype(np.float64))

    def _vectors(self, scene: Scene) -> Matrix:
        spoken = [p for p, turn in enumerate(scene.turns) if turn.text.strip()]
        vectors = self.embed([scene.turns[p].text for p in spoken]).astype(np.float64)
        rows = np.zeros((len(scene.turns), vectors.shape[1] if spoken else 1))
        if spoken:
            rows[spoken] = vectors
        return rows


def normalised(rows: Matrix) -> Matrix:
    """Divide each row by its Euclidean length; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def cosine(first: Matrix, second: Matrix) -> Matrix:
    """Return the cosine similarities of unit rows, clipped to -1 and 1 against rounding."""
    similarities: Matrix = np.asarray(first @ second.T)
    return np.clip(similarities, -1.0, 1.0, out=similarities)


def first_greatest(values: Matrix) -> int:
    """Return the index of the greatest value; the first among values that differ only by rounding."""
    return int((values >= values.max() - NOISE).argmax())


def rows_at(rows: Matrix, positions: Sequence[int]) -> Matrix:
    """Return some rows; a view if they are contiguous, so that long contexts are not copied."""
    if positions and positions[-1] - positions[0] + 1 == len(positions):
        return rows[positions[0] : positions[-1] + 1]
    return rows[list(positions)]


# Cosines of many texts to all turns of a scene, a block of rows at a time.
#
# The cosines of a short conversation are computed once and shared by all metrics that read them; of a long
# one only some rows are held, so that memory grows with the length and not with its square.

NUMBERS = 2_000_000
"""Number of cosines held at once: 16 MB."""

Make = Callable[[int, int], Matrix]


class Blocks:
    """Cosines of the `count` rows that `make(begin, end)` returns to the rows of a matrix."""

    def __init__(self, make: Make, count: int, columns: Matrix) -> None:
        self._make = make
        self._count = count
        self._columns = columns
        self._size = max(1, NUMBERS // max(len(columns), 1))
        self._begin = -1
        self._block: Matrix = np.empty((0, 0))

    def row(self, index: int) -> Matrix:
        """Return one row's cosines; reading rows in order computes each block once."""
        begin = index // self._size * self._size
        if begin != self._begin:
            self._block = np.empty((0, 0))
            self._block = cosine(self._make(begin, min(begin + self._size, self._count)), self._columns)
            self._begin = begin
        row: Matrix = self._block[index - begin]
        return row


def likeness(scene: Scene, turn: int, tools: Tools) -> Matrix:
    """Return the cosines of a turn of the continuation to every position of its scene."""
    return scene.once(("likeness", tools.embed.name), lambda: between(scene, tools.unit(scene))).row(turn)


def between(scene: Scene, unit: Matrix) -> Blocks:
    """Return the cosines of the continuation's turns to all positions, from unit rows of all positions."""
    own_rows = unit[scene.offset :]
    return Blocks(lambda begin, end: own_rows[begin:end], len(own_rows), unit)


class RunningBest:
    """Each position's best cosine to the first turn of a list, the first two, and so on."""

    def __init__(self, unit: Matrix, own: Sequence[int], sharing: int) -> None:
        """`own` are the turns' positions; `sharing` such objects together hold as much as one `Blocks`."""
        self._unit = unit
        self._own = own
        self._size = max(1, NUMBERS // max(len(unit) * sharing, 1))
        self._begin = 0
        self._block: Matrix = np.empty((0, len(unit)))

    def row(self, count: int) -> Matrix:
        """Return each position's best cosine to the first `count` turns (at least one)."""
        block_start = (count - 1) // self._size * self._size
        if block_start < self._begin or not len(self._block):
            self._load(0, None)
        while self._begin < block_start:
            self._load(self._begin + self._size, self._block[-1].copy())
        row: Matrix = self._block[count - 1 - self._begin]
        return row

    def _load(self, begin: int, before: Matrix | None) -> None:
        self._block = np.empty((0, 0))
        similarities = cosine(self._unit[self._own[begin : begin + self._size]], self._unit)
        if before is not None:
            np.maximum(similarities[0], before, out=similarities[0])
        self._block = np.maximum.accumulate(similarities, axis=0, out=similarities)
        self._begin = begin
