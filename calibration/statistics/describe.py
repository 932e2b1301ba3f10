"""Who rates how: severity and range use, each rater with the rest, pairs as a matrix, Bland-Altman."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.analysis import mean_of
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import finished, resampled
from calibration.statistics.core.types import Floats
from calibration.statistics.gold import majority, severities
from calibration.statistics.table import STATISTICS


@dataclass(frozen=True)
class RaterProfile:
    """How one rater uses the scale; ``severity`` is the deviation from the panel on the same items."""

    rater: str
    n_ratings: int
    mean: float | None
    spread: float | None
    severity: float | None
    shares: dict[str, float]


def profiles(ratings: Ratings) -> tuple[RaterProfile, ...]:
    """Return each rater's number of ratings, mean, standard deviation, severity and use of each value.

    A negative severity means lower ratings than the panel's on the same items. Means are None for categories.
    """
    numeric = ratings.level != "nominal" and ratings.names is None
    relative = severities(ratings.values) if numeric and ratings.values.size else None
    out = []
    for j, rater in enumerate(ratings.raters):
        given = ratings.values[:, j][~np.isnan(ratings.values[:, j])]
        values, counts = np.unique(given, return_counts=True)
        used = dict(zip(values.tolist(), counts.tolist(), strict=True))
        grid = ratings.scale if ratings.scale is not None and ratings.on_scale[j] else tuple(values.tolist())
        label = ratings.label if ratings.on_scale[j] else "{:g}".format
        shares = {label(v): used.get(v, 0) / max(len(given), 1) for v in grid} if len(grid) <= 101 else {}
        known = numeric and len(given) > 0
        out.append(
            RaterProfile(
                rater,
                len(given),
                float(given.mean()) if known else None,
                float(given.std(ddof=1)) if known and len(given) > 1 else None,
                float(relative[j]) if relative is not None and len(given) else None,
                shares,
            )
        )
    return tuple(out)


def pairwise_matrix(
    ratings: Ratings, statistic: str, plan: Plan | None = None
) -> dict[tuple[str, str], Result]:
    """Return a pair statistic for every two raters; a symmetric one under both orders."""
    plan = plan or Plan()
    chosen, resampling = STATISTICS[statistic], resampling_of(ratings, plan)
    out: dict[tuple[str, str], Result] = {}
    for a, b in combinations(range(len(ratings.raters)), 2):
        for one, other in ((a, b), (b, a)):
            names = (ratings.raters[one], ratings.raters[other])
            if chosen.symmetric and names[::-1] in out:
                out[names] = out[names[::-1]]
                continue
            sample = Sample(ratings, (one, other), resampling)
            out[names] = result_of(estimates(sample, [chosen], resampling)[0], sample, plan)
    return out


def leave_one_out(
    ratings: Ratings, statistic: str = "krippendorff_alpha", plan: Plan | None = None
) -> dict[str, Result]:
    """Return a panel statistic without each rater in turn: who pulls it down, and who holds it up."""
    plan = plan or Plan()
    chosen, resampling = STATISTICS[statistic], resampling_of(ratings, plan)
    out = {}
    for j, rater in enumerate(ratings.raters):
        rest = tuple(k for k in range(len(ratings.raters)) if k != j)
        sample = Sample(ratings, rest, resampling)
        out[rater] = result_of(estimates(sample, [chosen], resampling)[0], sample, plan)
    return out


def with_the_rest(
    ratings: Ratings,
    statistic: str = "spearman",
    columns: Sequence[int] | None = None,
    plan: Plan | None = None,
) -> dict[str, Result]:
    """Return each rater's statistic with the rest: with their mean, or for agreement with their majority.

    An item on which the majority of the rest is tied does not count.
    """
    plan = plan or Plan()
    chosen, resampling = STATISTICS[statistic], resampling_of(ratings, plan)
    mine = list(columns) if columns is not None else list(range(len(ratings.raters)))
    out = {}
    for j in mine:
        rest = [k for k in mine if k != j]
        joined = (
            majority(ratings, columns=rest).values if chosen.needs_scale else mean_of(ratings.values[:, rest])
        )
        both = ratings.with_column("rest", joined, on_scale=chosen.needs_scale)
        sample = Sample(both, (j, len(both.raters) - 1), resampling)
        out[ratings.raters[j]] = result_of(estimates(sample, [chosen], resampling)[0], sample, plan)
    return out


@dataclass(frozen=True)
class BlandAltman:
    """Mean difference of two raters (first less second), its standard deviation, and the limits."""

    bias: Result
    deviation: float
    lower: Result
    upper: Result


def bland_altman(
    ratings: Ratings, first: str, second: str, *, multiple: float = 1.96, plan: Plan | None = None
) -> BlandAltman:
    """Limits of agreement (Bland and Altman 1986): bias -+ multiple * SD, each with a cluster interval.

    1.96 covers 95% of normal differences; the paper itself used 2. ValueError with fewer than two items.
    """
    plan = plan or Plan()
    x, y = (ratings.values[:, ratings.column(r)] for r in (first, second))
    both = ~np.isnan(x) & ~np.isnan(y)
    d = (x - y)[both]
    if len(d) < 2:
        raise ValueError(f"{first} and {second} share {len(d)} items; limits of agreement need two")
    units = ratings.clusters[both]
    centre = float(d.mean())
    rows = np.column_stack([np.ones(len(d)), d - centre, (d - centre) ** 2])

    def at(sign: float) -> Result:
        def compute(totals: Floats) -> Floats:
            n, total, squares = totals.T
            with np.errstate(invalid="ignore", divide="ignore"):
                deviation = np.sqrt(np.maximum(squares - total**2 / n, 0) / (n - 1))
                return np.where(n > 1, centre + total / n + sign * multiple * deviation, np.nan)

        point, replicates = resampled(units, rows, compute, plan)
        name = "bland_altman_bias" if sign == 0 else f"bland_altman_{'lower' if sign < 0 else 'upper'}"
        return finished(
            name,
            point,
            replicates,
            plan,
            n_items=len(d),
            n_clusters=len(np.unique(units)),
            n_raters=2,
            n_missing=int(2 * len(x) - (~np.isnan(x)).sum() - (~np.isnan(y)).sum()),
            method=f"{first} less {second}, {multiple:g} SD",
        )

    return BlandAltman(at(0), float(d.std(ddof=1)), at(-1), at(1))
