"""Resampling raters: what an interval would be if other raters of the same kind had been asked.

Raters are drawn with replacement and a pair statistic is averaged over pairs of different raters, so that no
rater is compared with itself. With fewer than five raters the resamples say little, and it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import Plan, drawn_counts, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import finished
from calibration.statistics.table import STATISTICS

FEWEST = 5


def over_raters(
    ratings: Ratings, statistic: str, raters: Sequence[str] | None = None, plan: Plan | None = None
) -> Result:
    """Return the mean of a pair statistic over raters, with an interval over raters (items held fixed).

    The interval speaks of raters, not of dialogues; ``n_clusters`` counts raters. KeyError for an unknown
    statistic or rater.
    """
    plan = plan or Plan()
    chosen = STATISTICS[statistic]
    names = tuple(raters) if raters is not None else ratings.raters
    columns = [ratings.column(r) for r in names]
    values = np.full((len(columns), len(columns)), np.nan)
    resampling = resampling_of(ratings, Plan(resamples=0))
    for i, first in enumerate(columns):
        for j in range(i + 1, len(columns)):
            found = estimates(Sample(ratings, (first, columns[j]), resampling), [chosen], resampling)[0]
            values[i, j] = found.point if found.ok else np.nan
    n_items = int(((~np.isnan(ratings.values[:, columns])).sum(axis=1) >= 2).sum())
    counts: Counts = {"n_items": n_items, "n_clusters": len(columns), "n_raters": len(columns)}
    name = f"mean_{statistic}"
    if len(columns) < FEWEST:
        reason = f"{len(columns)} raters; an interval over raters needs {FEWEST}"
        return Result(name, status="insufficient", reason=reason, **counts)
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    point = filled.sum() / defined.sum() if defined.any() else np.nan
    drawn = drawn_counts(np.random.default_rng(plan.seed), len(columns), plan.resamples)
    weight = np.einsum("bi,bj,ij->b", drawn, drawn, defined.astype(np.float64))
    total = np.einsum("bi,bj,ij->b", drawn, drawn, filled)
    replicates = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
    mean = finished(name, float(point), replicates, plan, **counts)
    drawn_how = f"{plan.level:g} interval, {plan.resamples} resamples, seed {plan.seed}"
    return replace(mean, method=f"rater bootstrap, items held fixed, percentile {drawn_how}")
