"""LS-ES: whether what the others say is near to what the predicted speaker said before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.metrics import background
from judges.metrics.base import (
    HIGHER,
    PAPER,
    REFERENCE,
    Compute,
    Metric,
    Need,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.scene import Scene
from judges.metrics.tools import Matrix, Tools, cosine, normalised
from judges.metrics.turn_taking import NO_SPEAKER

Best = NDArray[np.float64]


def ls_es_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean over the others' turns of the best similarity to one of the speaker's turns.

    avg over c not by s of max over c' by s of cos(e(c), e(c')), in the context: MPCEval eq. 4. Range -1 to 1.
    Undefined where the speaker or the others have no turn, where `reference` gives 0; it rounds to 4
    decimals.
    """
    best = _best(scene, turn, settings, tools)
    return best if isinstance(best, Score) else _rounded(settings, float(best[0].mean()))


def ls_es_max(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Best similarity of any of the others' turns to any of the speaker's: MPCEval eq. 5. Range -1 to 1."""
    best = _best(scene, turn, settings, tools)
    if isinstance(best, Score):
        return best
    at = int(best[0].argmax())
    return _rounded(settings, float(best[0][at]), nearest=best[1][at])


def ls_es_avg_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean similarity of the others' turns to the speaker's turns and background: MPCEval eq. 4 with 6-7.

    avg over c not by s of cos(e(c), aug_s). Range -1 to 1. Undefined without a profile, or where nobody else
    spoke.
    """
    best = _augmented(scene, turn, settings, tools)
    return best if isinstance(best, Score) else scored(best[0].mean())


def ls_es_max_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Best similarity of another's turn to the speaker's turns and background: MPCEval eq. 5 with 6-7."""
    best = _augmented(scene, turn, settings, tools)
    if isinstance(best, Score):
        return best
    at = int(best[0].argmax())
    return scored(best[0][at], nearest=best[1][at])


def _best(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> tuple[Best, list[int]] | Score:
    """Return, for each of the others' turns, its best similarity to the speaker's, and where it stands."""
    own, others = _sides(scene, turn, settings)
    if settings.is_reference:
        if not own or not others:
            return scored(0.0)
        left, right = _said(scene, others, tools), _said(scene, own, tools)
        return cosine(left, right).max(axis=1), others
    reason = _missing(scene, turn, others) or ("" if own else "the speaker has no turn in the context")
    if reason:
        return unscored(reason)
    assert turn is not None
    running = scene.once(
        ("running best", tools.embed.name, scene.target(turn).speaker),
        lambda: _running_best(scene, scene.target(turn).speaker, tools),
    )
    if running.own[len(own) - 1] == own[-1]:
        return running.best[others, len(own) - 1], others
    unit = tools.unit(scene)
    return cosine(unit[others], unit[own]).max(axis=1), others


@dataclass(frozen=True)
class RunningBest:
    """Where a speaker's turns stand, and each turn's best similarity to the first of them, the first two ...

    One row a position, one column a turn of the speaker: a context that begins with the scene needs a single
    column, so that a whole conversation takes as many numbers as it has pairs of turns.
    """

    own: list[int]
    best: Matrix


def _running_best(scene: Scene, speaker: str, tools: Tools) -> RunningBest:
    unit = tools.unit(scene)
    own = [p for p, one in enumerate(scene.turns) if one.speaker == speaker and one.text.strip()]
    found = cosine(unit, unit[own])
    return RunningBest(own, np.maximum.accumulate(found, axis=1, out=found))


def _augmented(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Best, list[int]] | Score:
    own, others = _sides(scene, turn, settings)
    if reason := _missing(scene, turn, others):
        return unscored(reason)
    assert turn is not None
    size = settings.integer("window") or len(own) + len(others)
    speaker = background.augmented(scene, scene.target(turn).speaker, own, size, tools)
    if speaker is None:
        return unscored(background.NO_PROFILE)
    return cosine(tools.unit(scene)[others], normalised(speaker)), others


def _missing(scene: Scene, turn: int | None, others: list[int]) -> str:
    """Return why there is nothing to compare, empty where there is."""
    assert turn is not None
    if not scene.target(turn).speaker.strip():
        return NO_SPEAKER
    return "" if others else "nobody else has a turn in the context"


def _sides(scene: Scene, turn: int | None, settings: Settings) -> tuple[list[int], list[int]]:
    """Return the positions of the speaker's turns and of the others' in the context."""
    assert turn is not None
    speaker = scene.target(turn).speaker
    context = scene.context(turn, settings.integer("window"), keep_blank=settings.is_reference)
    own = [p for p in context if scene.turns[p].speaker == speaker]
    return own, [p for p in context if scene.turns[p].speaker != speaker]


def _said(scene: Scene, positions: list[int], tools: Tools) -> Matrix:
    """Return the unit vectors of turns, those without text included, as the published code has them."""
    if all(scene.turns[p].text.strip() for p in positions):
        return tools.unit(scene)[positions]
    return tools.unit_texts([scene.turns[p].text for p in positions])


def _rounded(settings: Settings, value: float, **details: int) -> Score:
    return scored(round(value, 4) if settings.is_reference else value, **details)


WITHOUT: frozenset[Need] = frozenset({"speakers", "embeddings"})
WITH_PROFILE: frozenset[Need] = WITHOUT | {"profile"}


def _metric(compute: Compute, title: str, *, profile: bool) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect="speaker",
        compute=compute,
        low=-1.0,
        high=1.0,
        direction=HIGHER,
        needs=WITH_PROFILE if profile else WITHOUT,
        variants={PAPER: {}} if profile else {PAPER: {}, REFERENCE: {}},
        texts=background.texts if profile else None,
    )


FAMILY = (
    _metric(ls_es_avg, "Likeness of the context to the speaker, mean", profile=False),
    _metric(ls_es_max, "Likeness of the context to the speaker, nearest", profile=False),
    _metric(ls_es_avg_aug, "Likeness of the context to speaker and background, mean", profile=True),
    _metric(ls_es_max_aug, "Likeness of the context to speaker and background, nearest", profile=True),
)
