"""LS-ES: whether what the others say is near to what the predicted speaker said before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judges.metrics.kit import background
from judges.metrics.kit.base import (
    HIGHER,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Compute,
    Metric,
    Need,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.blocks import RunningBest
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, cosine, first_greatest
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
    at = first_greatest(best[0])
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
    at = first_greatest(best[0])
    return scored(best[0][at], nearest=best[1][at])


def _best(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> tuple[Best, list[int]] | Score:
    """Return, for each of the others' turns, its best similarity to the speaker's, and where it stands."""
    assert turn is not None
    own, others = _sides(scene, turn, settings)
    if settings.is_reference and not (own and others):
        return scored(0.0)
    reason = _missing(scene, turn, others) or ("" if own else "the speaker has no turn in the context")
    if reason and not settings.is_reference:
        return unscored(reason)
    unit = _unit(scene, settings, tools)
    every = scene.said_by(scene.target(turn).speaker, keep_blank=settings.is_reference)
    if every[len(own) - 1] == own[-1]:
        name = ("running best", tools.embed.name, settings.is_reference, scene.target(turn).speaker)
        running = scene.once(
            name, lambda: RunningBest(unit, every, len({one.speaker for one in scene.turns}))
        )
        return running.row(len(own))[others], others
    return cosine(unit[others], unit[own]).max(axis=1), others


def _augmented(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Best, list[int]] | Score:
    assert turn is not None
    others = _sides(scene, turn, settings)[1]
    if reason := _missing(scene, turn, others):
        return unscored(reason)
    if not scene.profile(scene.target(turn).speaker):
        return unscored(background.NO_PROFILE)
    return background.likeness(scene, turn, settings.integer("window"), tools)[others], others


def _missing(scene: Scene, turn: int, others: list[int]) -> str:
    """Return why there is nothing to compare, empty where there is."""
    if not scene.target(turn).speaker.strip():
        return NO_SPEAKER
    return "" if others else "nobody else has a turn in the context"


def _sides(scene: Scene, turn: int, settings: Settings) -> tuple[Sequence[int], list[int]]:
    """Return the positions of the speaker's turns and of the others' in the context."""
    speaker, blank = scene.target(turn).speaker, settings.is_reference
    context = scene.context(turn, settings.integer("window"), keep_blank=blank)
    own = scene.among(scene.said_by(speaker, keep_blank=blank), context, keep_blank=blank)
    return own, [p for p in context if scene.turns[p].speaker != speaker]


def _unit(scene: Scene, settings: Settings, tools: Tools) -> Matrix:
    """Return the unit vectors of turns; in `reference` with those of turns without text, as the published
    code has them."""
    if not settings.is_reference or all(turn.text.strip() for turn in scene.turns):
        return tools.unit(scene)
    name = ("unit with blanks", tools.embed.name)
    return scene.once(name, lambda: tools.unit_texts([turn.text for turn in scene.turns]))


def _rounded(settings: Settings, value: float, **details: int) -> Score:
    return scored(round(value, 4) if settings.is_reference else value, **details)


WITHOUT: frozenset[Need] = frozenset({"speakers", "embeddings"})
WITH_PROFILE: frozenset[Need] = WITHOUT | {"profile"}


CAUSES = {"nearest": Cause("nearest to", "turn")}


def _metric(compute: Compute, title: str, *, profile: bool) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=SPEAKER,
        causes=CAUSES,
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
