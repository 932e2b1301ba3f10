"""How many doubly rated dialogues an interval of a wanted width needs, from a pilot, by simulation.

Dialogues are drawn from the pilot with replacement, as many as the planned study would have, and the figure
is computed on each draw: the spread of these values is the width of the interval that the study would find.
The pilot is itself one draw. So the same is done from pilots drawn from the pilot (a double bootstrap; Efron
and Tibshirani 1993, ch. 13 and 18), and how their widths vary is the range of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.planned_figures import Compute, Planned

GRID = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000)
LEAST_PILOT = 5
"""Dialogues that a pilot needs: fewer cannot say how far dialogues differ."""
ROUGH_PILOT = 20
"""A plan of fewer dialogues is called rough: its range holds the truth less often than it says."""
PILOTS, DRAWS = 200, 200
"""How many pilots are drawn from the pilot, and studies from each."""
RANGE = 0.90
"""The share of plans whose range is to hold the true width."""
BLOCK = 4_000_000
"""Weights held at a time."""
ONE_BY_ONE = 4
"""Up to so many times the pilot's dialogues a study is drawn one by one; a larger one by counts, sooner."""
NO_INTERVAL = (
    "the pilot has no interval: its dialogues are all alike here, or too few leave the figure defined"
)
Told = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Tell nobody."""


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
    """What every plan says of how many dialogues are needed, and of the pilot it rests on."""

    needed: int | None
    n_pilot: int

    @property
    def more(self) -> int | None:
        """How many dialogues are needed beside those of the pilot; 0 where it has enough already."""
        return None if self.needed is None else max(0, self.needed - self.n_pilot)

    @property
    def is_rough(self) -> bool:
        """Whether the pilot is so small that the range itself is doubtful."""
        return self.n_pilot < ROUGH_PILOT


@dataclass(frozen=True)
class WidthPlan(Needed):
    """Widths by number of dialogues, and the number that reaches the target.

    ``needed`` is None where none of the numbers looked at does; ``needed_low`` and ``needed_high`` are its
    range over pilots (``needed_high`` None: beyond what was looked at). ``width`` is the pilot's own.
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
    told: Told = silent,
) -> WidthPlan:
    """Return how many dialogues give an interval of the target width (high less low) for a figure.

    ``plan`` gives the resamples, the level and the seed. ValueError, in one line, where the pilot leaves the
    figure without a value or an interval, or has fewer than LEAST_PILOT dialogues.
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
        told(done + 1, steps)
    widths = {n: width for n, (width, _) in simulated.items()}
    if not any(widths.values()):
        raise ValueError(NO_INTERVAL)
    needed = _reached(widths, target)
    ratios = _ratios(figure, needed or numbers[-1], plan)
    told(len(numbers) + 2, steps)
    low, high = _range(ratios)
    rows = tuple(
        Width(n, width, _times(width, low), _times(width, high), share)
        for n, (width, share) in simulated.items()
    )
    effect = design_effect(figure, plan)
    told(steps, steps)
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
    """Refuse a pilot that says nothing: ValueError with one line."""
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
    """Return the width of the pilot's own interval. ValueError where it has none."""
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

    A bootstrap's variance is short by (N - 1) / N: the pilot's own shortness is taken out, the planned
    study's put in, so that a study as large as the pilot has the pilot's width.
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
        parts.append(compute(drawn(rng, pilot, n, min(size, rows - start))))
    return np.concatenate(parts)


def drawn(rng: np.random.Generator, pilot: Ints, n: int, rows: int) -> Floats:
    """Return how often each dialogue is in each of ``rows`` studies of n dialogues (rows x dialogues).

    ``pilot`` holds as many dialogues as there are, by number: each once, or as they were drawn.
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
    whole = _spread(_values(figure.compute, rng, np.arange(figure.n_clusters), n, DRAWS * 10))
    return np.array(spreads) / whole if whole else np.zeros(len(spreads))


def _spread(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.std()) if defined.size else 0.0


def _range(ratios: Floats) -> tuple[float, float]:
    """Return the factors between which the true width lies.

    What a drawn pilot is to the pilot, the pilot is to the truth: where pilots find up to r times the width,
    the truth may be the pilot's divided by r.
    """
    tail = (1 - RANGE) / 2
    least, most = np.quantile(ratios, [tail, 1 - tail])
    return (1 / float(most) if most > 0 else 0.0), (1 / float(least) if least > 0 else math.inf)


def _times(width: float | None, factor: float) -> float | None:
    return None if width is None or math.isinf(factor) else width * factor


def _reached(widths: dict[int, float | None], target: float) -> int | None:
    """Return the number of dialogues whose width is the target's, between the numbers looked at."""
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
    """Return the range of the number needed: it goes with the square of the width."""
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
