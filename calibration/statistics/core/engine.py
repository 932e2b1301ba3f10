"""Computes statistics of samples: point values, resampled values and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.ratings import ORDERED, SCALES, Floats, Ints, codes
from calibration.statistics.core.resampling import Bounds, Plan, Resampling, bounds_of, cluster_flags
from calibration.statistics.core.samples import Draw, Sample, additive

# The one result type of every statistic.
#
# A number never travels alone: its interval, its counts and its method go with it. A statistic that cannot be
# computed is also a result, with a status and a reason, never 0, NaN or 1.

Status = Literal["ok", "undefined", "insufficient", "rejected"]
STATUSES: tuple[Status, ...] = ("ok", "undefined", "insufficient", "rejected")


class Counts(TypedDict, total=False):
    """Counts of a result, by name."""

    n_items: int
    n_clusters: int
    n_raters: int
    n_missing: int


FLAGS = {
    "constant_rater": "a rater gave one value throughout, so the figure says nothing about that rater",
    "few_clusters": "fewer than 50 clusters (or systems, if these are resampled): the interval is too narrow",
    "moderate_clusters": "50 to 149 clusters: the interval is somewhat too narrow",
    "one_item": "computed from a single item",
    "undefined_resamples": "undefined in more than 5% of the resamples: no interval",
    "degenerate_resamples": "the same in every resample: no interval",
    "prevalence": "one category has 90% of the ratings or more, which lowers chance-corrected agreement",
    "treated_as_interval": "ordered categories are read as equally spaced numbers",
    "missing_cells": "some raters left items out: estimated from the ratings that exist",
    "dropped_items": "items with a different number of ratings than most are left out",
    "dropped_raters": "raters for whom the figure is undefined are left out of the mean",
    "few_items": "people who share too few items with the judge and another person are left out of the test",
    "clipped": "the corrected value lies outside 0 to 1 and is shown at the bound",
    "outside_range": "the corrected value is impossible: there are few labels, or the judge has changed",
    "one_order": "only one order was shown, so the effects of position and response cannot be told apart",
    "by_chance": "no pass: the agreement with people could be chance",
    "constant_too": "no pass: giving the same answer to every item scores as well",
    "few_events": "fewer than 30 items of the rarer class: the interval may be too narrow",
    "too_few_events": "fewer than 10 items of the rarer class: no interval of chance-corrected agreement",
    "few_heavy_events": "fewer than 10 items of the rarer answer weigh above the mean: the interval may be "
    "too narrow",
    "no_events": "nobody marked it: 0, with an interval from the number of turns alone",
    "single_cluster_stratum": "a stratum has a single cluster and so no spread: the interval is too narrow",
    "clusters_span_strata": "a cluster lies in several strata, which are resampled as if independent",
    "ignores_clusters": "p assumes independent items: it is too small if items of one dialogue are alike",
    "unequal_n": "rests on fewer continuations than other rows",
    "unequal_probabilities": "drawn with unequal probabilities: the figure is weighted to all items",
    "errors_measured_elsewhere": "sensitivity and specificity are those of all rated items, not of the cell",
}


@dataclass(frozen=True)
class Result:
    """Value of a statistic with its interval, counts, method and flags.

    ``value`` is None exactly when ``status`` is not ``ok``. ``low`` and ``high`` are None together, also for
    a value without an interval (``reason`` then says why). ``n_missing`` counts the empty cells (item by
    rater) among the raters compared.
    """

    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_items: int = 0
    n_clusters: int = 0
    n_raters: int = 0
    n_missing: int = 0
    method: str = ""
    status: Status = "ok"
    reason: str = ""
    flags: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Reject a result that contradicts itself, and convert NumPy numbers to plain ones."""
        if self.status not in STATUSES:
            raise ValueError(f"{self.name}: unknown status {self.status!r}")
        if (self.value is None) == (self.status == "ok"):
            raise ValueError(f"{self.name}: status {self.status} with value {self.value}")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"{self.name}: status {self.status} needs a reason")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: an interval has two ends")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is None:
                continue
            if not math.isfinite(number):
                raise ValueError(f"{self.name}: {number} is not a result")
            object.__setattr__(self, name, float(number))  # NumPy numbers print and compare differently

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"

    def with_flags(self, *flags: str) -> Result:
        """Return the same result with these flags added, without duplicates."""
        return replace(self, flags=self.flags + tuple(f for f in flags if f not in self.flags))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-ready values, in order."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {"flags": list(self.flags)}


# A statistic: a row of the table, with its formula and where it applies.

ALL = frozenset(SCALES)
CORRELATION_LEVELS = ORDERED
MOST_CELLS = 20_000_000  # cells of all tables that one part of a draw holds


@dataclass(frozen=True)
class Verdict:
    """Outcome of a check: a status with its reason, or flags on a value that remains valid."""

    status: Status = "ok"
    reason: str = ""
    flags: tuple[str, ...] = ()


Check = Callable[[Sample], Verdict | None]
Family = Literal[
    "Agreement of two raters",
    "All raters together",
    "Tags, person as reference",
    "Tags of two raters",
    "Correlation of two raters",
    "Standing in for a person",
]
"""Families that group the statistics on offer, in this order."""


def in_parts(compute: Callable[[Draw], Floats]) -> Callable[[Draw], Floats]:
    """Wrap compute so that it takes only as many rows of a draw at a time as their tables fit in memory."""

    @wraps(compute)
    def run(draw: Draw) -> Floats:
        rows = max(1, MOST_CELLS // draw.sample.table_cells)
        if len(draw.weights) <= rows:
            return compute(draw)
        starts = range(0, len(draw.weights), rows)
        return np.concatenate(
            [compute(Draw(draw.sample, draw.weights[start : start + rows])) for start in starts]
        )

    return run


@dataclass(frozen=True)
class InReports:
    """Wording of a statistic in reports: name in a sentence, column heading, and symbol, if any."""

    name: str
    heading: str
    symbol: str = ""


@dataclass(frozen=True)
class JudgeTest:
    """A figure of the test of whether a judge can replace people, worded like a statistic."""

    key: str
    title: str
    in_reports: InReports
    source: str

    family: ClassVar[Family] = "Standing in for a person"

    @property
    def words(self) -> InReports:
        """Wording in reports."""
        return self.in_reports


@dataclass(frozen=True)
class Statistic:
    """One statistic. ``compute`` returns a value per row of a draw, NaN where it is undefined.

    ``levels``: measurement levels it applies to. ``raters``: a pair or the whole panel. ``symmetric``: the
    order of the raters does not matter. ``exchangeable``: applies to unidentified raters. ``needs_scale``:
    all raters must answer on one shared scale. ``of_sets``: it alone reads answers that are sets of tags.
    ``bounds``: the smallest and largest possible value.
    ``checks`` return why there is no value, or flags on it; the first status that is not ok decides. ``used``
    marks the sample's items that the value rests on, where not all are used. ``reads_singles``: items with a
    single rating also count towards how often each value is used. ``weighted``: defined for items drawn with
    unequal probabilities. ``library`` computes the point value by a
    library, None where that would take too much memory: the library's value is then reported, and a different
    value of ours is an error. ``second_opinion`` computes it by a library that takes seconds to load: it runs
    only when a report is verified, and our value is reported. ``remark`` returns what the result's method
    adds about this sample, if anything. ``in_reports`` is its wording in reports, where its title would be
    too long for a column or a sentence.
    """

    key: str
    title: str
    compute: Callable[[Draw], Floats]
    levels: frozenset[str] = ALL
    raters: Literal["pair", "panel"] = "pair"
    symmetric: bool = True
    exchangeable: bool = False
    needs_scale: bool = True
    of_sets: bool = False
    bounds: tuple[float, float] = (-1.0, 1.0)
    checks: tuple[Check, ...] = ()
    source: str = ""
    used: Callable[[Sample], npt.NDArray[np.bool_]] | None = None
    reads_singles: bool = False
    weighted: bool = True
    library: Callable[[Sample], float | None] | None = None
    second_opinion: Callable[[Sample], float] | None = None
    remark: Callable[[Sample], str] | None = None
    in_reports: InReports | None = None

    def __post_init__(self) -> None:
        """Compute in parts where tables are large."""
        object.__setattr__(self, "compute", in_parts(self.compute))

    @property
    def words(self) -> InReports:
        """Wording in reports: the title, unless a shorter wording is declared."""
        return self.in_reports or InReports(self.title, self.title)

    @property
    def family(self) -> Family:
        """Family in which the statistic is offered."""
        if self.raters == "panel":
            return "All raters together"
        if self.levels == {"binary"}:
            return "Tags, person as reference" if not self.symmetric else "Tags of two raters"
        return "Agreement of two raters" if self.needs_scale else "Correlation of two raters"

    def applies(self, sample: Sample) -> bool:
        """Whether it makes sense for these raters and their scale."""
        ratings = sample.ratings
        if self.of_sets != (ratings.sets is not None):
            return False
        if self.needs_scale:
            if ratings.level not in self.levels or not sample.on_scale:
                return False
            return ratings.scale is not None or self.key in WITHOUT_VALUES
        ordered = ratings.names is None or ratings.declared or ratings.positive is not None
        return ratings.level in self.levels or (not sample.on_scale and ratings.level == "binary" and ordered)

    def verdict(self, sample: Sample) -> Verdict:
        """Return the first check that rules out a value, or all flags together."""
        flags: tuple[str, ...] = ()
        if sample.weights is not None:
            if not self.weighted:
                return UNWEIGHTABLE
            flags = (UNEQUAL,)
        for check in (enough, *self.checks):
            outcome = check(sample)
            if outcome is None:
                continue
            if outcome.status != "ok":
                return outcome
            flags += outcome.flags
        return Verdict(flags=flags)


UNEQUAL = "unequal_probabilities"
UNWEIGHTABLE = Verdict("rejected", "not defined for items drawn with unequal probabilities")
"""Outcome of a figure that has no design-weighted form, where the items do not weigh alike."""

# Statistics of a shared scale that do not need its values listed: they read numbers or equality.
WITHOUT_VALUES = frozenset({"percent_agreement", "krippendorff_alpha"}) | {
    f"icc_{form}_{unit}" for form in (1, 2, 3) for unit in ("1", "k")
}


def enough(sample: Sample) -> Verdict | None:
    """Refuse a sample with fewer than two raters, or without an item that two of them rated."""
    if sample.ratings.problem:
        return Verdict("rejected", sample.ratings.problem)
    if sample.n_raters < 2:
        return Verdict("insufficient", "fewer than two raters")
    if sample.n_items == 0:
        if not sample.present.any():
            return Verdict("insufficient", "no ratings: every value is missing")
        return Verdict("insufficient", "no item was rated by two of the raters")
    return Verdict(flags=("one_item",)) if sample.n_items == 1 else None


def no_variation(sample: Sample) -> Verdict | None:
    """Chance-corrected agreement needs at least two different values."""
    if not sample.all_same:
        return None
    value = sample.ratings.label(float(sample.values[sample.values == sample.values][0]))
    return Verdict("undefined", f"no variation: every rating is {value}; read percent agreement instead")


def prevalence(sample: Sample) -> Verdict | None:
    """Flag a sample in which one value has 90% of the ratings or more."""
    return Verdict(flags=("prevalence",)) if sample.common_share() >= 0.9 else None


FEW_EVENTS = 30
LEAST_EVENTS = 10
"""Fewest events for an interval of chance-corrected agreement: with fewer, too few covered the truth."""


def few_events(sample: Sample) -> Verdict | None:
    """Flag fewer than 30 positives in binary ratings: of either rater of a pair, or per rating of a panel."""
    return _few(sample, sample.values == sample.ratings.positive)


def few_of_either(sample: Sample) -> Verdict | None:
    """Flag binary ratings whose rarer class has fewer than 30, for figures that rest on both classes."""
    present = sample.values == sample.values
    positive = present & (sample.values == sample.ratings.positive)
    return _few(sample, positive) or _few(sample, present & ~positive)


def events_flags(events: float, *, corrected_for_chance: bool) -> tuple[str, ...]:
    """Return the flags of a figure that rests on this many events of the rarer answer."""
    flags = ("few_events",) if events < FEW_EVENTS else ()
    return (*flags, "too_few_events") if corrected_for_chance and events < LEAST_EVENTS else flags


def too_few_of_either(sample: Sample) -> Verdict | None:
    """Flag binary ratings whose rarer class has fewer than 10: chance-corrected agreement has no interval."""
    present = sample.values == sample.values
    positive = present & (sample.values == sample.ratings.positive)
    events = min(_events(sample, positive), _events(sample, present & ~positive))
    return Verdict(flags=("too_few_events",)) if events < LEAST_EVENTS else None


def _few(sample: Sample, marked: npt.NDArray[np.bool_]) -> Verdict | None:
    flags: tuple[str, ...] = ("few_events",) if _events(sample, marked) < FEW_EVENTS else ()
    if sample.weights is not None and sample.ratings.level == "binary":
        heavy = marked[sample.weights > 1].sum(axis=0).max()  # a judge whose flags were drawn first has none
        flags += ("few_heavy_events",) if heavy < LEAST_EVENTS else ()
    return Verdict(flags=flags) if flags else None


def _events(sample: Sample, marked: npt.NDArray[np.bool_]) -> float:
    """Return the number of marked items of the rater who marks fewest; of a panel, its marks per rating."""
    if sample.ratings.level != "binary" or sample.ratings.positive is None:
        return np.inf
    if sample.n_raters > 2:  # in items: the mean rater of a crowd has few marks whatever the data hold
        return float(marked.sum() / max(sample.per_item[sample.used].mean(), 1.0))
    return float(marked.sum(axis=0).min())


def constant_flag(sample: Sample) -> Verdict | None:
    """Flag a rater who always gave the same value."""
    return Verdict(flags=("constant_rater",)) if any(sample.constant) else None


def constant_undefined(sample: Sample) -> Verdict | None:
    """Correlation-like statistics are undefined when a rater always gave the same value."""
    for position, constant in enumerate(sample.constant):
        if constant:
            return Verdict(
                "undefined", f"{sample.name(position)} gave one value throughout", ("constant_rater",)
            )
    return None


def as_numbers(sample: Sample) -> Verdict | None:
    """Flag ordered categories that are treated as equally spaced numbers."""
    return Verdict(flags=("treated_as_interval",)) if sample.ratings.level == "ordinal" else None


EMPTY: Floats = np.empty(0)
SAME = 1e-9  # largest difference from the library's value that rounding explains


class Disagreement(ArithmeticError):
    """A value that a library computes differently: always an internal error."""


@dataclass(frozen=True)
class Estimate:
    """A statistic of a sample: its verdict, its value (NaN where there is none) and its resampled values."""

    statistic: Statistic
    verdict: Verdict
    point: float
    replicates: Floats
    leave_one_out: Floats | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.verdict.status == "ok"


def estimates(sample: Sample, statistics: Sequence[Statistic], resampling: Resampling) -> list[Estimate]:
    """Compute statistics of one sample, all on the same resamples."""
    verdicts = {s.key: s.verdict(sample) for s in statistics}
    todo = [s for s in statistics if verdicts[s.key].status == "ok"]
    points = _values(sample, todo, [np.ones((1, resampling.n_units))])
    replicates = _values(sample, todo, resampling.chunks() if resampling.plan.resamples else [])
    if resampling.plan.interval == "bca":
        jackknives = _values(sample, todo, resampling.leave_one_out())
    out = []
    for statistic in statistics:
        verdict, key = verdicts[statistic.key], statistic.key
        if verdict.status != "ok":
            out.append(Estimate(statistic, verdict, np.nan, EMPTY))
            continue
        point = _checked(statistic, sample, float(points[key][0]))
        if not np.isfinite(point):
            verdict = Verdict("undefined", "not defined on these ratings", verdict.flags)
        jackknife = jackknives[key] if resampling.plan.interval == "bca" else None
        out.append(Estimate(statistic, verdict, point, replicates[key], jackknife))
    return out


@dataclass
class SecondOpinions:
    """Number of values recomputed by a library."""

    n_requested: int = 0


_OPINIONS: ContextVar[SecondOpinions | None] = ContextVar("second opinions", default=None)


@contextmanager
def second_opinions() -> Iterator[SecondOpinions]:
    """Also compute each value that has a `second_opinion` by its library; our values are reported.

    Within the context, a differing value raises Disagreement.
    """
    counted = SecondOpinions()
    token = _OPINIONS.set(counted)
    try:
        yield counted
    finally:
        _OPINIONS.reset(token)


def _checked(statistic: Statistic, sample: Sample, point: float) -> float:
    """Return the library's value, for a statistic that has one. Raises Disagreement where ours differs."""
    if not np.isfinite(point):
        return point
    if (opinions := _OPINIONS.get()) is not None and statistic.second_opinion is not None:
        opinions.n_requested += 1
        _compare(statistic, sample, point, statistic.second_opinion(sample))
    if statistic.library is None or sample.weights is not None:  # the libraries know no weights
        return point
    theirs = statistic.library(sample)
    if theirs is None:
        return point
    _compare(statistic, sample, point, theirs)
    return theirs


def _compare(statistic: Statistic, sample: Sample, point: float, theirs: float) -> None:
    if not abs(theirs - point) <= SAME:
        raise Disagreement(
            f"{statistic.key} of {sample.n_items} items is {point!r} here and {theirs!r} by the library: "
            "a defect of one of them, please report it with the ratings"
        )


def _values(sample: Sample, statistics: Sequence[Statistic], chunks: object) -> dict[str, Floats]:
    parts: dict[str, list[Floats]] = {s.key: [] for s in statistics}
    if statistics:
        for weights in chunks:  # type: ignore[attr-defined]
            draw = Draw(sample, weights)
            for statistic in statistics:
                parts[statistic.key].append(statistic.compute(draw))
    return {
        key: np.concatenate(chunks_of_key) if chunks_of_key else EMPTY for key, chunks_of_key in parts.items()
    }


def result_of(estimate: Estimate, sample: Sample, plan: Plan) -> Result:
    """Return the result of an estimate, with its interval and counts."""
    verdict, statistic = estimate.verdict, estimate.statistic
    used = statistic.used(sample) if statistic.used is not None and sample.n_items else None
    n_clusters = sample.n_clusters if used is None else len(np.unique(sample.clusters[used]))
    counts: Counts = {
        "n_items": sample.n_items if used is None else int(used.sum()),
        "n_clusters": n_clusters,
        "n_raters": sample.n_raters,
        "n_missing": sample.n_missing,
    }
    basis = weighting(sample)
    rated = sample.rated
    if statistic.reads_singles and sample.n_items and (sample.per_item[rated] == 1).any():
        counts["n_items"] = int(rated.sum())
        counts["n_clusters"] = len(np.unique(sample.ratings.clusters[rated]))
        basis += f"; agreement on {sample.n_items} items rated twice or more, chance on all {rated.sum()}"
    if not estimate.ok:
        return Result(
            statistic.key,
            status=verdict.status,
            reason=verdict.reason,
            flags=verdict.flags,
            method=f"{plan.method}{basis}",
            **counts,
        )
    n_drawn = sample.resampling.n_drawn(sample.units if used is None else sample.units[used])
    bounds = interval_of(
        estimate.point, estimate.replicates, n_drawn, plan, estimate.leave_one_out, verdict.flags
    )
    flags = verdict.flags + bounds.flags + cluster_flags(n_drawn)
    remark = statistic.remark(sample) if statistic.remark is not None else ""
    return Result(
        statistic.key,
        estimate.point,
        bounds.low,
        bounds.high,
        method=f"{plan.method}{basis}; {remark}" if remark else f"{plan.method}{basis}",
        reason=bounds.reason,
        flags=flags,
        **counts,
    )


def weighting(sample: Sample) -> str:
    """Return what a method adds about items drawn with unequal probabilities; empty where all count alike."""
    if sample.weights is None:
        return ""
    return f"; weighted by 1 / probability of being drawn, {sample.effective_items:.0f} effective items"


TOO_FEW = "no interval: fewer than 10 items with the rarer answer"


def interval_of(
    point: float,
    replicates: Floats,
    n_drawn: int,
    plan: Plan,
    leave_one_out: Floats | None = None,
    flags: Sequence[str] = (),
) -> Bounds:
    """Return the interval, or none where only a single cluster (or system, or item) is drawn from.

    There is none either for a figure flagged as resting on too few of the rarer answer.
    """
    if n_drawn < 2:
        unit = "cluster or system" if plan.scheme == "crossed" else plan.scheme.removesuffix("s")
        return Bounds(reason=f"no interval: there is a single {unit}")
    bounds = bounds_of(point, replicates, plan, leave_one_out)
    return Bounds(reason=TOO_FEW) if bounds.low is not None and "too_few_events" in flags else bounds


# Results of statistics that are functions of sums over items, resampled by cluster.

Labels = Sequence[object] | np.ndarray[tuple[int, ...], np.dtype[np.generic]]


def cluster_codes(clusters: Labels | None, n: int) -> Ints:
    """Return cluster codes of n items; without clusters, every item is its own."""
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"{len(clusters)} clusters for {n} items")
    return codes(clusters)


def resampled(
    units: Ints, rows: Floats, compute: Callable[[Floats], Floats], plan: Plan
) -> tuple[float, Floats]:
    """Return compute's value for the totals of rows (items x d), and for the totals of every resample."""
    if not units.size:
        return float("nan"), np.empty(0)
    total, replicates = totals(units, rows, plan)
    return float(compute(total)[0]), compute(replicates) if len(replicates) else np.empty(0)


def totals(units: Ints, rows: Floats, plan: Plan) -> tuple[Floats, Floats]:
    """Return the totals of rows (items x d) as 1 x d, and those of every resample (resamples x d).

    For several figures of the same rows: all of them read the same resamples.
    """
    n_units = int(units.max()) + 1
    sums = additive(units, n_units, rows).sums
    parts = [weights @ sums for weights in Resampling(plan, units, n_units).chunks()]
    return sums.sum(axis=0)[None, :], np.concatenate(parts) if parts else np.empty((0, sums.shape[1]))


def finished(
    name: str,
    point: float,
    replicates: Floats,
    plan: Plan,
    *,
    n_items: int,
    n_clusters: int,
    n_raters: int = 0,
    n_missing: int = 0,
    method: str = "",
    flags: tuple[str, ...] = (),
    undefined: str = "not defined on these ratings",
    leave_one_out: Floats | None = None,
    n_drawn: int | None = None,
) -> Result:
    """Build the result of a value from its resampled values, with interval and cluster flag.

    ``n_drawn`` is the number of clusters or systems drawn from: the smaller number where both are. The
    interval is percentile where there are no leave-one-out values, whatever the plan requests; the method
    names the kind used.
    """
    used = plan if leave_one_out is not None else replace(plan, interval="percentile")
    full_method = f"{method}; {used.method}" if method else used.method
    counts: Counts = {
        "n_items": n_items,
        "n_clusters": n_clusters,
        "n_raters": n_raters,
        "n_missing": n_missing,
    }
    if not np.isfinite(point):
        return Result(name, status="undefined", reason=undefined, method=full_method, flags=flags, **counts)
    n_units = n_clusters if n_drawn is None else n_drawn
    bounds = interval_of(point, replicates, n_units, used, leave_one_out, flags)
    flags += bounds.flags + cluster_flags(n_units)
    return Result(
        name, point, bounds.low, bounds.high, method=full_method, reason=bounds.reason, flags=flags, **counts
    )
