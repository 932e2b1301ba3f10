"""Learning from some dialogues and applying to others, so that nothing is judged on what it was learned from.

Where there are labels set aside for learning (dev), a map is learned there and applied to the rest. Where
there are none, the dialogues are dealt into folds, and each item gets the map learned on the other folds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.sums import Labels, cluster_codes
from calibration.statistics.core.types import Floats, Ints

Map = Callable[[Floats], Floats]
Fit = Callable[[Floats, Floats], Map]
FOLDS = 5


def complete(scores: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return scores and truth as arrays of one length without gaps. ValueError where they are not."""
    x, y = np.asarray(scores, np.float64), np.asarray(truth, np.float64)
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ValueError("scores and truth must be two lists of one length, and not empty")
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        raise ValueError("a map is fitted on items that have a score and a truth; leave the others out")
    return x, y


def folds_of(clusters: Labels | None, n: int, *, folds: int = FOLDS, seed: int = 0) -> Ints:
    """Return the fold of each of n items; clusters are dealt into folds from the seed, never cut.

    ValueError with fewer clusters than folds.
    """
    units = cluster_codes(clusters, n)
    n_units = len(np.unique(units))
    if folds < 2 or n_units < folds:
        raise ValueError(f"{folds} folds need at least as many clusters (and two); there are {n_units}")
    dealt: Ints = np.random.default_rng(seed).permutation(n_units) % folds
    return dealt[units]


def cross_fitted(
    scores: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Labels | None = None,
    *,
    fit: Fit,
    folds: int = FOLDS,
    seed: int = 0,
) -> Floats:
    """Return each item's mapped score, by the map that was fitted on the other folds of dialogues."""
    x, y = complete(scores, truth)
    fold = folds_of(clusters, len(x), folds=folds, seed=seed)
    out = np.empty(len(x))
    for number in range(folds):
        held = fold == number
        out[held] = fit(x[~held], y[~held])(x[held])
    return out


def direction(scores: Floats, truth: Floats) -> int:
    """Return 1 where the truth rises with the scores' ranks (or neither way), else -1."""
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    return -1 if float(((ranks - ranks.mean()) * (truth - truth.mean())).sum()) < -1e-9 else 1


def oriented(fit: Fit) -> Fit:
    """Return a fit that turns scores round where the truth falls with them: its map may fall, too."""

    def turned(scores: Floats, truth: Floats) -> Map:
        sign = direction(scores, truth)
        mapped = fit(sign * scores, truth)
        return lambda new: mapped(sign * np.asarray(new, np.float64))

    return turned
