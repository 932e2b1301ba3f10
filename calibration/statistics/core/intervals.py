"""Intervals from resampled values: percentile and BCa (Efron 1987; Efron and Tibshirani 1993, ch. 13-14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.types import Floats

FEW_CLUSTERS = 50
MODERATE_CLUSTERS = 150


@dataclass(frozen=True)
class Bounds:
    """An interval, or why there is none."""

    low: float | None = None
    high: float | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()


def cluster_flags(n_clusters: int) -> tuple[str, ...]:
    """Return the flag of an interval over this many clusters; none from 150 on.

    The limits are where simulated 95% intervals hold the truth less often than 93 times in 100 (see
    ``benchmarks/coverage.py``).
    """
    if n_clusters < FEW_CLUSTERS:
        return ("few_clusters",)
    return ("moderate_clusters",) if n_clusters < MODERATE_CLUSTERS else ()


def bounds_of(point: float, replicates: Floats, plan: Plan, leave_one_out: Floats | None = None) -> Bounds:
    """Return the interval of resampled values (NaN where a resample left the statistic undefined)."""
    if not replicates.size:
        return Bounds(reason="no interval: no resamples were asked for")
    defined = replicates[~np.isnan(replicates)]
    share = 1 - defined.size / replicates.size
    if share > plan.max_undefined:
        reason = f"no interval: undefined in {share:.0%} of the resamples"
        return Bounds(reason=reason, flags=("undefined_resamples",))
    if np.ptp(defined) <= 1e-12 * max(1.0, float(np.abs(defined).max())):
        return Bounds(reason="no interval: the same in every resample", flags=("degenerate_resamples",))
    tail = (1 - plan.level) / 2
    if plan.interval == "percentile":
        low, high = np.quantile(defined, [tail, 1 - tail])
        return Bounds(float(low), float(high))
    return _bca(point, defined, np.array([tail, 1 - tail]), leave_one_out)


def _bca(point: float, defined: Floats, tails: Floats, leave_one_out: Floats | None) -> Bounds:
    """Shift the percentiles by the bias z0 and the acceleration a of the leave-one-out values."""
    below = (np.count_nonzero(defined < point) + np.count_nonzero(defined <= point)) / (2 * defined.size)
    if leave_one_out is None or np.isnan(leave_one_out).any():
        return Bounds(reason="no interval: undefined when one cluster is left out, which BCa needs")
    if not 0 < below < 1:
        return Bounds(reason="no interval: all resamples lie on one side of the value, BCa is not defined")
    away = leave_one_out.mean() - leave_one_out
    spread = float((away**2).sum()) ** 1.5
    if spread == 0:
        return Bounds(reason="no interval: no cluster changes the value", flags=("degenerate_resamples",))
    bias, acceleration = ndtri(below), float((away**3).sum()) / (6 * spread)
    shifted = bias + ndtri(tails)
    adjusted = ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(defined, adjusted)
    return Bounds(float(low), float(high))
