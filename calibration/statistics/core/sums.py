"""Results of statistics that are functions of sums over items, resampled by cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from calibration.statistics.core.data import codes
from calibration.statistics.core.engine import interval_of
from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import additive
from calibration.statistics.core.types import Floats, Ints

Labels = Sequence[object] | np.ndarray[tuple[int, ...], np.dtype[np.generic]]


def cluster_codes(clusters: Labels | None, n: int) -> Ints:
    """Return cluster codes of n items; every item its own cluster where none are given."""
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"{len(clusters)} clusters for {n} items")
    return codes(clusters)


def resampled(
    units: Ints, rows: Floats, compute: Callable[[Floats], Floats], plan: Plan
) -> tuple[float, Floats]:
    """Return compute's value on the totals of rows (items x d), and on the totals of every resample."""
    if not units.size:
        return float("nan"), np.empty(0)
    whole, drawn = totals(units, rows, plan)
    return float(compute(whole)[0]), compute(drawn) if len(drawn) else np.empty(0)


def totals(units: Ints, rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
    """Return the totals of rows (items x d) as 1 x d, and those of every resample (resamples x d).

    For several figures of the same rows: each reads them, and all see the same resamples.
    """
    n_units = int(units.max()) + 1
    sums = additive(units, n_units, rows).sums
    parts = [weights @ sums for weights in Resampling(plan, units, n_units).chunks()]
    return sums.sum(axis=0)[None, :], np.concatenate(parts) if parts else np.empty((0, sums.shape[1]))


def finished(
    name: str,
    point: float,
    replicates: Floats,
    plan: Plan,
    *,
    n_items: int,
    n_clusters: int,
    n_raters: int = 0,
    n_missing: int = 0,
    method: str = "",
    flags: tuple[str, ...] = (),
    undefined: str = "not defined on these ratings",
    leave_one_out: Floats | None = None,
    n_drawn: int | None = None,
) -> Result:
    """Return the result of a value with its resampled values, interval and cluster flag.

    ``n_drawn`` is how many clusters, or systems, are drawn from: the fewer where both are. The interval is
    percentile where there are no values with one unit left out, whatever the plan asks for; the method says
    which it is.
    """
    used = plan if leave_one_out is not None else replace(plan, interval="percentile")
    said = f"{method}; {used.method}" if method else used.method
    counts: Counts = {
        "n_items": n_items,
        "n_clusters": n_clusters,
        "n_raters": n_raters,
        "n_missing": n_missing,
    }
    if not np.isfinite(point):
        return Result(name, status="undefined", reason=undefined, method=said, flags=flags, **counts)
    drawn = n_clusters if n_drawn is None else n_drawn
    bounds = interval_of(point, replicates, drawn, used, leave_one_out, flags)
    flags += bounds.flags + cluster_flags(drawn)
    return Result(
        name, point, bounds.low, bounds.high, method=said, reason=bounds.reason, flags=flags, **counts
    )
