"""Behaviour counts and scores by system and condition, and their differences from people.

The unit is the continuation. A cell is the mean over its row's continuations; with strata, the mean over
strata of the mean over the stratum's continuations. Intervals resample clusters within strata. Each cell also
has the bounds it would have if every missing value were the lowest or the highest possible, its difference
from people, paired by dialogue, and, where people rated a sample, the value corrected for the judge's errors.
A row's distribution over the tags is compared with people's in shape and in amount.

CoCoEval (table 3, figures 4 to 7) prints means with bootstrap intervals; the differences, distances and
corrections are Concord's choice. See docs/statistics/prevalence.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from calibration.statistics.analysis import ROUNDING, corrected_p_values
from calibration.statistics.core.engine import Counts, Result, finished
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan, cluster_flags
from calibration.statistics.judge_errors import Correction, Rated, corrected
from calibration.statistics.prevalence import wilson_bounds
from calibration.statistics.strata import Column, Counted, Design, Mask, Sums, mean, mean_of_strata, swaps

# Differences of a row of continuations from people's, paired by dialogue.

NAME = "difference_from_people"
NO_PAIRS = "no dialogue has a value in this row and one by people"


@dataclass(frozen=True)
class Difference:
    """A cell minus people's cell over the dialogues that both have, with its p-value, raw and corrected.

    ``p`` is None where there is no difference. ``p_holm`` is corrected over the columns of the row.
    """

    result: Result
    p: float | None
    p_holm: float | None


def differences(counted: Counted, design: Design, row_mask: Mask, people: Mask) -> list[Difference]:
    """Return a row's differences from people, one per column, all on the same resamples.

    The p-value is two-sided: row and people swap places in whole clusters, which are exchangeable if the row
    behaves like people; all swaps are tried where they are few, as many as resamples otherwise.
    """
    mine, theirs, shared = _paired(counted, design, row_mask, people)
    units = mine.present | theirs.present
    ours, others, strata = mine.at(units), theirs.at(units), design.strata[units]
    points = mean(ours, strata) - mean(others, strata)
    replicates = design.replicates(
        units, lambda w: mean_of_strata(w, ours, strata) - mean_of_strata(w, others, strata)
    )
    _, clusters = np.unique(design.clusters[units], return_inverse=True)
    ps = _permuted(ours, others, strata, clusters.ravel(), design)
    has = np.isfinite(points)
    holm = dict(zip(np.flatnonzero(has).tolist(), corrected_p_values(ps[has].tolist(), "holm"), strict=True))
    row_differences = []
    for at in range(len(counted.columns)):
        n_clusters = design.n_clusters((mine.numbers[:, at] > 0) & (theirs.numbers[:, at] > 0))
        result = finished(
            NAME,
            float(points[at]),
            replicates[:, at],
            design.plan,
            n_items=int(shared[at]),
            n_clusters=n_clusters,
            n_raters=1,
            method="paired by dialogue, clusters within strata",
            undefined=NO_PAIRS,
        )
        p = float(ps[at]) if has[at] else None
        row_differences.append(Difference(result, p, float(holm[at]) if has[at] else None))
    return row_differences


def _paired(counted: Counted, design: Design, row_mask: Mask, people: Mask) -> tuple[Sums, Sums, Ints]:
    """Return the sums of the row and of people over the dialogues that both have, and the number of these."""
    _, dialogue = np.unique(counted.dialogues, return_inverse=True)
    dialogue = dialogue.ravel()
    present = ~np.isnan(counted.values)
    n = int(dialogue.max(initial=-1)) + 1
    both = np.ones((n, len(counted.columns)), dtype=bool)
    for rows in (row_mask, people):
        has = np.zeros((n, len(counted.columns)))
        np.add.at(has, dialogue[rows], present[rows])
        both &= has > 0
    values = np.where(both[dialogue], counted.values, np.nan)
    return design.sums(values, row_mask), design.sums(values, people), both.sum(axis=0)


def _permuted(ours: Sums, others: Sums, strata: Ints, clusters: Ints, design: Design) -> Floats:
    """Return the two-sided p-value of each column; NaN where there is no difference."""
    stacked = Sums(np.vstack([ours.totals, others.totals]), np.vstack([ours.numbers, others.numbers]))
    doubled = np.concatenate([strata, strata])
    observed = np.abs(mean(ours, strata) - mean(others, strata))
    n = int(clusters.max(initial=-1)) + 1
    chunks, is_exact = swaps(n, max(1, design.plan.resamples), design.plan.seed)
    extreme, tried = np.zeros(len(observed)), 0
    limit = observed - ROUNDING * np.maximum(1.0, observed)
    for chunk in chunks:
        moved = chunk[:, clusters]
        unmoved = 1 - moved
        first = mean_of_strata(np.hstack([unmoved, moved]), stacked, doubled)
        second = mean_of_strata(np.hstack([moved, unmoved]), stacked, doubled)
        extreme += (np.abs(first - second) >= limit).sum(axis=0)
        tried += len(chunk)
    p = extreme / tried if is_exact else (extreme + 1) / (tried + 1)
    return np.where(np.isfinite(observed), p, np.nan)


# From marks on turns to counts per continuation, for one voice or several.
#
# A voice is one person, or one sample of a judge. Each voice is counted separately, and then the mean is
# taken. A voice has a count where it answered every turn; where an answer is missing, the possible range of
# the count is still known.

GROUP = "group:"
ANY = "any"


def columns_of(groups: Mapping[str, str], alone: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return the columns of behaviours, given each one's group (empty: none), in order.

    Each behaviour; then the sum of every group with two or more members that do not stand ``alone``; then any
    of them, where they are two or more.
    """
    columns = [Column(key, "alone" if key in alone else "tag") for key in groups]
    tags = {column.key: at for at, column in enumerate(columns) if column.kind == "tag"}
    for group in dict.fromkeys(groups[key] for key in tags if groups[key]):
        members = tuple(at for key, at in tags.items() if groups[key] == group)
        if len(members) > 1:
            columns.append(Column(f"{GROUP}{group}", "sum", members, len(members)))
    if len(tags) > 1:
        columns.append(Column(ANY, "any", tuple(tags.values())))
    return tuple(columns)


def by_turn(answers: Floats, columns: Sequence[Column]) -> Floats:
    """Each turn's contribution to each column (turns x columns), from 0/1 marks (turns x behaviours).

    NaN where an answer that the column needs is missing.
    """
    parts = []
    for at, column in enumerate(columns):
        own = answers[:, list(column.members) or [at]]
        parts.append(own.max(axis=1) if column.kind == "any" else own.sum(axis=1))
    return np.column_stack(parts) if parts else np.empty((len(answers), 0))


def counts_of(
    voices: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]
) -> tuple[Floats, Floats, Floats]:
    """Return values, lowest and highest, each continuations x columns.

    ``voices`` are marks, turns x behaviours, NaN where missing; ``continuation`` gives each turn's
    continuation.
    """
    shape = (n, len(columns))
    total, n_known = np.zeros(shape), np.zeros(shape)
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for answers in voices:
        low, high = (
            _summed(by_turn(np.where(np.isnan(answers), end, answers), columns), continuation, n)
            for end in (0.0, 1.0)
        )
        is_known = low == high
        total += np.where(is_known, low, 0.0)
        n_known += is_known
        lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    values = np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)
    return values, np.where(n_known > 0, values, lowest), np.where(n_known > 0, values, highest)


def rated_of(
    judge: Sequence[Floats], people: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]
) -> Rated:
    """People's counts of the continuations the judge rated, and the turn-by-turn confusion of both."""
    counts, _, _ = counts_of(people, continuation, n, columns)
    judged, _, _ = counts_of(judge, continuation, n, columns)
    both = ~np.isnan(counts) & ~np.isnan(judged)
    truth, seen = (_mean_by_turn(voices, continuation, n, columns) for voices in (people, judge))
    marked = np.array([column.kind != "sum" for column in columns], dtype=bool)
    use = both[continuation] & marked
    products = (truth, truth * seen, 1 - truth, (1 - truth) * (1 - seen))
    sums = [_summed(np.where(use, product, 0.0), continuation, n) for product in products]
    return Rated(np.where(both, counts, np.nan), *sums)


def _mean_by_turn(voices: Sequence[Floats], continuation: Ints, n: int, columns: Sequence[Column]) -> Floats:
    """Return the mean of what each turn adds over the voices whose count of its continuation is known."""
    shape = (len(continuation), len(columns))
    total, n_known = np.zeros(shape), np.zeros(shape)
    for answers in voices:
        values, _, _ = counts_of([answers], continuation, n, columns)
        adds = by_turn(answers, columns)
        use = ~np.isnan(values)[continuation] & ~np.isnan(adds)
        total += np.where(use, adds, 0.0)
        n_known += use
    return np.asarray(total / np.where(n_known > 0, n_known, np.nan))


def _summed(rows: Floats, continuation: Ints, n: int) -> Floats:
    columns = [np.bincount(continuation, weights=column, minlength=n) for column in rows.T]
    return np.column_stack(columns) if columns else np.empty((n, 0))


# Distance between two distributions of mean counts: in shape, and in amount.
#
# With mean counts c and h over the same behaviours, and shares p = c / sum c and q = h / sum h:
#
#     tv      1/2 * sum |p - q|                                                        total variation, 0 to 1
#     js      1/2 * sum p log2(p / m) + 1/2 * sum q log2(q / m), m = (p + q) / 2       Lin 1991, 0 to 1
#     amount  sum |c - h|                                                              in the counts' own unit
#
# Shape and amount answer different questions. Shape has no value where a sum is zero. All three are biased
# upwards in small samples; `halves` measures how far apart two random halves of one sample are by chance.

DISTANCES = ("tv", "js", "amount")
"""The columns that `distances` returns."""
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
    js = np.clip(js / np.log(2), 0.0, 1.0)  # rounding can leave it slightly outside
    return np.column_stack([tv, js, np.abs(counts - others).sum(axis=1)])


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, np.nan))


def halves(sums: Sums, strata: Ints, plan: Plan) -> Floats:
    """Return the distances between two random halves of a sample, splits x 3: one split per resample.

    Clusters are split within strata; a stratum with a single cluster is left out, as one half would lack it.
    """
    usable = np.isin(strata, [s for s in np.unique(strata) if (strata == s).sum() > 1])
    own, of = sums.at(usable), strata[usable]
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
    value. ``lowest`` and ``highest`` are None where the scale is open. ``raw`` is the mean of the raw counts
    where ``result`` is per a number of turns.
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
    """All rows, people's first. ``halves``: how far apart random halves of people's continuations are.

    ``no_differences`` and ``no_distance`` are the reasons why there are none, or empty.
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
    refusal: str = "",
) -> Table:
    """Return the table; ``rows`` gives each continuation's row and ``human`` people's, if there is one.

    ``refusal`` is why people's ratings cannot correct the judge, or empty.

    Raises MixedLengths for counts over continuations of different lengths, unless ``per_turns`` sets the
    number of turns that counts refer to.
    """
    plan = plan or Plan()
    shortest, longest = counted.lengths()
    if counted.is_counts and per_turns is None and shortest != longest:
        raise MixedLengths(
            f"the continuations have {shortest} to {longest} turns, so their counts cannot be averaged; "
            "count per so many turns instead, such as per 30"
        )
    maker = _Maker(counted, rows, human, rated, per_turns, plan, correction, refusal)
    codes = sorted(set(rows.tolist()), key=lambda code: (code != human, code))
    people = human is not None and human in codes
    compared = [maker.row(code) for code in codes]
    tags = maker.tags
    return Table(
        tuple(_noting_unequal(compared)),
        maker.halves() if people and len(tags) > 1 else None,
        len(np.unique(maker.design.strata)),
        "" if people else NO_PEOPLE,
        NO_PEOPLE if not people else "" if len(tags) > 1 else FEW_TAGS,
    )


class _Maker:
    """Builds rows, all on the same design."""

    def __init__(
        self,
        counted: Counted,
        rows: Ints,
        human: int | None,
        rated: Rated | None,
        per_turns: float | None,
        plan: Plan,
        correction: Correction,
        refusal: str = "",
    ) -> None:
        self.raw = counted if per_turns is not None and counted.is_counts else None
        self.counted = counted.per(per_turns) if self.raw and per_turns is not None else counted
        if rated is not None and self.raw and per_turns is not None:
            rated = replace(rated, values=rated.values * counted.factors(per_turns))
        self.turns, self.rows, self.rated, self.correction = counted.turns, rows, rated, correction
        self.refusal = refusal
        self.design = Design.of(counted.clusters, counted.strata, plan)
        self.plan = plan
        self.human = human
        self.people: Mask = rows == human if human is not None else np.zeros(len(rows), dtype=bool)
        self.tags = [at for at, column in enumerate(counted.columns) if column.kind == "tag"]

    def row(self, code: int) -> Row:
        """Return one row."""
        in_row: Mask = self.rows == code
        is_human = code == self.human
        values = self.counted.values[in_row]
        sums = self.design.sums(self.counted.values, in_row)
        results = self._results(in_row, sums)
        low, high = (self._means(bound, in_row) for bound in (self.counted.lowest, self.counted.highest))
        raw = self._means(self.raw.values, in_row) if self.raw else None
        nothing: Sequence[None] = [None] * len(results)
        fixed = (
            corrected(self.counted, self.rated, self.design, in_row, self.correction, self.refusal)
            if self.rated is not None
            else nothing
        )
        apart = (
            differences(self.counted, self.design, in_row, self.people)
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

    def _means(self, values: Floats, in_row: Mask) -> Floats:
        return mean(self.design.sums(values, in_row), self.design.strata)

    def _results(self, in_row: Mask, sums: Sums) -> list[Result]:
        units = sums.present
        own, strata = sums.at(units), self.design.strata[units]
        points = mean(own, strata)
        replicates = self.design.replicates(units, lambda weights: mean_of_strata(weights, own, strata))
        flags: tuple[str, ...] = ("single_cluster_stratum",) if self.design.single(units) else ()
        flags += ("clusters_span_strata",) if self.design.spans else ()
        n_strata = len(np.unique(strata))
        method = f"mean of {n_strata} strata, clusters drawn within strata" if n_strata > 1 else "mean"
        results = []
        for at, column in enumerate(self.counted.columns):
            n = int(sums.numbers[:, at].sum())
            counts: Counts = {
                "n_items": n,
                "n_clusters": self.design.n_clusters(sums.numbers[:, at] > 0),
                "n_raters": 1,
                "n_missing": int(in_row.sum()) - n,
            }
            if not n:
                reason = "the rater has no value on any of these continuations"
                results.append(Result("mean", status="insufficient", reason=reason, **counts))
            elif column.is_count and not sums.totals[:, at].any():
                results.append(self._no_events(at, in_row, counts))
            else:
                own_flags = (*flags, "one_item") if n == 1 else flags
                results.append(
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
        return results

    def _no_events(self, at: int, in_row: Mask, counts: Counts) -> Result:
        """Zero for a behaviour nobody marked, with Wilson's limit on the turns, as resamples do not vary."""
        present = in_row & ~np.isnan(self.counted.values[:, at])
        n = int(self.turns[present].sum()) * self.counted.columns[at].per_turn
        high = wilson_bounds(0, n, self.plan.level)[1] * float(self.counted.most[at])
        method = f"Wilson on {n:,} answers about turns, as resampling gives no spread"
        flags = ("no_events", *cluster_flags(counts["n_clusters"]))
        return Result("mean", 0.0, 0.0, high, method=method, flags=flags, **counts)

    def _distance(self, sums: Sums) -> dict[str, Result]:
        """Return the distances of the row's mean counts of the tags from people's."""
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
        """Return the distances between random halves of people's continuations: mean and middle part."""
        sums = self.design.sums(self.counted.values[:, self.tags], self.people)
        units = sums.present
        split_distances = halves(sums.at(units), self.design.strata[units], self.plan)
        return {name: self._halved(name, split_distances[:, at], sums) for at, name in enumerate(DISTANCES)}

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
