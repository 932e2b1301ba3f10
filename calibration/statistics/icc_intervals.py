"""Intervals of intraclass correlations from the F distribution, for complete tables of independent items.

Source: McGraw and Wong (1996), tables 4 and 7. They assume normal effects and no clusters; the bootstrap of
``analyse`` assumes neither and is the default. Use these with few items, where resampling says little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import special

from calibration.statistics.analysis import Entry
from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats
from calibration.statistics.icc import Form
from calibration.statistics.table import STATISTICS


def f_interval(ratings: Ratings, form: Form, average: bool = False, level: float = 0.95) -> Result:
    """Return ICC(form,1) or ICC(form,k) with its F interval.

    With missing cells, fewer than two items or no variation between items there is no F interval; the result
    then says why, or has a value alone.
    """
    statistic: Statistic = STATISTICS[f"icc_{form}_{'k' if average else '1'}"]
    resampling = resampling_of(ratings, Plan(resamples=0))
    sample = Sample(ratings, range(len(ratings.raters)), resampling)
    plain = result_of(estimates(sample, [statistic], resampling)[0], sample, resampling.plan)
    method = f"F distribution, {level:.0%}; items independent and normal"
    if not plain.ok:
        return replace(plain, method=method)
    if np.isnan(sample.values).any() or sample.n_items < len(ratings.values):
        return replace(plain, method=method, reason="no F interval with missing cells; use the bootstrap")
    low, high = _bounds(sample.values, form, average, (1 + level) / 2)
    if np.isinf(low):
        return replace(plain, method=method, reason="no F interval: the raters agree without error")
    if not low <= (plain.value or 0.0) <= high:
        reason = (
            "no F interval: its approximation fails on so little variation between items; use the bootstrap"
        )
        return replace(plain, method=method, reason=reason)
    return replace(plain, low=low, high=high, method=method, reason="")


BY_F = "_f"
"""What the name of an intraclass correlation with its F interval ends in."""


def f_intervals(ratings: Ratings, panel: Iterable[Entry], level: float = 0.95) -> tuple[Entry, ...]:
    """Return each intraclass correlation of a panel once more, with its F interval and `_f` after its name.

    ``panel`` are the entries of ``analyse`` over these ratings; those of other statistics are passed over.
    """
    found = []
    for entry in panel:
        family, *rest = entry.result.name.split("_")
        if family != "icc":
            continue
        form: Form = int(rest[0])  # type: ignore[assignment]
        chosen = ratings.take([ratings.column(rater) for rater in entry.raters])
        result = f_interval(chosen, form, rest[1] == "k", level)
        found.append(replace(entry, result=replace(result, name=result.name + BY_F)))
    return tuple(found)


def _bounds(block: Floats, form: Form, average: bool, tail: float) -> tuple[float, float]:
    n, k = block.shape
    between, within, raters, error = mean_squares(block)
    if form == 2:
        low, high = _two_way_random(between, raters, error, n, k, tail)
        return (_of_average(low, k), _of_average(high, k)) if average else (low, high)
    noise, df = (within, n * (k - 1)) if form == 1 else (error, (n - 1) * (k - 1))
    if noise <= 0:
        return np.inf, np.inf
    ratio = between / noise
    low, high = ratio / _f(tail, n - 1, df), ratio * _f(tail, df, n - 1)
    if average:
        return 1 - 1 / low, 1 - 1 / high
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _two_way_random(
    between: float, raters: float, error: float, n: int, k: int, tail: float
) -> tuple[float, float]:
    """Limits of ICC(2,1), with Satterthwaite's degrees of freedom for its noise."""
    if error <= 0:
        return np.inf, np.inf
    icc = (between - error) / (between + (k - 1) * error + k * (raters - error) / n)
    a, b = k * icc * raters / error, n * (1 + (k - 1) * icc) - k * icc
    df = (k - 1) * (n - 1) * (a + b) ** 2 / ((n - 1) * a**2 + b**2)
    upper, lower = _f(tail, n - 1, df), _f(tail, df, n - 1)
    noise = k * raters + (k * n - k - n) * error
    return (
        n * (between - upper * error) / (upper * noise + n * between),
        n * (lower * between - error) / (noise + n * lower * between),
    )


def _of_average(limit: float, k: int) -> float:
    """Return the limit for the mean of k raters; NaN at or below -1 / (k - 1), where there is none."""
    bottom = 1 + limit * (k - 1)
    return limit * k / bottom if bottom > 0 else np.nan


def mean_squares(block: Floats) -> tuple[float, float, float, float]:
    """Return the mean squares between items, within items, between raters and of error."""
    n, k = block.shape
    rows, columns, grand = block.mean(axis=1, keepdims=True), block.mean(axis=0), block.mean()
    between = k * float(((rows - grand) ** 2).sum()) / (n - 1)
    within = float(((block - rows) ** 2).sum()) / (n * (k - 1))
    raters = n * float(((columns - grand) ** 2).sum()) / (k - 1)
    error = float(((block - rows - columns + grand) ** 2).sum()) / ((n - 1) * (k - 1))
    return between, within, raters, error


def _f(probability: float, first: float, second: float) -> float:
    return float(special.fdtri(first, second, probability))
