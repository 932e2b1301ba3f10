"""How far from the people one more person would be: the margin that a judge's gap is held against.

The gap of a judge who is simply one more person is not 0. Its resamples of dialogues hold these people fixed,
while people differ from one another, and so would the next. With u the part of a rater's agreement that is
the rater's own, of variance T, the gap of one more person beside R people has the variance T (1 + 1/R), and
that of the resampled dialogues on top.

T comes from the people. A person's mean pair (kappa to first order, so that a person with few items is no
more biased than one with many) less the mean of all is (u - mean u)(R - 2)/(R - 1). Its square over different
clusters is free of the noise within clusters. What R people leave open about T is taken on top: the upper 85%
limit of their mean square (a chi-square of R - 1 degrees of freedom, fewer where their numbers of ratings
differ). Two people say nothing of it: their one pair is as much the one's as the other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats
from calibration.statistics.pairwise import disagreement_weights
from calibration.statistics.pooled import WEIGHTS

LIMIT = 0.15  # of the chi-square that says how little R people may show of how far people differ
Direction = Literal["more", "less"]
TOO_FEW = "two raters do not show how far raters differ; three do"


@dataclass(frozen=True)
class Spread:
    """How far people differ: variance over clusters, mean square, people, degrees of freedom."""

    between: float
    mean_square: float
    n_people: int
    freedom: float

    @property
    def of_one_more(self) -> float:
        """Return the variance of one more person's gap at its upper limit, without that of dialogues."""
        r = self.n_people
        scale = (r + 1) * (r - 1) / (r - 2) ** 2
        unknown = self.freedom / float(special.chdtri(self.freedom, 1 - LIMIT)) - 1
        return scale * (max(self.between, 0.0) + self.mean_square * unknown)


def margin_result(key: str, people: Sample, judge: Floats, gap: Result, replicates: Floats) -> Result:
    """Return how far from 0 the gap of one more person would lie in the plan's share of studies (95%)."""
    name, plan = f"margin_{key}", people.resampling.plan
    counts: Counts = {
        "n_items": gap.n_items,
        "n_clusters": gap.n_clusters,
        "n_raters": gap.n_raters,
        "n_missing": gap.n_missing,
    }
    if not gap.ok or gap.low is None:
        reason = gap.reason or "no interval of the gap"
        return Result(name, status="undefined", reason=reason, method=gap.method, **counts)
    if len(people.columns) < 3:
        reason = TOO_FEW
        return Result(name, status="insufficient", reason=reason, method=gap.method, **counts)
    found = spread(people, disagreement_weights(len(people.grid), WEIGHTS[key]))  # type: ignore[arg-type]
    z = float(special.ndtri((1 + plan.level) / 2))
    value = z * float(np.sqrt(np.nanvar(replicates) + found.of_one_more))
    return Result(name, value, reason="a bound, which has no interval", method=gap.method, **counts)


def direction(gap: float, low: float | None, high: float | None) -> Direction | None:
    """Say whether a gap's interval shows more or less agreement than people's own; None where it holds 0."""
    if low is None or high is None or low <= 0 <= high:
        return None
    return "more" if gap > 0 else "less"


def beyond_one_more(gap: float, margin: float | None) -> bool:
    """Whether one more person would hardly have such a gap."""
    return margin is not None and abs(gap) > margin


def unknown_of_one_more(n_people: int, who: str, one: str) -> str:
    """Say what is missing where a gap may be that of one more person, as far as these people tell."""
    return f"it takes more than {n_people} {who} to show whether one more {one} would differ as much"


def spread(people: Sample, weights: Floats) -> Spread:
    """Return how far people differ in their agreement with the others, in units of kappa."""
    given = people.present[people.used]
    codes = np.where(given, np.searchsorted(people.grid, np.where(given, people.values, people.grid[0])), 0)
    others = np.where(given, people.per_item[people.used][:, None] - 1.0, 0.0)
    apart = (people.counts @ weights)[np.arange(people.n_items)[:, None], codes]  # from the item's others
    margin = np.bincount(codes[given], weights=others[given], minlength=len(people.grid)) / others.sum()
    by_chance = weights @ margin
    observed, expected = apart[given].sum() / others.sum(), float(margin @ by_chance)
    moved = observed / expected**2 * (by_chance[codes] - expected) * others
    own = np.where(given, moved - (apart - others * observed) / expected, 0.0)
    clusters = np.unique(people.clusters, return_inverse=True)[1].ravel()
    return _spread(_summed(own, clusters), _summed(others, clusters))


def _summed(block: Floats, clusters: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """Sum items x people per cluster."""
    out = np.zeros((int(clusters.max()) + 1, block.shape[1]))
    np.add.at(out, clusters, block)
    return out


def _spread(own: Floats, pairs: Floats) -> Spread:
    """Return the spread from each cluster's and person's sums (clusters x people) and numbers of pairs."""
    total, n = own.sum(axis=0), pairs.sum(axis=0)
    mean_square = float((total**2).sum() / (n**2).sum())
    across = float((n**2).sum() - (pairs**2).sum())
    between = float((total**2).sum() - (own**2).sum()) / across if across > 0 else mean_square
    freedom = max(1.0, float((n**2).sum() ** 2 / (n**4).sum()) - 1)
    return Spread(between, mean_square, len(n), freedom)
