"""NSE: how evenly the speakers of a conversation take part."""

from __future__ import annotations

import math
from collections import Counter

from judges.metrics.agenda_completion import STATIC
from judges.metrics.kit.base import (
    DESCRIPTIVE,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

NOBODY = "no turn has both text and a speaker"


def nse(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Normalised speaker entropy: -sum p log2 p / log2 S, p a speaker's share of turns, S those who speak.

    MPCEval eq. 24. Range 0 (one speaker has nearly all turns) to 1 (all have as many). Evenness is not better
    in itself: a talk with questions is no worse than a round. Undefined with one speaker (0/0), where
    `reference` gives 0.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    turns = Counter(scene.turns[p].speaker for p in spoken(scene, settings))
    if len(turns) < 2 and settings.is_reference:
        return scored(0.0)
    if len(turns) < 2:
        return unscored("only one speaker takes part" if turns else NOBODY)
    return scored(entropy(turns) / math.log2(len(turns)), turns=dict(turns))


def spoken(scene: Scene, settings: Settings) -> list[int]:
    """Return the positions of a conversation's turns that have text and a speaker."""
    positions = scene.conversation(history=settings.flag("history"))
    return [p for p in positions if scene.turns[p].speaker.strip()]


def entropy(turns: Counter[str]) -> float:
    """Return the entropy of a distribution given as counts, in bits."""
    total = turns.total()
    return math.fsum(-count / total * math.log2(count / total) for count in sorted(turns.values()))


CAUSES = {"turns": Cause("turns", "speaker")}

FAMILY = (
    Metric(
        key="nse",
        title="Speaker entropy",
        kind="dialogue",
        aspect=SPEAKER,
        causes=CAUSES,
        compute=nse,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        needs=frozenset({"speakers"}),
        variants={PAPER: {}, REFERENCE: {}},
    ),
)
