"""Raters against an answer key, compared with baselines that read nothing.

Everything is read from the joint table of key (rows) and rater (columns). Accuracy is the share of equal
answers; balanced accuracy the mean, over the values that occur in the key, of the share of them answered
correctly; kappa and MCC are those of the table, the latter in its form for several classes (Gorodkin 2004).
Three baselines have tables of their own: the most frequent value of the key throughout, each value of the
question equally often, and the value that was most frequent in the dev part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.engine import MOST_CELLS, Counts, Result, interval_of
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, cluster_flags, resampling_of
from calibration.statistics.core.samples import Additive, tabulated
from calibration.statistics.pairwise import disagreement_weights, kappa_of, mcc_of, ratio

KEY = "key"
KINDS = ("human", "judge", "panel", "metric", "key")
"""The order of the rows."""
MOST_VALUES = 200
MAJORITY, RANDOM, OF_DEV = "majority", "random", "majority of dev"
FIGURES = ("accuracy", "balanced_accuracy", "kappa", "mcc")
DIFFERENCE = "difference_from_baseline"
NOTHING = 1e-14
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class KeyRow:
    """A rater, or a baseline, against the key.

    ``n`` items both answer, ``missing`` the key answers and the rater does not. ``figures`` are those of
    FIGURES. ``best`` names the baseline that is most often right on the rater's items, ``best_accuracy`` is
    its accuracy, and ``difference`` is the rater's accuracy minus that. ``matrix`` counts items by key value
    (rows) and the rater's (columns); a baseline has none, and no difference.
    """

    rater: str
    kind: str
    n: int
    missing: int
    figures: tuple[Result, ...]
    difference: Result | None = None
    best: str = ""
    best_accuracy: float | None = None
    matrix: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class KeyTable:
    """All raters of a question against one key, and the baselines; ``reason`` explains a missing table."""

    key: str
    values: tuple[str, ...] = ()
    rows: tuple[KeyRow, ...] = ()
    baselines: tuple[KeyRow, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Baseline:
    """A rule that needs no reading: its name, and the share of items that it gives each value."""

    name: str
    shares: Floats
    value_label: str = ""


def keys_of(
    ratings: Ratings, *, dev: Ratings | None = None, plan: Plan | None = None
) -> tuple[KeyTable, ...]:
    """Return the table of each key of a question: every other rater on the question's scale has a row.

    ``dev`` holds the keys' answers in the dev part of a split, where ``ratings`` are those of test.
    """
    plan = plan or Plan()
    resampling = resampling_of(ratings, plan)
    return tuple(_Against(ratings, column, resampling, dev).table() for column in ratings.of_kind(KEY))


@dataclass(frozen=True)
class _Against:
    ratings: Ratings
    column: int
    resampling: Resampling
    dev: Ratings | None

    def table(self) -> KeyTable:
        """Return the rows of raters and baselines."""
        ratings, name = self.ratings, self.ratings.raters[self.column]
        if reason := self._reason():
            return KeyTable(name, reason=reason)
        others = [j for j, on in enumerate(ratings.on_scale) if on and j != self.column]
        others.sort(key=lambda j: KINDS.index(ratings.kinds[j]) if ratings.kinds[j] in KINDS else len(KINDS))
        scored = self.answered & (~np.isnan(ratings.values[:, others])).any(axis=1)
        values = tuple(ratings.label(value) for value in self.grid.tolist())
        rows = tuple(self._row(j) for j in others)
        return KeyTable(name, values, rows, tuple(self._baseline(b, scored) for b in self._baselines(scored)))

    @property
    def grid(self) -> Floats:
        """The values of the question, in order."""
        return np.array(self.ratings.scale or ())

    @property
    def key(self) -> Floats:
        """The key's answers."""
        return self.ratings.values[:, self.column]

    @property
    def answered(self) -> Mask:
        """Which items the key answers."""
        return ~np.isnan(self.key)

    def _reason(self) -> str:
        ratings = self.ratings
        if ratings.problem:
            return ratings.problem
        if ratings.scale is None:
            return "the question lists no values, so equal answers say little: read the correlations"
        if len(ratings.scale) > MOST_VALUES:
            return f"the question has more than {MOST_VALUES} values: read the correlations"
        if not ratings.on_scale[self.column]:
            return f"{ratings.raters[self.column]} answers on another scale than the question's"
        return "" if self.answered.any() else f"{ratings.raters[self.column]} answers none of these items"

    def _baselines(self, scored: Mask) -> list[Baseline]:
        k = len(self.grid)
        baselines = [self._constant(MAJORITY, self.key[scored])] if scored.any() else []
        baselines.append(Baseline(RANDOM, np.full(k, 1 / k)))
        learned = self._learned()
        baselines += [self._constant(OF_DEV, learned)] if learned.size else []
        return baselines

    def _learned(self) -> Floats:
        """Return the key's answers in the dev part, as values of this question."""
        name = self.ratings.raters[self.column]
        if self.dev is None or name not in self.dev.raters:
            return np.empty(0)
        value_of = {self.ratings.label(value): value for value in self.grid.tolist()}
        answers = self.dev.values[:, self.dev.column(name)]
        answer_labels = [self.dev.label(value) for value in answers[~np.isnan(answers)].tolist()]
        return np.array([value_of[text] for text in answer_labels if text in value_of], np.float64)

    def _constant(self, name: str, values: Floats) -> Baseline:
        """Return the baseline of the most frequent value, the first on the scale of equally frequent ones."""
        counted = np.bincount(np.searchsorted(self.grid, values), minlength=len(self.grid))
        at = int(counted.argmax())
        return Baseline(name, np.eye(len(self.grid))[at], self.ratings.label(float(self.grid[at])))

    def _row(self, column: int) -> KeyRow:
        ratings = self.ratings
        answers = ratings.values[:, column]
        use = np.flatnonzero(self.answered & ~np.isnan(answers))
        missing = int((self.answered & np.isnan(answers)).sum())
        name, kind = ratings.raters[column], ratings.kinds[column]
        counts = self._counts(use, missing)
        if not use.size:
            reason = f"no item was answered by both {name} and {ratings.raters[self.column]}"
            empty = [_insufficient(figure, reason, counts) for figure in (*FIGURES, DIFFERENCE)]
            return KeyRow(name, kind, 0, missing, tuple(empty[:-1]), empty[-1])
        k = len(self.grid)
        x, y = (np.searchsorted(self.grid, values[use]) for values in (self.key, answers))
        units, n_units = self.resampling.units[use], self.resampling.n_units
        table = tabulated(units, n_units, x * k + y, (k, k), self._weights(use))
        total = table.totals(np.ones((1, self.resampling.n_units)))
        constant = ("constant_rater",) if len(np.unique(y)) == 1 else ()
        figures = self._figures(table, lambda tables: tables, use, counts, constant, name)
        in_use = np.zeros(ratings.n_items, np.bool_)
        in_use[use] = True
        best = max(self._baselines(in_use), key=lambda b: float(self._expected(b, total)[0]))
        gap = self._result(
            DIFFERENCE,
            table,
            lambda tables: accuracy(tables) - self._expected(best, tables),
            use,
            counts,
            "not defined on these items",
        )
        matrix = tuple(tuple(round(n) for n in row) for row in total[0])
        of_best = float(self._expected(best, total)[0])
        return KeyRow(name, kind, len(use), missing, figures, gap, best.name, of_best, matrix)

    def _weights(self, use: Ints) -> Floats | None:
        """Return the weights of these items; None where they count alike, or some were not drawn."""
        weights = self.ratings.weights_of(use) if self.ratings.is_unequal else None
        return None if weights is None or np.isnan(weights).any() else weights

    @staticmethod
    def _expected(baseline: Baseline, tables: Floats) -> Floats:
        """Return a baseline's accuracy on the items of tables: the share of the key that it gets right."""
        return ratio(tables.sum(axis=2) @ baseline.shares, tables.sum(axis=(1, 2)))

    def _baseline(self, baseline: Baseline, scored: Mask) -> KeyRow:
        """Return the row of a baseline: the figures of the table that it gives on average."""
        use = np.flatnonzero(scored)
        counts = self._counts(use, 0)
        title = f"{baseline.name}: {baseline.value_label}" if baseline.value_label else baseline.name
        if not use.size:
            reason = "no item was answered by the key and by anybody else"
            empty = tuple(_insufficient(figure, reason, counts) for figure in FIGURES)
            return KeyRow(title, "baseline", 0, 0, empty)
        k = len(self.grid)
        x = np.searchsorted(self.grid, self.key[use])
        units, n_units = self.resampling.units[use], self.resampling.n_units
        margin = tabulated(units, n_units, x, (k,), self._weights(use))
        constant = ("constant_rater",) if baseline.value_label else ()

        def expected(margins: Floats) -> Floats:
            return margins[:, :, None] * baseline.shares

        figures = self._figures(margin, expected, use, counts, constant, f"the baseline {baseline.name}")
        return KeyRow(title, "baseline", len(use), 0, figures)

    def _figures(
        self,
        sums: Additive,
        tables_of: Callable[[Floats], Floats],
        use: Ints,
        counts: Counts,
        flags: tuple[str, ...],
        name: str,
    ) -> tuple[Result, ...]:
        k = len(self.grid)
        one_value = len(np.unique(self.key[use])) == 1
        same = "no variation: every answer is the same"
        alone = f"the key has one value throughout: {self.ratings.label(float(self.key[use][0]))}"
        constant = f"{name} gave one value throughout"
        undefined = {"kappa": same, "mcc": alone if one_value else constant}
        compute: dict[str, Callable[[Floats], Floats]] = {
            "accuracy": accuracy,
            "balanced_accuracy": balanced_accuracy,
            "kappa": lambda t: kappa_of(t, disagreement_weights(k, "unweighted")),
            "mcc": mcc_of,
        }
        results = []
        for figure in FIGURES:
            of = compute[figure]
            result = self._result(
                figure,
                sums,
                lambda totals, of=of: of(tables_of(totals)),  # type: ignore[misc]
                use,
                counts,
                undefined.get(figure, "not defined on these items"),
            )
            results.append(replace(result, flags=(*flags, *result.flags)) if figure == "kappa" else result)
        return tuple(results)

    def _result(
        self,
        name: str,
        sums: Additive,
        compute: Callable[[Floats], Floats],
        use: Ints,
        counts: Counts,
        undefined: str,
    ) -> Result:
        plan, resampling = self.resampling.plan, self.resampling
        point = float(_evaluated(sums, compute, [np.ones((1, resampling.n_units))])[0])
        point = 0.0 if abs(point) < NOTHING else point
        if not np.isfinite(point):
            return Result(name, status="undefined", reason=undefined, method=plan.method, **counts)
        replicates = _evaluated(sums, compute, resampling.chunks() if plan.resamples else [])
        jackknife = None
        if plan.interval == "bca":
            jackknife = _evaluated(sums, compute, resampling.leave_one_out())
        n_drawn = resampling.n_drawn(resampling.units[use])
        bounds = interval_of(point, replicates, n_drawn, plan, jackknife)
        flags = bounds.flags + cluster_flags(n_drawn)
        return Result(
            name,
            point,
            bounds.low,
            bounds.high,
            method=plan.method,
            reason=bounds.reason,
            flags=flags,
            **counts,
        )

    def _counts(self, use: Ints, missing: int) -> Counts:
        return {
            "n_items": len(use),
            "n_clusters": len(np.unique(self.ratings.clusters[use])),
            "n_raters": 2,
            "n_missing": missing,
        }


def _insufficient(name: str, reason: str, counts: Counts) -> Result:
    return Result(name, status="insufficient", reason=reason, **counts)


def _evaluated(sums: Additive, compute: Callable[[Floats], Floats], chunks: Iterable[Floats]) -> Floats:
    """Return a value per row of the chunks of weights, as many at a time as fit in memory."""
    rows = max(1, MOST_CELLS // max(1, int(sums.shape[0] ** 2)))
    parts = [
        compute(sums.totals(weights[start : start + rows]))
        for weights in chunks
        for start in range(0, len(weights), rows)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def accuracy(tables: Floats) -> Floats:
    """Share of equal answers of joint tables (rows x k x k)."""
    return ratio(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))


def balanced_accuracy(tables: Floats) -> Floats:
    """Mean, over the values that occur in the key (the rows of tables), of the share answered correctly."""
    of_key = tables.sum(axis=2)
    right = ratio(np.diagonal(tables, axis1=1, axis2=2), of_key)
    occur = (of_key > 0).sum(axis=1)
    return ratio(np.nansum(right, axis=1), occur.astype(np.float64))
