"""LSCC-ES: whether a predicted message sounds like the speaker's own earlier turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit import background
from judges.metrics.kit.base import (
    PAPER,
    REFERENCE,
    SPEAKER_CONTENT,
    Metric,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.blocks import likeness
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools, cosine, first_greatest, normalised
from judges.metrics.turn_taking import NO_SPEAKER

Similarities = NDArray[np.float64]


def lscc_es_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean similarity of the message to the speaker's own turns in the context.

    avg over c in C_s of cos(e(u), e(c)): MPCEval eq. 20. Range -1 to 1, higher is more like the speaker.
    Undefined where the speaker has no turn in the context. `reference` rounds to 4 decimals.
    """
    found, _ = _similarities(scene, turn, settings, tools)
    return found if isinstance(found, Score) else _rounded(settings, float(found.mean()))


def lscc_es_max(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Similarity of the message to the nearest of the speaker's own turns: MPCEval eq. 21. Range -1 to 1."""
    found, positions = _similarities(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    at = first_greatest(found)
    return _rounded(settings, float(found[at]), nearest=positions[at])


def lscc_es_min(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Similarity of the message to the farthest of the speaker's own turns: MPCEval eq. 22. Range -1 to 1."""
    found, positions = _similarities(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    at = first_greatest(-found)
    return _rounded(settings, float(found[at]), farthest=positions[at])


def lscc_es_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Similarity of the message to the speaker's turns and background together: MPCEval eq. 23 with 6-7.

    cos(e(u), aug_s), aug_s = alpha v_s + (1 - alpha) b_s. Range -1 to 1. Undefined without a profile.
    """
    assert turn is not None
    target = scene.target(turn)
    if not target.text.strip():
        return unscored("the message has no text")
    if not target.speaker.strip():
        return unscored(NO_SPEAKER)
    speaker = background.augmented(scene, turn, settings.integer("window"), tools)
    if speaker is None:
        return unscored(background.NO_PROFILE)
    return scored(float(cosine(tools.unit(scene)[scene.position(turn)], normalised(speaker))))


def _similarities(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Similarities | Score, list[int]]:
    """Return the similarities to the speaker's own turns and where those stand, or why there are none."""
    assert turn is not None
    target = scene.target(turn)
    if not target.text.strip():
        return unscored("the message has no text"), []
    if not target.speaker.strip() and not settings.is_reference:
        return unscored(NO_SPEAKER), []
    context = scene.context(turn, settings.integer("window"))
    own = list(scene.among(scene.said_by(target.speaker), context))
    if not own:
        return unscored("the speaker has no turn in the context"), []
    return likeness(scene, turn, tools)[own], own


def _rounded(settings: Settings, value: float, **details: int) -> Score:
    return scored(round(value, 4) if settings.is_reference else value, **details)


FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=SPEAKER_CONTENT,
        compute=compute,
        low=-1.0,
        high=1.0,
        direction="higher",
        needs=frozenset({"speakers", "embeddings"}),
        variants={PAPER: {}, REFERENCE: {}},
    )
    for compute, title in (
        (lscc_es_avg, "Likeness to the speaker's own turns, mean"),
        (lscc_es_max, "Likeness to the speaker's own turns, nearest"),
        (lscc_es_min, "Likeness to the speaker's own turns, farthest"),
    )
) + (
    Metric(
        key="lscc_es_aug",
        title="Likeness to the speaker's own turns and background",
        kind="turn",
        aspect=SPEAKER_CONTENT,
        compute=lscc_es_aug,
        low=-1.0,
        high=1.0,
        direction="higher",
        needs=frozenset({"speakers", "profile", "embeddings"}),
        texts=background.texts,
    ),
)
