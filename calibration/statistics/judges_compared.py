"""Comparison of judges: every pair of judges, metrics and readings of one, against the same reference.

Both values of a pair rest on the items that both answered, and so does their difference, whose interval uses
the same resamples. The reference of a correlation is the mean over people; agreement with people is the mean
over people of the agreement with each; accuracy is against an answer key. The p-value is that of a
permutation test: the two raters' answers swap places in whole clusters. Holm (1979) corrects it over all
pairs of the question and statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import MEAN_OF_PEOPLE, mean_of
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.core.engine import (
    UNEQUAL,
    UNWEIGHTABLE,
    Counts,
    Estimate,
    Result,
    Statistic,
    Verdict,
    estimates,
    interval_of,
)
from calibration.statistics.core.ratings import ORDERED, Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, cluster_flags, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.pairwise import disagreement_weights, kappa_of, mcc_of, ratio
from calibration.statistics.panel import WEIGHTS
from calibration.statistics.permutation import (
    PERMUTATIONS,
    Sums,
    Swapped,
    Swaps,
    Trial,
    of_moments,
    of_ranks,
    tables_of,
)
from calibration.statistics.permutation import permute_clusters as permuted
from calibration.statistics.table import STATISTICS

# Contenders of ``judges_compared``: judges and metrics, each read by one policy of repeated answers.

KINDS = ("judge", "panel", "metric")
METRIC = "metric"
MOST = 12
"""Number of contenders of a question up to which metrics are compared with each other as well."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A rater in a comparison: one value per item (NaN where it has none).

    ``samples`` is `first` or `mean` for a rater with several answers per item, empty for any other. ``calls``
    is the number of answers it gave. ``scale`` names the scale of its values: contenders of one scale can be
    swapped without conversion. ``on_scale`` tells whether its values are on the question's scale.
    """

    rater: str
    kind: str
    values: Floats
    on_scale: bool
    scale: str = ""
    samples: str = ""
    calls: int = 1

    @property
    def name(self) -> str:
        """Return its name in comparisons: `gpt-4 (mean of 3 calls)`."""
        if not self.samples:
            return self.rater
        return f"{self.rater} ({self.samples} of {self.calls} calls)"


def contenders_of(first: Ratings, mean: Ratings | None, calls: Mapping[str, int]) -> tuple[Contender, ...]:
    """Return the judges and metrics of a question, those with several answers per item twice.

    ``first`` and ``mean`` are the same ratings by the two policies of repeated answers; without ``mean``
    (categories have none) only the first answer is used. ``calls`` counts each rater's answers per item.
    """
    contenders: list[Contender] = []
    for kind in KINDS:
        for column in first.of_kind(kind):
            contenders += _readings(first, mean, column, calls.get(first.raters[column], 1))
    return tuple(contenders)


def _readings(first: Ratings, mean: Ratings | None, column: int, calls: int) -> list[Contender]:
    name, kind = first.raters[column], first.kinds[column]
    on_scale = first.on_scale[column]
    scale = "" if on_scale else name
    values = first.values[:, column]
    if calls < 2:
        return [Contender(name, kind, values, on_scale, scale)]
    out = [Contender(name, kind, values, on_scale, scale, "first", calls)]
    if mean is not None:
        averaged = mean.values[:, mean.column(name)]
        out.append(Contender(name, kind, averaged, mean.on_scale[mean.column(name)], scale, "mean", calls))
    return out


def pairs_of(contenders: Sequence[Contender]) -> tuple[list[tuple[Contender, Contender]], int]:
    """Return the pairs to compare, and the number of pairs of metrics left out where there are many."""
    every = list(combinations(contenders, 2))
    if len(contenders) <= MOST:
        return every, 0
    with_judges = [pair for pair in every if any(contender.kind != METRIC for contender in pair)]
    return with_judges, len(every) - len(with_judges)


def answered(first: Contender, second: Contender) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which items both answered."""
    return ~np.isnan(first.values) & ~np.isnan(second.values)


# One pair of contenders on one statistic: both values, their difference and its p-value.

ACCURACY = "accuracy"
CORRELATIONS = ("spearman", "pearson")
AGREEMENT = (*WEIGHTS, "mcc")
OF_PEOPLE = "people"
Member = tuple[tuple[str, Floats], Ints]
"""A reference (its name and values) and the items that it and both contenders answered."""


@dataclass(frozen=True)
class Reference:
    """Reference for values: its name in results, and one column of values or several."""

    name: str
    columns: tuple[tuple[str, Floats], ...]
    on_scale: bool


@dataclass(frozen=True)
class Compared:
    """A pair on one statistic: both values, their difference, and its p-value, raw and corrected.

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
    """One comparison in progress; results for a rater and its items are kept for its other pairs."""

    ratings: Ratings
    plan: Plan
    resampling: Resampling
    swaps: Swaps
    statistics: tuple[str, ...]

    _estimates: dict[tuple[tuple[str, ...], str, str, bytes], dict[str, Estimate]] = field(
        default_factory=dict
    )

    def compared(
        self, pair: tuple[Contender, Contender], comparisons: Sequence[tuple[str, Reference]]
    ) -> list[Compared | None]:
        """Return a pair on each statistic, None where the statistic does not apply to it."""
        tables: dict[tuple[str, ...], Sums] = {}
        return [
            Pair(self, pair, statistic, reference, tables).compared()
            if self._applies(pair, statistic, reference)
            else None
            for statistic, reference in comparisons
        ]

    def _applies(self, pair: tuple[Contender, Contender], statistic: str, reference: Reference) -> bool:
        ratings, level = self.ratings, self.ratings.level
        shared = all(contender.on_scale for contender in pair) and reference.on_scale
        if statistic == ACCURACY:
            return shared
        if statistic in CORRELATIONS:
            ordered = ratings.names is None or ratings.declared or ratings.positive is not None
            beside = level == "binary" and ordered and not all(contender.on_scale for contender in pair)
            return level in ORDERED or beside
        return level in STATISTICS[statistic].levels and shared and ratings.scale is not None

    def estimate(self, statistic: str, x: tuple[str, Floats], contender: Contender, items: Ints) -> Estimate:
        """Return the statistic of reference values and a contender's over items, resampled.

        Other requested statistics that read the same sums are computed with it.
        """
        family = next(f for f in (AGREEMENT, CORRELATIONS, (ACCURACY,)) if statistic in f)
        key = (family, x[0], contender.name, items.tobytes())
        if key not in self._estimates:
            names = [
                n for n in family if n in self.statistics and self.ratings.level in statistic_of(n).levels
            ]
            names = names if statistic in names else [statistic]  # a correlation of marks with a mean
            definitions = [statistic_of(name) for name in names]
            computed = estimates(self.sample(x, contender, items), definitions, self.resampling)
            self._estimates[key] = dict(zip(names, computed, strict=True))
        return self._estimates[key][statistic]

    def sample(self, x: tuple[str, Floats], contender: Contender, items: Ints) -> Sample:
        """Return the two columns that a statistic reads, only these items filled."""
        block = np.full((self.ratings.n_items, 2), np.nan)
        block[items, 0], block[items, 1] = x[1][items], contender.values[items]
        both = replace(
            self.ratings,
            values=block,
            raters=(x[0], contender.name),
            kinds=("", contender.kind),
            identified=(True, True),
            on_scale=(x[0] != MEAN_OF_PEOPLE, contender.on_scale),
        )
        return Sample(both, (0, 1), self.resampling)


def statistic_of(name: str) -> Statistic:
    """Return the table's statistic for a compared one: accuracy is agreement with the key."""
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
        of = [
            [self.run.estimate(self.statistic, x, contender, items) for contender in self.pair]
            for x, items in members
        ]
        good = [n for n, (a, b) in enumerate(of) if a.ok and b.ok]
        if not good:
            verdict = next(e.verdict for estimate in of for e in estimate if not e.ok)
            return self._nothing(verdict, members)
        used_members = [members[n] for n in good]
        flags = ("dropped_raters",) if len(good) < len(of) else ()
        sides = _sides([of[n] for n in good])
        first, second = (
            self._result(self.statistic, side, used_members, flags, 1 + len(used_members)) for side in sides
        )
        gap = sides[0].less(sides[1])
        difference = self._result(
            f"difference_{self.statistic}", gap, used_members, flags, 2 + len(used_members)
        )
        p = self._p(used_members, difference) if self.tested else difference
        return Compared(
            self.pair, self.statistic, self.reference.name, first, second, difference, p, p, self._dropped()
        )

    def _no_items(self, both: npt.NDArray[np.bool_]) -> str:
        first, second = (contender.name for contender in self.pair)
        names = first if first == second else f"{first} and {second}"
        if not both.any():
            return f"no item was answered by {names if first == second else f'both {names}'}"
        by = "a person" if self.reference.name == OF_PEOPLE else self.reference.name
        return f"no item that {names} answered was answered by {by}"

    def _dropped(self) -> int:
        """Count the items with a reference that one of the two answered and the other did not."""
        has = np.zeros(self.run.ratings.n_items, np.bool_)
        for _, values in self.reference.columns:
            has |= ~np.isnan(values)
        first, second = (~np.isnan(contender.values) for contender in self.pair)
        return int((has & (first ^ second)).sum())

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
        if UNEQUAL in difference.flags:
            return replace(
                difference,
                name="p",
                value=None,
                low=None,
                high=None,
                status="rejected",
                reason=UNWEIGHTABLE.reason,
            )
        items = np.unique(np.concatenate([items for _, items in members]))
        codes = np.full(self.run.ratings.n_clusters, -1)
        present = np.unique(self.run.ratings.clusters[items])
        codes[present] = np.arange(len(present))
        trials, column_names = [], [name for (name, _), _ in members]
        for (name, values), used in members:
            first, second = (contender.values[used] for contender in self.pair)
            clusters = codes[self.run.ratings.clusters[used]]
            trials.append(
                self._trial((name, *column_names), Trial(values[used], first, second, clusters), len(present))
            )
        tested = permuted(trials, len(present), self.run.swaps)
        counts: Counts = {
            "n_items": difference.n_items,
            "n_clusters": difference.n_clusters,
            "n_raters": difference.n_raters,
            "n_missing": difference.n_missing,
        }
        return Result("p", tested.p, method=tested.method(self.run.plan.seed), **counts)

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
    """The function that computes an agreement from tables (rows x k x k)."""
    if statistic == "mcc":
        return mcc_of
    if statistic == ACCURACY:
        return lambda tables: ratio(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))
    weights = disagreement_weights(k, WEIGHTS[statistic])  # type: ignore[arg-type]
    return lambda tables: kappa_of(tables, weights)


def alone(run: Run, contender: Contender, statistic: str, reference: Reference) -> Result | None:
    """Return a contender's value by itself, None where the statistic does not apply to it.

    ``n_missing`` counts the items with a reference that it did not answer.
    """
    if not run._applies((contender, contender), statistic, reference):
        return None
    result = Pair(run, (contender, contender), statistic, reference, {}, tested=False).compared().first
    rated = np.zeros(run.ratings.n_items, np.bool_)
    for _, values in reference.columns:
        rated |= ~np.isnan(values)
    missing = int((rated & np.isnan(contender.values)).sum())
    return replace(result, n_missing=missing, n_raters=max(result.n_raters - (not result.ok), 1))


@dataclass(frozen=True)
class Side:
    """A value, its resampled values and its flags: the mean over references for one contender."""

    point: float
    replicates: Floats
    leave_one_out: Floats | None
    flags: tuple[str, ...]

    def less(self, other: Side) -> Side:
        """Return the difference to the other, resample by resample."""
        jackknife = None
        if self.leave_one_out is not None and other.leave_one_out is not None:
            jackknife = self.leave_one_out - other.leave_one_out
        return Side(
            self.point - other.point,
            self.replicates - other.replicates,
            jackknife,
            tuple(dict.fromkeys(self.flags + other.flags)),
        )


def _sides(estimates_by_reference: Sequence[Sequence[Estimate]]) -> tuple[Side, Side]:
    """Return the means over references (rows) of both contenders; a resample takes those defined for both."""
    replicates = [np.array([row[place].replicates for row in estimates_by_reference]) for place in (0, 1)]
    jackknives = [
        [e for row in estimates_by_reference if (e := row[place].leave_one_out) is not None]
        for place in (0, 1)
    ]
    jackknife_rows = [np.array(rows) for rows in jackknives] if all(jackknives) else None
    gone = np.isnan(replicates[0]) | np.isnan(replicates[1])
    first, second = (
        Side(
            float(np.mean([row[place].point for row in estimates_by_reference])),
            mean_of(np.where(gone, np.nan, replicates[place]).T),
            mean_of(jackknife_rows[place].T) if jackknife_rows else None,
            tuple(dict.fromkeys(flag for row in estimates_by_reference for flag in row[place].verdict.flags)),
        )
        for place in (0, 1)
    )
    return first, second


PEOPLE, KEY = "human", "key"
STATISTICS_COMPARED = (*AGREEMENT, *CORRELATIONS, ACCURACY)
"""Statistics that can be compared; accuracy wherever a key answers the question."""


@dataclass(frozen=True)
class Comparisons:
    """All pairs of a question, and the number of pairs of metrics left out because there are many."""

    pairs: tuple[Compared, ...]
    left_out: int = 0


def judges_compared(
    ratings: Ratings,
    contenders: Sequence[Contender],
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
    permutations: int = PERMUTATIONS,
) -> Comparisons:
    """Compare all pairs of contenders on each statistic that applies to both and to the reference.

    ``ratings`` hold the people and the keys, over the same items as the contenders. Where nobody rates them
    but a key does, the key replaces the people. Statistics other than ``STATISTICS_COMPARED`` are skipped,
    accuracy is added where there is a key.
    """
    pairs, left_out = pairs_of(contenders)
    if not pairs:
        return Comparisons(())
    run = _run(ratings, statistics, plan, permutations)
    return Comparisons(_compared(run, pairs, 0), left_out)


def compared_with(
    ratings: Ratings,
    contenders: Sequence[Contender],
    baseline: Contender,
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
    permutations: int = PERMUTATIONS,
    tried: int = 0,
) -> Comparisons:
    """Compare contenders with a chosen one, as ``judges_compared`` does with each other.

    Holm's correction is over ``tried`` comparisons where that exceeds their number: missing ones (judges
    tried before and discarded) count as if their p-values were 1, which gives corrected values that are never
    smaller than with the true ones.
    """
    pairs = [(contender, baseline) for contender in contenders if contender is not baseline]
    return Comparisons(_compared(_run(ratings, statistics, plan, permutations), pairs, tried))


def each_alone(
    ratings: Ratings,
    contenders: Sequence[Contender],
    *,
    statistics: Iterable[str] = STATISTICS_COMPARED,
    plan: Plan | None = None,
) -> list[tuple[Contender, str, Result]]:
    """Return contender, reference and result of each value, on all items that both answered."""
    run = _run(ratings, statistics, plan, 1)
    candidates = (
        (contender, reference.name, alone(run, contender, name, reference))
        for name in run.statistics
        for reference in references_of(ratings, name)
        for contender in contenders
    )
    return [(contender, against, result) for contender, against, result in candidates if result is not None]


def _run(ratings: Ratings, statistics: Iterable[str], plan: Plan | None, permutations: int) -> Run:
    plan = plan or Plan()
    statistic_names = [*(s for s in statistics if s in STATISTICS_COMPARED and s != ACCURACY), ACCURACY]
    return Run(
        ratings, plan, resampling_of(ratings, plan), Swaps(permutations, plan.seed), tuple(statistic_names)
    )


def _compared(run: Run, pairs: Sequence[tuple[Contender, Contender]], tried: int) -> tuple[Compared, ...]:
    comparisons = [
        (name, reference) for name in run.statistics for reference in references_of(run.ratings, name)
    ]
    by_pair = [run.compared(pair, comparisons) for pair in pairs]
    families = ([rows[n] for rows in by_pair] for n in range(len(comparisons)))
    adjusted = [_holm([row for row in family if row is not None], tried) for family in families]
    return tuple(row for rows in adjusted for row in rows)


def references_of(ratings: Ratings, statistic: str) -> list[Reference]:
    """References of a statistic: the people's mean, each person, or each answer key."""
    keys = [_alone(ratings, column) for column in ratings.of_kind(KEY)]
    if statistic == ACCURACY:
        return keys
    people = ratings.of_kind(PEOPLE)
    if not people:
        return keys
    if statistic in CORRELATIONS:
        block = ratings.values[:, list(people)]
        return [Reference(OF_PEOPLE, ((MEAN_OF_PEOPLE, mean_of(block)),), len(people) == 1)]
    answered = ratings.as_answered()
    identified = [j for j in people if ratings.identified[j] and answered.on_scale[j]]
    columns = tuple((ratings.raters[j], answered.values[:, j]) for j in identified)
    return [Reference(OF_PEOPLE, columns, True)] if columns else []


def _alone(ratings: Ratings, column: int) -> Reference:
    name, ratings = ratings.raters[column], ratings.as_answered()
    return Reference(name, ((name, ratings.values[:, column]),), ratings.on_scale[column])


def _holm(rows: Sequence[Compared], tried: int) -> list[Compared]:
    """Return the rows with p-values corrected over those that have one, or over ``tried`` where more."""
    ps = [row.p.value for row in rows if row.p.value is not None]
    others = max(tried - len(ps), 0)
    adjusted = iter(corrected([*ps, *[1.0] * others], "holm").tolist())
    how = f"{{}}; Holm over {len(ps)} pair{'' if len(ps) == 1 else 's'} of the question and statistic"
    how += f" and {others} tried before" if others else ""
    return [
        replace(
            row,
            p_holm=replace(row.p, name="p_holm", value=next(adjusted), method=how.format(row.p.method))
            if row.p.ok
            else replace(row.p, name="p_holm"),
        )
        for row in rows
    ]


# Overstatement of the best of several judges: it was chosen because its value is high.
#
# In each resample the judge that is best on the clusters drawn is read on the clusters that were not drawn
# (about 37% of them). These share no dialogue with the choice, so their mean is the value of the chosen judge
# without the luck of the choice; the observed best minus that mean is the overstatement (the bootstrap bias
# correction of Tsamardinos, Greasidou and Borboudakis 2018, Machine Learning 107, with whole clusters).

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
        """The observed value minus the corrected one, None where there is none."""
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
    the corrected result gives the reason where it has no value: below ``FEWEST_CLUSTERS`` clusters, or where
    more than 5% of the resamples leave it undefined.
    """
    if len(contenders) < 2:
        return None
    plan = plan or Plan()
    columns = _columns(ratings, contenders, reference)
    resampling, left_out = resampling_of(ratings, plan), _left_out(ratings, plan)
    values = [
        [_value(ratings, contender, statistic, column, resampling) for column in columns]
        for contender in contenders
    ]
    columns, inside = _shared(columns, values)
    if not columns:
        return None
    points = np.array([point for point, _ in inside])
    best = int(np.nanargmax(points))
    outside = [
        _mean(_value(ratings, contender, statistic, each, left_out)[1] for each in columns)
        for contender in contenders
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
    """Return the mean, over resamples, of the value outside of the contender that was best inside."""
    name = f"{statistic}_corrected"
    method = f"out-of-bag mean of the best, {plan.resamples} cluster resamples, seed {plan.seed}"
    if counts["n_clusters"] < FEWEST_CLUSTERS:
        reason = f"{counts['n_clusters']} clusters are too few: it takes {FEWEST_CLUSTERS}"
        return Result(name, status="insufficient", reason=reason, method=method, **counts)
    has_value = ~np.isnan(inside).all(axis=0)
    best = np.argmax(np.where(np.isnan(inside), -np.inf, inside), axis=0)
    values = np.where(has_value, outside[best, np.arange(outside.shape[1])], np.nan)
    share = float(np.isnan(values).mean()) if values.size else 1.0
    if share > MOST_UNDEFINED:
        reason = f"undefined in {share:.0%} of the resamples"
        return Result(name, status="undefined", reason=reason, method=method, **counts)
    return Result(name, float(np.nanmean(values)), method=method, **counts)


Column = tuple[tuple[str, Floats], Ints]


def _columns(ratings: Ratings, contenders: Sequence[Contender], reference: Reference) -> list[Column]:
    """Return the reference's columns, each with the items that it and all contenders answered."""
    both = np.all([~np.isnan(contender.values) for contender in contenders], axis=0)
    shared_items = [(column, np.flatnonzero(both & ~np.isnan(column[1]))) for column in reference.columns]
    return [(column, items) for column, items in shared_items if items.size] or [
        (reference.columns[0], np.empty(0, int))
    ]


def _left_out(ratings: Ratings, plan: Plan) -> Resampling:
    base = resampling_of(ratings, plan)
    return _OutOfBag(plan, base.units, base.n_units)


def _shared(
    columns: Sequence[Column], values: Sequence[Sequence[tuple[float, Floats]]]
) -> tuple[list[Column], list[tuple[float, Floats]]]:
    """Return the columns for which all contenders with any value have one, and each contender's means."""
    points = np.array([[point for point, _ in own] for own in values])
    able = ~np.isnan(points).all(axis=1)
    if not able.any():
        return [], []
    usable = np.flatnonzero(~np.isnan(points[able]).any(axis=0)).tolist()
    if not usable:
        return [], []
    means = [
        (float(np.mean([own[at][0] for at in usable])), _mean(own[at][1] for at in usable)) for own in values
    ]
    return [columns[at] for at in usable], means


def _mean(rows: Iterable[Floats]) -> Floats:
    return np.asarray(np.mean(list(rows), axis=0))


def _value(
    ratings: Ratings, contender: Contender, statistic: str, column: Column, resampling: Resampling
) -> tuple[float, Floats]:
    """Return a contender's value against a column and its resampled values; NaN where there is none."""
    (name, values), items = column
    block = np.full((ratings.n_items, 2), np.nan)
    block[items, 0], block[items, 1] = values[items], contender.values[items]
    both = replace(
        ratings,
        values=block,
        raters=(name, contender.name),
        kinds=("", contender.kind),
        identified=(True, True),
        on_scale=(name != MEAN_OF_PEOPLE, contender.on_scale),
    )
    estimate = estimates(Sample(both, (0, 1), resampling), [statistic_of(statistic)], resampling)[0]
    if not estimate.ok:
        return np.nan, np.full(resampling.plan.resamples, np.nan)
    return estimate.point, estimate.replicates
