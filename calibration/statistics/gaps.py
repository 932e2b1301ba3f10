"""The gap between judge-people and people-people agreement, on the same items and the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.statistics.data import Floats
from calibration.statistics.engine import Estimate, interval_of
from calibration.statistics.intervals import cluster_flags
from calibration.statistics.resampling import Plan
from calibration.statistics.result import Counts, Result
from calibration.statistics.samples import Sample

COMPARED = frozenset(
    (
        *("percent_agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi"),
        *("mcc", "f1", "pearson", "spearman", "kendall_tau_b"),
    )
)


@dataclass(frozen=True)
class Shared:
    """What is counted of a pair's sample: the sample itself is large and not kept."""

    columns: tuple[int, ...]
    n_items: int
    n_clusters: int
    n_missing: int

    @staticmethod
    def of(sample: Sample) -> Shared:
        """Return the counts of a sample."""
        return Shared(sample.columns, sample.n_items, sample.n_clusters, sample.n_missing)


@dataclass(frozen=True)
class Member:
    """One pair of raters: what they share, and its estimates by statistic."""

    sample: Shared
    estimates: dict[str, Estimate]


@dataclass(frozen=True)
class Mean:
    """The mean of a statistic over pairs, each weighing as many items as it shares.

    Pairs where the statistic is undefined are left out and counted.
    """

    point: float
    replicates: Floats
    n_pairs: int
    n_dropped: int
    n_items: int
    n_clusters: int
    n_raters: int
    n_missing: int
    reason: str = ""
    leave_one_out: Floats | None = None
    flags: tuple[str, ...] = ()


def gap_results(people: Sequence[Member], judge: Sequence[Member], plan: Plan) -> list[Result]:
    """Return, per measure of agreement, people with people, judge with people, and judge minus people."""
    out = []
    keys = [k for k in judge[0].estimates if k in COMPARED] if judge and people else []
    for key in keys:
        among, with_judge = mean_over(people, key), mean_over(judge, key)
        if among is None or with_judge is None:
            continue
        out.append(_result(f"people_{key}", among, among, plan))
        out.append(_result(f"judge_{key}", with_judge, with_judge, plan))
        out.append(_result(f"gap_{key}", with_judge, among, plan, difference=True))
    return out


def people_results(people: Sequence[Member], plan: Plan) -> list[Result]:
    """Return, per measure of agreement, the mean over pairs of people."""
    keys = [k for k in people[0].estimates if k in COMPARED] if people else []
    means = [(key, mean_over(people, key)) for key in keys]
    return [_result(f"people_{key}", mean, mean, plan) for key, mean in means if mean is not None]


def mean_over(members: Sequence[Member], key: str) -> Mean | None:
    """Return the mean of a statistic over pairs, or None where it does not apply to them."""
    found = [(m.sample, m.estimates[key]) for m in members if key in m.estimates]
    if not found:
        return None
    good = [(sample, e) for sample, e in found if e.ok]
    reason = found[0][1].verdict.reason if not good else ""
    point, replicates, left = np.nan, np.empty(0), None
    if good:
        shared = np.array([sample.n_items for sample, _ in good], dtype=np.float64)
        point = float(np.average([e.point for _, e in good], weights=shared))
        replicates = _defined_mean(np.array([e.replicates for _, e in good]), shared)
        jackknives = [e.leave_one_out for _, e in good if e.leave_one_out is not None]
        left = _defined_mean(np.array(jackknives), shared) if jackknives else None
    samples = [sample for sample, _ in (good or found)]
    return Mean(
        point,
        replicates,
        len(found),
        len(found) - len(good),
        max(s.n_items for s in samples),
        max(s.n_clusters for s in samples),
        len({column for s in samples for column in s.columns}),
        sum(s.n_missing for s in samples),
        reason,
        left,
        tuple(dict.fromkeys(flag for _, e in good for flag in e.verdict.flags)),
    )


def _defined_mean(rows: Floats, shared: Floats) -> Floats:
    """Weighted mean over pairs (rows) of the defined values; NaN where none is."""
    weights = np.where(np.isnan(rows), 0.0, shared[:, None])
    total = weights.sum(axis=0)
    return np.where(total > 0, np.nansum(rows * weights, axis=0) / np.where(total > 0, total, 1.0), np.nan)


def _result(name: str, one: Mean, other: Mean, plan: Plan, difference: bool = False) -> Result:
    n_items, n_clusters = min(one.n_items, other.n_items), min(one.n_clusters, other.n_clusters)
    n_raters = max(one.n_raters, other.n_raters)
    means = (one, other) if difference else (one,)
    pairs = " and ".join(f"{m.n_pairs - m.n_dropped} of {m.n_pairs}" for m in means)
    method = f"mean over {pairs} pairs, by their shared items; {plan.method}"
    flags = tuple(dict.fromkeys(flag for m in means for flag in m.flags))
    flags += ("dropped_raters",) if any(m.n_dropped for m in means) else ()
    undefined = next((m for m in means if np.isnan(m.point)), None)
    counts: Counts = {
        "n_items": n_items,
        "n_clusters": n_clusters,
        "n_raters": n_raters,
        "n_missing": sum(m.n_missing for m in means),
    }
    if undefined is not None:
        reason = undefined.reason
        return Result(name, status="undefined", reason=reason, method=method, flags=flags, **counts)
    point = one.point - other.point if difference else one.point
    replicates = one.replicates - other.replicates if difference else one.replicates
    left = one.leave_one_out
    if difference and left is not None and other.leave_one_out is not None:
        left = left - other.leave_one_out
    bounds = interval_of(point, replicates, n_clusters, plan, left)
    flags += bounds.flags + cluster_flags(n_clusters)
    return Result(
        name, point, bounds.low, bounds.high, method=method, reason=bounds.reason, flags=flags, **counts
    )
