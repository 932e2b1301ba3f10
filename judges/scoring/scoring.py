"""Many dialogues through several instruments: batches, progress, and the lines of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from annotation.records import Dialogue
from judges.metrics.kit.base import Score
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.readability import flag
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.scoring.groups import scenes

AT_ONCE = 32
"""How many dialogues have their texts embedded together: what memory holds."""

Line = dict[str, Any]


def lines(
    dialogues: Iterable[Dialogue],
    instruments: Sequence[Instrument],
    tools: Tools,
    *,
    own: bool = False,
    advance: Callable[[int], object] = lambda _: None,
) -> Iterator[Line]:
    """Yield a line for every value, dialogue by dialogue; `advance(1)` is called after each dialogue."""
    reader = iter(dialogues)
    while batch := list(islice(reader, AT_ONCE)):
        found = [list(scenes([dialogue], own=own)) for dialogue in batch]
        texts = (one.texts(scene) for scene in chain.from_iterable(found) for one in instruments)
        tools.embed.prepare(chain.from_iterable(texts))
        while found:
            for scene in found.pop(0):
                yield from _scored(scene, instruments, tools)
            advance(1)


def _scored(scene: Scene, instruments: Sequence[Instrument], tools: Tools) -> Iterator[Line]:
    for one in instruments:
        doubtful = flag(one, scene, tools.embed)
        for turn, score in one.scores(scene, tools):
            flags = "; ".join([*score.flags, *filter(None, [doubtful])])
            doubt = {"flag": flags} if flags else {}
            yield as_line(scene, turn, one, score) | doubt
            for key, answer in score.answers.items():
                yield as_line(scene, turn, one, answer) | {"metric": f"{one.metric.key}/{key}"} | doubt


def as_line(scene: Scene, turn: int | None, one: Instrument, score: Score) -> Line:
    """Return a value as `score` writes it: `value` is None exactly when `reason` is not."""
    return {
        "dialogue": scene.dialogue.id,
        "continuation": scene.continuation.id,
        "system": scene.continuation.system,
        "turn": turn,
        "metric": one.metric.key,
        "variant": one.variant,
        "value": score.value,
        "reason": score.reason or None,
    }
