"""A rater's figures with people, each with how far the items that it left unanswered could move it.

The bounds are no confidence interval: they hold people's answers and the items as they are, and ask what the
figure would be had the rater answered every item it was asked, in whatever way. Manski (2003) calls this the
identification region; nothing is assumed about why an answer is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.statistics.analysis import PEOPLE, mean_of
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.result import Counts, Result
from calibration.statistics.core.samples import MAX_TABLE
from calibration.statistics.core.types import Floats
from calibration.statistics.pairwise import mcc_of, pi_of
from calibration.statistics.pooled import POOLED, WEIGHTS, People, evaluated
from calibration.statistics.table import STATISTICS
from calibration.statistics.unanswered.correlations import CORRELATIONS, Ends
from calibration.statistics.unanswered.fills import Fills, fills_of
from calibration.statistics.unanswered.ratios import RATIOS

# Bounds of statistics of a 2 x 2 table that are no ratio of sums: MCC and Scott's pi.
#
# The people's margin is the same in every way to answer. Where the rater's number of positives is fixed
# too, the table has one cell left, the true positives, and both statistics grow with it (their denominators
# are of the margins alone). So the extremes are among the tables with the fewest and the most true
# positives for each number of the rater's positives, which are found for all of these at once.

FORMULAS: dict[str, Callable[[Floats], Floats]] = {"mcc": mcc_of, "scott_pi": pi_of}
MOST_STEPS = 2_000_000_000
"""Above so many additions nothing is computed: tens of thousands of items with many people each."""


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
    values = [FORMULAS[key](_tables(fills, base, marks, found)) for found in (fewest, most)]
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
        for taken, gain in enumerate(gains):
            part = slice(taken * int(size), taken * int(size) + len(best))
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
OVER_PAIRS = "beside several people it is a mean over pairs of raters"


@dataclass(frozen=True)
class Bounded:
    """The figures of a rater that left `n_unanswered` of `n_asked` items unanswered.

    Each figure's value is that of the answered items, `low` and `high` its bounds; its items are those that
    people answered and the rater was asked about, its `n_missing` those of them without an answer.
    `unbounded` are the statistics asked for that have no bounds, and why.
    """

    rater: str
    n_asked: int
    n_unanswered: int
    figures: tuple[Result, ...]
    unbounded: tuple[tuple[str, str], ...] = ()


def bounds_of(
    ratings: Ratings,
    rater: int,
    asked: Bools | None = None,
    *,
    statistics: Iterable[str],
    ends: Ends | None = None,
) -> Bounded | None:
    """Return a rater's bounds; None where it answered all that it was asked.

    `asked` says which items the rater was asked about, all of them where it is None. `ends` are the lowest
    and highest value that it could give. With one identified person statistics of a pair are bounded, with
    several those of the table of all pairs, on the items that two people or more answered; correlations with
    the people's mean on the items that anybody answered.
    """
    given = ratings.values[:, rater]
    asked = np.ones(ratings.n_items, np.bool_) if asked is None else asked | ~np.isnan(given)
    n_asked, n_open = int(asked.sum()), int((asked & np.isnan(given)).sum())
    if not n_open or ratings.problem or n_open == n_asked:
        return None
    of, keys = _Of(ratings, rater, asked, ends), [key for key in statistics if key in STATISTICS]
    answered = replace(of, ratings=ratings.as_answered())
    figures = [*of.alone(), *answered.with_people(keys), *of.with_mean(keys)]
    return Bounded(ratings.raters[rater], n_asked, n_open, tuple(figures), tuple(of.unbounded))


@dataclass(frozen=True)
class _Of:
    """A rater's answers to what it was asked."""

    ratings: Ratings
    rater: int
    asked: Bools
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
        level, given = self.ratings.level, self.y[self.asked]
        there = ~np.isnan(given)
        if level == "nominal" or (level != "binary" and self.ends is None):
            return []
        name, low, high, values = MEAN, *(self.ends or (0.0, 1.0)), given[there]
        if level == "binary":
            if self.ratings.positive is None or not self.ratings.on_scale[self.rater]:
                return []
            name, low, high, values = SHARE, 0.0, 1.0, (given[there] == self.ratings.positive).astype(float)
        if not values.size or values.min() < low or values.max() > high:
            return []
        n, missing = len(given), int((~there).sum())
        total = float(values.sum())
        found = (total + missing * low) / n, (total + missing * high) / n
        alone = _result(name, float(values.mean()), found, SHARP, self._counts(self.asked, [self.rater]))
        return [alone] if alone else []

    def with_people(self, statistics: Sequence[str]) -> list[Result]:
        """Bound what is read of the table of the rater with people: with the one there is, or with all."""
        ratings, known = self.ratings, [j for j in self.people if self.ratings.identified[j]]
        scale = ratings.scale
        if not known or scale is None or not self._is_on(scale) or len(scale) ** 2 > MAX_TABLE:
            return []
        several = len(self.people) > 1
        if several and len(known) < 2:
            return []
        block = ratings.values[:, known]
        items = self.asked & ((~np.isnan(block)).sum(axis=1) >= (2 if several else 1))
        if not (items & np.isnan(self.y)).any() or not (items & ~np.isnan(self.y)).any():
            return []
        fills = fills_of(block[items], self.y[items], scale, ratings.positive)
        counts = self._counts(items, [self.rater, *known])
        keys = [key for key in statistics if self._reads_pairs(key) and key not in CORRELATIONS]
        found = [self._of_table(key, fills, several, counts) for key in keys]
        bounds = [result for result in found if result is not None]
        return bounds + (self._gaps(bounds, known, items) if several else [])

    def _gaps(self, bounds: Sequence[Result], known: Sequence[int], items: Bools) -> list[Result]:
        """Bound what each kappa is less that of people with each other, which no way to answer changes."""
        kappas = [result for result in bounds if result.name.removeprefix(NAME) in WEIGHTS]
        keys = [result.name.removeprefix(NAME) for result in kappas]
        now, then = (self._among(known, which, keys) for which in (items & ~np.isnan(self.y), items))
        found = []
        for key, result in zip(keys, kappas, strict=True):
            if (
                np.isfinite([now[key], then[key]]).all()
                and result.value is not None
                and result.low is not None
            ):
                ends = result.low - then[key], (result.high or 0.0) - then[key]
                point = result.value - now[key]
                found.append(replace(result, name=GAP + key, value=point, low=ends[0], high=ends[1]))
        return found

    def _among(self, known: Sequence[int], items: Bools, keys: Sequence[str]) -> dict[str, float]:
        """Return people with each other on these items."""
        cut = self.ratings.with_values(np.where(items[:, None], self.ratings.values, np.nan))
        resampling = resampling_of(cut, Plan(resamples=0))
        found = evaluated(People(cut, known, resampling), keys, [np.ones((1, resampling.n_units))])
        return {key: float(values[0]) for key, values in found.items()}

    def _reads_pairs(self, key: str) -> bool:
        return STATISTICS[key].raters == "pair" and self.ratings.level in STATISTICS[key].levels

    def _of_table(self, key: str, fills: Fills, several: bool, counts: Counts) -> Result | None:
        """Bound a statistic of the table; None where it has no bounds, or no value on what was answered."""
        known = POOLED if several else {*RATIOS, *FORMULAS}
        if key not in known:
            self.unbounded.append((key, OVER_PAIRS if several else NO_METHOD))
            return None
        if key in RATIOS:
            now = RATIOS[key](fills.answered)
            return None if now is None else _result(NAME + key, now[0], RATIOS[key](fills), SHARP, counts)
        point = FORMULAS[key](fills.table[None].astype(np.float64))[0]
        try:
            found = extremes(fills, key) if np.isfinite(point) else None
        except ValueError as error:
            self.unbounded.append((key, str(error)))
            return None
        return None if found is None else _result(NAME + key, float(point), found, SHARP, counts)

    def with_mean(self, statistics: Sequence[str]) -> list[Result]:
        """Bound correlations with the people's mean, or with the only person."""
        if self.ratings.level == "nominal" or not self.people:
            return []
        mean = mean_of(self.ratings.values[:, self.people])
        items = self.asked & ~np.isnan(mean)
        x, y = mean[items], self.y[items]
        there = ~np.isnan(y)
        if there.all() or there.sum() < 3 or np.unique(y[there]).size < 2 or np.unique(x[there]).size < 2:
            return []
        counts = self._counts(items, [self.rater, *self.people])
        keys = [key for key in statistics if key in CORRELATIONS and self._reads_pairs(key)]
        found = [self._correlation(key, x, y, counts) for key in keys]
        return [result for result in found if result is not None]

    def _correlation(self, key: str, x: Floats, y: Floats, counts: Counts) -> Result | None:
        there, ends = ~np.isnan(y), self.ends
        if key == "pearson" and (ends is None or y[there].min() < ends[0] or y[there].max() > ends[1]):
            self.unbounded.append((key, NO_ENDS))
            return None
        found = CORRELATIONS[key](x, y, ends or (0.0, 0.0))
        return _result(WITH_MEAN + key, _point(key, x[there], y[there]), found, CONSERVATIVE, counts)

    def _is_on(self, scale: Sequence[float]) -> bool:
        """Whether every answer is a value of the scale; a mean of samples need not be."""
        given = self.y[~np.isnan(self.y)]
        return self.ratings.on_scale[self.rater] and bool(np.isin(given, scale).all())

    def _counts(self, items: Bools, columns: list[int]) -> Counts:
        return {
            "n_items": int(items.sum()),
            "n_clusters": len(np.unique(self.ratings.clusters[items])),
            "n_raters": len(columns),
            "n_missing": int((items & np.isnan(self.y)).sum()),
        }


def _point(key: str, x: Floats, y: Floats) -> float:
    """Return a correlation of what was answered."""
    formula = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}[key]
    return float(formula(x, y).statistic)  # type: ignore[operator]


def _result(name: str, value: float, found: Ends | None, how: str, counts: Counts) -> Result | None:
    if found is None:
        return None
    return Result(name, value, *found, method=f"{NO_INTERVAL}; {how}", **counts)
