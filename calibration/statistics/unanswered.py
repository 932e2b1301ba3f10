"""Effect of unanswered items on a rater's figures: bounds over all possible answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from calibration.statistics.analysis import PEOPLE, mean_of
from calibration.statistics.core.engine import Counts, Result
from calibration.statistics.core.ratings import Floats, Ints, Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import MAX_TABLE
from calibration.statistics.pairwise import disagreement_weights, mcc_of, pi_of
from calibration.statistics.panel import POOLED, WEIGHTS, People, evaluated
from calibration.statistics.table import STATISTICS

# A rater's figures with people, each with bounds for the items that it left unanswered.
#
# The bounds are no confidence interval: they hold people's answers and the items fixed, and cover the figure
# for every possible way in which the rater could have answered all items. Manski (2003) calls this the
# identification region; nothing is assumed about why an answer is missing.

# A rater's table with people, and the contribution of each possible answer to its unanswered items.
#
# People's answers are taken as given. An unanswered item whose people answered `h` adds one to the cell
# (h, k) for each of them, if the rater would have answered `k`; so the people's margin and the number of
# pairs are the same for every way to answer.


@dataclass(frozen=True)
class Fills:
    """The k x k table of answered items (rows: people's values, columns: the rater's), and additions.

    `people` (g x k) are the distinct counts of people's answers to an unanswered item, `times` (g) how many
    items have each. `positive` is the position of the positive class.
    """

    table: Ints
    people: Ints
    times: Ints
    positive: int = 1

    @property
    def k(self) -> int:
        """Number of values of the scale."""
        return len(self.table)

    @property
    def pairs(self) -> int:
        """Number of pairs with people's answers once every item is answered."""
        return int(self.table.sum()) + int(self.times @ self.people.sum(axis=1))

    @property
    def answered(self) -> Fills:
        """The same table without the unanswered items."""
        return replace(self, people=self.people[:0], times=self.times[:0])

    @cached_property
    def margin(self) -> list[int]:
        """The people's margin once every item is answered."""
        return [int(n) for n in self.table.sum(axis=1) + self.times @ self.people]


def fills_of(people: Floats, rater: Floats, scale: Sequence[float], positive: float | None) -> Fills:
    """Return the fills of items x people values (NaN where missing) and a rater's values (NaN: unanswered).

    Every value must be on the scale; an item that nobody among the people answered adds nothing.
    """
    grid = np.array(scale)
    counts = np.stack([(people == value).sum(axis=1) for value in grid], axis=1).astype(np.int64)
    answered = ~np.isnan(rater)
    table = np.zeros((len(grid), len(grid)), dtype=np.int64)
    np.add.at(table.T, np.searchsorted(grid, rater[answered]), counts[answered])
    open_ = counts[~answered]
    distinct, times = np.unique(open_[open_.any(axis=1)], axis=0, return_counts=True)
    at = next((n for n, value in enumerate(scale) if value == positive), len(grid) - 1)
    return Fills(table, distinct.reshape(-1, len(grid)), times.astype(np.int64), at)


# Lowest and highest value of a ratio of two sums over items, over all answers to the open items.
#
# Kappa with any weights is such a ratio: 1 - N O / E, where O (observed disagreement) and E (expected
# disagreement, from a people's margin that no answer changes) are sums over items. Dinkelbach (1967): the
# greatest ratio is the parameter at which the greatest value of top - parameter * bottom is 0, and that value
# separates into one choice per item. In integers throughout, so the result is the ratio of an actual way to
# answer, and none is beyond.

Ends = tuple[float, float]


@dataclass(frozen=True)
class Sum:
    """A sum over items: `base` over those answered; an item of group g answered k adds `each[g][k]`."""

    base: int
    each: list[list[int]]

    def at(self, fills: Fills, choices: list[int]) -> int:
        """Return the sum where every item of a group is answered alike."""
        added = (row[k] * int(n) for row, k, n in zip(self.each, choices, fills.times, strict=True))
        return self.base + sum(added)

    def times(self, factor: int) -> Sum:
        """Return a multiple of the sum."""
        return Sum(self.base * factor, [[factor * n for n in row] for row in self.each])


def ends_of(fills: Fills, top: Sum, bottom: Sum) -> tuple[Fraction, Fraction] | None:
    """Return the lowest and highest top / bottom over all ways to answer in which the bottom is not 0.

    The bottom is never negative, and the top is 0 where the bottom is. None where it is 0 in every way.
    """
    low, high = _greatest(fills, top.times(-1), bottom), _greatest(fills, top, bottom)
    return None if low is None or high is None else (-low, high)


def _greatest(fills: Fills, top: Sum, bottom: Sum) -> Fraction | None:
    best = _first(fills, top, bottom)
    while best is not None:
        p, q = best.numerator, best.denominator
        choices = [
            max(range(fills.k), key=lambda k, n=number: q * top.each[n][k] - p * bottom.each[n][k])  # type: ignore[misc]
            for number in range(len(fills.times))
        ]
        above, below = top.at(fills, choices), bottom.at(fills, choices)
        if q * above - p * below <= 0:
            return best
        best = Fraction(above, below)
    return None


def _first(fills: Fills, top: Sum, bottom: Sum) -> Fraction | None:
    """Return the ratio of some way that answers all items alike; None where none has one.

    A bottom that is 0 in all of these is 0 in every way: it is a sum of what each answer adds.
    """
    for k in range(fills.k):
        alike = [k] * len(fills.times)
        if below := bottom.at(fills, alike):
            return Fraction(top.at(fills, alike), below)
    return None


def kappa(fills: Fills, key: str) -> Ends | None:
    """Return the ends of Cohen's kappa with the weights of a key: all 0 or 1, linear or quadratic."""
    weights = disagreement_weights(fills.k, WEIGHTS[key]).astype(np.int64)  # type: ignore[arg-type]
    expected = np.array(fills.margin) @ weights
    sizes = fills.people.sum(axis=1)
    observed = Sum(int((fills.table * weights).sum()), (fills.people @ weights).tolist())
    chance = Sum(int(fills.table.sum(axis=0) @ expected), np.outer(sizes, expected).tolist())
    disagreement = ends_of(fills, observed.times(fills.pairs), chance)
    return None if disagreement is None else (float(1 - disagreement[1]), float(1 - disagreement[0]))


def percent(fills: Fills) -> Ends | None:
    """Return the ends of the share of equal answers."""
    same = Sum(int(np.trace(fills.table)), fills.people.tolist())
    return _plain(ends_of(fills, same, _constant(fills, fills.pairs)))


def precision(fills: Fills) -> Ends | None:
    """Return the ends of the share of the rater's positives that are people's."""
    return _plain(ends_of(fills, _hits(fills), _marked(fills)))


def recall(fills: Fills) -> Ends | None:
    """Return the ends of the share of people's positives that the rater finds."""
    return _plain(ends_of(fills, _hits(fills), _constant(fills, fills.margin[fills.positive])))


def f1(fills: Fills) -> Ends | None:
    """Return the ends of 2 TP / (people's positives + the rater's)."""
    marked = _marked(fills)
    both = Sum(marked.base + fills.margin[fills.positive], marked.each)
    return _plain(ends_of(fills, _hits(fills).times(2), both))


def _hits(fills: Fills) -> Sum:
    at = fills.positive
    each = [[int(row[at]) if k == at else 0 for k in range(fills.k)] for row in fills.people]
    return Sum(int(fills.table[at, at]), each)


def _marked(fills: Fills) -> Sum:
    at = fills.positive
    each = [[int(row.sum()) if k == at else 0 for k in range(fills.k)] for row in fills.people]
    return Sum(int(fills.table[:, at].sum()), each)


def _constant(fills: Fills, number: int) -> Sum:
    return Sum(number, [[0] * fills.k for _ in fills.people])


def _plain(fractions: tuple[Fraction, Fraction] | None) -> Ends | None:
    return None if fractions is None else (float(fractions[0]), float(fractions[1]))


def specificity(fills: Fills) -> Ends | None:
    """Return the ends of the share of people's negatives that the rater does not mark."""
    return recall(_negatives(fills))


def negative_agreement(fills: Fills) -> Ends | None:
    """Return the ends of 2 TN / (people's negatives + the rater's)."""
    return f1(_negatives(fills))


def pabak(fills: Fills) -> Ends | None:
    """Return the ends of twice the share of equal answers, minus 1."""
    agreement = percent(fills)
    return None if agreement is None else (2 * agreement[0] - 1, 2 * agreement[1] - 1)


def _negatives(fills: Fills) -> Fills:
    """Return a binary table with the other class as the positive one."""
    return replace(fills, positive=1 - fills.positive)


RATIOS: dict[str, Callable[[Fills], Ends | None]] = {
    "percent_agreement": percent,
    **{key: (lambda fills, key=key: kappa(fills, key)) for key in WEIGHTS},  # type: ignore[misc]
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "specificity": specificity,
    "positive_agreement": f1,
    "negative_agreement": negative_agreement,
    "pabak": pabak,
}


# Conservative bounds of correlations with unanswered values: no value lies beyond, some may be out of reach.
#
# Each takes the extremes of the numerator and of the denominator separately. Spearman's numerator is a sum
# over pairs of items, half of (rank of x_i - rank of x_j) times the sign of y_i - y_j: pairs of answered
# items keep their terms, however the others are answered, and a pair with an unanswered item changes the sum
# by at most half the distance in x.


def spearman(x: Floats, y: Floats, scale: Ends | None = None) -> Ends:
    """Return bounds of the rank correlation; `y` is NaN where unanswered, and may be any number there.

    Ranks share the sum of squares (n^3 - n) / 12 less that of ties: least where all the unanswered join the
    largest tie, greatest where each stands alone.
    """
    is_answered = ~np.isnan(y)
    n, m = len(y), int((~is_answered).sum())
    ranks = scipy.stats.rankdata(x)
    own = scipy.stats.rankdata(y[is_answered]) - (is_answered.sum() + 1) / 2
    answered_product = float(ranks[is_answered] @ own)
    moved = _distances(ranks, ~is_answered) / 2
    ties = np.unique(y[is_answered], return_counts=True)[1].astype(np.float64)
    widest = _cubes(ties)
    joined = widest - _cubes(ties.max()) + _cubes(ties.max() + m)
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    total_cubes = _cubes(np.array(float(n)))
    return _ends(answered_product, moved, spread, (total_cubes - joined) / 12, (total_cubes - widest) / 12)


def pearson(x: Floats, y: Floats, scale: Ends) -> Ends:
    """Return bounds of the product-moment correlation; the unanswered lie within the ends of the scale.

    The spread of y is least with the unanswered at the mean of the others, greatest with each at an end.
    """
    is_answered = ~np.isnan(y)
    centred, answers = x - x.mean(), y[is_answered]
    low, high = scale
    open_ = centred[~is_answered]
    centre = float(centred[is_answered] @ answers + (open_ * (low + high) / 2).sum())
    moved = float(np.abs(open_).sum()) * (high - low) / 2
    upper = np.arange(len(open_) + 1)
    total = answers.sum() + upper * high + (len(open_) - upper) * low
    squares = (answers**2).sum() + upper * high**2 + (len(open_) - upper) * low**2
    widest = float((squares - total**2 / len(y)).max())
    return _ends(
        centre, moved, float((centred**2).sum()), float(((answers - answers.mean()) ** 2).sum()), widest
    )


def kendall_tau_b(x: Floats, y: Floats, scale: Ends | None = None) -> Ends:
    """Return bounds of tau-b. A pair with an unanswered item counts at most once, and only where untied.

    With u such pairs untied in y the numerator moves by at most min(u, those untied in x); the bound is
    greatest where u is just that, or, below 0, where all of them are untied.
    """
    is_answered = ~np.isnan(y)
    n, m = len(y), int((~is_answered).sum())
    untied_x, untied_y = _untied(x), _untied(y[is_answered])
    kept_x = _untied(x[is_answered])
    tau = scipy.stats.kendalltau(x[is_answered], y[is_answered]).statistic
    concordance = round(float(tau) * np.sqrt(float(kept_x) * untied_y)) if np.isfinite(tau) else 0
    beside, touching = untied_x - kept_x, m * (n - m) + m * (m - 1) // 2

    def greatest(numerator: int) -> float:
        top = numerator + beside
        untied = untied_y + (beside if top >= 0 else touching)
        return top / np.sqrt(float(untied_x) * untied)

    return max(-1.0, -greatest(-concordance)), min(1.0, greatest(concordance))


def _ends(centre: float, moved: float, spread: float, least: float, most: float) -> Ends:
    """Return the ends of (kept +- moved) / sqrt(spread * s) for s from least to most, within -1 and 1."""

    def widest(top: float) -> float:
        return top / np.sqrt(spread * (least if top > 0 else most))

    return max(-1.0, -widest(moved - centre)), min(1.0, widest(centre + moved))


def _distances(ranks: Floats, mask: np.ndarray) -> float:
    """Return the sum of |x_i - x_j| over the pairs of items of which one is chosen, or both."""
    return _all_distances(ranks) - _all_distances(ranks[~mask])


def _all_distances(values: Floats) -> float:
    ordered = np.sort(values)
    n = len(ordered)
    return float(ordered @ (2 * np.arange(n) - n + 1))


def _untied(values: Floats) -> int:
    n, ties = len(values), np.unique(values, return_counts=True)[1]
    return int(n * (n - 1) // 2 - (ties * (ties - 1) // 2).sum())


def _cubes(ties: Floats) -> float:
    return float((ties**3 - ties).sum())


CORRELATIONS: dict[str, Callable[[Floats, Floats, Ends], Ends]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_tau_b": kendall_tau_b,
}


# Bounds of statistics of a 2 x 2 table that are no ratio of sums: MCC and Scott's pi.
#
# The people's margin is the same in every way to answer. Where the rater's number of positives is fixed
# too, the table has one cell left, the true positives, and both statistics grow with it (their denominators
# are of the margins alone). So the extremes are among the tables with the fewest and the most true
# positives for each number of the rater's positives, which are found for all of these at once.

FORMULAS: dict[str, Callable[[Floats], Floats]] = {"mcc": mcc_of, "scott_pi": pi_of}
MOST_STEPS = 2_000_000_000
"""Most additions that are computed: more come from tens of thousands of items with many people each."""


def extremes(fills: Fills, key: str) -> tuple[float, float] | None:
    """Return the least and greatest value over all ways to answer that have one; None where none has.

    Raises ValueError where the scale has more than two values, or where it would take too long.
    """
    if fills.k != 2:
        raise ValueError("only for two answers")
    at = fills.positive
    hits = fills.people[:, at]
    most = _most(fills, hits)
    fewest = -_most(fills, -hits)
    marks, base = np.arange(len(most)), fills.table
    values = [FORMULAS[key](_tables(fills, base, marks, totals)) for totals in (fewest, most)]
    reached = np.concatenate(values)[np.concatenate([np.isfinite(fewest), np.isfinite(most)])]
    defined = reached[np.isfinite(reached)]
    return (float(defined.min()), float(defined.max())) if defined.size else None


def _tables(fills: Fills, base: np.ndarray, marks: np.ndarray, hits: Floats) -> Floats:
    """Return the tables with so many more positives of the rater and so many hits among them."""
    at, other = fills.positive, 1 - fills.positive
    tables = np.empty((len(marks), 2, 2))
    hits = np.where(np.isfinite(hits), hits, 0.0)
    tables[:, at, at] = base[at, at] + hits
    tables[:, other, at] = base[other, at] + marks - hits
    tables[:, at, other] = fills.margin[at] - tables[:, at, at]
    tables[:, other, other] = fills.margin[other] - tables[:, other, at]
    return tables


def _most(fills: Fills, hits: np.ndarray) -> Floats:
    """Return, per number of added positives, the most hits among them; -inf where the number is not reached.

    Items that as many people answered are taken from the best down; the numbers of people are then joined.
    """
    sizes = fills.people.sum(axis=1)
    best = np.zeros(1)
    for size in np.unique(sizes):
        own = sizes == size
        order = np.argsort(-hits[own], kind="stable")
        each = np.repeat(hits[own][order], fills.times[own][order])
        gains = np.concatenate([[0], np.cumsum(each)])
        if len(best) * len(gains) > MOST_STEPS:
            raise ValueError("too many unanswered items")
        joined = np.full(len(best) + int(size) * len(each), -np.inf)
        for n_taken, gain in enumerate(gains):
            part = slice(n_taken * int(size), n_taken * int(size) + len(best))
            joined[part] = np.maximum(joined[part], best + gain)
        best = joined
    return best


Bools = npt.NDArray[np.bool_]
NAME = "bounds_"
WITH_MEAN = "bounds_with_mean_"
GAP = "bounds_gap_"
SHARE, MEAN = f"{NAME}share", f"{NAME}mean"
SHARP = "sharp: some way to answer reaches each end"
CONSERVATIVE = "conservative: no way to answer lies beyond, perhaps none reaches an end"
NO_INTERVAL = "bounds over every way to answer what is unanswered, no confidence interval"
NO_ENDS = "its scale has no ends"
NO_METHOD = "there is no proven method for it"
OVER_PAIRS = "with several people it is a mean over pairs of raters"


@dataclass(frozen=True)
class Bounded:
    """The figures of a rater that left `n_unanswered` of `n_asked` items unanswered.

    Each figure's value is that of the answered items, `low` and `high` its bounds; its items are those that
    people answered and the rater was asked about, its `n_missing` those of them without an answer.
    `unbounded` are the requested statistics that have no bounds, with reasons.
    """

    rater: str
    n_asked: int
    n_unanswered: int
    figures: tuple[Result, ...]
    unbounded: tuple[tuple[str, str], ...] = ()


def bounds_of(
    ratings: Ratings,
    rater: int,
    was_asked: Bools | None = None,
    *,
    statistics: Iterable[str],
    ends: Ends | None = None,
) -> Bounded | None:
    """Return a rater's bounds; None where it answered all that it was asked.

    `was_asked` marks the items that the rater was asked about, all of them where it is None. `ends` are the
    lowest and highest value that it could give. With one identified person statistics of a pair are bounded,
    with several those of the table of all pairs, on the items that two people or more answered; correlations
    with the people's mean on the items that anybody answered.
    """
    answers = ratings.values[:, rater]
    was_asked = np.ones(ratings.n_items, np.bool_) if was_asked is None else was_asked | ~np.isnan(answers)
    n_asked, n_open = int(was_asked.sum()), int((was_asked & np.isnan(answers)).sum())
    if not n_open or ratings.problem or n_open == n_asked:
        return None
    of, keys = _Of(ratings, rater, was_asked, ends), [key for key in statistics if key in STATISTICS]
    answered = replace(of, ratings=ratings.as_answered())
    figures = [*of.alone(), *answered.with_people(keys), *of.with_mean(keys)]
    return Bounded(ratings.raters[rater], n_asked, n_open, tuple(figures), tuple(of.unbounded))


@dataclass(frozen=True)
class _Of:
    """A rater's answers to the items assigned to it."""

    ratings: Ratings
    rater: int
    was_asked: Bools
    ends: Ends | None
    unbounded: list[tuple[str, str]] = field(default_factory=list)

    @property
    def people(self) -> list[int]:
        """The columns of the people."""
        return list(self.ratings.of_kind(PEOPLE))

    @property
    def y(self) -> Floats:
        """The rater's answers."""
        return self.ratings.values[:, self.rater]

    def alone(self) -> list[Result]:
        """Bound the share of the positive class, or the mean on a scale with ends."""
        level, answers = self.ratings.level, self.y[self.was_asked]
        is_answered = ~np.isnan(answers)
        if level == "nominal" or (level != "binary" and self.ends is None):
            return []
        name, low, high, values = MEAN, *(self.ends or (0.0, 1.0)), answers[is_answered]
        if level == "binary":
            if self.ratings.positive is None or not self.ratings.on_scale[self.rater]:
                return []
            name, low, high, values = (
                SHARE,
                0.0,
                1.0,
                (answers[is_answered] == self.ratings.positive).astype(float),
            )
        if not values.size or values.min() < low or values.max() > high:
            return []
        n, missing = len(answers), int((~is_answered).sum())
        total = float(values.sum())
        bounds = (total + missing * low) / n, (total + missing * high) / n
        alone = _result(name, float(values.mean()), bounds, SHARP, self._counts(self.was_asked, [self.rater]))
        return [alone] if alone else []

    def with_people(self, statistics: Sequence[str]) -> list[Result]:
        """Bound figures of the table of the rater with people: with the only person, or with all."""
        ratings, identified = self.ratings, [j for j in self.people if self.ratings.identified[j]]
        scale = ratings.scale
        if not identified or scale is None or not self._is_on(scale) or len(scale) ** 2 > MAX_TABLE:
            return []
        several = len(self.people) > 1
        if several and len(identified) < 2:
            return []
        block = ratings.values[:, identified]
        items = self.was_asked & ((~np.isnan(block)).sum(axis=1) >= (2 if several else 1))
        if not (items & np.isnan(self.y)).any() or not (items & ~np.isnan(self.y)).any():
            return []
        fills = fills_of(block[items], self.y[items], scale, ratings.positive)
        counts = self._counts(items, [self.rater, *identified])
        keys = [key for key in statistics if self._reads_pairs(key) and key not in CORRELATIONS]
        results = [self._of_table(key, fills, several, counts) for key in keys]
        bounds = [result for result in results if result is not None]
        return bounds + (self._gaps(bounds, identified, items) if several else [])

    def _gaps(self, bounds: Sequence[Result], identified: Sequence[int], items: Bools) -> list[Result]:
        """Bound each kappa minus that of people with each other, which no way to answer changes."""
        kappas = [result for result in bounds if result.name.removeprefix(NAME) in WEIGHTS]
        keys = [result.name.removeprefix(NAME) for result in kappas]
        now, then = (self._among(identified, which, keys) for which in (items & ~np.isnan(self.y), items))
        gaps = []
        for key, result in zip(keys, kappas, strict=True):
            if (
                np.isfinite([now[key], then[key]]).all()
                and result.value is not None
                and result.low is not None
            ):
                ends = result.low - then[key], (result.high or 0.0) - then[key]
                point = result.value - now[key]
                gaps.append(replace(result, name=GAP + key, value=point, low=ends[0], high=ends[1]))
        return gaps

    def _among(self, identified: Sequence[int], items: Bools, keys: Sequence[str]) -> dict[str, float]:
        """Return people's agreement with each other on these items."""
        cut = self.ratings.with_values(np.where(items[:, None], self.ratings.values, np.nan))
        resampling = resampling_of(cut, Plan(resamples=0))
        values_by_key = evaluated(
            People(cut, identified, resampling), keys, [np.ones((1, resampling.n_units))]
        )
        return {key: float(values[0]) for key, values in values_by_key.items()}

    def _reads_pairs(self, key: str) -> bool:
        return STATISTICS[key].raters == "pair" and self.ratings.level in STATISTICS[key].levels

    def _of_table(self, key: str, fills: Fills, several: bool, counts: Counts) -> Result | None:
        """Bound a statistic of the table; None where it has no bounds, or no value on the answered items."""
        valid_keys = POOLED if several else {*RATIOS, *FORMULAS}
        if key not in valid_keys:
            self.unbounded.append((key, OVER_PAIRS if several else NO_METHOD))
            return None
        if key in RATIOS:
            now = RATIOS[key](fills.answered)
            return None if now is None else _result(NAME + key, now[0], RATIOS[key](fills), SHARP, counts)
        point = FORMULAS[key](fills.table[None].astype(np.float64))[0]
        try:
            bounds = extremes(fills, key) if np.isfinite(point) else None
        except ValueError as error:
            self.unbounded.append((key, str(error)))
            return None
        return None if bounds is None else _result(NAME + key, float(point), bounds, SHARP, counts)

    def with_mean(self, statistics: Sequence[str]) -> list[Result]:
        """Bound correlations with the people's mean, or with the only person."""
        if self.ratings.level == "nominal" or not self.people:
            return []
        mean = mean_of(self.ratings.values[:, self.people])
        items = self.was_asked & ~np.isnan(mean)
        x, y = mean[items], self.y[items]
        is_answered = ~np.isnan(y)
        if (
            is_answered.all()
            or is_answered.sum() < 3
            or np.unique(y[is_answered]).size < 2
            or np.unique(x[is_answered]).size < 2
        ):
            return []
        counts = self._counts(items, [self.rater, *self.people])
        keys = [key for key in statistics if key in CORRELATIONS and self._reads_pairs(key)]
        results = [self._correlation(key, x, y, counts) for key in keys]
        return [result for result in results if result is not None]

    def _correlation(self, key: str, x: Floats, y: Floats, counts: Counts) -> Result | None:
        is_answered, ends = ~np.isnan(y), self.ends
        if key == "pearson" and (
            ends is None or y[is_answered].min() < ends[0] or y[is_answered].max() > ends[1]
        ):
            self.unbounded.append((key, NO_ENDS))
            return None
        bounds = CORRELATIONS[key](x, y, ends or (0.0, 0.0))
        return _result(
            WITH_MEAN + key, _point(key, x[is_answered], y[is_answered]), bounds, CONSERVATIVE, counts
        )

    def _is_on(self, scale: Sequence[float]) -> bool:
        """Whether every answer is a value of the scale; a mean of samples need not be."""
        answers = self.y[~np.isnan(self.y)]
        return self.ratings.on_scale[self.rater] and bool(np.isin(answers, scale).all())

    def _counts(self, items: Bools, columns: list[int]) -> Counts:
        return {
            "n_items": int(items.sum()),
            "n_clusters": len(np.unique(self.ratings.clusters[items])),
            "n_raters": len(columns),
            "n_missing": int((items & np.isnan(self.y)).sum()),
        }


def _point(key: str, x: Floats, y: Floats) -> float:
    """Return a correlation of the answered items."""
    formula = {
        "pearson": scipy.stats.pearsonr,
        "spearman": scipy.stats.spearmanr,
        "kendall_tau_b": scipy.stats.kendalltau,
    }[key]
    return float(formula(x, y).statistic)  # type: ignore[operator]


def _result(name: str, value: float, bounds: Ends | None, how: str, counts: Counts) -> Result | None:
    if bounds is None:
        return None
    return Result(name, value, *bounds, method=f"{NO_INTERVAL}; {how}", **counts)
