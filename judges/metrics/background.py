"""A speaker's background, mixed with what the speaker said: the augmented forms of three families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from judges.metrics.base import Settings
from judges.metrics.scene import Scene
from judges.metrics.tools import Matrix, Tools

NO_PROFILE = "the speaker has no profile"


def augmented(scene: Scene, speaker: str, own: Sequence[int], size: int, tools: Tools) -> Matrix | None:
    """Return aug_s = alpha v_s + (1 - alpha) b_s, None where the speaker has no profile.

    MPCEval eq. 6-7: v_s is the mean embedding of the speaker's turns, b_s the embedding of role and profile
    as one text, alpha = min(1, number of own turns / size).
    """
    profile = scene.profile(speaker)
    if not profile:
        return None
    background = tools.embed([profile])[0].astype(np.float64)
    if not own:
        return background
    alpha = min(1.0, len(own) / size)
    return alpha * tools.vectors(scene)[list(own)].mean(axis=0) + (1 - alpha) * background


def texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield what the augmented forms embed: the turns and the profiles of those who speak."""
    yield from (turn.text for turn in scene.turns if turn.text.strip())
    yield from filter(None, map(scene.profile, dict.fromkeys(turn.speaker for turn in scene.turns)))
