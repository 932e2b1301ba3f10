"""Pairwise ranking accuracy with tie calibration, as used to rank metrics of machine translation.

Source: Deutsch, Foster and Freitag (2023), "Ties Matter". Over pairs of items, a metric is right where it
orders them as people do, ties included. Metrics seldom tie, so differences of at most a threshold count as
ties; the threshold is the one that maximises accuracy, and is reported. Choosing it on the same items is
slightly optimistic; pass a threshold found on dev to measure test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import Labels, cluster_codes, finished, resampled
from calibration.statistics.core.types import Floats, Ints


@dataclass(frozen=True)
class RankingAccuracy:
    """The accuracy and the threshold below which the metric's differences count as ties."""

    accuracy: Result
    threshold: float


def ranking_accuracy(
    people: npt.ArrayLike,
    metric: npt.ArrayLike,
    groups: Labels | None = None,
    *,
    threshold: float | None = None,
    plan: Plan | None = None,
) -> RankingAccuracy:
    """Accuracy over pairs within groups (such as the systems' answers at one point of one dialogue).

    Without groups all pairs count, and there is no interval. Groups are also what is resampled.
    """
    plan = plan or Plan()
    h, m = np.asarray(people, np.float64), np.asarray(metric, np.float64)
    use = ~np.isnan(h) & ~np.isnan(m)
    units = cluster_codes(groups, len(h)) if groups is not None else np.zeros(len(h), np.int64)
    human, difference, unit = _pairs(h[use], m[use], units[use])
    name = "ranking_accuracy"
    counts: Counts = {"n_items": int(use.sum()), "n_clusters": len(np.unique(unit)), "n_raters": 2}
    if not len(human):
        reason = "no two items of one group have both values"
        return RankingAccuracy(Result(name, status="insufficient", reason=reason, **counts), 0.0)
    chosen = _best_threshold(human, difference) if threshold is None else threshold
    right = np.where(np.abs(difference) <= chosen, human == 0, np.sign(difference) == human)
    rows = np.column_stack([np.ones(len(human)), right])
    _, local = np.unique(unit, return_inverse=True)
    point, replicates = resampled(local.ravel(), rows, lambda t: t[:, 1] / np.maximum(t[:, 0], 1), plan)
    how = "calibrated on these pairs" if threshold is None else "as given"
    method = f"{len(human)} pairs, ties up to {chosen:g} ({how})"
    return RankingAccuracy(finished(name, point, replicates, plan, method=method, **counts), float(chosen))


def _pairs(h: Floats, m: Floats, units: Ints) -> tuple[Floats, Floats, Ints]:
    """Return, per pair within a group, people's order (-1, 0, 1), the metric's difference, and the group."""
    orders, differences, groups = [], [], []
    order = np.argsort(units, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(units[order])) + 1):
        i, j = np.triu_indices(len(mine), 1)
        orders.append(np.sign(h[mine[i]] - h[mine[j]]))
        differences.append(m[mine[i]] - m[mine[j]])
        groups.append(np.full(len(i), units[mine[0]] if len(mine) else 0))
    return np.concatenate(orders), np.concatenate(differences), np.concatenate(groups)


def _best_threshold(human: Floats, difference: Floats) -> float:
    """Return the smallest threshold of highest accuracy."""
    size = np.abs(difference)
    order = np.argsort(size, kind="stable")
    tied = (human == 0)[order]
    ordered = ((np.sign(difference) == human) & (difference != 0))[order]
    exact = (difference == 0)[order]
    gained = np.cumsum(tied) + ordered.sum() - np.cumsum(ordered)
    last_of_size = np.append(size[order][1:] != size[order][:-1], True)
    candidates = np.flatnonzero(last_of_size)
    start = float((tied & exact).sum() + ordered.sum())
    best = candidates[np.argmax(gained[candidates])]
    return float(size[order][best]) if gained[best] > start else 0.0
