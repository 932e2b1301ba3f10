"""Repeated trials and repeated answers: pass^k, pass@k and self-consistency.

pass^k is the chance that k independent trials of a task all succeed, estimated without bias by
C(c, k) / C(n, k) for c successes in n trials (tau-bench, Yao et al. 2024); pass@k that at least one does,
1 - C(n - c, k) / C(n, k) (Chen et al. 2021). Both are means over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import Labels, cluster_codes, finished, resampled
from calibration.statistics.table import STATISTICS

CONSISTENCY = ("percent_agreement", "gwet_ac1", "krippendorff_alpha")


def pass_hat_k(
    successes: Sequence[int],
    trials: int | Sequence[int],
    k: int,
    clusters: Labels | None = None,
    plan: Plan | None = None,
) -> Result:
    """pass^k over tasks: all of k trials succeed. Undefined where a task has fewer than k trials."""
    return _over_tasks(f"pass_hat_{k}", successes, trials, k, clusters, plan, all_succeed=True)


def pass_at_k(
    successes: Sequence[int],
    trials: int | Sequence[int],
    k: int,
    clusters: Labels | None = None,
    plan: Plan | None = None,
) -> Result:
    """pass@k over tasks: one of k trials or more succeeds. Undefined where a task has fewer trials."""
    return _over_tasks(f"pass_at_{k}", successes, trials, k, clusters, plan, all_succeed=False)


def _over_tasks(
    name: str,
    successes: Sequence[int],
    trials: int | Sequence[int],
    k: int,
    clusters: Labels | None,
    plan: Plan | None,
    all_succeed: bool,
) -> Result:
    plan = plan or Plan()
    n = [trials] * len(successes) if isinstance(trials, int) else list(trials)
    if len(n) != len(successes):
        raise ValueError(f"{len(successes)} tasks, but {len(n)} numbers of trials")
    method = f"unbiased over {len(successes)} tasks"
    if not len(successes):
        return Result(name, status="insufficient", reason="no tasks", method=method)
    wrong = next((i for i, (c, t) in enumerate(zip(successes, n, strict=True)) if not 0 <= c <= t), None)
    if wrong is not None:
        reason = f"task {wrong} has {successes[wrong]} successes in {n[wrong]} trials"
        return Result(name, status="rejected", reason=reason, method=method, n_items=len(n))
    if k < 1 or min(n) < k:
        reason = f"k = {k} is more than the {min(n)} trials of a task" if k >= 1 else "k must be at least 1"
        return Result(name, status="undefined", reason=reason, method=method, n_items=len(n))
    value = np.array(
        [
            comb(c, k) / comb(t, k) if all_succeed else 1 - comb(t - c, k) / comb(t, k)
            for c, t in zip(successes, n, strict=True)
        ]
    )
    units = cluster_codes(clusters, len(value))
    rows = np.column_stack([np.ones(len(value)), value])
    point, replicates = resampled(units, rows, lambda totals: totals[:, 1] / totals[:, 0], plan)
    return finished(
        name,
        point,
        replicates,
        plan,
        n_items=len(value),
        n_clusters=len(np.unique(units)),
        n_raters=1,
        method=method,
    )


def self_consistency(answers: Ratings, plan: Plan) -> tuple[Result, ...]:
    """Return the agreement of a rater with itself: percent agreement, AC1 and alpha of its answers as raters.

    ``answers`` holds one column per sample of one rater, or per occasion on which it answered the same items.
    """
    resampling = resampling_of(answers, plan)
    sample = Sample(answers, range(len(answers.raters)), resampling)
    chosen = [s for key in CONSISTENCY if (s := STATISTICS[key]).applies(sample)]
    return tuple(result_of(found, sample, plan) for found in estimates(sample, chosen, resampling))
