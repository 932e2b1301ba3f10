"""M-SNS, PD and HMP: semantic novelty of a message, and semantic movement of a conversation."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from judges.metrics.agendas import EMPTY, STATIC
from judges.metrics.kit.metric import (
    CONTENT,
    DESCRIPTIVE,
    PAPER,
    REFERENCE,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
    without_punctuation,
)
from judges.metrics.kit.tools import Blocks, Matrix, Scene, Tools, between, first_greatest, likeness, rows_at

# PD and HMP: how far and how steadily a conversation moves semantically.

SHORT = "the conversation has fewer than two turns"


def pd(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Progression distance: the distance between the embeddings of the first and last turn, by length.

    ||e(u_T) - e(u_1)|| / T in `paper`, / log10(T + 1) in `reference`: MPCEval eq. 32 and its code, which
    alone reproduces the published figures. At least 0; more is more movement, which may be drift. Undefined
    with fewer than two turns.
    """
    rows, positions = _rows(scene, settings, tools)
    if isinstance(rows, Score):
        return rows
    distance = float(np.linalg.norm(rows[-1] - rows[0]))
    length = math.log10(len(rows) + 1) if settings.is_reference else len(rows)
    return scored(distance / length, first=positions[0], last=positions[-1], displacement=distance)


def hmp(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Harmonic mean progression: the harmonic mean of the distances from each turn to the next.

    (T - 1) / sum of 1 / (||e(u_t+1) - e(u_t)|| + epsilon): MPCEval eq. 33. At least 0; one small step lowers
    the value, and a repeated turn lowers it to about (T - 1) epsilon, so epsilon matters: 0.01 in the
    published code, 0.000001 in its README. Undefined with fewer than two turns.
    """
    rows, positions = _rows(scene, settings, tools)
    if isinstance(rows, Score):
        return rows
    steps = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    value = len(steps) / float(np.sum(1.0 / (steps + settings.number("epsilon"))))
    least, most = int(steps.argmin()), int(steps.argmax())
    return scored(value, smallest_step=positions[least + 1], largest_step=positions[most + 1])


def _rows(scene: Scene, settings: Settings, tools: Tools) -> tuple[Matrix | Score, list[int]]:
    """Return the raw embeddings of a conversation's turns with their positions, or a score with the reason
    why there are none."""
    if not scene.is_conversation():
        return unscored(STATIC), []
    positions = scene.conversation(history=settings.flag("history"))
    if len(positions) < 2:
        return unscored(SHORT if positions else EMPTY), []
    return tools.vectors(scene)[positions], positions


PROGRESSION_CAUSES = {
    "first": Cause("first", "turn"),
    "last": Cause("last", "turn"),
    "displacement": Cause("displacement"),
    "smallest_step": Cause("smallest step", "turn"),
    "largest_step": Cause("largest step", "turn"),
}

PROGRESSION = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=CONTENT,
        causes=PROGRESSION_CAUSES,
        compute=compute,
        low=0.0,
        high=None,
        direction=DESCRIPTIVE,
        needs=frozenset({"embeddings"}),
        parameters=parameters,
        variants=variants,
    )
    for compute, title, parameters, variants in (
        (pd, "Progression distance", {}, {REFERENCE: {"history": False}, PAPER: {}}),
        (
            hmp,
            "Harmonic mean progression",
            {"epsilon": Parameter(1e-6, "added to every step", low=1e-12)},
            {REFERENCE: {"history": False, "epsilon": 1e-2}, PAPER: {}},
        ),
    )
)


Distances = NDArray[np.float64]


def m_sns_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean distance of the message to the turns of its context.

    avg over c in C_-k of 1 - cos(e(u), e(c)): MPCEval eq. 15. Range 0 (repeats everything) to 2; the paper
    takes values around 0.5 as balanced. `reference` removes punctuation first and gives 0 without context or
    message.
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
    """Return the distances to the turns of the context with their positions, or a score with the reason why
    there are none."""
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
    context_positions = list(scene.among(positions, scene.context(turn, settings.integer("window"))))
    if not texts[scene.position(turn)] or not context_positions:
        return scored(0.0), []
    rows = scene.once(
        ("likeness without punctuation", tools.embed.name), lambda: _between(scene, texts, positions, tools)
    )
    return 1.0 - rows.row(turn)[context_positions], context_positions


def _cleaned(scene: Scene) -> tuple[list[str], list[int]]:
    """Return every turn's text without punctuation, and the positions of those that are not empty."""
    texts = [without_punctuation(turn.text) for turn in scene.turns]
    return texts, [position for position, text in enumerate(texts) if text]


def _between(scene: Scene, texts: list[str], positions: list[int], tools: Tools) -> Blocks:
    vectors = tools.unit_texts([texts[position] for position in positions])
    unit = np.zeros((len(texts), vectors.shape[1]))
    unit[positions] = vectors
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
