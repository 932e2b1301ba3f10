"""Sample size: doubly rated dialogues needed for an interval of a target width, from a pilot, by simulation.

Dialogues are drawn from the pilot with replacement, as many as the planned study would have, and the figure
is computed on each draw: the spread of these values is the width of the interval that the study would find.
The pilot is itself one draw. So the same is done from pilots drawn from the pilot (a double bootstrap; Efron
and Tibshirani 1993, ch. 13 and 18), and the variation of their widths is the range of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.statistics.analysis import MEAN_OF_PEOPLE, PEOPLE, mean_of
from calibration.statistics.core.engine import Statistic
from calibration.statistics.core.ratings import Floats, Ints, Ratings, codes
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.samples import MAX_TABLE, Draw, Sample, additive
from calibration.statistics.panel import POOLED, Beside, evaluated
from calibration.statistics.panel import People as Pooled
from calibration.statistics.replacement import (
    MIN_ITEMS,
    MIN_PEOPLE,
    Score,
    best_constant,
    by_rejected,
    contests_of,
    is_constant,
    p_values,
)
from calibration.statistics.table import STATISTICS

# Figures that a study can be planned for: each as a function of how often a pilot's dialogues are drawn.
#
# They are those of a report: people with each other, a judge with people (one table of all pairs, or the only
# person), a judge or metric with the people's mean, and the gap of a judge. Only dialogues that a figure
# rests on are counted: a dialogue that a single rater rated adds nothing to agreement.

GAP = "gap_"
Compute = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Planned:
    """A figure of a pilot. ``compute`` returns its value per row of weights (rows x dialogues).

    ``raters`` are those that it compares, ``value`` is its value on the pilot (NaN where undefined, and
    ``reason`` then explains why), ``by_item`` the same with every item its own cluster.
    """

    statistic: str
    raters: tuple[str, ...]
    value: float
    n_clusters: int
    n_items: int
    compute: Compute
    by_item: Compute
    reason: str = ""


def planned(ratings: Ratings, statistic: str, judge: str = "") -> Planned:
    """Return a figure of ratings: people with each other, or a judge (or metric) with people.

    ``statistic`` is a key of the table of statistics, or ``gap_`` and the key for a judge's gap. Raises
    ValueError, in one line, where it does not apply to these raters.
    """
    key = statistic.removeprefix(GAP)
    if key not in STATISTICS:
        raise ValueError(f"no statistic {statistic!r} to plan for; there are {', '.join(STATISTICS)}")
    if STATISTICS[key].of_sets:
        raise ValueError(f"{STATISTICS[key].title} is of several questions: plan for one of them")
    if ratings.problem:
        raise ValueError(ratings.problem)
    if STATISTICS[key].needs_scale:
        ratings = ratings.as_answered()
    people = people_of(ratings)
    if not judge:
        if statistic != key:
            raise ValueError("a gap is that of a judge: name the judge")
        return _among(ratings, STATISTICS[key], people)
    if judge not in ratings.raters:
        raise ValueError(f"no rater {judge!r} here; there are {', '.join(ratings.raters)}")
    column = ratings.column(judge)
    if column in people:
        raise ValueError(f"{judge} is one of the people: plan for people together, or name a judge or metric")
    return _with_people(ratings, STATISTICS[key], column, people, is_gap=statistic != key)


def people_of(ratings: Ratings) -> tuple[int, ...]:
    """Return the columns of the people; of all raters where no kinds are known."""
    return ratings.of_kind(PEOPLE) or (() if any(ratings.kinds) else tuple(range(len(ratings.raters))))


def _among(ratings: Ratings, statistic: Statistic, people: Sequence[int]) -> Planned:
    if len(people) < 2:
        raise ValueError(f"agreement of people needs two of them; there {_are(len(people))} here")
    identified = [column for column in people if ratings.identified[column]]
    if statistic.raters == "panel" or (statistic.key == "percent_agreement" and len(people) != 2):
        if len(identified) < len(people) and not statistic.exchangeable:
            raise ValueError(f"{statistic.title} needs to know who is who, and some people are unidentified")
        return _of_columns(ratings, statistic, people)
    if len(identified) < 2:
        raise ValueError(
            f"{statistic.title} compares two identified people: plan for krippendorff_alpha instead"
        )
    if len(identified) == 2:
        return _of_columns(ratings, statistic, identified)
    return _pooled(ratings, statistic, identified, None, is_gap=False)


def _are(count: int) -> str:
    return "is none" if not count else f"{'is' if count == 1 else 'are'} {count}"


def _with_people(
    ratings: Ratings, statistic: Statistic, judge: int, people: Sequence[int], *, is_gap: bool
) -> Planned:
    if statistic.raters == "panel":
        raise ValueError(f"{statistic.title} is that of people together: choose people, not a judge")
    identified = [column for column in people if ratings.identified[column]]
    if is_gap or (ratings.on_scale[judge] and len(identified) > 1 and statistic.key in POOLED):
        if len(identified) < 2:
            raise ValueError("the gap of a judge needs two identified people")
        return _pooled(ratings, statistic, identified, judge, is_gap=is_gap)
    if len(people) == 1:
        return _of_columns(ratings, statistic, (people[0], judge))
    if not people:
        raise ValueError("nobody is there to compare with: people are needed")
    if ratings.level == "nominal":
        raise ValueError(f"{statistic.title} with people’s mean needs an order, and these are categories")
    with_mean = ratings.with_column(MEAN_OF_PEOPLE, mean_of(ratings.values[:, list(people)]))
    return _of_columns(with_mean, statistic, (len(with_mean.raters) - 1, judge))


def _of_columns(ratings: Ratings, statistic: Statistic, columns: Sequence[int]) -> Planned:
    """Return a statistic of the table over some raters."""
    present = ~np.isnan(ratings.values[:, list(columns)])
    cut = _cut(ratings, present.sum(axis=1) >= 2)
    sample = _sample(cut, columns, by_item=False)
    if not statistic.applies(sample):
        raise ValueError(f"{statistic.title} does not apply to these raters and their scale")
    verdict = statistic.verdict(sample)
    names = tuple(ratings.raters[column] for column in columns)
    loose = _sample(cut, columns, by_item=True)
    return _figure(
        statistic.key,
        names,
        cut,
        lambda weights: statistic.compute(Draw(sample, weights)),
        lambda weights: statistic.compute(Draw(loose, weights)),
        "" if verdict.status == "ok" else verdict.reason,
    )


def _sample(ratings: Ratings, columns: Sequence[int], *, by_item: bool) -> Sample:
    return Sample(ratings, columns, _units(ratings, by_item=by_item))


def _units(ratings: Ratings, *, by_item: bool) -> Resampling:
    return resampling_of(ratings, Plan(scheme="items" if by_item else "clusters"))


def _pooled(
    ratings: Ratings, statistic: Statistic, people: Sequence[int], judge: int | None, *, is_gap: bool
) -> Planned:
    """Return a figure of one table of all pairs: of people, of a judge with them, or the gap of both."""
    columns = [*people, *([] if judge is None else [judge])]
    on_scale = all(ratings.on_scale[column] for column in columns)
    if statistic.key not in POOLED or ratings.scale is None or len(ratings.scale) ** 2 > MAX_TABLE:
        raise ValueError(
            f"{statistic.title} has no figure of one table over several people; plan for one of "
            f"{', '.join(POOLED)}, krippendorff_alpha among people, or spearman with their mean"
        )
    if not on_scale or ratings.level not in statistic.levels:
        raise ValueError(f"{statistic.title} does not apply to these raters and their scale")
    present = ~np.isnan(ratings.values)
    keep = present[:, list(people)].sum(axis=1) >= 2
    cut = _cut(ratings, keep if judge is None else keep & present[:, judge])
    compute, by_item = (
        _of_table(cut, statistic.key, people, judge, _units(cut, by_item=loose), is_gap=is_gap)
        for loose in (False, True)
    )
    names = tuple(ratings.raters[column] for column in columns)
    return _figure(f"{GAP if is_gap else ''}{statistic.key}", names, cut, compute, by_item, "")


def _of_table(
    cut: Ratings, key: str, people: Sequence[int], judge: int | None, units: Resampling, *, is_gap: bool
) -> Compute:
    among = Pooled(cut, people, units)
    if judge is None:
        return lambda weights: evaluated(among, [key], [weights])[key]
    beside = Beside(among, cut.values[:, judge], units)
    if not is_gap:
        return lambda weights: evaluated(beside, [key], [weights])[key]
    return lambda w: evaluated(beside, [key], [w])[key] - evaluated(among, [key], [w])[key]


def _figure(
    key: str, raters: tuple[str, ...], cut: Ratings, compute: Compute, by_item: Compute, reason: str
) -> Planned:
    value = float("nan")
    if not cut.n_items:
        reason = "no item was rated by both" if len(raters) == 2 else "no item was rated by two of them"
    if not reason:
        value = float(compute(np.ones((1, cut.n_clusters)))[0])
        reason = "" if np.isfinite(value) else "not defined on these ratings"
    return Planned(key, raters, value, cut.n_clusters, cut.n_items, compute, by_item, reason)


def _cut(ratings: Ratings, keep: npt.NDArray[np.bool_]) -> Ratings:
    """Return the ratings of some items, with clusters renumbered: clusters without an item are removed."""
    return replace(
        ratings,
        values=ratings.values[keep],
        firsts={},
        items=tuple(item for item, is_used in zip(ratings.items, keep, strict=True) if is_used),
        clusters=codes(ratings.clusters[keep]),
        systems=None,
        continuations=None,
        weights=ratings.weights_of(keep),
    )


GRID = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000)
LEAST_PILOT = 5
"""Dialogues that a pilot needs: fewer cannot show how much dialogues differ."""
ROUGH_PILOT = 20
"""A plan from fewer dialogues is called rough: its range covers the truth less often than stated."""
PILOTS, DRAWS = 200, 200
"""Number of pilots drawn from the pilot, and of studies from each."""
RANGE = 0.90
"""Nominal share of plans whose range covers the true width."""
BLOCK = 4_000_000
"""Weights held at a time."""
ONE_BY_ONE = 4
"""Studies up to this many times the pilot's size are drawn one by one; larger ones by counts, faster."""
NO_INTERVAL = (
    "the pilot has no interval: its dialogues are all alike here, or too few leave the figure defined"
)
ReportProgress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Width:
    """The expected width of an interval with this many dialogues, and the range that the pilot leaves open.

    ``width`` is None where the figure would be undefined in too many resamples, so that there is no interval;
    ``high`` is None where the pilot sets no upper end.
    """

    n_clusters: int
    width: float | None
    low: float | None
    high: float | None
    share_undefined: float


class Needed:
    """Fields of every plan: how many dialogues are needed, and the pilot it rests on."""

    needed: int | None
    n_pilot: int

    @property
    def more(self) -> int | None:
        """Number of dialogues needed beyond those of the pilot; 0 where it has enough already."""
        return None if self.needed is None else max(0, self.needed - self.n_pilot)

    @property
    def is_rough(self) -> bool:
        """Whether the pilot is so small that the range itself is doubtful."""
        return self.n_pilot < ROUGH_PILOT


@dataclass(frozen=True)
class WidthPlan(Needed):
    """Widths by number of dialogues, and the number that reaches the target.

    ``needed`` is None where none of the numbers tried does; ``needed_low`` and ``needed_high`` are its range
    over pilots (``needed_high`` None: beyond the numbers tried). ``width`` is the pilot's own.
    ``design_effect`` is the variance over dialogues relative to the variance if items were independent, None
    where the figure does not vary.
    """

    statistic: str
    raters: tuple[str, ...]
    value: float
    target: float
    width: float | None
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    widths: tuple[Width, ...]
    design_effect: float | None
    n_pilot: int
    n_items: int
    method: str


def clusters_for_width(
    figure: Planned,
    target: float,
    *,
    grid: Sequence[int] = GRID,
    plan: Plan | None = None,
    progress: ReportProgress = silent,
) -> WidthPlan:
    """Return how many dialogues give an interval of the target width (high minus low) for a figure.

    ``plan`` sets the resamples, the level and the seed. Raises ValueError, in one line, where the pilot
    leaves the figure without a value or an interval, or has fewer than LEAST_PILOT dialogues.
    """
    plan = plan or Plan()
    if not 0 < target < math.inf:
        raise ValueError(f"the width wanted must be above 0, not {target:g}")
    check(figure.n_clusters, figure.reason, plan)
    numbers = sorted({*grid, figure.n_clusters})
    steps = len(numbers) + 3
    simulated = {}
    for done, n in enumerate(numbers):
        simulated[n] = _simulated(figure.compute, figure.n_clusters, n, plan)
        progress(done + 1, steps)
    widths = {n: width for n, (width, _) in simulated.items()}
    if not any(widths.values()):
        raise ValueError(NO_INTERVAL)
    needed = _reached(widths, target)
    ratios = _ratios(figure, needed or numbers[-1], plan)
    progress(len(numbers) + 2, steps)
    low, high = _range(ratios)
    rows = tuple(
        Width(n, width, _times(width, low), _times(width, high), share)
        for n, (width, share) in simulated.items()
    )
    effect = design_effect(figure, plan)
    progress(steps, steps)
    return WidthPlan(
        figure.statistic,
        figure.raters,
        figure.value,
        target,
        widths[figure.n_clusters],
        needed,
        *_needed_range(needed, low, high, numbers[-1]),
        rows,
        effect,
        figure.n_clusters,
        figure.n_items,
        _method(plan),
    )


def check(n_clusters: int, reason: str, plan: Plan) -> None:
    """Raise ValueError with one line for an uninformative pilot."""
    if reason:
        raise ValueError(f"the pilot has no value: {reason}")
    if n_clusters < LEAST_PILOT:
        dialogues = f"{n_clusters} dialogue{'' if n_clusters == 1 else 's'}"
        raise ValueError(
            f"a pilot of {dialogues} cannot say how far dialogues differ: {LEAST_PILOT} that two raters "
            f"rated are the least, {ROUGH_PILOT} are better"
        )
    if plan.resamples < 100:
        raise ValueError(f"a plan needs 100 resamples at least, not {plan.resamples}")


def width_of(figure: Planned, plan: Plan | None = None) -> float:
    """Return the width of the pilot's own interval. Raises ValueError where it has none."""
    plan = plan or Plan()
    check(figure.n_clusters, figure.reason, plan)
    width, _ = _simulated(figure.compute, figure.n_clusters, figure.n_clusters, plan)
    if not width:
        raise ValueError(NO_INTERVAL)
    return width


def _method(plan: Plan) -> str:
    return (
        f"{plan.resamples} studies of each size drawn from the pilot's dialogues; range: {RANGE:.0%} of "
        f"{PILOTS} pilots drawn from the pilot, {DRAWS} studies of each; seed {plan.seed}"
    )


def _simulated(compute: Compute, n_units: int, n: int, plan: Plan) -> tuple[float | None, float]:
    """Return the width that studies of n dialogues would find, and the share of them without a value.

    A bootstrap's variance is too small by (N - 1) / N: the pilot's own factor is divided out and the planned
    study's applied, so that a study as large as the pilot has the pilot's width.
    """
    rng = np.random.default_rng(plan.seed)
    values = _values(compute, rng, np.arange(n_units), n, plan.resamples)
    defined = values[~np.isnan(values)]
    share = 1 - defined.size / values.size
    if share > plan.max_undefined:
        return None, share
    tail = (1 - plan.level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(high - low) * math.sqrt(n_units * (n - 1) / ((n_units - 1) * n)), share


def _values(compute: Compute, rng: np.random.Generator, pilot: Ints, n: int, rows: int) -> Floats:
    """Return a figure's value in ``rows`` studies of n dialogues, a block of weights at a time."""
    size = max(1, BLOCK // max(len(pilot), n))
    parts = []
    for start in range(0, rows, size):
        parts.append(compute(draw_counts(rng, pilot, n, min(size, rows - start))))
    return np.concatenate(parts)


def draw_counts(rng: np.random.Generator, pilot: Ints, n: int, rows: int) -> Floats:
    """Return how often each dialogue is in each of ``rows`` studies of n dialogues (rows x dialogues).

    ``pilot`` holds as many dialogues as there are, by number: each once, or as drawn.
    """
    size = len(pilot)
    if n > ONE_BY_ONE * size:
        chances = np.bincount(pilot, minlength=size) / size
        return rng.multinomial(n, chances, size=rows).astype(np.float64)
    places = pilot[rng.integers(0, size, size=(rows, n))] + np.arange(rows)[:, None] * size
    return np.bincount(places.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def pilots(n_units: int, plan: Plan) -> Ints:
    """Return the dialogues of each pilot drawn from the pilot (pilots x dialogues)."""
    return np.random.default_rng([plan.seed, 1]).integers(0, n_units, size=(PILOTS, n_units))


def _ratios(figure: Planned, n: int, plan: Plan) -> Floats:
    """Return the spread of studies of n dialogues from each drawn pilot, relative to that from the pilot."""
    rng = np.random.default_rng([plan.seed, 2])
    spreads = [
        _spread(_values(figure.compute, rng, own, n, DRAWS)) for own in pilots(figure.n_clusters, plan)
    ]
    pilot_spread = _spread(_values(figure.compute, rng, np.arange(figure.n_clusters), n, DRAWS * 10))
    return np.array(spreads) / pilot_spread if pilot_spread else np.zeros(len(spreads))


def _spread(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.std()) if defined.size else 0.0


def _range(ratios: Floats) -> tuple[float, float]:
    """Return the factors between which the true width lies.

    A drawn pilot relates to the pilot as the pilot does to the truth: where pilots find up to r times the
    width, the truth may be the pilot's divided by r.
    """
    tail = (1 - RANGE) / 2
    least, most = np.quantile(ratios, [tail, 1 - tail])
    return (1 / float(most) if most > 0 else 0.0), (1 / float(least) if least > 0 else math.inf)


def _times(width: float | None, factor: float) -> float | None:
    return None if width is None or math.isinf(factor) else width * factor


def _reached(widths: dict[int, float | None], target: float) -> int | None:
    """Return the number of dialogues that reaches the target width, interpolated between those tried."""
    before: tuple[int, float] | None = None
    for n, width in sorted(widths.items()):
        if width is not None and width <= target:
            if before is None or width <= 0:
                return n
            slope = math.log(before[1] / width) / math.log(n / before[0])
            return min(n, math.ceil(round(before[0] * (before[1] / target) ** (1 / slope), 6)))
        before = (n, width) if width is not None else before
    return None


def _needed_range(needed: int | None, low: float, high: float, most: int) -> tuple[int | None, int | None]:
    """Return the range of the number needed: proportional to the square of the width."""
    if needed is None:
        return None, None
    ends = needed * low**2, needed * high**2
    return max(2, math.floor(ends[0])), (math.ceil(ends[1]) if ends[1] <= most else None)


def design_effect(figure: Planned, plan: Plan | None = None) -> float | None:
    """Return the variance of a figure over dialogues, relative to that over independent items.

    None where it does not vary, or the ratings leave it without a value.
    """
    plan = plan or Plan()
    if figure.reason:
        return None
    variances = []
    for n, compute in ((figure.n_clusters, figure.compute), (figure.n_items, figure.by_item)):
        rng = np.random.default_rng([plan.seed, 3])
        variances.append(_spread(_values(compute, rng, np.arange(n), n, min(plan.resamples, 500))) ** 2)
    return variances[0] / variances[1] if variances[1] > 0 else None


# Sample size of the alternative annotator test: dialogues needed to pass, from a pilot, by simulation.
#
# Studies are drawn from the pilot's dialogues as in ``planning``, and the test is run on each. The pilot's
# own gap between judge and people is used as the true one, so power varies considerably from pilot to pilot:
# the range over pilots drawn from the pilot shows by how much.

# Agreement planned with other numbers of raters per item: the pilot with some of its ratings left out.
#
# For each item the given number of ratings is kept, drawn at random, and items with fewer are left out. The
# result is the pilot as it would have been with that many raters, so plans are made from it as from any
# other. Only for statistics that treat raters as exchangeable: for others it matters which rater is left out.

MOST_RATERS = 5
ENOUGH = 0.5
"""Share of the items with two ratings that must have this many for a number of raters to be planned."""


def crowds(ratings: Ratings, people: Sequence[int]) -> list[int]:
    """Return the numbers of raters per item that a pilot can be thinned to, from 2; [] where it has no other.

    ``people`` are the columns of the raters.
    """
    each = _ratings_an_item(ratings, people)
    twice = int((each >= 2).sum())
    if not twice:
        return []
    sizes = [r for r in range(2, MOST_RATERS + 1) if (each >= r).sum() >= ENOUGH * twice]
    return sizes if len(sizes) > 1 else []


def thinned(ratings: Ratings, people: Sequence[int], n_raters: int, seed: int) -> Ratings:
    """Return the people's ratings with ``n_raters`` of each item, drawn by ``seed``; others unchanged.

    Items with fewer lose all of the people's ratings. Raises ValueError below 2 raters.
    """
    if n_raters < 2:
        raise ValueError(f"agreement needs two raters an item, not {n_raters}")
    columns = list(people)
    answered = ~np.isnan(ratings.values[:, columns])
    order = np.where(answered, np.random.default_rng([seed, n_raters]).random(answered.shape), np.inf)
    place = order.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    is_used = (place < n_raters) & answered & (answered.sum(axis=1) >= n_raters)[:, None]
    values = ratings.values.copy()
    values[:, columns] = np.where(is_used, values[:, columns], np.nan)
    return ratings.with_values(values)


def ratings_an_item(ratings: Ratings, people: Sequence[int]) -> float | None:
    """Return how many of these people rated an item, the mean over items that any of them rated."""
    each = _ratings_an_item(ratings, people)
    rated = each[each > 0]
    return float(rated.mean()) if rated.size else None


def _ratings_an_item(ratings: Ratings, people: Sequence[int]) -> Ints:
    return np.asarray((~np.isnan(ratings.values[:, list(people)])).sum(axis=1))


POWER_GRID = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000)
POWER_DRAWS = 100
"""Studies drawn from each drawn pilot: this gives power to within 0.05."""
DRAWN_PILOTS = 100


@dataclass(frozen=True)
class Power:
    """The share of simulated studies of this size in which the judge passes (winning rate at least 0.5).

    ``low`` and ``high`` are its range over pilots.
    """

    n_clusters: int
    power: float
    low: float
    high: float


@dataclass(frozen=True)
class PowerPlan(Needed):
    """Power by number of dialogues; ``needed`` is the smallest number tried that reaches the target.

    ``needed_low`` and ``needed_high`` are its range over pilots, None where a pilot reaches it with none of
    the numbers. ``reaching`` is the share of pilots that reach the target with any of them.
    """

    judge: str
    people: tuple[str, ...]
    target: float
    epsilon: float
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    reaching: float
    powers: tuple[Power, ...]
    n_pilot: int
    n_items: int
    method: str


def clusters_for_alt_test(
    pilot: Ratings,
    judge: str,
    people: Sequence[str],
    *,
    target: float = 0.8,
    epsilon: float = 0.15,
    q: float = 0.05,
    score: Score | None = None,
    min_items: int = MIN_ITEMS,
    grid: Sequence[int] = POWER_GRID,
    plan: Plan | None = None,
    progress: ReportProgress = silent,
) -> PowerPlan:
    """Return how many dialogues give the alternative annotator test the target power.

    As in the test, annotators with fewer than ``min_items`` shared items are left out of a simulated study,
    which does not pass with fewer than three others. Raises ValueError, in one line, with fewer than three
    people or LEAST_PILOT dialogues, where the pilot's judge always gave the same value, and where it would
    pass though one value given to every item scores as well.
    """
    plan = plan or Plan()
    if not 0 < target < 1:
        raise ValueError(f"a power lies between 0 and 1, not {target:g}")
    if len(people) < MIN_PEOPLE:
        raise ValueError(f"the alternative annotator test needs three identified people, not {len(people)}")
    columns = [pilot.column(r) for r in people]
    score_name: Score = score or ("accuracy" if pilot.level in ("binary", "nominal") else "neg_rmse")
    if is_constant(pilot, pilot.column(judge), columns):
        raise ValueError(f"the pilot has no winning rate: {judge} gave one value throughout")
    contests = contests_of(pilot, pilot.column(judge), columns, score_name, None, resampling_of(pilot, plan))
    used = np.unique(np.concatenate([c.units for c in contests]))
    items = np.unique(np.concatenate([c.items for c in contests]))
    check(len(used), "" if len(used) else "no item was rated by the judge and two people", plan)
    rows = [np.column_stack([np.ones(len(c.units)), c.difference, c.difference**2]) for c in contests]
    units = [np.searchsorted(used, c.units) for c in contests]
    sums = np.concatenate([additive(u, len(used), r).sums for u, r in zip(units, rows, strict=True)], axis=1)
    test = _Test(sums, len(contests), epsilon, q, min_items)
    powers, reached = _over_pilots(test, sorted({*grid, len(used)}), target, plan, progress)
    needed = next((p.n_clusters for p in powers if p.power >= target), None)
    constant = (
        None if needed is None else best_constant(pilot, pilot.column(judge), columns, score_name, None)
    )
    if constant is not None and constant.as_good:
        raise ValueError(f"{judge} passes with no number of dialogues like the pilot's: {constant.in_words}")
    needed_by_pilot = [n for n in reached if n is not None]
    ends = _ends(reached)
    return PowerPlan(
        judge,
        tuple(people),
        target,
        epsilon,
        needed,
        *ends,
        len(needed_by_pilot) / len(reached),
        powers,
        len(used),
        len(items),
        f"{plan.resamples} studies of each size drawn from the pilot's dialogues, tested with epsilon "
        f"{epsilon:g}, score {score_name}, Benjamini-Yekutieli q {q:g}; range: {RANGE:.0%} of {DRAWN_PILOTS} "
        f"pilots drawn from the pilot, {POWER_DRAWS} studies of each; seed {plan.seed}",
    )


@dataclass(frozen=True)
class _Test:
    """The test on sums per dialogue (dialogues x 3 per person): items, differences, and their squares."""

    sums: Floats
    n_people: int
    epsilon: float
    q: float
    min_items: int

    def power(self, rng: np.random.Generator, pilot: Ints, n: int, rows: int) -> float:
        """Return the share of drawn studies of n dialogues that pass."""
        totals = (draw_counts(rng, pilot, n, rows) @ self.sums).reshape(-1, self.n_people, 3)
        items = totals[:, :, 0]
        has_enough = items >= self.min_items
        margins = np.full(self.n_people, self.epsilon)
        p = np.where(has_enough, p_values(items, totals[:, :, 1], totals[:, :, 2], margins), np.nan)
        won = by_rejected(p, self.q).sum(axis=1)
        tested = has_enough.sum(axis=1)
        return float(((2 * won >= tested) & (tested >= MIN_PEOPLE)).mean())


def _over_pilots(
    test: _Test, grid: Sequence[int], target: float, plan: Plan, progress: ReportProgress
) -> tuple[tuple[Power, ...], list[int | None]]:
    """Return power by number of dialogues with its range, and per drawn pilot the number it needs."""
    n_units = len(test.sums)
    even, others = np.arange(n_units), pilots(n_units, plan)[:DRAWN_PILOTS]
    by_pilot = np.empty((len(others), len(grid)))
    powers = []
    tail = (1 - RANGE) / 2
    for place, n in enumerate(grid):
        power = test.power(np.random.default_rng(plan.seed), even, n, plan.resamples)
        rng = np.random.default_rng([plan.seed, 2, n])
        by_pilot[:, place] = [test.power(rng, own, n, POWER_DRAWS) for own in others]
        low, high = np.quantile(by_pilot[:, place], [tail, 1 - tail])
        powers.append(Power(n, power, float(low), float(high)))
        progress(place + 1, len(grid))
    reached = [
        next((n for n, power in zip(grid, row, strict=True) if power >= target), None) for row in by_pilot
    ]
    return tuple(powers), reached


def _ends(reached: Sequence[int | None]) -> tuple[int | None, int | None]:
    """Return the range of the numbers that pilots need; a pilot that never reaches the target lies beyond."""
    ordered = sorted(float("inf") if n is None else n for n in reached)
    tail = round((1 - RANGE) / 2 * len(ordered))
    ends = ordered[tail], ordered[len(ordered) - 1 - tail]
    low, high = (None if end == float("inf") else int(end) for end in ends)
    return low, high
