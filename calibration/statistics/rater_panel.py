"""One row per rater: its ratings compared with the rest, its agreement with them, and its self-consistency.

The rest of a rater are the other people; where there are none, the other raters. Unidentified raters have no
row: a slot is not one person throughout, so its figures would describe nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from calibration.statistics.analysis import PEOPLE, mean_of
from calibration.statistics.core.engine import (
    Counts,
    Estimate,
    InReports,
    Result,
    Verdict,
    estimates,
    finished,
    interval_of,
    result_of,
)
from calibration.statistics.core.ratings import CATEGORIES, Floats, Ints, Ratings
from calibration.statistics.core.resampling import (
    Plan,
    Resampling,
    cluster_flags,
    drawn_counts,
    resampling_of,
)
from calibration.statistics.core.samples import Sample, additive, pair_tables
from calibration.statistics.describe import as_numbers, average, bland_altman, ends, shares, spread
from calibration.statistics.gold import majority
from calibration.statistics.repeats import repeat_title
from calibration.statistics.table import STATISTICS

# Many-facet severity: how much lower or higher each rater rates, items held equal.
#
# The model is value = item + rater + error by least squares (the two-way additive model, Scheffe 1959, ch. 4;
# the linear form of a many-facet model, Linacre 1989), so that nobody looks severe for having had the weak
# items. It assumes that a rater is off by the same amount on every item and treats the values as equally
# spaced. Raters are comparable only where items join them, directly or through others: groups that no item
# joins are fitted separately, each with a zero of its own.

SEVERITY, MISFIT = "rater_severity", "rater_misfit"
CELLS = 20_000_000  # cells of all matrices solved at a time
MOST_RESAMPLED = 150  # raters; above, resampling takes minutes and intervals come from standard errors
HOW = "least squares of item + rater"
ALONE = "shares no item with another rater"


@dataclass(frozen=True)
class RaterEffect:
    """A rater's severity (below 0: lower ratings) and misfit, in its group; group 0 shares items with nobody.

    ``misfit`` is the mean square of the rater's residuals over that of all raters of the group, both by their
    degrees of freedom (an infit mean square): above 1 a rater is less predictable than the others.
    """

    rater: str
    group: int
    severity: Result
    misfit: Result


def groups_of(block: Floats) -> Ints:
    """Return each rater's group of raters whom items join, numbered from 1 by ratings; 0 for one alone.

    ``block`` is items x raters, NaN where missing.
    """
    present = (~np.isnan(block)).astype(np.float64)
    if not present.shape[1]:
        return np.zeros(0, np.int64)
    _, components = connected_components(present.T @ present, directed=False)
    sizes, members = np.bincount(components, weights=present.sum(axis=0)), np.bincount(components)
    several = [g for g in np.argsort(-sizes, kind="stable") if members[g] > 1]
    number = {int(group): place for place, group in enumerate(several, 1)}
    return np.array([number.get(int(group), 0) for group in components], np.int64)


def rater_effects(
    ratings: Ratings, block: Floats, columns: Sequence[int], zero: Sequence[int], resampling: Resampling
) -> tuple[RaterEffect, ...]:
    """Fit the model and return the effect of each rater of ``columns``, with intervals by resampling.

    ``block`` holds the values as numbers, items x raters of ``ratings``. The severities of the raters of
    ``zero`` (of all raters of a group that has none of them), weighted by their ratings, average 0. In a
    group of more than MOST_RESAMPLED raters intervals rest on cluster-robust standard errors (Liang and Zeger
    1986).
    """
    mine = block[:, list(columns)]
    groups = groups_of(mine)
    effects: dict[int, RaterEffect] = {}
    for group in range(1, int(groups.max(initial=0)) + 1):
        places = [int(place) for place in np.flatnonzero(groups == group)]
        zeros = np.array([columns[p] in zero for p in places])
        fitted = _Fit(
            mine[:, places], resampling, zeros if zeros.any() else ~zeros, _describe_group(group, groups)
        )
        for place, severity, misfit in zip(places, fitted.severities(), fitted.misfits(), strict=True):
            effects[place] = RaterEffect(ratings.raters[columns[place]], group, severity, misfit)
    return tuple(effects.get(p, _alone(ratings.raters[column])) for p, column in enumerate(columns))


def _describe_group(group: int, groups: Ints) -> str:
    """Return the description of a fit: its group, where others cannot be compared with it."""
    return f"{HOW}, within group {group}" if (groups != group).any() else HOW


def _alone(rater: str) -> RaterEffect:
    severity, misfit = (
        Result(name, status="insufficient", reason=ALONE, n_raters=1, method=HOW)
        for name in (SEVERITY, MISFIT)
    )
    return RaterEffect(rater, 0, severity, misfit)


class _Fit:
    """The model of one group of raters whom items join."""

    def __init__(self, block: Floats, resampling: Resampling, zeros: npt.NDArray[np.bool_], how: str) -> None:
        self.how = how
        used = (~np.isnan(block)).sum(axis=1) >= 2
        self.block, self.units, self.zeros = block[used], resampling.units[used], zeros
        self.resampling, self.plan = resampling, resampling.plan
        self.present = (~np.isnan(self.block)).astype(np.float64)
        self.n = self.present.sum(axis=1)
        filled = np.where(self.present > 0, self.block, 0.0)
        self.away = np.where(self.present > 0, filled - (filled.sum(axis=1) / self.n)[:, None], 0.0)
        self.size = block.shape[1]
        sums = [self.present * (1 - 1 / self.n)[:, None], self.present, self.away]
        self.diagonal, self.counts, self.reduced = (
            additive(self.units, resampling.n_units, rows).sums for rows in sums
        )
        self.shared = self._shared()
        self.effects = self._solved(np.ones((1, resampling.n_units)))[0]

    def _shared(self) -> sparse.csr_array:
        """Return, per unit, the sum over its items of 1 / raters for every two raters of the item."""
        patterns, first, which = np.unique(self.present, axis=0, return_index=True, return_inverse=True)
        shape = (self.resampling.n_units, len(patterns))
        member = sparse.csr_array((np.ones(len(self.units)), (self.units, which.ravel())), shape=shape)
        return member @ pair_tables(patterns, self.n[first])

    def _solved(self, weights: Floats) -> Floats:
        """Return the effects of rows of weights (rows x units); NaN for raters not joined in the row."""
        k, counts = self.size, weights @ self.counts
        matrix = -np.asarray((self.shared.T @ weights.T).T).reshape(len(weights), k, k)
        joined = _reached(matrix, counts.argmax(axis=1))
        both = joined[:, :, None] & joined[:, None, :]
        matrix = np.where(both, matrix + 1 / k, 0.0)
        diagonal = np.arange(k)
        matrix[:, diagonal, diagonal] += np.where(joined, weights @ self.diagonal, 1.0)
        right = np.where(joined, weights @ self.reduced, 0.0)
        effects = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        share = np.where(joined & self.zeros, counts, 0.0)
        total = share.sum(axis=1, keepdims=True)
        zero = np.where(total > 0, (share * effects).sum(axis=1, keepdims=True), np.nan)
        return np.where(joined, effects - zero / np.where(total > 0, total, 1.0), np.nan)

    def _replicates(self) -> Floats:
        rows = max(1, CELLS // self.size**2)
        parts = [
            self._solved(weights[start : start + rows])
            for weights in self.resampling.chunks()
            for start in range(0, len(weights), rows)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.size))

    def severities(self) -> list[Result]:
        """Return each rater's effect."""
        if self.size > MOST_RESAMPLED:
            return self._with_standard_errors()
        replicates = self._replicates()
        return [
            self._finished(SEVERITY, j, float(self.effects[j]), replicates[:, j], self.how)
            for j in range(self.size)
        ]

    def _with_standard_errors(self) -> list[Result]:
        """Return each rater's effect with an interval from the sandwich over units, C / (C - 1) corrected."""
        scores = additive(self.units, self.resampling.n_units, self._residuals()).sums
        seen = len(np.unique(self.units))
        share = np.where(self.zeros, self.counts.sum(axis=0), 0.0)
        contrast = np.eye(self.size) - share / share.sum()
        half = scores @ self._inverse() @ contrast.T * np.sqrt(seen / max(seen - 1, 1))
        errors = np.sqrt((half**2).sum(axis=0))
        results = []
        for j in range(self.size):
            n = len(np.unique(self.units[self.present[:, j] > 0]))
            width = float(stdtrit(max(n - 1, 1), (1 + self.plan.level) / 2) * errors[j])
            ends = self.effects[j] + np.array([-width, width])
            plain = self._finished(SEVERITY, j, float(self.effects[j]), np.empty(0), self.how)
            how = f"{self.how}, {self.plan.level:g} interval by the cluster-robust standard error"
            if n > 1:
                plain = replace(plain, low=float(ends[0]), high=float(ends[1]), reason="")
            results.append(replace(plain, method=how))
        return results

    def misfits(self) -> list[Result]:
        """Return each rater's mean square of residuals over that of all; the fit itself is not resampled."""
        n_parameters = len(self.block) + self.size - 1
        if self.present.sum() <= n_parameters:
            reason = "the model explains so few ratings fully: no residuals are left"
            return [self._missing(j, reason) for j in range(self.size)]
        squares, free = self._residuals() ** 2, self._freedom()
        if squares.sum() <= 1e-18 * max(1.0, float((self.away**2).sum())):
            reason = "the raters differ by the same amount on every item: no residuals are left"
            return [self._missing(j, reason) for j in range(self.size)]
        n_units = self.resampling.n_units
        by_unit, free_by_unit = (additive(self.units, n_units, rows).sums for rows in (squares, free))
        point = _ratio(squares.sum(axis=0)[None, :], free.sum(axis=0)[None, :])[0]
        parts = [_ratio(weights @ by_unit, weights @ free_by_unit) for weights in self.resampling.chunks()]
        replicates = np.concatenate(parts) if parts else np.empty((0, self.size))
        how = f"mean square of residuals over that of all, {self.how}, the fit held"
        return [
            self._finished(MISFIT, j, float(point[j]), replicates[:, j], how)
            if free[:, j].sum() > 1e-9
            else self._missing(j, "the model explains all of these ratings")
            for j in range(self.size)
        ]

    def _residuals(self) -> Floats:
        """Residuals of the model per cell, 0 where there is no rating."""
        mean = (self.present * self.effects).sum(axis=1) / self.n
        return np.where(self.present > 0, self.away - self.effects + mean[:, None], 0.0)

    def _inverse(self) -> Floats:
        """Return the pseudo-inverse of the raters' normal equations, items removed."""
        k = self.size
        matrix = np.diag(self.diagonal.sum(axis=0)) - np.asarray(self.shared.sum(axis=0)).reshape(k, k)
        return np.asarray(np.linalg.inv(matrix + 1 / k) - 1 / k)

    def _freedom(self) -> Floats:
        """Return 1 - leverage per cell, 0 where there is no rating."""
        inverse = self._inverse()
        along = self.present @ inverse / self.n[:, None]
        within = (along * self.present).sum(axis=1) / self.n
        leverage = (1 / self.n)[:, None] + inverse.diagonal() - 2 * along + within[:, None]
        return np.where(self.present > 0, np.clip(1 - leverage, 0.0, 1.0), 0.0)

    def _finished(self, name: str, j: int, point: float, replicates: Floats, method: str) -> Result:
        rated = self.present[:, j] > 0
        values = self.block[rated, j]
        return finished(
            name,
            point,
            replicates,
            self.plan,
            n_items=int(rated.sum()),
            n_clusters=len(np.unique(self.units[rated])),
            n_raters=self.size,
            method=method,
            flags=("constant_rater",) if len(values) > 1 and (values == values[0]).all() else (),
        )

    def _missing(self, j: int, reason: str) -> Result:
        rated = self.present[:, j] > 0
        return Result(
            MISFIT,
            status="undefined",
            reason=reason,
            n_items=int(rated.sum()),
            n_clusters=len(np.unique(self.units[rated])),
            n_raters=self.size,
            method=self.how,
        )


def _ratio(squares: Floats, free: Floats) -> Floats:
    """Return rows of (own squares / own freedom) / (all squares / all freedom)."""
    own = squares / np.where(free > 1e-9, free, np.nan)
    every, freedom = squares.sum(axis=1, keepdims=True), free.sum(axis=1, keepdims=True)
    return np.asarray(own * freedom / np.where(every > 0, every, np.nan))


def _reached(matrix: Floats, start: Ints) -> npt.NDArray[np.bool_]:
    """Return, per row, which raters the start is joined to (rows x k), itself included."""
    rows = np.arange(len(matrix))
    joined = np.zeros(matrix.shape[:2], dtype=np.bool_)
    joined[rows, start] = True
    links = matrix != 0
    while True:
        wider = joined | (links & joined[:, None, :]).any(axis=2)
        if (wider == joined).all():
            return joined
        joined = wider


# Each rater compared with the rest, alpha with and without it, and expected agreement of other raters.

FEWEST = 5
ALPHA = "krippendorff_alpha"
REST = "the rest"


def with_the_rest(
    ratings: Ratings, column: int, rest: Sequence[int], statistic: str, resampling: Resampling
) -> Result:
    """Return a rater's statistic with the rest: with their mean, or for agreement with their majority.

    An item on which the majority of the rest is tied does not count.
    """
    definition = STATISTICS[statistic]
    joined = (
        majority(ratings, columns=rest).values
        if definition.needs_scale
        else mean_of(ratings.values[:, list(rest)])
    )
    both = ratings.with_column(REST, joined, on_scale=definition.needs_scale)
    sample = Sample(both, (column, len(both.raters) - 1), resampling)
    result = result_of(estimates(sample, [definition], resampling)[0], sample, resampling.plan)
    how = "majority of the rest, ties left out" if definition.needs_scale else "mean of the rest"
    reason = result.reason.replace(f"{ratings.raters[column]} gave", "the rater gave")
    method = f"{definition.title} with the {how}; {result.method}"
    return replace(result, name="rater_with_rest", method=method, reason=reason)


class AlphaOfOthers:
    """Krippendorff's alpha without and with raters, each set of raters estimated once."""

    def __init__(self, ratings: Ratings, resampling: Resampling) -> None:
        self.ratings, self.resampling = ratings, resampling
        self.estimates: dict[tuple[int, ...], tuple[Estimate, Sample]] = {}

    def of(self, columns: Sequence[int]) -> tuple[Estimate, Sample]:
        """Return the estimate of alpha among some raters."""
        key = tuple(sorted(columns))
        if key not in self.estimates:
            sample = Sample(self.ratings, key, self.resampling)
            self.estimates[key] = estimates(sample, [STATISTICS[ALPHA]], self.resampling)[0], sample
        return self.estimates[key]

    def without(self, rest: Sequence[int]) -> Result:
        """Return alpha among the rest, without the rater."""
        estimate, sample = self.of(rest)
        return replace(result_of(estimate, sample, self.resampling.plan), name="rater_alpha_without")

    def gain(self, column: int, rest: Sequence[int]) -> Result:
        """Return alpha with a rater minus alpha without it, on the same resamples."""
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
        jackknives = [e.leave_one_out for e in (more, less) if e.leave_one_out is not None]
        n_drawn = self.resampling.n_drawn(sample.units)
        bounds = interval_of(
            point,
            more.replicates - less.replicates,
            n_drawn,
            plan,
            jackknives[0] - jackknives[1] if jackknives else None,
        )
        flags = bounds.flags + cluster_flags(n_drawn)
        how = f"with less without, paired; {plan.method}"
        return Result(
            name, point, bounds.low, bounds.high, method=how, reason=bounds.reason, flags=flags, **counts
        )


def over_raters(ratings: Ratings, columns: Sequence[int], statistic: str, plan: Plan) -> Result:
    """Return the mean of a pair statistic over raters, with an interval over raters (items held fixed).

    Estimates the value with other raters of the same kind. Raters are drawn with replacement and the
    statistic is averaged over pairs of different raters, so that none is compared with itself; with fewer
    than five the resamples are uninformative, and it is rejected. ``n_clusters`` counts raters. Raises
    KeyError for an unknown statistic.
    """
    definition = STATISTICS[statistic]
    values = np.full((len(columns), len(columns)), np.nan)
    resampling = resampling_of(ratings, Plan(resamples=0))
    for i, first in enumerate(columns):
        for j in range(i + 1, len(columns)):
            estimate = estimates(Sample(ratings, (first, columns[j]), resampling), [definition], resampling)[
                0
            ]
            values[i, j] = estimate.point if estimate.ok else np.nan
    n_items = int(((~np.isnan(ratings.values[:, list(columns)])).sum(axis=1) >= 2).sum())
    counts: Counts = {"n_items": n_items, "n_clusters": len(columns), "n_raters": len(columns)}
    name = f"over_raters_{statistic}"
    if len(columns) < FEWEST:
        reason = f"an interval over raters needs {FEWEST} of them"
        return Result(name, status="insufficient", reason=reason, **counts)
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    point = filled.sum() / defined.sum() if defined.any() else np.nan
    rater_counts = drawn_counts(np.random.default_rng(plan.seed), len(columns), plan.resamples)
    weight = np.einsum("bi,bj,ij->b", rater_counts, rater_counts, defined.astype(np.float64), optimize=True)
    total = np.einsum("bi,bj,ij->b", rater_counts, rater_counts, filled, optimize=True)
    replicates = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)
    mean = finished(name, float(point), replicates, plan, undefined="no two raters have a value", **counts)
    drawn_how = f"{plan.level:g} interval, {plan.resamples} resamples, seed {plan.seed}"
    return replace(mean, method=f"rater bootstrap, items held fixed, percentile {drawn_how}")


ASIDE = frozenset({"key", "metric", "composite", "panel"})
NOBODY = "no other rater answered it"
UNKNOWN = "its raters are anonymous slots, and a slot may be a different person on every item"

RATES: dict[str, InReports] = {
    "rater_mean": InReports("Mean", "Mean"),
    "rater_difference": InReports("Less the rest, same items", "Less the rest"),
    "rater_limit_low": InReports("Lower limit of agreement with the rest", "Lower limit"),
    "rater_limit_high": InReports("Upper limit of agreement with the rest", "Upper limit"),
    "rater_severity": InReports("Severity, items held equal", "Severity"),
    "rater_misfit": InReports("Misfit (mean square of residuals)", "Misfit"),
    "rater_spread": InReports("Spread beside the rest's", "Spread"),
    "rater_ends": InReports("Use of the ends, less the rest", "Ends"),
}
AGREES: dict[str, InReports] = {
    "rater_with_rest": InReports("Agreement with the rest", "With the rest"),
    "rater_alpha_without": InReports("Krippendorff's alpha without the rater", "α without"),
    "rater_alpha_gain": InReports("Krippendorff's alpha with less without the rater", "α gained"),
}
FIGURES = RATES | AGREES
"""Possible figures of a row: title, and column heading."""


def figure_title(name: str) -> str:
    """Title of a figure of one rater, over raters or of repeats; empty for any other."""
    if name in FIGURES:
        return FIGURES[name].name
    if name.startswith("over_raters_"):
        return f"{STATISTICS[name.removeprefix('over_raters_')].title}, mean over pairs of people"
    return repeat_title(name)


@dataclass(frozen=True)
class RaterRow:
    """A rater: its group of raters whom items join (0: none), its figures, and its use of each value."""

    rater: str
    kind: str
    group: int
    figures: tuple[Result, ...]
    shares: dict[str, float]


@dataclass(frozen=True)
class RaterPanel:
    """The raters of a question, in the order of the ratings; `reason` explains why there are none.

    `groups` names the raters whom items join, where they fall apart. `through_judges`: people whom no item
    joins are compared through judges. `over` is the mean agreement of pairs of people, with an interval over
    people; None where nothing applies. `statistic` is that of the agreement with the rest.
    """

    rows: tuple[RaterRow, ...]
    statistic: str
    groups: tuple[tuple[str, ...], ...] = ()
    through_judges: bool = False
    over: Result | None = None
    unidentified: int = 0
    reason: str = ""


def rater_panel(
    ratings: Ratings, columns: Sequence[int] | None = None, plan: Plan | None = None
) -> RaterPanel:
    """Return the rows of the raters in the given columns, by default of all but metrics and answer keys."""
    plan = plan or Plan()
    if columns is None:
        columns = [j for j, kind in enumerate(ratings.kinds) if kind not in ASIDE]
    present = ~np.isnan(ratings.values)
    columns = [j for j in columns if present[:, j].any()]
    identified = [j for j in columns if ratings.identified[j]]
    statistic = "cohen_kappa" if ratings.level in CATEGORIES else "spearman"
    unidentified = len(columns) - len(identified)
    if ratings.problem or not identified:
        reason = ratings.problem or (UNKNOWN if unidentified else "nobody answered it")
        return RaterPanel((), statistic, unidentified=unidentified, reason=reason)
    return _Panel(ratings, columns, identified, statistic, resampling_of(ratings, plan)).panel()


@dataclass
class _Panel:
    """A panel in progress."""

    ratings: Ratings
    columns: Sequence[int]
    identified: Sequence[int]
    statistic: str
    resampling: Resampling

    def __post_init__(self) -> None:
        self.block = as_numbers(self.ratings)
        self.people = [j for j in self.columns if self.ratings.kinds[j] == PEOPLE]
        self.answered = self.ratings.as_answered()
        self.alpha = AlphaOfOthers(self.answered, self.resampling)

    def panel(self) -> RaterPanel:
        effects = self._effects()
        groups = groups_of(self.ratings.values[:, list(self.identified)])
        rows = tuple(
            RaterRow(
                self.ratings.raters[j],
                self.ratings.kinds[j],
                int(groups[place]),
                self._figures(j, effects[place] if effects else None),
                shares(self.ratings, j),
            )
            for place, j in enumerate(self.identified)
        )
        return RaterPanel(
            rows,
            self.statistic,
            _name_groups(groups, [row.rater for row in rows]),
            self._through_judges(groups),
            self._over(),
            len(self.columns) - len(self.identified),
        )

    def _effects(self) -> tuple[RaterEffect, ...]:
        if self.block is None:
            return ()
        return rater_effects(self.ratings, self.block, self.identified, self.people, self.resampling)

    def _figures(self, column: int, effect: RaterEffect | None) -> tuple[Result, ...]:
        rest = self.rest(column)
        results = [] if self.block is None else self._rates(self.block, column, rest, effect)
        if rest:
            results.append(with_the_rest(self.ratings, column, rest, self.statistic, self.resampling))
            results += self._alphas(column, rest)
        elif self.block is None:
            results.append(_without("rater_with_rest", NOBODY))
        flag = self.ratings.level == "ordinal" and self.block is not None
        return tuple(r.with_flags("treated_as_interval") if flag and r.name in RATES else r for r in results)

    def rest(self, column: int) -> list[int]:
        """Return the raters that a rater is compared with."""
        others = [j for j in self.people if j != column]
        return others or [j for j in self.columns if j != column]

    def _rates(
        self, block: Floats, column: int, rest: Sequence[int], effect: RaterEffect | None
    ) -> list[Result]:
        results = [average(block, column, self.resampling)]
        if not rest:
            return [*results, _without("rater_difference", NOBODY)]
        theirs = mean_of(block[:, list(rest)])
        bias, low, high = bland_altman(block[:, column], theirs, self.resampling)
        results.append(replace(bias, name="rater_difference"))
        if self.ratings.level not in CATEGORIES:
            results += [replace(low, name="rater_limit_low"), replace(high, name="rater_limit_high")]
        if effect is not None:
            results += [effect.severity, effect.misfit]
        if self.ratings.level not in CATEGORIES:
            results.append(spread(block, column, rest, self.resampling))
            at_ends = ends(self.ratings, block, column, rest, self.resampling)
            results += [at_ends] if at_ends is not None else []
        return results

    def _alphas(self, column: int, rest: Sequence[int]) -> list[Result]:
        if not all(self.answered.on_scale[j] for j in (column, *rest)):
            reason = "not all of them answer on the question's scale, which alpha reads"
            return [_without("rater_alpha_without", reason), _without("rater_alpha_gain", reason)]
        return [self.alpha.without(rest), self.alpha.gain(column, rest)]

    def _through_judges(self, groups: Ints) -> bool:
        """Whether people whom no item joins are in one group because judges rated the items of all."""
        humans = [place for place, j in enumerate(self.identified) if j in self.people]
        if len(humans) < 2 or len(humans) == len(self.identified):
            return False
        alone = groups_of(self.ratings.values[:, [self.identified[place] for place in humans]])
        together = {int(groups[place]) for place in humans}
        return len(together) == 1 and (len(set(alone.tolist())) > 1 or not alone.any())

    def _over(self) -> Result | None:
        """Return the mean agreement of pairs of identified people, over people."""
        raters = [j for j in self.identified if j in self.people and self.answered.on_scale[j]]
        if len(raters) < 2 or self.ratings.scale is None:
            return None
        ordered = self.ratings.level not in CATEGORIES
        return over_raters(
            self.answered,
            raters,
            "cohen_kappa_quadratic" if ordered else "cohen_kappa",
            self.resampling.plan,
        )


def _name_groups(groups: Ints, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups by name, the largest first, then each rater alone; none where all are joined."""
    groups_by_name = [
        tuple(name for name, group in zip(names, groups, strict=True) if group == number)
        for number in range(1, int(groups.max(initial=0)) + 1)
    ]
    groups_by_name += [(name,) for name, group in zip(names, groups, strict=True) if group == 0]
    return tuple(groups_by_name) if len(groups_by_name) > 1 else ()


def _without(name: str, reason: str) -> Result:
    return Result(name, status="insufficient", reason=reason, n_raters=1)
