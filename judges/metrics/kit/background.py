"""A speaker's background, mixed with what the speaker said: the augmented forms of three families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from judges.metrics.kit.base import Settings
from judges.metrics.kit.blocks import Blocks
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools, normalised

NO_PROFILE = "the speaker has no profile"


def augmented(scene: Scene, turn: int, window: int, tools: Tools) -> Matrix | None:
    """Return aug_s = alpha v_s + (1 - alpha) b_s of a turn's speaker, None where the speaker has no profile.

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
    return alpha * _mean(scene, speaker, own, tools) + (1 - alpha) * background


def likeness(scene: Scene, turn: int, window: int, tools: Tools) -> Matrix:
    """Return the cosines of every position to a turn's augmented speaker; zeros where there is no profile."""
    name = ("background likeness", tools.embed.name, window)
    return scene.once(name, lambda: _likeness(scene, window, tools)).row(turn)


def _likeness(scene: Scene, window: int, tools: Tools) -> Blocks:
    unit = tools.unit(scene)
    nobody = np.zeros(unit.shape[1])

    def speakers(begin: int, end: int) -> Matrix:
        found = (augmented(scene, turn, window, tools) for turn in range(begin, end))
        return normalised(np.array([nobody if one is None else one for one in found]))

    return Blocks(speakers, len(scene.continuation.turns), unit)


def _mean(scene: Scene, speaker: str, own: Sequence[int], tools: Tools) -> Matrix:
    """Return the mean embedding of a speaker's turns, from running sums where they are the first ones."""
    every = scene.said_by(speaker)
    if every[len(own) - 1] != own[-1]:
        mean: Matrix = tools.vectors(scene)[list(own)].mean(axis=0)
        return mean
    sums = scene.once(
        ("sums", tools.embed.name, speaker), lambda: np.cumsum(tools.vectors(scene)[every], axis=0)
    )
    return sums[len(own) - 1] / len(own)


def texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield what the augmented forms embed: the turns and the profiles of those who speak."""
    yield from (turn.text for turn in scene.turns if turn.text.strip())
    yield from filter(None, map(scene.profile, dict.fromkeys(turn.speaker for turn in scene.turns)))
