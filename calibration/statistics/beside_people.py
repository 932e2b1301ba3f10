"""One rater's values beside people's: agreement, correlation and error, all on the same resamples.

Agreement (the share of equal answers, kappa, MCC) and error are read from one table of all pairs of the
rater's value with a person's. Correlations are with the people's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.analysis import MEAN_OF_PEOPLE, mean_of
from calibration.statistics.core.base import Statistic
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, interval_of, result_of
from calibration.statistics.core.intervals import cluster_flags
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import ORDERED, Floats, Ints
from calibration.statistics.pooled import WEIGHTS
from calibration.statistics.table import STATISTICS

SHARE, ERROR = "percent_agreement", "mean_absolute_error"
CHANCE = (*WEIGHTS, "mcc")
CORRELATIONS = ("spearman", "pearson")
PEOPLE = "human"


@dataclass(frozen=True)
class Stack:
    """All ratings by people, one below the other: a row is a person's rating of an item.

    ``rows`` are the rows' items, ``x`` the ratings. ``known`` says that all people are identified.
    """

    ratings: Ratings
    rows: Ints
    x: Floats
    known: bool

    @staticmethod
    def of(ratings: Ratings) -> Stack:
        """Return the people's ratings on the question's scale."""
        answered = ratings.as_answered()
        columns = [j for j in ratings.of_kind(PEOPLE) if answered.on_scale[j]]
        block = answered.values[:, columns]
        rows, of = np.nonzero(~np.isnan(block))
        known = all(ratings.identified[j] for j in columns)
        return Stack(ratings, rows.astype(np.int64), block[rows, of], known)


class BesidePeople:
    """People's ratings of a question, and whoever is compared with them."""

    def __init__(self, ratings: Ratings, statistics: Sequence[str], plan: Plan) -> None:
        """Take a question's ratings and the statistics asked for; those that do not apply are passed over."""
        self.ratings, self.plan = ratings, plan
        self.resampling: Resampling = resampling_of(ratings, plan)
        self.stack = Stack.of(ratings)
        level = ratings.level
        chance = [s for s in CHANCE if s in statistics and level in STATISTICS[s].levels]
        ordered = level in ORDERED or level == "binary"
        self.chance = tuple(chance) if self.stack.known and ratings.scale is not None else ()
        self.correlations = tuple(s for s in CORRELATIONS if s in statistics) if ordered else ()
        people = ratings.values[:, list(ratings.of_kind(PEOPLE))]
        self.mean = mean_of(people) if people.size else np.full(ratings.n_items, np.nan)

    @property
    def is_ordered(self) -> bool:
        """Whether answers are numbers whose difference says something."""
        return self.ratings.level in ORDERED

    def on_scale(self, name: str, values: Floats) -> dict[str, Result]:
        """Return the share of equal answers, and the chance-corrected agreement, of values on the scale."""
        pairs, resampling = self._pairs(name, values)
        sample = Sample(pairs, (0, 1), resampling)
        found = self._results(sample, [SHARE, *self.chance])
        items = self.stack.rows[~np.isnan(values[self.stack.rows])]
        return {key: self._counted(result, items) for key, result in found.items()}

    def correlated(self, name: str, values: Floats) -> dict[str, Result]:
        """Return the correlations of values, on any scale, with the people's mean."""
        level = "interval" if self.ratings.level == "binary" else self.ratings.level
        both = replace(
            self.ratings,
            values=np.column_stack([self.mean, values]),
            level=level,
            raters=(MEAN_OF_PEOPLE, name),
            kinds=("", ""),
            identified=(True, True),
            on_scale=(False, False),
        )
        return self._results(Sample(both, (0, 1), self.resampling), list(self.correlations))

    def error(self, name: str, values: Floats) -> Result:
        """Return the mean absolute difference of values from people's ratings."""
        return self.averaged(ERROR, np.abs(values[self.stack.rows] - self.stack.x))

    def share(self, values: Floats) -> Result:
        """Return the share of people's ratings that values, on the scale or not, are equal to."""
        each = values[self.stack.rows]
        return self.averaged(SHARE, np.where(np.isnan(each), np.nan, each == self.stack.x))

    def averaged(self, figure: str, each: Floats) -> Result:
        """Return the mean of a number per person's rating (NaN: left out), with its interval."""
        use = np.flatnonzero(~np.isnan(each))
        rows = self.stack.rows[use]
        if not use.size:
            return Result(figure, status="insufficient", reason="no item was rated by a person as well")
        units, n = self.resampling.units[rows], self.resampling.n_units
        sums = np.bincount(units, weights=each[use], minlength=n)
        counts = np.bincount(units, minlength=n).astype(np.float64)
        drawn = (
            [_ratio(w @ sums, w @ counts) for w in self.resampling.chunks()] if self.plan.resamples else []
        )
        left = None
        if self.plan.interval == "bca":
            parts = [_ratio(w @ sums, w @ counts) for w in self.resampling.leave_one_out()]
            left = np.concatenate(parts)
        n_drawn = self.resampling.n_drawn(units)
        replicates = np.concatenate(drawn) if drawn else np.empty(0)
        bounds = interval_of(float(each[use].mean()), replicates, n_drawn, self.plan, left)
        result = Result(
            figure,
            float(each[use].mean()),
            bounds.low,
            bounds.high,
            method=self.plan.method,
            reason=bounds.reason,
            flags=bounds.flags + cluster_flags(n_drawn),
        )
        return self._counted(result, rows)

    def _pairs(self, name: str, values: Floats) -> tuple[Ratings, Resampling]:
        """Return people's ratings beside a rater's values, and the same resamples of the same clusters."""
        rows = self.stack.rows
        pairs = replace(
            self.ratings,
            values=np.column_stack([self.stack.x, values[rows]]),
            items=tuple(str(row) for row in rows.tolist()),
            raters=("people", name),
            clusters=self.ratings.clusters[rows],
            kinds=(PEOPLE, ""),
            identified=(True, True),
            on_scale=(True, True),
            firsts={},
            systems=None,
            continuations=None,
        )
        return pairs, replace(self.resampling, units=self.resampling.units[rows])

    def _results(self, sample: Sample, names: Sequence[str]) -> dict[str, Result]:
        chosen: list[Statistic] = [STATISTICS[name] for name in names]
        found = estimates(sample, [s for s in chosen if s.applies(sample)], sample.resampling)
        return {e.statistic.key: result_of(e, sample, self.plan) for e in found}

    def _counted(self, result: Result, rows: Ints) -> Result:
        items = np.unique(rows)
        clusters = len(np.unique(self.ratings.clusters[items])) if items.size else 0
        people = int(
            (~np.isnan(self.ratings.values[:, list(self.ratings.of_kind(PEOPLE))])).any(axis=0).sum()
        )
        return replace(result, n_items=len(items), n_clusters=clusters, n_raters=1 + people, n_missing=0)


def _ratio(sums: Floats, counts: Floats) -> Floats:
    return np.where(counts > 0, sums / np.where(counts > 0, counts, 1), np.nan)
