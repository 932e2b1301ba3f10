"""Conservative bounds of correlations with unanswered values: none is beyond, perhaps none reaches them.

Each takes the extremes of the numerator and of the denominator apart. Spearman's numerator is a sum over
pairs of items, half of (rank of x_i - rank of x_j) times the sign of y_i - y_j: pairs of answered items keep
theirs, however the others are answered, and a pair with an unanswered one moves it by at most half the
distance in x.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from calibration.statistics.core.types import Floats

Ends = tuple[float, float]


def spearman(x: Floats, y: Floats, scale: Ends | None = None) -> Ends:
    """Return bounds of the rank correlation; `y` is NaN where unanswered, and may be any number there.

    Ranks share the sum of squares (n^3 - n) / 12 less that of ties: least where all the unanswered join the
    largest tie, greatest where each stands alone.
    """
    there = ~np.isnan(y)
    n, m = len(y), int((~there).sum())
    ranks = stats.rankdata(x)
    own = stats.rankdata(y[there]) - (there.sum() + 1) / 2
    kept = float(ranks[there] @ own)
    moved = _distances(ranks, ~there) / 2
    ties = np.unique(y[there], return_counts=True)[1].astype(np.float64)
    widest = _cubes(ties)
    joined = widest - _cubes(ties.max()) + _cubes(ties.max() + m)
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    whole = _cubes(np.array(float(n)))
    return _ends(kept, moved, spread, (whole - joined) / 12, (whole - widest) / 12)


def pearson(x: Floats, y: Floats, scale: Ends) -> Ends:
    """Return bounds of the product-moment correlation; the unanswered lie within the ends of the scale.

    The spread of y is least with the unanswered at the mean of the others, greatest with each at an end.
    """
    there = ~np.isnan(y)
    centred, given = x - x.mean(), y[there]
    low, high = scale
    open_ = centred[~there]
    kept = float(centred[there] @ given + (open_ * (low + high) / 2).sum())
    moved = float(np.abs(open_).sum()) * (high - low) / 2
    upper = np.arange(len(open_) + 1)
    total = given.sum() + upper * high + (len(open_) - upper) * low
    squares = (given**2).sum() + upper * high**2 + (len(open_) - upper) * low**2
    widest = float((squares - total**2 / len(y)).max())
    return _ends(kept, moved, float((centred**2).sum()), float(((given - given.mean()) ** 2).sum()), widest)


def kendall_tau_b(x: Floats, y: Floats, scale: Ends | None = None) -> Ends:
    """Return bounds of tau-b. A pair with an unanswered item counts at most once, and only where untied.

    With u such pairs untied in y the numerator moves by at most min(u, those untied in x); the bound is
    greatest where u is just that, or, below 0, where all of them are untied.
    """
    there = ~np.isnan(y)
    n, m = len(y), int((~there).sum())
    untied_x, untied_y = _untied(x), _untied(y[there])
    kept_x = _untied(x[there])
    tau = stats.kendalltau(x[there], y[there]).statistic
    kept = round(float(tau) * np.sqrt(float(kept_x) * untied_y)) if np.isfinite(tau) else 0
    beside, touching = untied_x - kept_x, m * (n - m) + m * (m - 1) // 2

    def greatest(numerator: int) -> float:
        top = numerator + beside
        untied = untied_y + (beside if top >= 0 else touching)
        return top / np.sqrt(float(untied_x) * untied)

    return max(-1.0, -greatest(-kept)), min(1.0, greatest(kept))


def _ends(kept: float, moved: float, spread: float, least: float, most: float) -> Ends:
    """Return the ends of (kept +- moved) / sqrt(spread * s) for s from least to most, within -1 and 1."""

    def widest(top: float) -> float:
        return top / np.sqrt(spread * (least if top > 0 else most))

    return max(-1.0, -widest(moved - kept)), min(1.0, widest(kept + moved))


def _distances(ranks: Floats, chosen: np.ndarray) -> float:
    """Return the sum of |x_i - x_j| over the pairs of items of which one is chosen, or both."""
    return _all_distances(ranks) - _all_distances(ranks[~chosen])


def _all_distances(values: Floats) -> float:
    ordered = np.sort(values)
    n = len(ordered)
    return float(ordered @ (2 * np.arange(n) - n + 1))


def _untied(values: Floats) -> int:
    n, ties = len(values), np.unique(values, return_counts=True)[1]
    return int(n * (n - 1) // 2 - (ties * (ties - 1) // 2).sum())


def _cubes(ties: Floats) -> float:
    return float((ties**3 - ties).sum())


CORRELATIONS: dict[str, Callable[[Floats, Floats, Ends], Ends]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_tau_b": kendall_tau_b,
}
