"""Each continuation by the mean of its turn labels and by its own label, and how the two orders differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.corpora import splits
from annotation.models import Continuation
from calibration.reading.census import QuestionInfo
from calibration.statistics.by_level.inversions import Inversions, turns_and_whole
from calibration.statistics.by_level.scored import Units
from calibration.statistics.core.data import codes
from calibration.turns_and_whole.questions import HUMAN, Asked

CHUNK = 20_000
Values = dict[int, list[float]]
"""Per continuation, people's mean of each of its items that were labelled."""


@dataclass(frozen=True, slots=True)
class Line:
    """A continuation with both scores, its rank among those of its dialogue by each (1 is best), and links.

    `n_turns` labelled turns make `by_turns`. `difference` is the whole less the turns, None where the scales
    differ; `moved` is above 0 where the whole places it better than its turns do.
    """

    pk: int
    dialogue_pk: int
    dialogue: str
    continuation: str
    system: str
    n_turns: int
    by_turns: float
    by_whole: float
    difference: float | None
    rank_by_turns: float
    rank_by_whole: float
    moved: float


@dataclass(frozen=True)
class TurnsAndWhole:
    """All continuations with both scores, those that changed rank most first, and each dialogue's inversions.

    `left_out` counts the continuations where only turns, or only the whole, were labelled. `is_locked`: the
    test part is left out, because nobody has opened it.
    """

    asked: Asked
    lines: tuple[Line, ...]
    dialogues: tuple[Inversions, ...]
    left_out: int
    is_locked: bool

    @property
    def inversions(self) -> float:
        """Pairs that the two orders put differently, over all dialogues."""
        return sum(dialogue.inversions for dialogue in self.dialogues)

    @property
    def pairs(self) -> int:
        """All pairs of continuations of one dialogue."""
        return sum(dialogue.pairs for dialogue in self.dialogues)


def compute(asked: Asked) -> TurnsAndWhole:
    """Put people's labels of turns beside those of the whole: three queries and one pass."""
    locked = set(splits.unopened(asked.scope.corpus).values_list("cluster", flat=True))
    turns, whole = (_people(asked, question) for question in (asked.turns, asked.whole))
    rows = [
        row
        for row in Continuation.objects.filter(dialogue__corpus=asked.scope.corpus)
        .order_by("dialogue_id", "pk")
        .values_list("pk", "dialogue_id", "dialogue__key", "key", "system__name", "dialogue__cluster")
        if row[0] in turns or row[0] in whole
    ]
    seen = [row for row in rows if row[5] not in locked]
    both = [row for row in seen if row[0] in turns and row[0] in whole]
    units = Units(
        dialogues=codes([row[1] for row in both]),
        clusters=codes([row[5] for row in both]),
        systems=codes([row[4] for row in both]),
        dialogue_names=tuple(dict.fromkeys(row[2] for row in both)),
        system_names=tuple(dict.fromkeys(row[4] for row in both)),
    )
    by_turns, by_whole = (
        np.array([sum(values[row[0]]) / len(values[row[0]]) for row in both]) for values in (turns, whole)
    )
    placed, inversions = turns_and_whole(units, by_turns, by_whole)
    lines = [
        Line(
            pk=both[one.unit][0],
            dialogue_pk=both[one.unit][1],
            dialogue=both[one.unit][2],
            continuation=both[one.unit][3],
            system=both[one.unit][4],
            n_turns=len(turns[both[one.unit][0]]),
            by_turns=one.by_turns,
            by_whole=one.by_whole,
            difference=one.difference if asked.same_scale else None,
            rank_by_turns=one.rank_by_turns,
            rank_by_whole=one.rank_by_whole,
            moved=one.moved,
        )
        for one in placed
    ]
    lines.sort(
        key=lambda line: (-abs(line.moved), -abs(line.difference or 0.0), line.dialogue, line.continuation)
    )
    most_first = sorted(inversions, key=lambda dialogue: -(dialogue.share or 0.0))
    return TurnsAndWhole(asked, tuple(lines), tuple(most_first), len(seen) - len(both), len(seen) < len(rows))


def _people(asked: Asked, question: QuestionInfo) -> Mapping[int, list[float]]:
    """Return people's mean of each labelled item, by continuation; a person counts once an item."""
    rows = (
        asked.scope.labels()
        .filter(question=question.id, rater__kind=HUMAN, missing="")
        .order_by("item_id", "rater_id", "sample", "pk")
        .distinct("item_id", "rater_id")
        .values_list("item__continuation_id", "item_id", "number")
    )
    items: dict[int, tuple[int, list[float]]] = {}
    for continuation, item, value in rows.iterator(chunk_size=CHUNK):
        if value is not None:
            items.setdefault(item, (continuation, []))[1].append(value)
    found: Values = {}
    for continuation, values in items.values():
        found.setdefault(continuation, []).append(sum(values) / len(values))
    return found
