"""Repeated trials and repeated answers: pass^k, pass@k and self-consistency.

pass^k is the chance that k independent trials of a task all succeed, estimated without bias by
C(c, k) / C(n, k) for c successes in n trials (tau-bench, Yao et al. 2024); pass@k that at least one does,
1 - C(n - c, k) / C(n, k) (Chen et al. 2021). Both are means over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Literal

import numpy as np

from calibration.statistics.core.engine import (
    InReports,
    Labels,
    Result,
    cluster_codes,
    estimates,
    finished,
    resampled,
    result_of,
)
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.describe import as_numbers, bland_altman
from calibration.statistics.gold import majority
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
    applicable = [s for key in CONSISTENCY if (s := STATISTICS[key]).applies(sample)]
    return tuple(result_of(estimate, sample, plan) for estimate in estimates(sample, applicable, resampling))


# Self-consistency of a rater: over several samples, or over the same item shown twice.

How = Literal["samples", "again"]
KS = (1, 2, 3, 4, 5, 8, 16, 32)

SAME = {
    "percent_agreement": InReports("Percent agreement with itself", "Same answer"),
    "gwet_ac1": InReports("Gwet's AC1 with itself", "AC1"),
    "krippendorff_alpha": InReports("Krippendorff's alpha with itself", "α"),
    "drift": InReports("Second answer less the first", "Drift"),
}
"""Meaning of figures, by their names without `samples_` or `again_`."""
PASSES = {
    "pass_hat_": "marked by all k samples (pass^k)",
    "pass_at_": "marked by one of k samples or more (pass@k)",
    "right_hat_": "right in all k samples (pass^k)",
}
"""Meaning of a sample's success, by the start of a figure's name; the rest of the name is k."""


def repeat_title(name: str) -> str:
    """Title of a figure of repeated answers; empty for any other figure."""
    how, _, same = name.partition("_")
    if how in ("samples", "again") and same in SAME:
        return SAME[same].name
    for start, title in PASSES.items():
        k = name.removeprefix(start)
        if name.startswith(start) and k.isdecimal():
            return f"{title[:1].upper()}{title[1:]}, k = {k}"
    return ""


@dataclass(frozen=True)
class Repeats:
    """A rater's answers to the same items: `n_answers` samples each, or two occasions; and its figures."""

    rater: str
    kind: str
    how: How
    n_answers: int
    figures: tuple[Result, ...]


def repeats_of(
    answers: Ratings, rater: str, how: How, *, reference: Floats | None = None, plan: Plan
) -> Repeats:
    """Statistics of a rater's repeated answers, one column per sample or occasion.

    ``reference`` holds the other raters' value per item of ``answers`` (NaN where they disagree or are
    missing): against it binary samples are right or wrong.
    """
    results = [replace(r, name=f"{how}_{r.name}") for r in self_consistency(answers, plan)]
    block = as_numbers(answers)
    if how == "again" and block is not None:
        drift, _, _ = bland_altman(block[:, 1], block[:, 0], resampling_of(answers, plan))
        results.append(replace(drift, name="again_drift"))
    if how == "samples" and answers.level == "binary" and block is not None:
        truth = None if reference is None or answers.positive is None else reference == answers.positive
        reference_truth = (
            None if truth is None or reference is None else np.where(np.isnan(reference), np.nan, truth)
        )
        results += _passes(answers, block, reference_truth, plan)
    return Repeats(rater, answers.kinds[0], how, len(answers.raters), tuple(results))


def right_answers(ratings: Ratings, rater: str) -> Floats | None:
    """Right answer per item: the key's, otherwise the majority of the other people's; None without either."""
    if ratings.level not in CATEGORIES:
        return None
    keys = [j for j in ratings.of_kind("key") if ratings.on_scale[j]]
    people = [j for j in ratings.of_kind("human") if ratings.on_scale[j] and ratings.raters[j] != rater]
    return majority(ratings, columns=keys or people).values if keys or people else None


def _passes(answers: Ratings, block: Floats, truth: Floats | None, plan: Plan) -> list[Result]:
    """Return pass^k and pass@k of marking, and pass^k of being right, over items with all of the samples."""
    complete = ~np.isnan(block).any(axis=1)
    n = block.shape[1]
    marked = block[complete].sum(axis=1).astype(int).tolist()
    units = answers.clusters[complete]
    ks = [k for k in KS if k < n] + [n]
    results = [pass_hat_k(marked, n, k, units, plan) for k in ks]
    results += [pass_at_k(marked, n, k, units, plan) for k in ks]
    if truth is None:
        return results
    has_truth = complete & ~np.isnan(truth)
    right = (block[has_truth] == truth[has_truth][:, None]).sum(axis=1).astype(int).tolist()
    units = answers.clusters[has_truth]
    return results + [replace(pass_hat_k(right, n, k, units, plan), name=f"right_hat_{k}") for k in ks]
