"""Biases of a judge beside people: each an effect with an interval by whole clusters.

All are functions of sums over items, resampled by clusters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.engine import Counts, Result, finished, resampled
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan

ROUNDING = 1e-12
Marks = npt.NDArray[np.bool_]


def length_bias(
    judge: Floats, people: Floats, length: Floats, clusters: Ints, plan: Plan | None = None
) -> Result:
    """Partial correlation of the judge's score with length, given the people's mean.

    (r_jl - r_jp r_lp) / sqrt((1 - r_jp^2)(1 - r_lp^2)), of Pearson's r: the correlation of the residuals of
    judge and length once both are predicted from the people's mean. Items that lack any of the three are left
    out and counted. Undefined where one of them is constant, or determined by the people's mean.
    """
    use = ~(np.isnan(judge) | np.isnan(people) | np.isnan(length))
    j, p, x = (_standard(values[use]) for values in (judge, people, length))
    rows = np.column_stack([np.ones_like(j), j, p, x, j * j, p * p, x * x, j * p, j * x, p * x])
    return _of_sums(
        "length_bias",
        rows,
        clusters[use],
        _partial,
        plan or Plan(),
        missing=int((~use).sum()),
        undefined="one of score, length and people's mean does not vary, or goes wholly with another",
        method="partial correlation given the people's mean",
    )


def family_preference(
    judge: Floats, people: Floats, own: Marks, clusters: Ints, plan: Plan | None = None
) -> Result:
    """Mean of judge minus people over systems of its own family, minus that over all others.

    Above 0: the judge is more lenient with its own family than people are, relative to its treatment of
    others.
    """
    use = ~(np.isnan(judge) | np.isnan(people))
    gap, mine = (judge - people)[use], own[use]
    rows = np.column_stack([mine, mine * gap, ~mine, ~mine * gap]).astype(np.float64)
    return _of_sums(
        "family_preference",
        rows,
        clusters[use],
        _difference,
        plan or Plan(),
        missing=int((~use).sum()),
        undefined="no item of its own family, or none of another, has both a judge's and people's answer",
        method="judge less people, own family less others",
    )


def turn_drift(
    judge: Floats, people: Floats, position: Floats, clusters: Ints, plan: Plan | None = None
) -> Result:
    """Slope of judge minus people over the turn's position: scale points per ten turns further on.

    The least-squares slope over all items. Above 0: the judge grows more lenient than people as the dialogue
    gets longer.
    """
    use = ~(np.isnan(judge) | np.isnan(people) | np.isnan(position))
    gap, x = (judge - people)[use], position[use] / 10
    x = x - x.mean() if x.size else x
    rows = np.column_stack([np.ones_like(x), x, gap, x * x, x * gap])
    return _of_sums(
        "turn_drift",
        rows,
        clusters[use],
        _slope,
        plan or Plan(),
        missing=int((~use).sum()),
        undefined="all items stand at the same place",
        method="least-squares slope of judge less people, per ten turns",
    )


def _of_sums(
    name: str,
    rows: Floats,
    clusters: Ints,
    compute: Callable[[Floats], Floats],
    plan: Plan,
    *,
    missing: int,
    undefined: str,
    method: str,
) -> Result:
    counts: Counts = {"n_items": len(rows), "n_clusters": len(np.unique(clusters)), "n_raters": 2}
    if not len(rows):
        reason = "no item has both a judge's and people's answer"
        return Result(
            name, status="insufficient", reason=reason, method=method, n_missing=missing, n_raters=2
        )
    _, units = np.unique(clusters, return_inverse=True)
    point, replicates = resampled(units, rows, compute, plan)
    return finished(
        name,
        point,
        replicates,
        plan,
        method=method,
        undefined=undefined,
        **counts | {"n_missing": missing},
    )


def _standard(values: Floats) -> Floats:
    """Return standardised values (mean 0, unit spread), so that nothing large cancels."""
    if not values.size:
        return values
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def _partial(sums: Floats) -> Floats:
    n, j, p, x, jj, pp, xx, jp, jx, px = sums.T
    r_jp, r_jx, r_px = (_r(n, *six) for six in ((j, p, jj, pp, jp), (j, x, jj, xx, jx), (p, x, pp, xx, px)))
    unexplained = (1 - r_jp**2) * (1 - r_px**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(unexplained > ROUNDING, (r_jx - r_jp * r_px) / np.sqrt(np.abs(unexplained)), np.nan)


def _r(n: Floats, a: Floats, b: Floats, aa: Floats, bb: Floats, ab: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (aa - a * a / n) * (bb - b * b / n)
        return np.where(spread > ROUNDING * aa * bb, (ab - a * b / n) / np.sqrt(np.abs(spread)), np.nan)


def _difference(sums: Floats) -> Floats:
    n, own, m, others = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((n > 0) & (m > 0), own / n - others / m, np.nan)


def _slope(sums: Floats) -> Floats:
    n, x, y, xx, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = xx - x * x / n
        return np.where(spread > ROUNDING * np.maximum(xx, 1), (xy - x * y / n) / spread, np.nan)
