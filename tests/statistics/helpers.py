"""Shortcuts to compute one statistic in a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.statistics import STATISTICS, Plan, Ratings, Result
from calibration.statistics.core.engine import Statistic, estimates, result_of
from calibration.statistics.core.ratings import Level
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.panel import ALPHA, alpha_at

POINT = Plan(resamples=0)
QUICK = Plan(resamples=200)


def compute(
    ratings: Ratings,
    statistic: str | Statistic,
    columns: Sequence[int] | None = None,
    plan: Plan = POINT,
) -> Result:
    """Return one statistic over the given columns (by default all)."""
    chosen = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    resampling = resampling_of(ratings, plan)
    sample = Sample(ratings, columns if columns is not None else range(len(ratings.raters)), resampling)
    return result_of(estimates(sample, [chosen], resampling)[0], sample, plan)


def pair(x: Sequence[float], y: Sequence[float], level: str = "interval", **options: object) -> Ratings:
    """Return the ratings of two raters."""
    return Ratings.from_matrix(np.column_stack([x, y]), level=level, **options)


def from_table(table: npt.ArrayLike, level: str = "nominal") -> Ratings:
    """Return two raters with this joint table; values are 1, 2, ..."""
    counts = np.asarray(table)
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    x, y = np.repeat(rows, times) + 1.0, np.repeat(columns, times) + 1.0
    return pair(x, y, level, scale=range(1, counts.shape[0] + 1))


def panel(raters_by_units: Sequence[Sequence[float | None]], level: str, **options: object) -> Ratings:
    """Return ratings of a raters x units table with None for missing."""
    return Ratings.from_matrix(np.array(raters_by_units, dtype=np.float64).T, level=level, **options)


def alpha_at_level(level: Level) -> Statistic:
    """Return alpha fixed to a level, whatever the ratings' own level."""
    return replace(
        ALPHA, key=f"krippendorff_alpha_{level}", compute=lambda draw: alpha_at(draw, level), library=None
    )
