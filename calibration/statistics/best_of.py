"""How much the best of several judges overstates: it was chosen because its value is high.

In each resample the judge that is best on the clusters drawn is read on the clusters that were not drawn
(about 37% of them). These share no dialogue with the choice, so their mean is what the chosen one is worth
without the luck of the choice; the observed best less that mean is what the best overstates (the bootstrap
bias correction of Tsamardinos, Greasidou and Borboudakis 2018, Machine Learning 107, with whole clusters).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.judges_compared import Contender, Reference, statistic_of

FEWEST_CLUSTERS = 10
MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class BestOf:
    """The best contender of several, its value, and its value without the luck of being chosen."""

    best: str
    n: int
    value: Result
    corrected: Result

    @property
    def overstates(self) -> float | None:
        """The observed value less the corrected one, None where there is none."""
        if self.value.value is None or self.corrected.value is None:
            return None
        return self.value.value - self.corrected.value


class _OutOfBag(Resampling):
    """The clusters that each resample left out."""

    def chunks(self) -> Iterator[Floats]:
        """Yield 1 for every unit that was not drawn, else 0 (rows x units)."""
        for weights in super().chunks():
            yield (weights == 0).astype(np.float64)


def best_of(
    ratings: Ratings,
    contenders: Sequence[Contender],
    statistic: str,
    reference: Reference,
    plan: Plan | None = None,
) -> BestOf | None:
    """Return the best of two contenders or more on the items that all of them answered, and its correction.

    The value is the mean over the reference's columns for which every contender has one; contenders that have
    none for any column cannot be the best. None for fewer than two contenders, or where no column is left;
    the corrected result says why where there is none: below ``FEWEST_CLUSTERS`` clusters, or where more than
    5% of the resamples leave it undefined.
    """
    if len(contenders) < 2:
        return None
    plan = plan or Plan()
    columns = _columns(ratings, contenders, reference)
    drawn, left_out = resampling_of(ratings, plan), _left_out(ratings, plan)
    found = [[_value(ratings, one, statistic, column, drawn) for column in columns] for one in contenders]
    columns, inside = _shared(columns, found)
    if not columns:
        return None
    points = np.array([point for point, _ in inside])
    best = int(np.nanargmax(points))
    outside = [
        _mean(_value(ratings, one, statistic, each, left_out)[1] for each in columns) for one in contenders
    ]
    used = np.unique(np.concatenate([items for _, items in columns]))
    counts: Counts = {"n_items": len(used), "n_clusters": len(np.unique(ratings.clusters[used]))}
    why = "no interval: a mean over resamples"
    value = Result(statistic, float(points[best]), reason="see the table of versions", **counts)
    fair = np.array([rows for _, rows in inside]), np.array(outside)
    corrected = _corrected(statistic, *fair, plan, counts)
    corrected = replace(corrected, reason=corrected.reason or why)
    return BestOf(contenders[best].name, len(contenders), value, corrected)


def _corrected(statistic: str, inside: Floats, outside: Floats, plan: Plan, counts: Counts) -> Result:
    """Return the mean, over resamples, of the value outside of whoever was best inside."""
    name = f"{statistic}_corrected"
    method = f"out-of-bag mean of the best, {plan.resamples} cluster resamples, seed {plan.seed}"
    if counts["n_clusters"] < FEWEST_CLUSTERS:
        reason = f"{counts['n_clusters']} clusters are too few: it takes {FEWEST_CLUSTERS}"
        return Result(name, status="insufficient", reason=reason, method=method, **counts)
    known = ~np.isnan(inside).all(axis=0)
    chosen = np.argmax(np.where(np.isnan(inside), -np.inf, inside), axis=0)
    values = np.where(known, outside[chosen, np.arange(outside.shape[1])], np.nan)
    share = float(np.isnan(values).mean()) if values.size else 1.0
    if share > MOST_UNDEFINED:
        reason = f"undefined in {share:.0%} of the resamples"
        return Result(name, status="undefined", reason=reason, method=method, **counts)
    return Result(name, float(np.nanmean(values)), method=method, **counts)


Column = tuple[tuple[str, Floats], Ints]


def _columns(ratings: Ratings, contenders: Sequence[Contender], reference: Reference) -> list[Column]:
    """Return the reference's columns, each with the items that it and all contenders answered."""
    both = np.all([~np.isnan(one.values) for one in contenders], axis=0)
    found = [(column, np.flatnonzero(both & ~np.isnan(column[1]))) for column in reference.columns]
    return [(column, items) for column, items in found if items.size] or [
        (reference.columns[0], np.empty(0, int))
    ]


def _left_out(ratings: Ratings, plan: Plan) -> Resampling:
    base = resampling_of(ratings, plan)
    return _OutOfBag(plan, base.units, base.n_units)


def _shared(
    columns: Sequence[Column], found: Sequence[Sequence[tuple[float, Floats]]]
) -> tuple[list[Column], list[tuple[float, Floats]]]:
    """Return the columns for which all contenders with any value have one, and each contender's means."""
    points = np.array([[point for point, _ in own] for own in found])
    able = ~np.isnan(points).all(axis=1)
    if not able.any():
        return [], []
    kept = np.flatnonzero(~np.isnan(points[able]).any(axis=0)).tolist()
    if not kept:
        return [], []
    means = [(float(np.mean([own[at][0] for at in kept])), _mean(own[at][1] for at in kept)) for own in found]
    return [columns[at] for at in kept], means


def _mean(rows: Iterable[Floats]) -> Floats:
    return np.asarray(np.mean(list(rows), axis=0))


def _value(
    ratings: Ratings, one: Contender, statistic: str, column: Column, resampling: Resampling
) -> tuple[float, Floats]:
    """Return a contender's value beside a column and its resampled values; NaN where there is none."""
    (name, values), items = column
    block = np.full((ratings.n_items, 2), np.nan)
    block[items, 0], block[items, 1] = values[items], one.values[items]
    both = replace(
        ratings,
        values=block,
        raters=(name, one.name),
        kinds=("", one.kind),
        identified=(True, True),
        on_scale=(name != MEAN_OF_PEOPLE, one.on_scale),
    )
    found = estimates(Sample(both, (0, 1), resampling), [statistic_of(statistic)], resampling)[0]
    if not found.ok:
        return np.nan, np.full(resampling.plan.resamples, np.nan)
    return found.point, found.replicates
