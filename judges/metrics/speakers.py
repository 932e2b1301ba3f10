"""Speakers: consistency with their own themes and earlier turns (LSCC-ES, LS-ES, GSCC-DC)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from judges.metrics.agendas import STATIC
from judges.metrics.kit.metric import (
    HIGHER,
    PAPER,
    REFERENCE,
    SPEAKER,
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
from judges.metrics.kit.models import one_thread
from judges.metrics.kit.tools import (
    Blocks,
    Matrix,
    RunningBest,
    Scene,
    Tools,
    cosine,
    first_greatest,
    likeness,
    normalised,
)
from judges.metrics.participation import NOBODY, spoken
from judges.metrics.turn_taking import NO_SPEAKER

# A speaker's background mixed with the speaker's turns: the augmented forms of three families.

NO_PROFILE = "the speaker has no profile"


def augmented(scene: Scene, turn: int, window: int, tools: Tools) -> Matrix | None:
    """Return aug_s = alpha v_s + (1 - alpha) b_s of a turn's speaker, None if the speaker has no profile.

    MPCEval eq. 6-7: v_s is the mean embedding of the speaker's turns in the context, b_s the embedding of
    role and profile as one text, alpha = min(1, own turns / window); without a window, / turns of the
    context.
    """
    speaker = scene.target(turn).speaker
    profile = scene.profile(speaker)
    if not profile:
        return None
    background = scene.once(
        ("background", tools.embed.name, speaker), lambda: tools.embed([profile])[0].astype(np.float64)
    )
    context = scene.context(turn, window)
    own = scene.among(scene.said_by(speaker), context)
    if not own:
        return background
    alpha = min(1.0, len(own) / (window or len(context)))
    return alpha * _mean_of_background(scene, speaker, own, tools) + (1 - alpha) * background


def likeness_with_background(scene: Scene, turn: int, window: int, tools: Tools) -> Matrix:
    """Return the cosines of every position to a turn's augmented speaker; zeros without a profile."""
    name = ("background likeness", tools.embed.name, window)
    return scene.once(name, lambda: _likeness(scene, window, tools)).row(turn)


def _likeness(scene: Scene, window: int, tools: Tools) -> Blocks:
    unit = tools.unit(scene)
    nobody = np.zeros(unit.shape[1])

    def speakers(begin: int, end: int) -> Matrix:
        vectors = (augmented(scene, turn, window, tools) for turn in range(begin, end))
        return normalised(np.array([nobody if vector is None else vector for vector in vectors]))

    return Blocks(speakers, len(scene.continuation.turns), unit)


def _mean_of_background(scene: Scene, speaker: str, own: Sequence[int], tools: Tools) -> Matrix:
    """Return the mean embedding of a speaker's turns, from running sums if they are the speaker's first."""
    every = scene.said_by(speaker)
    if every[len(own) - 1] != own[-1]:
        mean: Matrix = tools.vectors(scene)[list(own)].mean(axis=0)
        return mean
    sums = scene.once(
        ("sums", tools.embed.name, speaker), lambda: np.cumsum(tools.vectors(scene)[every], axis=0)
    )
    return sums[len(own) - 1] / len(own)


def texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield the texts that the augmented forms embed: turns and speakers' profiles."""
    yield from (turn.text for turn in scene.turns if turn.text.strip())
    yield from filter(None, map(scene.profile, dict.fromkeys(turn.speaker for turn in scene.turns)))


# LSCC-ES: similarity of a predicted message to the speaker's own earlier turns.

Similarities = NDArray[np.float64]


def lscc_es_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean similarity of the message to the speaker's own turns in the context.

    avg over c in C_s of cos(e(u), e(c)): MPCEval eq. 20. Range -1 to 1, higher is more like the speaker.
    Undefined if the speaker has no turn in the context. `reference` rounds to 4 decimals.
    """
    similarities, _ = _similarities(scene, turn, settings, tools)
    return similarities if isinstance(similarities, Score) else _rounded(settings, float(similarities.mean()))


def lscc_es_max(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Similarity of the message to the nearest of the speaker's own turns: MPCEval eq. 21. Range -1 to 1."""
    similarities, positions = _similarities(scene, turn, settings, tools)
    if isinstance(similarities, Score):
        return similarities
    at = first_greatest(similarities)
    return _rounded(settings, float(similarities[at]), nearest=positions[at])


def lscc_es_min(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Similarity of the message to the farthest of the speaker's own turns: MPCEval eq. 22. Range -1 to 1."""
    similarities, positions = _similarities(scene, turn, settings, tools)
    if isinstance(similarities, Score):
        return similarities
    at = first_greatest(-similarities)
    return _rounded(settings, float(similarities[at]), farthest=positions[at])


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
    speaker = augmented(scene, turn, settings.integer("window"), tools)
    if speaker is None:
        return unscored(NO_PROFILE)
    return scored(float(cosine(tools.unit(scene)[scene.position(turn)], normalised(speaker))))


def _similarities(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Similarities | Score, list[int]]:
    """Return the similarities to the speaker's own turns with their positions, or a score with the reason
    why there are none."""
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


OWN_TURNS = tuple(
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
        texts=texts,
    ),
)


# LS-ES: similarity of the others' turns to the predicted speaker's earlier turns.


def ls_es_avg(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean over the others' turns of the best similarity to one of the speaker's turns.

    avg over c not by s of max over c' by s of cos(e(c), e(c')), in the context: MPCEval eq. 4. Range -1 to 1.
    Undefined if the speaker or the others have no turn; `reference` gives 0 there, and rounds to 4 decimals.
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

    avg over c not by s of cos(e(c), aug_s). Range -1 to 1. Undefined without a profile, or if nobody else
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


def _best(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Similarities, list[int]] | Score:
    """Return the best similarity of each of the others' turns to the speaker's turns, with its position."""
    assert turn is not None
    own, others = _sides(scene, turn, settings)
    if settings.is_reference and not (own and others):
        return scored(0.0)
    reason = _missing_of_alignment(scene, turn, others) or (
        "" if own else "the speaker has no turn in the context"
    )
    if reason and not settings.is_reference:
        return unscored(reason)
    unit = _unit(scene, settings, tools)
    every = scene.said_by(scene.target(turn).speaker, keep_blank=settings.is_reference)
    if every[len(own) - 1] == own[-1]:
        name = ("running best", tools.embed.name, settings.is_reference, scene.target(turn).speaker)
        running = scene.once(
            name, lambda: RunningBest(unit, every, len({scene_turn.speaker for scene_turn in scene.turns}))
        )
        return running.row(len(own))[others], others
    return cosine(unit[others], unit[own]).max(axis=1), others


def _augmented(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Similarities, list[int]] | Score:
    assert turn is not None
    others = _sides(scene, turn, settings)[1]
    if reason := _missing_of_alignment(scene, turn, others):
        return unscored(reason)
    if not scene.profile(scene.target(turn).speaker):
        return unscored(NO_PROFILE)
    return likeness_with_background(scene, turn, settings.integer("window"), tools)[others], others


def _missing_of_alignment(scene: Scene, turn: int, others: list[int]) -> str:
    """Return the reason why there is nothing to compare, empty if there is something."""
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
    """Return the unit vectors of turns; in `reference` including turns without text, as in the published
    code."""
    if not settings.is_reference or all(turn.text.strip() for turn in scene.turns):
        return tools.unit(scene)
    name = ("unit with blanks", tools.embed.name)
    return scene.once(name, lambda: tools.unit_texts([turn.text for turn in scene.turns]))


WITHOUT: frozenset[Need] = frozenset({"speakers", "embeddings"})
WITH_PROFILE: frozenset[Need] = WITHOUT | {"profile"}


ALIGNMENT_CAUSES = {"nearest": Cause("nearest to", "turn")}


def _metric_of_alignment(compute: Compute, title: str, *, profile: bool) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=SPEAKER,
        causes=ALIGNMENT_CAUSES,
        compute=compute,
        low=-1.0,
        high=1.0,
        direction=HIGHER,
        needs=WITH_PROFILE if profile else WITHOUT,
        variants={PAPER: {}} if profile else {PAPER: {}, REFERENCE: {}},
        texts=texts if profile else None,
    )


ALIGNMENT = (
    _metric_of_alignment(ls_es_avg, "Likeness of the context to the speaker, mean", profile=False),
    _metric_of_alignment(ls_es_max, "Likeness of the context to the speaker, nearest", profile=False),
    _metric_of_alignment(
        ls_es_avg_aug, "Likeness of the context to speaker and background, mean", profile=True
    ),
    _metric_of_alignment(
        ls_es_max_aug, "Likeness of the context to speaker and background, nearest", profile=True
    ),
)


# The themes of a speaker: the means of a Gaussian mixture, its size chosen by BIC.

LEAST = 5
MOST = 6
CERTAINLY_SEVERAL = 25
REGULARISATION = 1e-6
SEED = 0


def centres(rows: Matrix, *, reference: bool = False) -> Matrix:
    """Return the means of the mixture with the least BIC over the sizes that `sizes` allows."""
    candidate_sizes = sizes(len(rows), reference=reference)
    if candidate_sizes == [1]:
        return rows.mean(axis=0, keepdims=True)
    from sklearn.mixture import GaussianMixture

    best: tuple[float, Matrix] | None = None
    with one_thread():
        for size in candidate_sizes:
            model = GaussianMixture(
                size, covariance_type="diag", reg_covar=REGULARISATION, random_state=SEED
            ).fit(rows)
            bic = float(model.bic(rows))
            if best is None or bic < best[0]:
                best = bic, model.means_
    assert best is not None
    return best[1]


def sizes(count: int, *, reference: bool) -> list[int]:
    """Return the numbers of components to try for `count` turns.

    The paper: 1 to floor(sqrt n). The published code: at most 6 and n // 5 as well, one component below 5
    turns, and no single component from 25 turns on.
    """
    most = math.isqrt(count)
    if not reference:
        return list(range(1, max(most, 1) + 1))
    if count < LEAST:
        return [1]
    most = max(1, min(MOST, most, count // LEAST))
    return list(range(2 if count >= CERTAINLY_SEVERAL and most > 1 else 1, most + 1))


# GSCC-DC: whether each speaker keeps to one or a few themes over a conversation.

NO_SINGLETONS = "no_singletons"
Summary = Callable[[Matrix], float]


def gscc(scene: Scene, settings: Settings, tools: Tools, best: Summary, *, multi: bool, aug: bool) -> Score:
    """Return the mean over speakers, weighted by their turns, of `best` over the similarities of each turn
    to the nearest of the speaker's centroids."""
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = spoken(scene, settings)
    turns: dict[str, list[int]] = {}
    for position in positions:
        turns.setdefault(scene.turns[position].speaker, []).append(position)
    enough = {speaker: own for speaker, own in turns.items() if len(own) >= settings.integer("least_turns")}
    if aug:
        enough = {speaker: own for speaker, own in enough.items() if scene.profile(speaker)}
    if not enough:
        return unscored(_missing(turns, aug=aug))
    scores = {
        speaker: _speaker(scene, speaker, own, settings, tools, best, multi, aug)
        for speaker, own in enough.items()
    }
    weights = [len(own) for own in enough.values()]
    mean = float(np.average([value for value, _ in scores.values()], weights=weights))
    return scored(
        mean,
        speakers={speaker: value for speaker, (value, _) in scores.items()},
        centroids={speaker: count for speaker, (_, count) in scores.items()},
    )


def _speaker(
    scene: Scene,
    speaker: str,
    own: list[int],
    settings: Settings,
    tools: Tools,
    best: Summary,
    multi: bool,
    aug: bool,
) -> tuple[float, int]:
    """Return a speaker's value and number of centroids."""
    rows = tools.unit(scene)[own]
    name = ("centres", tools.embed.name, settings.is_reference, multi, tuple(own))
    centroids = scene.once(
        name, lambda: centres(rows, reference=settings.is_reference) if multi else _mean(rows)
    )
    if aug:
        centroids = _with_background(centroids, scene.profile(speaker), len(own), settings, tools)
    return best(np.max(rows @ normalised(centroids).T, axis=1)), len(centroids)


def _mean(rows: Matrix) -> Matrix:
    return rows.mean(axis=0, keepdims=True)


def _with_background(centroids: Matrix, profile: str, count: int, settings: Settings, tools: Tools) -> Matrix:
    """Mix centroids with the embedding of a profile: alpha c + (1 - alpha) b, MPCEval eq. 39.

    alpha = min(1, turns of the speaker / `full_turns`).
    """
    alpha = min(1.0, count / settings.integer("full_turns"))
    return alpha * centroids + (1 - alpha) * tools.unit_texts([profile])


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

    avg over u by s of cos(e(u), c_s), c_s the mean of e(u): MPCEval eq. 34-35. Range -1 to 1. The mean over
    speakers is weighted by their turns (Concord's choice: the paper gives values per speaker). A single turn
    is its own centroid and scores 1: `paper` and `reference` count it, `no_singletons` leaves out speakers
    with fewer than `least_turns` turns.
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


CENTROIDS_CAUSES = {"speakers": Cause("by speaker", "speaker"), "centroids": Cause("themes", "speaker")}


def _metric(compute: Compute, title: str, *, aug: bool) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=SPEAKER_CONTENT,
        causes=CENTROIDS_CAUSES,
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
        texts=texts if aug else None,
    )


CENTROIDS = (
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
