"""People with each other, a judge with people, and the gap between them, on the same items and resamples.

The figures read one table of all pairs of ratings (``pooled``); the means over pairs of raters are given
beside them under their own names (``people_mean_*``, ``judge_mean_*``, ``gap_mean_*``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from calibration.statistics.core.engine import (
    UNEQUAL,
    Counts,
    Estimate,
    Result,
    few_events,
    few_of_either,
    interval_of,
    no_variation,
    prevalence,
    too_few_of_either,
)
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, cluster_flags
from calibration.statistics.core.samples import MAX_TABLE, Sample
from calibration.statistics.pairwise import disagreement_weights
from calibration.statistics.panel import POOLED, WEIGHTS, Beside, People, evaluated
from calibration.statistics.table import STATISTICS

# Margin for a judge's gap: how far from the people one more person would be.
#
# The gap of a judge who is simply one more person is not 0. Its resamples of dialogues hold these people
# fixed, while people differ from one another, and so would the next. With u the part of a rater's agreement
# that is the rater's own, of variance T, the gap of one more person beside R people has the variance T (1 +
# 1/R), and that of the resampled dialogues on top.
#
# T is estimated from the people. A person's mean pair (kappa to first order, so that a person with few items
# is no more biased than one with many) minus the mean of all is (u - mean u)(R - 2)/(R - 1). Its square over
# different clusters is free of the noise within clusters. The uncertainty about T with R people is taken on
# top: the upper 85% limit of their mean square (a chi-square of R - 1 degrees of freedom, fewer where their
# numbers of ratings differ). Two people cannot show it: their single pair belongs to both equally.

LIMIT = 0.15  # tail of the chi-square, for the little that R people may show of their differences
Direction = Literal["more", "less"]
TOO_FEW = "two raters are too few to tell how far raters differ: three are needed"


@dataclass(frozen=True)
class Spread:
    """Differences among people: variance over clusters, mean square, people, degrees of freedom."""

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
    """Return the margin around 0 for the gap of one more person in the plan's share of studies (95%)."""
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
    people_spread = spread(people, disagreement_weights(len(people.grid), WEIGHTS[key]))  # type: ignore[arg-type]
    z = float(special.ndtri((1 + plan.level) / 2))
    value = z * float(np.sqrt(np.nanvar(replicates) + people_spread.of_one_more))
    return Result(name, value, reason="a bound, which has no interval", method=gap.method, **counts)


def direction(gap: float, low: float | None, high: float | None) -> Direction | None:
    """Return whether a gap's interval shows more or less agreement than people's; None where it holds 0."""
    if low is None or high is None or low <= 0 <= high:
        return None
    return "more" if gap > 0 else "less"


def beyond_one_more(gap: float, margin: float | None) -> bool:
    """Whether one more person would hardly have such a gap."""
    return margin is not None and abs(gap) > margin


def unknown_of_one_more(n_people: int, plural: str, singular: str) -> str:
    """Return the clause on missing knowledge: with these people, a gap may be that of one more person."""
    return f"{n_people} {plural} are too few to tell whether one more {singular} would differ as much"


def spread(people: Sample, weights: Floats) -> Spread:
    """Return how much people differ in their agreement with the others, in units of kappa."""
    present = people.present[people.used]
    codes = np.where(
        present, np.searchsorted(people.grid, np.where(present, people.values, people.grid[0])), 0
    )
    others = people.weighted(np.where(present, people.per_item[people.used][:, None] - 1.0, 0.0))
    apart = people.weighted((people.counts @ weights)[np.arange(people.n_items)[:, None], codes])
    margin = np.bincount(codes[present], weights=others[present], minlength=len(people.grid)) / others.sum()
    by_chance = weights @ margin
    observed, expected = apart[present].sum() / others.sum(), float(margin @ by_chance)
    moved = observed / expected**2 * (by_chance[codes] - expected) * others
    own = np.where(present, moved - (apart - others * observed) / expected, 0.0)
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


OF_THE_DATA = (prevalence, few_events, few_of_either, too_few_of_either)
ONE_TABLE = "every pair of ratings of an item once, in one table"


@dataclass(frozen=True)
class Member:
    """One pair of raters: their columns, the items both rated, and their estimates by statistic."""

    columns: tuple[int, ...]
    items: Ints
    estimates: dict[str, Estimate]


@dataclass(frozen=True)
class Figure:
    """One side of a comparison, before its interval: what it rests on, and the reason if it is undefined."""

    point: float
    replicates: Floats
    leave_one_out: Floats | None
    counts: Counts
    n_drawn: int
    how: str
    flags: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Comparison:
    """Ratings restricted to the items compared, the people's columns, and the judge's where there is one."""

    ratings: Ratings
    cut: Ratings
    people: tuple[int, ...]
    judge: int | None
    resampling: Resampling

    def figure_of(self, columns: Sequence[int], items: Ints) -> tuple[Counts, int]:
        """Return the counts of a figure over these raters and items, and the number of units drawn from."""
        counts: Counts = {
            "n_items": len(items),
            "n_clusters": len(np.unique(self.ratings.clusters[items])),
            "n_raters": len(columns),
            "n_missing": int(np.isnan(self.ratings.values[:, list(columns)]).sum()),
        }
        return counts, self.resampling.n_drawn(self.resampling.units[items])

    @property
    def plan(self) -> Plan:
        """Settings of the intervals."""
        return self.resampling.plan


def gap_results(
    of: Comparison, people: Sequence[Member], judge: Sequence[Member], further: Collection[str] = ()
) -> list[Result]:
    """Return, per measure of agreement, people with people, judge with people, and judge minus people.

    First from one table, with the margin of one more person; then the same as means over pairs. Without a
    judge, people with people alone. Statistics with a reference (precision, recall) are those of the judge
    with each person as the reference: among people there is no reference. ``further`` are statistics of one
    table that apply although no pair was compared.
    """
    applicable = set(further) | {
        key for m in (judge if of.judge is not None else people) for key in m.estimates
    }
    keys = [key for key in STATISTICS if key in applicable]
    out = pooled_results(of, keys)
    for key in keys:
        among = mean_over(of, people, key) if STATISTICS[key].symmetric else None
        beside = mean_over(of, judge, key)
        name = f"mean_{key}"
        out += [result(f"people_{name}", among, of.plan)] if among else []
        out += [result(f"judge_{name}", beside, of.plan)] if beside else []
        out += [result(f"gap_{name}", difference(beside, among), of.plan)] if among and beside else []
    return out


def pooled_results(of: Comparison, keys: Sequence[str]) -> list[Result]:
    """Return the figures of one table, where the raters share a scale of few enough values."""
    keys = [key for key in keys if key in POOLED]
    scale, columns = of.cut.scale, (*of.people, *(() if of.judge is None else (of.judge,)))
    if not keys or scale is None or len(scale) ** 2 > MAX_TABLE or of.cut.problem:
        return []
    if not all(of.cut.on_scale[j] for j in columns):
        return []
    people = People(of.cut, of.people, of.resampling)
    among = _figures(of, people, None, keys)
    if of.judge is None:
        return [result(f"people_{key}", among[key], of.plan) for key in keys]
    beside = _figures(of, people, Beside(people, of.cut.values[:, of.judge], of.resampling), keys)
    out = []
    for key in keys:
        gap = difference(beside[key], among[key])
        out += [result(f"people_{key}", among[key], of.plan), result(f"judge_{key}", beside[key], of.plan)]
        out.append(result(f"gap_{key}", gap, of.plan))
        if key in WEIGHTS:
            out.append(margin_result(key, people.sample, of.cut.values[:, of.judge], out[-1], gap.replicates))
    return out


def _figures(of: Comparison, people: People, beside: Beside | None, keys: Sequence[str]) -> dict[str, Figure]:
    side, resampling, plan = beside or people, of.resampling, of.plan
    columns = people.sample.columns + ((of.judge,) if beside is not None and of.judge is not None else ())
    sample = people.sample if beside is None else Sample(of.cut, columns, resampling)
    counts, n_drawn = of.figure_of(columns, np.flatnonzero(people.sample.used))
    points = evaluated(side, keys, [np.ones((1, resampling.n_units))])
    replicates = evaluated(side, keys, resampling.chunks() if plan.resamples else [])
    jackknives = evaluated(side, keys, resampling.leave_one_out()) if plan.interval == "bca" else {}
    out = {}
    for key in keys:
        point = float(points[key][0])
        reason = "" if np.isfinite(point) else _why(of, sample, key)
        flags = data_flags(sample, key) if len(people.sample.columns) > 1 else ()
        if beside is not None or len(columns) == 2:
            flags += _constant(sample, columns)
        out[key] = Figure(
            point, replicates[key], jackknives.get(key), counts, n_drawn, ONE_TABLE, flags, reason
        )
    return out


def _constant(sample: Sample, columns: Sequence[int]) -> tuple[str, ...]:
    """Flag a constant judge, or either of two people; one constant rater of many hardly moves a table."""
    watched = sample.constant if len(columns) == 2 else sample.constant[-1:]
    return ("constant_rater",) if any(watched) else ()


def _why(of: Comparison, sample: Sample, key: str) -> str:
    """Return why a figure of one table is undefined; without "people", as raters may be simulated."""
    if not sample.n_items:
        among = "two of the raters" if of.judge is None else "the judge and by two others"
        return f"no item was rated by {among}"
    if (same := no_variation(sample)) is not None:
        return same.reason
    if key == "f1":
        return "no positives: nobody marks one"
    constant = [sample.name(n) for n, c in enumerate(sample.constant) if c]
    return f"{constant[-1]} gave one value throughout" if constant else "not defined on these ratings"


def data_flags(sample: Sample, key: str) -> tuple[str, ...]:
    """Return the flags that a statistic raises about all its ratings taken together."""
    if not sample.n_items:
        return ()
    verdicts = [check(sample) for check in OF_THE_DATA if check in STATISTICS[key].checks]
    unequal = (UNEQUAL,) if sample.weights is not None else ()
    flags = tuple(flag for verdict in verdicts if verdict is not None for flag in verdict.flags)
    return unequal + (("one_item",) if sample.n_items == 1 else ()) + flags


def mean_over(of: Comparison, members: Sequence[Member], key: str) -> Figure | None:
    """Return the mean of a statistic over pairs, each weighted by the number of items it shares.

    Pairs where it is undefined are left out and counted; None where it applies to no pair.
    """
    pairs = [(m, m.estimates[key]) for m in members if key in m.estimates]
    if not pairs:
        return None
    good = [(m, e) for m, e in pairs if e.ok]
    point, replicates, jackknife = np.nan, np.empty(0), None
    if good:
        shared = np.array([_size(of.ratings, m.items) for m, _ in good])
        point = float(np.average([e.point for _, e in good], weights=shared))
        replicates = defined_mean(np.array([e.replicates for _, e in good]), shared)
        jackknives = [e.leave_one_out for _, e in good if e.leave_one_out is not None]
        jackknife = defined_mean(np.array(jackknives), shared) if jackknives else None
    used_members = [m for m, _ in (good or pairs)]
    columns = sorted({column for m in used_members for column in m.columns})
    items = np.unique(np.concatenate([m.items for m in used_members]))
    counts, n_drawn = of.figure_of(columns, items)
    flags = _mean_flags(of, columns, items, key) if good else ()
    flags += ("dropped_raters",) if len(good) < len(pairs) else ()
    how = f"mean over {len(good)} of {len(pairs)} pairs, by their shared items"
    reason = "" if good else pairs[0][1].verdict.reason
    return Figure(point, replicates, jackknife, counts, n_drawn, how, flags, reason)


def _size(ratings: Ratings, items: Ints) -> float:
    """Return the number of items, or of the items that they stand for."""
    weights = ratings.weights_of(items)
    return float(len(items)) if weights is None or np.isnan(weights).any() else float(weights.sum())


def _mean_flags(of: Comparison, columns: Sequence[int], items: Ints, key: str) -> tuple[str, ...]:
    """Return the flags of the ratings behind a mean, including a rater who gave a single value."""
    keep = np.zeros(of.cut.n_items, np.bool_)
    keep[items] = True
    values = np.where(keep[:, None], of.cut.values, np.nan)
    sample = Sample(of.cut.with_values(values), columns, of.resampling)
    return data_flags(sample, key) + (("constant_rater",) if any(sample.constant) else ())


def defined_mean(rows: Floats, shared: Floats) -> Floats:
    """Weighted mean over pairs (rows) of the defined values; NaN where none is."""
    weights = np.where(np.isnan(rows), 0.0, shared[:, None])
    total = weights.sum(axis=0)
    return np.where(total > 0, np.nansum(rows * weights, axis=0) / np.where(total > 0, total, 1.0), np.nan)


def difference(first: Figure, second: Figure) -> Figure:
    """Return first minus second, resample by resample; with the first's counts and the flags of both."""
    jackknife = None
    if first.leave_one_out is not None and second.leave_one_out is not None:
        jackknife = first.leave_one_out - second.leave_one_out
    undefined = first.reason or second.reason
    return Figure(
        first.point - second.point,
        np.empty(0) if undefined else first.replicates - second.replicates,
        jackknife,
        first.counts,
        min(first.n_drawn, second.n_drawn),
        first.how if first.how == second.how else f"{first.how}, less {second.how}",
        tuple(dict.fromkeys(first.flags + second.flags)),
        undefined,
    )


def result(name: str, figure: Figure, plan: Plan) -> Result:
    """Return a figure's result, with its interval."""
    method = f"{figure.how}; {plan.method}"
    flags = tuple(dict.fromkeys(figure.flags))
    if figure.reason:
        return Result(
            name, status="undefined", reason=figure.reason, method=method, flags=flags, **figure.counts
        )
    bounds = interval_of(figure.point, figure.replicates, figure.n_drawn, plan, figure.leave_one_out, flags)
    flags += bounds.flags + cluster_flags(figure.n_drawn)
    return Result(
        name,
        figure.point,
        bounds.low,
        bounds.high,
        method=method,
        reason=bounds.reason,
        flags=flags,
        **figure.counts,
    )
