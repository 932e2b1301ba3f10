"""How often each behaviour, or how high each score, by system and condition, and how far from people.

The unit is the continuation. A cell is the mean over its row's continuations; with strata, the mean over
strata of the mean over the stratum's continuations. Intervals resample clusters within strata. Beside each
cell stand the bounds that it would have if every missing value were the lowest or the highest possible, its
difference from people, paired by dialogue, and, where people rated a sample, the value corrected for the
judge's errors. A row's distribution over the tags is compared with people's in shape and in amount.

CoCoEval (table 3, figures 4 to 7) prints means with bootstrap intervals; the differences, distances and
corrections are Concord's choice. See docs/statistics/counts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.sums import finished
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.counted import Column, Counted
from calibration.statistics.differences import Difference, differences
from calibration.statistics.judge_errors import Correction, Rated, corrected
from calibration.statistics.prevalence import wilson_bounds
from calibration.statistics.strata import Design, Mask, Sums, mean, mean_of_strata

# How far one distribution of mean counts is from another: in shape, and in amount.
#
# With mean counts c and h over the same behaviours, and shares p = c / sum c and q = h / sum h:
#
#     tv      1/2 * sum |p - q|                                                        total variation, 0 to 1
#     js      1/2 * sum p log2(p / m) + 1/2 * sum q log2(q / m), m = (p + q) / 2       Lin 1991, 0 to 1
#     amount  sum |c - h|                                                              in the counts' own unit
#
# Shape and amount answer different questions. Shape has no value where a sum is zero. All three are biased
# upwards in small samples; `halves` says how far two random halves of one sample are apart by chance alone.

DISTANCES = ("tv", "js", "amount")
"""The columns of what `distances` returns."""
NO_EVENTS = "shape is not defined: one of the two has no event of any behaviour"


def distances(counts: Floats, others: Floats) -> Floats:
    """Return tv, js and amount of each row's counts from the other's (rows x behaviours): rows x 3.

    NaN where a mean count is NaN, and the shapes also where a row's counts sum to zero.
    """
    p, q = _shares(counts), _shares(others)
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        js = (xlogy(p, p / np.where(m > 0, m, 1)) + xlogy(q, q / np.where(m > 0, m, 1))).sum(axis=1) / 2
    tv = np.abs(p - q).sum(axis=1) / 2
    js = np.clip(js / np.log(2), 0.0, 1.0)  # rounding leaves it a little outside
    return np.column_stack([tv, js, np.abs(counts - others).sum(axis=1)])


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, np.nan))


def halves(sums: Sums, strata: Ints, plan: Plan) -> Floats:
    """Return the distances between two random halves of a sample, splits x 3: one split per resample.

    Clusters are split within strata; a stratum with a single one is left out, as one half would lack it.
    """
    kept = np.isin(strata, [s for s in np.unique(strata) if (strata == s).sum() > 1])
    own, of = sums.at(kept), strata[kept]
    if not len(of) or not plan.resamples:
        return np.empty((0, len(DISTANCES)))
    rng = np.random.default_rng(plan.seed)
    first = np.zeros((plan.resamples, len(of)))
    for stratum in np.unique(of):
        units = np.flatnonzero(of == stratum)
        ranks = rng.random((plan.resamples, len(units))).argsort(axis=1).argsort(axis=1)
        more = rng.integers(0, 2, plan.resamples) if len(units) % 2 else np.zeros(plan.resamples)
        first[:, units] = ranks < len(units) // 2 + more[:, None]
    return distances(mean_of_strata(first, own, of), mean_of_strata(1 - first, own, of))


NO_PEOPLE = "no continuation by people was rated, so there is nothing to compare with"
FEW_TAGS = "a distribution needs two behaviours or more"


class MixedLengths(ValueError):
    """Counts over continuations of different lengths."""


@dataclass(frozen=True)
class Cell:
    """One column of one row.

    ``result`` is the mean with its interval; its ``n_items`` are continuations, ``n_missing`` those without a
    value. ``lowest`` and ``highest`` are None where the scale is open. ``raw`` is the mean of the counts as
    they are where ``result`` is per so many turns.
    """

    column: Column
    result: Result
    lowest: float | None
    highest: float | None
    raw: float | None = None
    corrected: Result | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class Row:
    """The continuations of one condition, or people's. ``distance`` holds tv, js and amount by name.

    ``n_continuations`` have a value in some column, ``n_missing`` lack one in some column.
    """

    code: int
    human: bool
    n_continuations: int
    n_clusters: int
    n_missing: int
    cells: tuple[Cell, ...]
    distance: dict[str, Result] | None


@dataclass(frozen=True)
class Table:
    """All rows, people's first. ``halves``: how far random halves of people's continuations are apart.

    ``no_differences`` and ``no_distance`` say why there are none, or nothing.
    """

    rows: tuple[Row, ...]
    halves: dict[str, Result] | None
    n_strata: int
    no_differences: str = ""
    no_distance: str = ""


def table(
    counted: Counted,
    rows: Ints,
    *,
    human: int | None = None,
    rated: Rated | None = None,
    per_turns: float | None = None,
    plan: Plan | None = None,
    correction: Correction = "auto",
) -> Table:
    """Return the table; ``rows`` gives each continuation's row and ``human`` people's, if there is one.

    Raises MixedLengths for counts over continuations of different lengths, unless ``per_turns`` says per how
    many turns to count.
    """
    plan = plan or Plan()
    shortest, longest = counted.lengths()
    if counted.is_counts and per_turns is None and shortest != longest:
        raise MixedLengths(
            f"the continuations have {shortest} to {longest} turns, so their counts cannot be averaged; "
            "count per so many turns instead, such as per 30"
        )
    made = _Maker(counted, rows, human, rated, per_turns, plan, correction)
    codes = sorted(set(rows.tolist()), key=lambda code: (code != human, code))
    people = human is not None and human in codes
    compared = [made.row(code) for code in codes]
    tags = made.tags
    return Table(
        tuple(_noting_unequal(compared)),
        made.halves() if people and len(tags) > 1 else None,
        len(np.unique(made.design.strata)),
        "" if people else NO_PEOPLE,
        NO_PEOPLE if not people else "" if len(tags) > 1 else FEW_TAGS,
    )


class _Maker:
    """Makes rows, all on the same design."""

    def __init__(
        self,
        counted: Counted,
        rows: Ints,
        human: int | None,
        rated: Rated | None,
        per_turns: float | None,
        plan: Plan,
        correction: Correction,
    ) -> None:
        self.raw = counted if per_turns is not None and counted.is_counts else None
        self.counted = counted.per(per_turns) if self.raw and per_turns is not None else counted
        if rated is not None and self.raw and per_turns is not None:
            rated = replace(rated, values=rated.values * counted.factors(per_turns))
        self.turns, self.rows, self.rated, self.correction = counted.turns, rows, rated, correction
        self.design = Design.of(counted.clusters, counted.strata, plan)
        self.plan = plan
        self.human = human
        self.people: Mask = rows == human if human is not None else np.zeros(len(rows), dtype=bool)
        self.tags = [at for at, column in enumerate(counted.columns) if column.kind == "tag"]

    def row(self, code: int) -> Row:
        """Return one row."""
        chosen: Mask = self.rows == code
        is_human = code == self.human
        values = self.counted.values[chosen]
        sums = self.design.sums(self.counted.values, chosen)
        results = self._results(chosen, sums)
        low, high = (self._means(given, chosen) for given in (self.counted.lowest, self.counted.highest))
        raw = self._means(self.raw.values, chosen) if self.raw else None
        nothing: Sequence[None] = [None] * len(results)
        fixed = (
            corrected(self.counted, self.rated, self.design, chosen, self.correction)
            if self.rated is not None
            else nothing
        )
        apart = (
            differences(self.counted, self.design, chosen, self.people)
            if self.people.any() and not is_human
            else nothing
        )
        cells = tuple(
            Cell(
                column,
                results[at],
                _finite(low[at]),
                _finite(high[at]),
                _finite(raw[at]) if raw is not None and column.is_count else None,
                fixed[at],
                apart[at],
            )
            for at, column in enumerate(self.counted.columns)
        )
        missing = np.isnan(values)
        return Row(
            code,
            is_human,
            int((~missing).any(axis=1).sum()),
            self.design.n_clusters(sums.present),
            int(missing.any(axis=1).sum()),
            cells,
            self._distance(sums) if self.people.any() and not is_human and len(self.tags) > 1 else None,
        )

    def _means(self, values: Floats, chosen: Mask) -> Floats:
        return mean(self.design.sums(values, chosen), self.design.strata)

    def _results(self, chosen: Mask, sums: Sums) -> list[Result]:
        units = sums.present
        own, strata = sums.at(units), self.design.strata[units]
        points = mean(own, strata)
        replicates = self.design.replicates(units, lambda weights: mean_of_strata(weights, own, strata))
        flags: tuple[str, ...] = ("single_cluster_stratum",) if self.design.single(units) else ()
        flags += ("clusters_span_strata",) if self.design.spans else ()
        n_strata = len(np.unique(strata))
        method = f"mean of {n_strata} strata, clusters drawn within strata" if n_strata > 1 else "mean"
        found = []
        for at, column in enumerate(self.counted.columns):
            n = int(sums.numbers[:, at].sum())
            counts: Counts = {
                "n_items": n,
                "n_clusters": self.design.n_clusters(sums.numbers[:, at] > 0),
                "n_raters": 1,
                "n_missing": int(chosen.sum()) - n,
            }
            if not n:
                reason = "the rater has no value on any of these continuations"
                found.append(Result("mean", status="insufficient", reason=reason, **counts))
            elif column.is_count and not sums.totals[:, at].any():
                found.append(self._no_events(at, chosen, counts))
            else:
                own_flags = (*flags, "one_item") if n == 1 else flags
                found.append(
                    finished(
                        "mean",
                        float(points[at]),
                        replicates[:, at],
                        self.plan,
                        method=method,
                        flags=own_flags,
                        **counts,
                    )
                )
        return found

    def _no_events(self, at: int, chosen: Mask, counts: Counts) -> Result:
        """Nobody marked it: 0, with Wilson's limit on the turns, because resampling gives no spread."""
        there = chosen & ~np.isnan(self.counted.values[:, at])
        n = int(self.turns[there].sum()) * self.counted.columns[at].per_turn
        high = wilson_bounds(0, n, self.plan.level)[1] * float(self.counted.most[at])
        method = f"Wilson on {n:,} answers about turns, as resampling gives no spread"
        flags = ("no_events", *cluster_flags(counts["n_clusters"]))
        return Result("mean", 0.0, 0.0, high, method=method, flags=flags, **counts)

    def _distance(self, sums: Sums) -> dict[str, Result]:
        """Return how far the row's mean counts of the tags are from people's."""
        theirs = self.design.sums(self.counted.values, self.people)
        units = sums.present | theirs.present
        strata, tags = self.design.strata[units], self.tags
        own, others = (Sums(s.totals[units][:, tags], s.numbers[units][:, tags]) for s in (sums, theirs))

        def compute(weights: Floats) -> Floats:
            return distances(mean_of_strata(weights, own, strata), mean_of_strata(weights, others, strata))

        points = compute(np.ones((1, len(strata))))[0]
        replicates = self.design.replicates(units, compute)
        complete = bool(np.isfinite(points[-1]))
        undefined = NO_EVENTS if complete else "some behaviour has no value in this row or in people's"
        n_items = int(own.numbers.max(axis=1).sum())
        return {
            name: finished(
                f"distance_{name}",
                float(points[at]),
                replicates[:, at],
                self.plan,
                n_items=n_items,
                n_clusters=self.design.n_clusters(units),
                n_raters=1,
                method="clusters drawn within strata",
                undefined=undefined,
            )
            for at, name in enumerate(DISTANCES)
        }

    def halves(self) -> dict[str, Result]:
        """Return how far random halves of people's continuations are apart: mean and middle part."""
        sums = self.design.sums(self.counted.values[:, self.tags], self.people)
        units = sums.present
        found = halves(sums.at(units), self.design.strata[units], self.plan)
        return {name: self._halved(name, found[:, at], sums) for at, name in enumerate(DISTANCES)}

    def _halved(self, name: str, values: Floats, sums: Sums) -> Result:
        defined = values[np.isfinite(values)]
        counts: Counts = {
            "n_items": int(sums.numbers.max(axis=1).sum()),
            "n_clusters": self.design.n_clusters(sums.present),
            "n_raters": 1,
        }
        if len(defined) < max(1, (1 - self.plan.max_undefined) * len(values)):
            reason = NO_EVENTS if len(values) else "people's continuations cannot be halved: too few clusters"
            return Result(f"halves_{name}", status="undefined", reason=reason, **counts)
        tail = (1 - self.plan.level) / 2
        low, high = (float(end) for end in np.quantile(defined, [tail, 1 - tail]))
        method = f"mean and middle {self.plan.level:.0%} of {len(values):,} random halves, by cluster"
        return Result(f"halves_{name}", float(defined.mean()), low, high, method=method, **counts)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _noting_unequal(rows: Sequence[Row]) -> list[Row]:
    """Flag the cells that rest on fewer continuations than another row's cell of their column."""
    if not rows:
        return []
    most = [max(row.cells[at].result.n_items for row in rows) for at in range(len(rows[0].cells))]
    return [
        replace(
            row,
            cells=tuple(
                replace(cell, result=cell.result.with_flags("unequal_n")) if cell.result.n_items < n else cell
                for cell, n in zip(row.cells, most, strict=True)
            ),
        )
        for row in rows
    ]


__all__ = [
    "Cell",
    "Column",
    "Counted",
    "Difference",
    "MixedLengths",
    "Plan",
    "Rated",
    "Row",
    "Table",
    "table",
]
