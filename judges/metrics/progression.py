"""PD and HMP: how far a conversation moves in meaning, and how steadily."""

from __future__ import annotations

import math

import numpy as np

from judges.metrics.agenda_completion import EMPTY, STATIC
from judges.metrics.kit.base import (
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
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools

SHORT = "the conversation has fewer than two turns"


def pd(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Progression distance: the distance of the last turn's meaning from the first's, for the length.

    ||e(u_T) - e(u_1)|| / T in `paper`, / log10(T + 1) in `reference`: MPCEval eq. 32 and its code, which
    alone gives the published figures. At least 0; more is more movement, which may be drift. Undefined with
    fewer than two turns.
    """
    rows, positions = _rows(scene, settings, tools)
    if isinstance(rows, Score):
        return rows
    distance = float(np.linalg.norm(rows[-1] - rows[0]))
    length = math.log10(len(rows) + 1) if settings.is_reference else len(rows)
    return scored(distance / length, first=positions[0], last=positions[-1], displacement=distance)


def hmp(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Harmonic mean progression: the harmonic mean of the distances from each turn to the next.

    (T - 1) / sum of 1 / (||e(u_t+1) - e(u_t)|| + epsilon): MPCEval eq. 33. At least 0; one small step pulls
    it down, and a repeated turn to about (T - 1) epsilon, so epsilon decides: 0.01 in the published code,
    0.000001 in its README. Undefined with fewer than two turns.
    """
    rows, positions = _rows(scene, settings, tools)
    if isinstance(rows, Score):
        return rows
    steps = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    value = len(steps) / float(np.sum(1.0 / (steps + settings.number("epsilon"))))
    least, most = int(steps.argmin()), int(steps.argmax())
    return scored(value, smallest_step=positions[least + 1], largest_step=positions[most + 1])


def _rows(scene: Scene, settings: Settings, tools: Tools) -> tuple[Matrix | Score, list[int]]:
    """Return the embeddings of a conversation's turns as the model gives them, or why there are none."""
    if not scene.is_conversation():
        return unscored(STATIC), []
    positions = scene.conversation(history=settings.flag("history"))
    if len(positions) < 2:
        return unscored(SHORT if positions else EMPTY), []
    return tools.vectors(scene)[positions], positions


CAUSES = {
    "first": Cause("first", "turn"),
    "last": Cause("last", "turn"),
    "displacement": Cause("displacement"),
    "smallest_step": Cause("smallest step", "turn"),
    "largest_step": Cause("largest step", "turn"),
}

FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=CONTENT,
        causes=CAUSES,
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
