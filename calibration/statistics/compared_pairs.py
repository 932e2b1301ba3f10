"""One pair of contenders on one statistic: both values, their difference and its p-value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import MEAN_OF_PEOPLE, mean_of
from calibration.statistics.contenders import Contender, answered
from calibration.statistics.core.base import Statistic, Verdict
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import Estimate, estimates, interval_of
from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import ORDERED, Floats, Ints
from calibration.statistics.pairwise import disagreement_weights, kappa_of, mcc_of, ratio
from calibration.statistics.pooled import WEIGHTS
from calibration.statistics.swapping import (
    Sums,
    Swapped,
    Swaps,
    Trial,
    of_moments,
    of_ranks,
    permuted,
    tables_of,
)
from calibration.statistics.table import STATISTICS

ACCURACY = "accuracy"
CORRELATIONS = ("spearman", "pearson")
AGREEMENT = (*WEIGHTS, "mcc")
OF_PEOPLE = "people"
Member = tuple[tuple[str, Floats], Ints]
"""A reference (its name and values) and the items that it and both contenders answered."""


@dataclass(frozen=True)
class Reference:
    """What values are measured against: its name in results, and one column of values or several."""

    name: str
    columns: tuple[tuple[str, Floats], ...]
    on_scale: bool


@dataclass(frozen=True)
class Compared:
    """A pair on one statistic: both values, their difference, and its p-value, corrected and not.

    ``n_dropped`` counts the items with a reference that only one of the two answered.
    """

    contenders: tuple[Contender, Contender]
    statistic: str
    reference: str
    first: Result
    second: Result
    difference: Result
    p: Result
    p_holm: Result
    n_dropped: int


@dataclass(frozen=True)
class Run:
    """One comparison under way; what was computed of a rater and its items is kept for its other pairs."""

    ratings: Ratings
    plan: Plan
    resampling: Resampling
    swaps: Swaps
    wanted: tuple[str, ...]

    _kept: dict[tuple[tuple[str, ...], str, str, bytes], dict[str, Estimate]] = field(default_factory=dict)

    def compared(
        self, pair: tuple[Contender, Contender], asked: Sequence[tuple[str, Reference]]
    ) -> list[Compared | None]:
        """Return a pair on each statistic, None where the statistic does not apply to it."""
        tables: dict[tuple[str, ...], Sums] = {}
        return [
            Pair(self, pair, statistic, reference, tables).compared()
            if self._applies(pair, statistic, reference)
            else None
            for statistic, reference in asked
        ]

    def _applies(self, pair: tuple[Contender, Contender], statistic: str, reference: Reference) -> bool:
        ratings, level = self.ratings, self.ratings.level
        shared = all(one.on_scale for one in pair) and reference.on_scale
        if statistic == ACCURACY:
            return shared
        if statistic in CORRELATIONS:
            ordered = ratings.names is None or ratings.declared or ratings.positive is not None
            beside = level == "binary" and ordered and not all(one.on_scale for one in pair)
            return level in ORDERED or beside
        return level in STATISTICS[statistic].levels and shared and ratings.scale is not None

    def estimate(self, statistic: str, x: tuple[str, Floats], one: Contender, items: Ints) -> Estimate:
        """Return the statistic of reference values and a contender's over items, resampled.

        Those that are asked for and read the same sums are computed with it.
        """
        family = next(f for f in (AGREEMENT, CORRELATIONS, (ACCURACY,)) if statistic in f)
        key = (family, x[0], one.name, items.tobytes())
        if key not in self._kept:
            names = [n for n in family if n in self.wanted and self.ratings.level in statistic_of(n).levels]
            names = names if statistic in names else [statistic]  # a correlation of marks with a mean
            chosen = [statistic_of(name) for name in names]
            found = estimates(self.sample(x, one, items), chosen, self.resampling)
            self._kept[key] = dict(zip(names, found, strict=True))
        return self._kept[key][statistic]

    def sample(self, x: tuple[str, Floats], one: Contender, items: Ints) -> Sample:
        """Return the two columns that a statistic reads, only these items filled."""
        block = np.full((self.ratings.n_items, 2), np.nan)
        block[items, 0], block[items, 1] = x[1][items], one.values[items]
        both = replace(
            self.ratings,
            values=block,
            raters=(x[0], one.name),
            kinds=("", one.kind),
            identified=(True, True),
            on_scale=(x[0] != MEAN_OF_PEOPLE, one.on_scale),
        )
        return Sample(both, (0, 1), self.resampling)


def statistic_of(name: str) -> Statistic:
    """Return the statistic of the table that a compared one is: accuracy is agreement with the key."""
    return STATISTICS["percent_agreement" if name == ACCURACY else name]


@dataclass(frozen=True)
class Pair:
    """Two contenders on one statistic."""

    run: Run
    pair: tuple[Contender, Contender]
    statistic: str
    reference: Reference
    tables: dict[tuple[str, ...], Sums]
    tested: bool = True

    def compared(self) -> Compared:
        """Return both values over the references that have both, their difference and its p-value."""
        both = answered(*self.pair)
        members = [(x, np.flatnonzero(both & ~np.isnan(x[1]))) for x in self.reference.columns]
        members = [(x, items) for x, items in members if items.size]
        if not members:
            return self._nothing(Verdict("insufficient", self._no_items(both)))
        of = [[self.run.estimate(self.statistic, x, one, items) for one in self.pair] for x, items in members]
        good = [n for n, (a, b) in enumerate(of) if a.ok and b.ok]
        if not good:
            verdict = next(e.verdict for estimate in of for e in estimate if not e.ok)
            return self._nothing(verdict, members)
        kept = [members[n] for n in good]
        flags = ("dropped_raters",) if len(good) < len(of) else ()
        sides = _sides([of[n] for n in good])
        first, second = (self._result(self.statistic, one, kept, flags, 1 + len(kept)) for one in sides)
        gap = sides[0].less(sides[1])
        difference = self._result(f"difference_{self.statistic}", gap, kept, flags, 2 + len(kept))
        p = self._p(kept, difference) if self.tested else difference
        return Compared(
            self.pair, self.statistic, self.reference.name, first, second, difference, p, p, self._dropped()
        )

    def _no_items(self, both: npt.NDArray[np.bool_]) -> str:
        one, other = (contender.name for contender in self.pair)
        names = one if one == other else f"{one} and {other}"
        if not both.any():
            return f"no item was answered by {names if one == other else f'both {names}'}"
        by = "a person" if self.reference.name == OF_PEOPLE else self.reference.name
        return f"no item that {names} answered was answered by {by}"

    def _dropped(self) -> int:
        """Count the items with a reference that one of the two answered and the other did not."""
        has = np.zeros(self.run.ratings.n_items, np.bool_)
        for _, values in self.reference.columns:
            has |= ~np.isnan(values)
        one, other = (~np.isnan(contender.values) for contender in self.pair)
        return int((has & (one ^ other)).sum())

    def _nothing(self, verdict: Verdict, members: Sequence[Member] = ()) -> Compared:
        counts = self._counts(members, len(members) + 2)
        names = (self.statistic, self.statistic, f"difference_{self.statistic}", "p", "p_holm")
        first, second, difference, p, p_holm = (
            Result(
                name,
                status=verdict.status,
                reason=verdict.reason,
                flags=verdict.flags,
                method=self.run.plan.method,
                **counts,
            )
            for name in names
        )
        return Compared(
            self.pair,
            self.statistic,
            self.reference.name,
            first,
            second,
            difference,
            p,
            p_holm,
            self._dropped(),
        )

    def _counts(self, members: Sequence[Member], n_raters: int) -> Counts:
        items = np.unique(np.concatenate([items for _, items in members])) if members else np.empty(0, int)
        return {
            "n_items": len(items),
            "n_clusters": len(np.unique(self.run.ratings.clusters[items])),
            "n_raters": n_raters,
            "n_missing": self._dropped(),
        }

    def _result(
        self,
        name: str,
        side: Side,
        members: Sequence[Member],
        flags: tuple[str, ...],
        n_raters: int,
    ) -> Result:
        counts = self._counts(members, n_raters)
        plan, resampling = self.run.plan, self.run.resampling
        items = np.unique(np.concatenate([items for _, items in members]))
        n_drawn = resampling.n_drawn(resampling.units[items])
        bounds = interval_of(side.point, side.replicates, n_drawn, plan, side.leave_one_out)
        raised = dict.fromkeys((*side.flags, *flags, *bounds.flags, *cluster_flags(n_drawn)))
        over = f"mean over {len(members)} people; " if self._is_mean and len(members) > 1 else ""
        return Result(
            name,
            side.point,
            bounds.low,
            bounds.high,
            method=f"{over}{plan.method}",
            reason=bounds.reason,
            flags=tuple(raised),
            **counts,
        )

    @property
    def _is_mean(self) -> bool:
        return self.reference.name == OF_PEOPLE and self.statistic not in CORRELATIONS

    def _p(self, members: Sequence[Member], difference: Result) -> Result:
        """Return the p-value of swapping the pair's answers in whole clusters."""
        items = np.unique(np.concatenate([items for _, items in members]))
        codes = np.full(self.run.ratings.n_clusters, -1)
        present = np.unique(self.run.ratings.clusters[items])
        codes[present] = np.arange(len(present))
        trials, kept = [], [name for (name, _), _ in members]
        for (name, values), used in members:
            one, other = (contender.values[used] for contender in self.pair)
            clusters = codes[self.run.ratings.clusters[used]]
            trials.append(self._trial((name, *kept), Trial(values[used], one, other, clusters), len(present)))
        found = permuted(trials, len(present), self.run.swaps)
        counts: Counts = {
            "n_items": difference.n_items,
            "n_clusters": difference.n_clusters,
            "n_raters": difference.n_raters,
            "n_missing": difference.n_missing,
        }
        return Result("p", found.p, method=found.method(self.run.plan.seed), **counts)

    def _trial(self, of: tuple[str, ...], trial: Trial, n_clusters: int) -> Swapped:
        alike = self.pair[0].scale == self.pair[1].scale
        if self.statistic == "spearman":
            return of_ranks(trial, n_clusters, alike=alike)
        if self.statistic == "pearson":
            return of_moments(trial, n_clusters, alike=alike)
        scale = self.run.ratings.scale
        grid = np.array(scale) if scale else np.unique([trial.reference, trial.first, trial.second])
        if of not in self.tables:
            self.tables[of] = tables_of(trial, n_clusters, (grid, grid))
        return Swapped(self.tables[of], table_formula(self.statistic, len(grid)))


def table_formula(statistic: str, k: int) -> Callable[[Floats], Floats]:
    """Return what computes an agreement of tables (rows x k x k)."""
    if statistic == "mcc":
        return mcc_of
    if statistic == ACCURACY:
        return lambda tables: ratio(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))
    weights = disagreement_weights(k, WEIGHTS[statistic])  # type: ignore[arg-type]
    return lambda tables: kappa_of(tables, weights)


def alone(run: Run, one: Contender, statistic: str, reference: Reference) -> Result | None:
    """Return a contender's value by itself, None where the statistic does not apply to it.

    ``n_missing`` counts the items with a reference that it did not answer.
    """
    if not run._applies((one, one), statistic, reference):
        return None
    found = Pair(run, (one, one), statistic, reference, {}, tested=False).compared().first
    rated = np.zeros(run.ratings.n_items, np.bool_)
    for _, values in reference.columns:
        rated |= ~np.isnan(values)
    missing = int((rated & np.isnan(one.values)).sum())
    return replace(found, n_missing=missing, n_raters=max(found.n_raters - (not found.ok), 1))


@dataclass(frozen=True)
class Side:
    """A value, its resampled values and what flags it: the mean over references of one contender's."""

    point: float
    replicates: Floats
    leave_one_out: Floats | None
    flags: tuple[str, ...]

    def less(self, other: Side) -> Side:
        """Return this less the other, resample by resample."""
        left = None
        if self.leave_one_out is not None and other.leave_one_out is not None:
            left = self.leave_one_out - other.leave_one_out
        return Side(
            self.point - other.point,
            self.replicates - other.replicates,
            left,
            tuple(dict.fromkeys(self.flags + other.flags)),
        )


def _sides(found: Sequence[Sequence[Estimate]]) -> tuple[Side, Side]:
    """Return the means over references (rows) of both contenders; a resample takes those defined for both."""
    replicates = [np.array([row[place].replicates for row in found]) for place in (0, 1)]
    jackknives = [[e for row in found if (e := row[place].leave_one_out) is not None] for place in (0, 1)]
    left = [np.array(rows) for rows in jackknives] if all(jackknives) else None
    gone = np.isnan(replicates[0]) | np.isnan(replicates[1])
    one, other = (
        Side(
            float(np.mean([row[place].point for row in found])),
            mean_of(np.where(gone, np.nan, replicates[place]).T),
            mean_of(left[place].T) if left else None,
            tuple(dict.fromkeys(flag for row in found for flag in row[place].verdict.flags)),
        )
        for place in (0, 1)
    )
    return one, other
