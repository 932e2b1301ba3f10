"""GSCC-DC: whether speakers keep to one or a few themes of their own over a conversation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judges.metrics.agenda_completion import STATIC
from judges.metrics.kit import background
from judges.metrics.kit.base import (
    HIGHER,
    PAPER,
    REFERENCE,
    SPEAKER_CONTENT,
    Cause,
    Compute,
    Metric,
    Need,
    Parameter,
    Score,
    Settings,
    Value,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.mixture import centres
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, normalised
from judges.metrics.participation import NOBODY, spoken

NO_SINGLETONS = "no_singletons"
Best = Callable[[Matrix], float]


def gscc(scene: Scene, settings: Settings, tools: Tools, best: Best, *, multi: bool, aug: bool) -> Score:
    """Return the mean over speakers, weighted by their turns, of `best` of the similarities of each turn to
    the nearest of the speaker's centroids."""
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = spoken(scene, settings)
    turns: dict[str, list[int]] = {}
    for position in positions:
        turns.setdefault(scene.turns[position].speaker, []).append(position)
    enough = {who: own for who, own in turns.items() if len(own) >= settings.integer("least_turns")}
    if aug:
        enough = {who: own for who, own in enough.items() if scene.profile(who)}
    if not enough:
        return unscored(_missing(turns, aug=aug))
    scores = {
        who: _speaker(scene, who, own, settings, tools, best, multi, aug) for who, own in enough.items()
    }
    weights = [len(own) for own in enough.values()]
    mean = float(np.average([value for value, _ in scores.values()], weights=weights))
    return scored(
        mean,
        speakers={who: value for who, (value, _) in scores.items()},
        centroids={who: count for who, (_, count) in scores.items()},
    )


def _speaker(
    scene: Scene,
    who: str,
    own: list[int],
    settings: Settings,
    tools: Tools,
    best: Best,
    multi: bool,
    aug: bool,
) -> tuple[float, int]:
    """Return a speaker's value and number of centroids."""
    rows = tools.unit(scene)[own]
    name = ("centres", tools.embed.name, settings.is_reference, multi, tuple(own))
    found = scene.once(name, lambda: centres(rows, reference=settings.is_reference) if multi else _mean(rows))
    if aug:
        found = _with_background(found, scene.profile(who), len(own), settings, tools)
    return best(np.max(rows @ normalised(found).T, axis=1)), len(found)


def _mean(rows: Matrix) -> Matrix:
    return rows.mean(axis=0, keepdims=True)


def _with_background(found: Matrix, profile: str, count: int, settings: Settings, tools: Tools) -> Matrix:
    """Mix centroids with the embedding of a profile: alpha c + (1 - alpha) b, MPCEval eq. 39.

    alpha = min(1, turns of the speaker / `full_turns`).
    """
    alpha = min(1.0, count / settings.integer("full_turns"))
    return alpha * found + (1 - alpha) * tools.unit_texts([profile])


def _missing(turns: dict[str, list[int]], *, aug: bool) -> str:
    if not turns:
        return NOBODY
    return "no speaker has enough turns" + (" and a profile" if aug else "")


def _average(values: Matrix) -> float:
    return float(values.mean())


def _greatest(values: Matrix) -> float:
    return float(values.max())


def gscc_dc_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean similarity of a speaker's turns to the mean of all of them, over speakers.

    avg over u by s of cos(e(u), c_s), c_s the mean of e(u): MPCEval eq. 34-35. Range -1 to 1. Speakers are
    averaged by their turns (Concord's choice: the paper gives values per speaker). A single turn is its own
    centroid and scores 1: `paper` counts it, `no_singletons` leaves out speakers with fewer than
    `least_turns` turns. `reference` counts them.
    """
    return gscc(scene, settings, tools, _average, multi=False, aug=False)


def gscc_dc_max(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Greatest similarity of a speaker's turns to the mean of all of them, over speakers: MPCEval eq. 36."""
    return gscc(scene, settings, tools, _greatest, multi=False, aug=False)


def gscc_dc_avg_multi(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean similarity of a speaker's turns to the nearest of several centroids, over speakers.

    MPCEval eq. 37. Centroids are the means of a Gaussian mixture (diagonal covariance) with K components, K
    from 1 to floor(sqrt n) by the least BIC. `reference` allows at most 6 and n/5, and from 25 turns at least
    2.
    """
    return gscc(scene, settings, tools, _average, multi=True, aug=False)


def gscc_dc_max_multi(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Greatest similarity of a speaker's turns to one of several centroids, over speakers: MPCEval eq. 38."""
    return gscc(scene, settings, tools, _greatest, multi=True, aug=False)


def gscc_dc_avg_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Like gscc_dc_avg, with the centroid mixed with the speaker's background: MPCEval eq. 39.

    alpha c_s + (1 - alpha) e(B_s), alpha = min(1, turns of s / `full_turns`). Speakers without a profile are
    left out.
    """
    return gscc(scene, settings, tools, _average, multi=False, aug=True)


def gscc_dc_max_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Like gscc_dc_max, with the centroid mixed with the speaker's background: MPCEval eq. 39."""
    return gscc(scene, settings, tools, _greatest, multi=False, aug=True)


def gscc_dc_avg_multi_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Like gscc_dc_avg_multi, with each centroid mixed with the speaker's background: MPCEval eq. 39."""
    return gscc(scene, settings, tools, _average, multi=True, aug=True)


def gscc_dc_max_multi_aug(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Like gscc_dc_max_multi, with each centroid mixed with the speaker's background: MPCEval eq. 39."""
    return gscc(scene, settings, tools, _greatest, multi=True, aug=True)


_PLAIN: frozenset[Need] = frozenset({"speakers", "embeddings"})
_PROFILE: frozenset[Need] = _PLAIN | {"profile"}
_LEAST = {"least_turns": Parameter(2, "turns that a speaker must have to count", low=1)}
_FULL = {**_LEAST, "full_turns": Parameter(10, "turns from which the background counts no more", low=1)}
_REFERENCE: dict[str, Value] = {"history": False, "least_turns": 1}


CAUSES = {"speakers": Cause("by speaker", "speaker"), "centroids": Cause("themes", "speaker")}


def _metric(compute: Compute, title: str, *, aug: bool) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=SPEAKER_CONTENT,
        causes=CAUSES,
        compute=compute,
        low=-1.0,
        high=1.0,
        direction=HIGHER,
        needs=_PROFILE if aug else _PLAIN,
        parameters=_FULL if aug else _LEAST,
        variants={
            NO_SINGLETONS: {},
            PAPER: {"least_turns": 1},
            **({} if aug else {REFERENCE: _REFERENCE}),
        },
        texts=background.texts if aug else None,
    )


FAMILY = (
    _metric(gscc_dc_avg, "Speaker consistency, mean", aug=False),
    _metric(gscc_dc_max, "Speaker consistency, best turn", aug=False),
    _metric(gscc_dc_avg_multi, "Speaker consistency, several themes, mean", aug=False),
    _metric(gscc_dc_max_multi, "Speaker consistency, several themes, best turn", aug=False),
    _metric(gscc_dc_avg_aug, "Speaker consistency with background, mean", aug=True),
    _metric(gscc_dc_max_aug, "Speaker consistency with background, best turn", aug=True),
    _metric(gscc_dc_avg_multi_aug, "Speaker consistency with background, several themes, mean", aug=True),
    _metric(
        gscc_dc_max_multi_aug, "Speaker consistency with background, several themes, best turn", aug=True
    ),
)
