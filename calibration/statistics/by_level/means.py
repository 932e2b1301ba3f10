"""Scores of units and systems: means of the scores of items, with ties kept as ties."""

from __future__ import annotations

import numpy as np

from calibration.statistics.by_level.scored import Scored, Scores
from calibration.statistics.core.types import Floats, Ints

EQUAL = 1e-12
"""Means closer than this, relative to the largest, are equal: they come in different orders of addition."""


def unit_means(scored: Scored, side: Scores) -> Floats:
    """Return the mean of a side's scores in each unit, NaN where it has none."""
    return means(side.values, scored.frame(side.frame).units, len(scored.units))


def means(values: Floats, groups: Ints, n: int) -> Floats:
    """Return the mean of the values in each of n groups, ties kept; NaN where a group has none."""
    given = ~np.isnan(values)
    counted = np.bincount(groups[given], minlength=n)
    total = np.bincount(groups[given], weights=values[given], minlength=n)
    return tied(np.where(counted > 0, total / np.maximum(counted, 1), np.nan))


def tied(values: Floats) -> Floats:
    """Return the values with those that differ by rounding alone made equal, to the lowest of them."""
    out = values.copy()
    given = np.flatnonzero(~np.isnan(values))
    if len(given) < 2:
        return out
    ordered = given[np.argsort(values[given], kind="stable")]
    sorted_values = values[ordered]
    tolerance = EQUAL * float(np.abs(sorted_values).max())
    first = np.concatenate([[True], np.diff(sorted_values) > tolerance])
    out[ordered] = sorted_values[first][np.cumsum(first) - 1]
    return out
