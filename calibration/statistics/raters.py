"""Each rater beside the rest, alpha with and without it, and what other raters of the kind would agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.statistics.analysis import mean_of
from calibration.statistics.core.base import Verdict
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import Estimate, estimates, interval_of, result_of
from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling, drawn_counts, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.sums import finished
from calibration.statistics.gold import majority
from calibration.statistics.table import STATISTICS

FEWEST = 5
ALPHA = "krippendorff_alpha"
REST = "the rest"


def with_the_rest(
    ratings: Ratings, column: int, rest: Sequence[int], statistic: str, resampling: Resampling
) -> Result:
    """Return a rater's statistic with the rest: with their mean, or for agreement with their majority.

    An item on which the majority of the rest is tied does not count.
    """
    chosen = STATISTICS[statistic]
    joined = (
        majority(ratings, columns=rest).values
        if chosen.needs_scale
        else mean_of(ratings.values[:, list(rest)])
    )
    both = ratings.with_column(REST, joined, on_scale=chosen.needs_scale)
    sample = Sample(both, (column, len(both.raters) - 1), resampling)
    found = result_of(estimates(sample, [chosen], resampling)[0], sample, resampling.plan)
    how = "majority of the rest, ties left out" if chosen.needs_scale else "mean of the rest"
    reason = found.reason.replace(f"{ratings.raters[column]} gave", "the rater gave")
    told = f"{chosen.title} with the {how}; {found.method}"
    return replace(found, name="rater_with_rest", method=told, reason=reason)


class AlphaOfOthers:
    """Krippendorff's alpha without and with raters, each set of raters estimated once."""

    def __init__(self, ratings: Ratings, resampling: Resampling) -> None:
        self.ratings, self.resampling = ratings, resampling
        self.kept: dict[tuple[int, ...], tuple[Estimate, Sample]] = {}

    def of(self, columns: Sequence[int]) -> tuple[Estimate, Sample]:
        """Return the estimate of alpha among some raters."""
        key = tuple(sorted(columns))
        if key not in self.kept:
            sample = Sample(self.ratings, key, self.resampling)
            self.kept[key] = estimates(sample, [STATISTICS[ALPHA]], self.resampling)[0], sample
        return self.kept[key]

    def without(self, rest: Sequence[int]) -> Result:
        """Return alpha among the rest: what it is without the rater."""
        estimate, sample = self.of(rest)
        return replace(result_of(estimate, sample, self.resampling.plan), name="rater_alpha_without")

    def gain(self, column: int, rest: Sequence[int]) -> Result:
        """Return alpha with a rater less alpha without it, on the same resamples."""
        name, plan = "rater_alpha_gain", self.resampling.plan
        (less, _), (more, sample) = self.of(rest), self.of([column, *rest])
        counts: Counts = {
            "n_items": sample.n_items,
            "n_clusters": sample.n_clusters,
            "n_raters": sample.n_raters,
            "n_missing": sample.n_missing,
        }
        bad = next((e.verdict for e in (less, more) if not e.ok), Verdict())
        if bad.status != "ok":
            return Result(name, status=bad.status, reason=bad.reason, method=plan.method, **counts)
        point = more.point - less.point
        left = [e.leave_one_out for e in (more, less) if e.leave_one_out is not None]
        n_drawn = self.resampling.n_drawn(sample.units)
        bounds = interval_of(
            point, more.replicates - less.replicates, n_drawn, plan, left[0] - left[1] if left else None
        )
        flags = bounds.flags + cluster_flags(n_drawn)
        how = f"with less without, paired; {plan.method}"
        return Result(
            name, point, bounds.low, bounds.high, method=how, reason=bounds.reason, flags=flags, **counts
        )


def over_raters(ratings: Ratings, columns: Sequence[int], statistic: str, plan: Plan) -> Result:
    """Return the mean of a pair statistic over raters, with an interval over raters (items held fixed).

    What it would be had other raters of the same kind been asked. Raters are drawn with replacement and the
    statistic is averaged over pairs of different raters, so that none is compared with itself; with fewer
    than five the resamples say little, and it is refused. ``n_clusters`` counts raters. KeyError for an
    unknown statistic.
    """
    chosen = STATISTICS[statistic]
    values = np.full((len(columns), len(columns)), np.nan)
    resampling = resampling_of(ratings, Plan(resamples=0))
    for i, first in enumerate(columns):
        for j in range(i + 1, len(columns)):
            found = estimates(Sample(ratings, (first, columns[j]), resampling), [chosen], resampling)[0]
            values[i, j] = found.point if found.ok else np.nan
    n_items = int(((~np.isnan(ratings.values[:, list(columns)])).sum(axis=1) >= 2).sum())
    counts: Counts = {"n_items": n_items, "n_clusters": len(columns), "n_raters": len(columns)}
    name = f"over_raters_{statistic}"
    if len(columns) < FEWEST:
        reason = f"an interval over raters needs {FEWEST} of them"
        return Result(name, status="insufficient", reason=reason, **counts)
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    point = filled.sum() / defined.sum() if defined.any() else np.nan
    drawn = drawn_counts(np.random.default_rng(plan.seed), len(columns), plan.resamples)
    weight = np.einsum("bi,bj,ij->b", drawn, drawn, defined.astype(np.float64), optimize=True)
    total = np.einsum("bi,bj,ij->b", drawn, drawn, filled, optimize=True)
    replicates = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
    mean = finished(name, float(point), replicates, plan, undefined="no two raters have a value", **counts)
    drawn_how = f"{plan.level:g} interval, {plan.resamples} resamples, seed {plan.seed}"
    return replace(mean, method=f"rater bootstrap, items held fixed, percentile {drawn_how}")
