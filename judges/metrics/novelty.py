"""M-SNS: how far a predicted message is, in meaning, from the turns before it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit.base import (
    CONTENT,
    PAPER,
    REFERENCE,
    Cause,
    Metric,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
    without_punctuation,
)
from judges.metrics.kit.blocks import Blocks, between, likeness
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools, first_greatest, rows_at

Distances = NDArray[np.float64]


def m_sns_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean distance of the message to the turns of its context.

    avg over c in C_-k of 1 - cos(e(u), e(c)): MPCEval eq. 15. Range 0 (repeats everything) to 2; values
    around 0.5 are what the paper takes as balanced. `reference` removes punctuation first and gives 0 where
    there is no context or no message.
    """
    distances, _ = _distances(scene, turn, settings, tools)
    if isinstance(distances, Score):
        return distances
    return scored(distances.mean())


def m_sns_min(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Distance of the message to the nearest turn of its context.

    min over c in C_-k of 1 - cos(e(u), e(c)): MPCEval eq. 16. Range 0 (repeats a turn) to 2.
    """
    distances, positions = _distances(scene, turn, settings, tools)
    if isinstance(distances, Score):
        return distances
    nearest = first_greatest(-distances)
    return scored(distances[nearest], nearest=positions[nearest])


def _distances(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Distances | Score, list[int]]:
    """Return the distances to each turn of the context and where those stand, or why there are none."""
    assert turn is not None
    if settings.is_reference:
        return _reference_distances(scene, turn, settings, tools)
    positions = scene.context(turn, settings.integer("window"))
    if not scene.target(turn).text.strip():
        return unscored("the message has no text"), []
    if not positions:
        return unscored("there is no context"), []
    return 1.0 - rows_at(likeness(scene, turn, tools), positions), positions


def _reference_distances(
    scene: Scene, turn: int, settings: Settings, tools: Tools
) -> tuple[Distances | Score, list[int]]:
    texts, positions = scene.once("without punctuation", lambda: _cleaned(scene))
    kept = list(scene.among(positions, scene.context(turn, settings.integer("window"))))
    if not texts[scene.position(turn)] or not kept:
        return scored(0.0), []
    rows = scene.once(
        ("likeness without punctuation", tools.embed.name), lambda: _between(scene, texts, positions, tools)
    )
    return 1.0 - rows.row(turn)[kept], kept


def _cleaned(scene: Scene) -> tuple[list[str], list[int]]:
    """Return every turn's text without punctuation, and where something is left of it."""
    texts = [without_punctuation(turn.text) for turn in scene.turns]
    return texts, [position for position, text in enumerate(texts) if text]


def _between(scene: Scene, texts: list[str], positions: list[int], tools: Tools) -> Blocks:
    found = tools.unit_texts([texts[position] for position in positions])
    unit = np.zeros((len(texts), found.shape[1]))
    unit[positions] = found
    return between(scene, unit)


def _texts(scene: Scene, settings: Settings) -> Iterable[str]:
    spoken = (turn.text for turn in scene.turns if turn.text.strip())
    return filter(None, map(without_punctuation, spoken)) if settings.is_reference else spoken


CAUSES = {"nearest": Cause("nearest to", "turn")}

FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
        compute=compute,
        low=0.0,
        high=2.0,
        direction="nearer_half",
        needs=frozenset({"embeddings"}),
        variants={PAPER: {}, REFERENCE: {}},
        texts=_texts,
    )
    for compute, title in (
        (m_sns_avg, "Semantic novelty, mean"),
        (m_sns_min, "Semantic novelty, nearest turn"),
    )
)
