"""SC-Gini: whether what a conversation spreads over comes from few speakers or from all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.metrics.agenda_completion import STATIC
from judges.metrics.kit import concentration_reference
from judges.metrics.kit.agenda import Distances, cosine_distances, prim
from judges.metrics.kit.base import (
    DESCRIPTIVE,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools
from judges.metrics.participation import NOBODY, spoken

NOISE = 1e-12
"""A change of spread below this is rounding, not a contribution."""


def sc_gini(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Semantic concentration: the Gini coefficient of the speakers' contributions to the spread.

    R is the mean edge of the minimum spanning tree of the messages under 1 - cosine, Gamma_s = max(0, R(all)
    - R(all without s)): MPCEval C.1.1. Range 0 (all contribute alike) to 1 - 1/S (one speaker does). Messages
    with the same text are edges of length zero; one message alone has R = 0. Undefined with one speaker, or
    where no speaker widens the spread. `reference` is the published code's combined score, which mixes Gamma
    with a sum of local novelties, embeds as that code does, takes an edge of length zero for none, and gives
    0 where it is undefined.
    """
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = spoken(scene, settings)
    speakers = list(dict.fromkeys(scene.turns[p].speaker for p in positions))
    if settings.is_reference:
        texts = [scene.turns[p].text for p in positions]
        return concentration_reference.combined(
            [scene.turns[p].speaker for p in positions], texts, settings, tools
        )
    if len(speakers) < 2:
        return unscored("only one speaker takes part" if speakers else NOBODY)
    messages = _messages(scene, positions, tools)
    whole, longest = messages.spread(range(len(positions)))
    gains = {speaker: _gain(whole, messages, scene, positions, speaker) for speaker in speakers}
    if not any(gains.values()):
        return unscored("no speaker's turns widen the spread")
    return scored(gini(list(gains.values())), spread=whole, longest_edge=longest, contributions=gains)


@dataclass(frozen=True)
class Messages:
    """Where the messages stand, which distinct text each has, and the distances of the distinct texts."""

    positions: list[int]
    texts: NDArray[np.intp]
    first: list[int]
    distances: Distances
    unit: Matrix

    def spread(self, members: Iterable[int]) -> tuple[float, tuple[int, int]]:
        """Return the mean edge of some messages' spanning tree (0 below two) and its longest edge."""
        chosen = self.texts[list(members)]
        if len(chosen) < 2:
            return 0.0, (-1, -1)
        tree = prim(self.distances, np.unique(chosen), self.unit)
        ends = (self.first[tree.longest[0]], self.first[tree.longest[1]])
        return tree.length / (len(chosen) - 1), ends


def _messages(scene: Scene, positions: list[int], tools: Tools) -> Messages:
    order: dict[str, int] = {}
    first: list[int] = []
    for position in positions:
        if scene.turns[position].text not in order:
            order[scene.turns[position].text] = len(order)
            first.append(position)
    texts = np.array([order[scene.turns[p].text] for p in positions], dtype=np.intp)
    unit = tools.unit(scene)[first]
    return Messages(positions, texts, first, cosine_distances(unit), unit)


def _gain(whole: float, messages: Messages, scene: Scene, positions: list[int], speaker: str) -> float:
    """Return by how much a speaker's turns widen the spread, at least 0."""
    others = [index for index, p in enumerate(positions) if scene.turns[p].speaker != speaker]
    gain = whole - messages.spread(others)[0]
    return gain if gain > NOISE else 0.0


def gini(values: list[float]) -> float:
    """Return the Gini coefficient of non-negative values, not all zero: 0 to 1 - 1/n."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    count = len(ordered)
    weights = 2 * np.arange(1, count + 1) - count - 1
    return float(np.sum(weights * ordered) / (count * np.sum(ordered)))


def _texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield what is embedded ahead: nothing for `reference`, whose vectors hang on their company."""
    return () if settings.is_reference else (turn.text for turn in scene.turns if turn.text.strip())


CAUSES = {
    "longest_edge": Cause("longest edge between", "turn"),
    "contributions": Cause("contributions", "speaker"),
    "spread": Cause("spread"),
    "local": Cause("local"),
    "global": Cause("global"),
}

FAMILY = (
    Metric(
        key="sc_gini",
        title="Semantic concentration",
        kind="dialogue",
        aspect=SPEAKER,
        causes=CAUSES,
        compute=sc_gini,
        low=0.0,
        high=1.0,
        direction=DESCRIPTIVE,
        needs=frozenset({"speakers", "embeddings"}),
        parameters={
            "weight": Parameter(0.3, "reference: weight of the local part", low=0.0, high=1.0),
            "percentile": Parameter(85.0, "reference: radius, as a percentile", low=0.0, high=100.0),
            "neighbours": Parameter(20, "reference: nearest turns that count", low=1),
        },
        variants={PAPER: {}, REFERENCE: {}},
        texts=_texts,
    ),
)
