"""Ratings of continuations or systems from ratings of their items: each rater's means."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from calibration.statistics.by_level.means import means
from calibration.statistics.core.data import Ratings

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
    values = np.column_stack([means(ratings.values[:, j], groups, n) for j in range(len(ratings.raters))])
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
        firsts={},
        systems=ratings.systems[first] if ratings.systems is not None else None,
        continuations=None,
    )
