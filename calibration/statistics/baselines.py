"""Baselines: how answers given without understanding compare with people, the floor for a judge's figures.

majority   categories and ordinal scales: always the value that people give most often (the first of equals)
median     ordinal scales: always the median of people's ratings
mean       interval and ratio scales: always their mean
random     a value drawn with the shares of people's ratings; its expectation, not a draw
length     the number of characters, and of words, of the rated text

Values and shares are those of people's ratings in the dev part, where the ratings of test are shown;
otherwise of the ratings of all *other* clusters, never of the item's own. A constant baseline has kappa 0,
flagged, and neither MCC nor a correlation, whichever cluster is left out: that the value predicted for a
cluster differs slightly from that cluster's own is an artefact of leaving it out. A random answer says
nothing about the item: its expected kappa, MCC and correlation are 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.analysis import MEAN_OF_PEOPLE, mean_of
from calibration.statistics.core.engine import UNEQUAL, Result, Statistic, estimates, interval_of, result_of
from calibration.statistics.core.ratings import ORDERED, Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, Resampling, cluster_flags, resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.pairwise import ratio
from calibration.statistics.panel import WEIGHTS
from calibration.statistics.table import STATISTICS

# One rater's values compared with people's: agreement, correlation and error, all on the same resamples.
#
# Agreement (the share of equal answers, kappa, MCC) and error are read from one table of all pairs of the
# rater's value with a person's. Correlations are with the people's mean.

SHARE, ERROR = "percent_agreement", "mean_absolute_error"
CHANCE = (*WEIGHTS, "mcc")
CORRELATIONS = ("spearman", "pearson")
PEOPLE = "human"


@dataclass(frozen=True)
class Stack:
    """All ratings by people, stacked: a row is a person's rating of an item.

    ``rows`` are the rows' items, ``x`` the ratings. ``all_identified`` tells whether all people are
    identified.
    """

    ratings: Ratings
    rows: Ints
    x: Floats
    all_identified: bool

    @staticmethod
    def of(ratings: Ratings) -> Stack:
        """Return the people's ratings on the question's scale."""
        answered = ratings.as_answered()
        columns = [j for j in ratings.of_kind(PEOPLE) if answered.on_scale[j]]
        block = answered.values[:, columns]
        rows, of = np.nonzero(~np.isnan(block))
        all_identified = all(ratings.identified[j] for j in columns)
        return Stack(ratings, rows.astype(np.int64), block[rows, of], all_identified)


class BesidePeople:
    """People's ratings of a question, for comparison with another rater."""

    def __init__(self, ratings: Ratings, statistics: Sequence[str], plan: Plan) -> None:
        """Set up a question's ratings and the requested statistics; those that do not apply are skipped."""
        self.ratings, self.plan = ratings, plan
        self.resampling: Resampling = resampling_of(ratings, plan)
        self.stack = Stack.of(ratings)
        level = ratings.level
        chance = [s for s in CHANCE if s in statistics and level in STATISTICS[s].levels]
        ordered = level in ORDERED or level == "binary"
        self.chance = tuple(chance) if self.stack.all_identified and ratings.scale is not None else ()
        self.correlations = tuple(s for s in CORRELATIONS if s in statistics) if ordered else ()
        people = ratings.values[:, list(ratings.of_kind(PEOPLE))]
        self.mean = mean_of(people) if people.size else np.full(ratings.n_items, np.nan)

    @property
    def is_ordered(self) -> bool:
        """Whether differences between answers are meaningful numbers."""
        return self.ratings.level in ORDERED

    def on_scale(self, name: str, values: Floats) -> dict[str, Result]:
        """Return the share of equal answers, and the chance-corrected agreement, of values on the scale."""
        pairs, resampling = self._pairs(name, values)
        sample = Sample(pairs, (0, 1), resampling)
        results = self._results(sample, [SHARE, *self.chance])
        items = self.stack.rows[~np.isnan(values[self.stack.rows])]
        return {key: self._counted(result, items) for key, result in results.items()}

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
        """Return the share of people's ratings that equal the values, on the scale or not."""
        each = values[self.stack.rows]
        return self.averaged(SHARE, np.where(np.isnan(each), np.nan, each == self.stack.x))

    def averaged(self, figure: str, each: Floats) -> Result:
        """Return the mean of a number per person's rating (NaN: left out), with its interval."""
        use = np.flatnonzero(~np.isnan(each))
        rows = self.stack.rows[use]
        if not use.size:
            return Result(figure, status="insufficient", reason="no item was rated by a person as well")
        units, n = self.resampling.units[rows], self.resampling.n_units
        weights = self._weights(rows)
        sums = np.bincount(units, weights=each[use] * weights, minlength=n)
        counts = np.bincount(units, weights=weights, minlength=n)
        point = float(np.average(each[use], weights=weights))
        resampled_means = (
            [ratio(w @ sums, w @ counts) for w in self.resampling.chunks()] if self.plan.resamples else []
        )
        jackknife = None
        if self.plan.interval == "bca":
            parts = [ratio(w @ sums, w @ counts) for w in self.resampling.leave_one_out()]
            jackknife = np.concatenate(parts)
        n_drawn = self.resampling.n_drawn(units)
        replicates = np.concatenate(resampled_means) if resampled_means else np.empty(0)
        bounds = interval_of(point, replicates, n_drawn, self.plan, jackknife)
        result = Result(
            figure,
            point,
            bounds.low,
            bounds.high,
            method=self.plan.method,
            reason=bounds.reason,
            flags=(UNEQUAL,) * self.ratings.is_unequal + bounds.flags + cluster_flags(n_drawn),
        )
        return self._counted(result, rows)

    def _weights(self, rows: Ints) -> Floats:
        """Return the weights of the items of people's ratings, 1 where all count alike."""
        weights = self.ratings.weights_of(rows) if self.ratings.is_unequal else None
        return np.ones(len(rows)) if weights is None else weights

    def _pairs(self, name: str, values: Floats) -> tuple[Ratings, Resampling]:
        """Return people's ratings paired with a rater's values, with the same resamples of the clusters."""
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
            weights=self.ratings.weights_of(rows),
        )
        return pairs, replace(self.resampling, units=self.resampling.units[rows])

    def _results(self, sample: Sample, names: Sequence[str]) -> dict[str, Result]:
        requested: list[Statistic] = [STATISTICS[name] for name in names]
        computed = estimates(sample, [s for s in requested if s.applies(sample)], sample.resampling)
        return {e.statistic.key: result_of(e, sample, self.plan) for e in computed}

    def _counted(self, result: Result, rows: Ints) -> Result:
        items = np.unique(rows)
        clusters = len(np.unique(self.ratings.clusters[items])) if items.size else 0
        people = int(
            (~np.isnan(self.ratings.values[:, list(self.ratings.of_kind(PEOPLE))])).any(axis=0).sum()
        )
        return replace(result, n_items=len(items), n_clusters=clusters, n_raters=1 + people, n_missing=0)


BASELINE = "baseline"
MAJORITY, MEDIAN, MEAN, RANDOM = "majority", "median", "mean", "random by marginals"
CHARACTERS, WORDS = "length in characters", "length in words"
CONSTANTS = {
    "binary": (MAJORITY,),
    "nominal": (MAJORITY,),
    "ordinal": (MAJORITY, MEDIAN),
    "interval": (MEAN,),
    "ratio": (MEAN,),
}
INDEPENDENT = "expectation of an answer that is independent of the item"


@dataclass(frozen=True)
class Row:
    """A rater compared with people: figures by name. ``told`` names the value that a baseline gives,
    ``reason`` explains why there are no figures."""

    name: str
    kind: str
    figures: Mapping[str, Result]
    told: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Learned:
    """Prediction: the shares of the scale's values, and the constant, per item of the ratings.

    ``overall_constant`` is learned from everything, ``shares`` (items x values) is empty without a scale.
    """

    grid: Floats
    shares: Floats
    constant: Floats
    overall_constant: float


def rater_row(beside: BesidePeople, column: int, *, in_units: bool = True) -> Row:
    """Return a rater beside people; its error only where its values are ``in_units`` of their scale."""
    ratings = beside.ratings
    name, values, answered = ratings.raters[column], ratings.values[:, column], ratings.as_answered()
    figures: dict[str, Result] = {}
    if answered.on_scale[column]:
        figures |= beside.on_scale(name, answered.values[:, column])
    if beside.correlations:
        figures |= beside.correlated(name, values)
    if beside.is_ordered and in_units:
        figures[ERROR] = beside.error(name, values)
    return Row(name, ratings.kinds[column], figures)


def baselines(
    beside: BesidePeople,
    *,
    learn: Ratings | None = None,
    lengths: Mapping[str, tuple[int, int]] | None = None,
) -> list[Row]:
    """Return the baselines that the question's scale allows.

    ``learn`` holds the ratings of dev, where the compared ratings are of test; ``lengths`` the characters and
    words of items by key.
    """
    ratings = beside.ratings
    rows: list[Row] = []
    learned: Learned | str = ""
    for name in CONSTANTS[ratings.level]:
        learned = _from(learn, ratings, name) if learn is not None else _left_out(ratings, name)
        if isinstance(learned, str):
            rows.append(Row(name, BASELINE, {}, reason=learned))
        else:
            rows.append(_constant(beside, name, learned))
    if isinstance(learned, Learned) and learned.shares.size:
        rows.append(_random(beside, learned))
    if lengths and not lengths.keys().isdisjoint(beside.ratings.items) and beside.correlations:
        rows += [_length(beside, name, lengths, place) for place, name in enumerate((CHARACTERS, WORDS))]
    return rows


def _constant(beside: BesidePeople, name: str, learned: Learned) -> Row:
    """Return the row of one value for all items: shares and errors by prediction, the rest by definition."""
    always = np.full(beside.ratings.n_items, learned.overall_constant)
    figures: dict[str, Result] = {}
    if beside.ratings.scale is not None:
        figures[SHARE] = beside.share(learned.constant)
    if beside.chance and learned.overall_constant in (beside.ratings.scale or ()):
        kappas = beside.on_scale(name, always)
        figures |= {key: kappas[key] for key in beside.chance if key in kappas}
    if beside.correlations:
        figures |= beside.correlated(name, always)
    if beside.is_ordered:
        figures[ERROR] = beside.error(name, learned.constant)
    return Row(name, BASELINE, figures, told=_label(beside.ratings, learned.overall_constant))


def _random(beside: BesidePeople, learned: Learned) -> Row:
    """Return the row of an answer drawn with people's shares: its expectation, in closed form."""
    stack = beside.stack
    shares = learned.shares[stack.rows]
    right = np.where(learned.grid[None, :] == stack.x[:, None], shares, 0.0).sum(axis=1)
    share = beside.averaged(SHARE, right)
    figures = {SHARE: share}
    nothing = _nothing(share)
    varies = len(np.unique(stack.x)) > 1
    figures |= {key: replace(nothing, name=key) for key in (*beside.chance, *beside.correlations) if varies}
    if beside.is_ordered:
        off = (shares * np.abs(learned.grid[None, :] - stack.x[:, None])).sum(axis=1)
        figures[ERROR] = beside.averaged(ERROR, off)
    return Row(RANDOM, BASELINE, figures)


def _nothing(like: Result) -> Result:
    return replace(like, value=0.0, low=0.0, high=0.0, method=INDEPENDENT, flags=(), reason="")


def _length(beside: BesidePeople, name: str, lengths: Mapping[str, tuple[int, int]], place: int) -> Row:
    values = np.array(
        [lengths[item][place] if item in lengths else np.nan for item in beside.ratings.items], np.float64
    )
    return Row(name, BASELINE, beside.correlated(name, values))


def _left_out(ratings: Ratings, name: str) -> Learned | str:
    """Learn for each cluster from people's ratings of all others; return a reason where impossible."""
    ratings = ratings.as_answered()
    columns = [j for j in ratings.of_kind(PEOPLE) if ratings.on_scale[j]]
    block, clusters = ratings.values[:, columns], ratings.clusters
    present = ~np.isnan(block)
    if not present.any():
        return "nobody rated these items"
    rated = np.unique(clusters[present.any(axis=1)])
    if len(rated) < 2:
        return "all ratings lie in one cluster, and a baseline learns from other clusters"
    if ratings.scale is None:
        sums = np.bincount(clusters, np.nansum(block, axis=1), ratings.n_clusters)
        counts = np.bincount(clusters, present.sum(axis=1), ratings.n_clusters)
        means = (sums.sum() - sums) / (counts.sum() - counts)
        return Learned(np.empty(0), np.empty((0, 0)), means[clusters], float(sums.sum() / counts.sum()))
    grid = np.array(ratings.scale)
    per_cluster = np.zeros((ratings.n_clusters, len(grid)))
    rows, of = np.nonzero(present)
    np.add.at(per_cluster, (clusters[rows], np.searchsorted(grid, block[rows, of])), 1)
    total = per_cluster.sum(axis=0)
    others = total[None, :] - per_cluster
    constants = np.array([_one_value(name, grid, counts) for counts in others])
    shares = others / others.sum(axis=1, keepdims=True)
    return Learned(grid, shares[clusters], constants[clusters], _one_value(name, grid, total))


def _from(learn: Ratings, ratings: Ratings, name: str) -> Learned | str:
    """Learn from people's ratings of dev, on the scale of the ratings shown."""
    learn = learn.as_answered()
    columns = [j for j in learn.of_kind(PEOPLE) if learn.on_scale[j]]
    answers = learn.values[:, columns]
    answers = answers[~np.isnan(answers)]
    if not answers.size:
        return "no person rated anything in dev"
    n = ratings.n_items
    if ratings.scale is None:
        mean = float(answers.mean())
        return Learned(np.empty(0), np.empty((0, 0)), np.full(n, mean), mean)
    grid = np.array(ratings.scale)
    place_of = {ratings.label(value): place for place, value in enumerate(grid.tolist())}
    counts = np.zeros(len(grid))
    for value, many in zip(*np.unique(answers, return_counts=True), strict=True):
        if (place := place_of.get(learn.label(float(value)))) is not None:
            counts[place] += many
    if not counts.sum():
        return "no person gave in dev a value that occurs in test"
    constant = _one_value(name, grid, counts)
    return Learned(grid, np.tile(counts / counts.sum(), (n, 1)), np.full(n, constant), constant)


def _one_value(name: str, grid: Floats, counts: Floats) -> float:
    """Return the constant answer, from how often each value occurs."""
    if name == MAJORITY:
        return float(grid[int(counts.argmax())])
    if name == MEAN:
        return float((grid * counts).sum() / counts.sum())
    below = np.cumsum(counts)
    low = grid[np.searchsorted(below, below[-1] / 2)]
    high = grid[np.searchsorted(below, below[-1] / 2, side="right")]
    return float((low + high) / 2)


def _label(ratings: Ratings, value: float) -> str:
    return ratings.label(value) if value in (ratings.scale or ()) else f"{value:.3g}"
