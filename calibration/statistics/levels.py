"""Scores of dialogues and systems from scores of turns, and correlation at those levels.

As in ComperDial's footnotes: a continuation's score is the mean of its turns, a system's score the mean over
all its turns (or all its dialogues, where those were rated). System-level claims are resampled over systems,
or over dialogues and systems both where there are few dialogues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan, drawn_counts
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats, Ints

Unit = Literal["continuation", "system"]


def aggregate(ratings: Ratings, unit: Unit) -> Ratings:
    """Return one item per continuation or system, each rater's mean over its items there.

    A continuation stays in its dialogue's cluster; a system is a cluster of its own. ValueError where the
    ratings do not say which item belongs where, and for categories, which have no mean.
    """
    if ratings.level == "nominal":
        raise ValueError(f"categories have no mean over a {unit}: aggregate numbers, or 0 and 1 per category")
    groups = ratings.continuations if unit == "continuation" else ratings.systems
    if groups is None:
        raise ValueError(f"the ratings do not name the {unit} of each item")
    n = int(groups.max()) + 1
    values = np.column_stack([_means(ratings.values[:, j], groups, n) for j in range(len(ratings.raters))])
    first = np.zeros(n, np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    clusters = ratings.clusters[first] if unit == "continuation" else np.arange(n)
    return replace(
        ratings,
        values=values,
        level="interval" if ratings.level != "ratio" else "ratio",
        items=tuple(str(i) for i in range(n)),
        clusters=np.unique(clusters, return_inverse=True)[1].ravel(),
        scale=None,
        names=None,
        on_scale=(False,) * len(ratings.raters),
        systems=ratings.systems[first] if ratings.systems is not None else None,
        continuations=None,
    )


def _means(column: Floats, groups: Ints, n: int) -> Floats:
    given = ~np.isnan(column)
    counted = np.bincount(groups[given], minlength=n)
    total = np.bincount(groups[given], weights=column[given], minlength=n)
    return np.where(counted > 0, total / np.maximum(counted, 1), np.nan)


def system_level(
    ratings: Ratings,
    first: str,
    second: str,
    *,
    statistic: Literal["pearson", "spearman"] = "spearman",
    plan: Plan | None = None,
) -> Result:
    """Correlation of two raters' system scores, resampling dialogues and systems both.

    Each resample draws dialogues, recomputes every system's mean on them, and draws systems.
    """
    plan = plan or Plan()
    if ratings.systems is None:
        raise ValueError("the ratings do not name the system of each item")
    x, y = (ratings.values[:, ratings.column(r)] for r in (first, second))
    use = ~np.isnan(x) & ~np.isnan(y)
    clusters = np.unique(ratings.clusters[use], return_inverse=True)[1].ravel()
    systems = np.unique(ratings.systems[use], return_inverse=True)[1].ravel()
    name = f"system_{statistic}"
    n_clusters, n_systems = (int(c.max()) + 1 if len(c) else 0 for c in (clusters, systems))
    counts: Counts = {"n_items": n_systems, "n_clusters": n_clusters, "n_raters": 2}
    if n_systems < 3:
        return Result(
            name, status="insufficient", reason=f"{n_systems} systems; correlation needs three", **counts
        )
    sums = np.zeros((3, n_clusters, n_systems))
    for k, values in enumerate((np.ones(len(x)), x, y)):
        np.add.at(sums[k], (clusters, systems), values[use])
    correlate = _pearson if statistic == "pearson" else _spearman
    point = _once(sums, np.ones(n_clusters), np.arange(n_systems), correlate)
    rng = np.random.default_rng(plan.seed)
    replicates = np.array(
        [
            _once(sums, drawn_counts(rng, n_clusters, 1)[0], rng.integers(0, n_systems, n_systems), correlate)
            for _ in range(plan.resamples)
        ]
    )
    return finished(
        name,
        point,
        replicates,
        replace(plan, scheme="crossed", interval="percentile"),
        method=f"means per system over {n_clusters} clusters",
        undefined="a rater scores all systems alike",
        **counts,
    )


def _once(sums: Floats, weights: Floats, chosen: Ints, correlate: Callable[[Floats, Floats], float]) -> float:
    n, x, y = np.tensordot(weights, sums, axes=(0, 1))
    seen = chosen[n[chosen] > 0]
    return correlate(x[seen] / n[seen], y[seen] / n[seen]) if len(seen) > 2 else np.nan


def _pearson(x: Floats, y: Floats) -> float:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()), -1, 1))


def _spearman(x: Floats, y: Floats) -> float:
    return _pearson(rankdata(x), rankdata(y))
