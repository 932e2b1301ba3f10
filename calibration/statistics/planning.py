"""How many doubly rated dialogues a study needs, from a pilot: by simulation from the pilot itself.

Dialogues are drawn from the pilot with replacement, as many as the planned study would have; what the study
would find is computed on each draw. A pilot of few dialogues gives a rough plan, and the results say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.contests import MIN_ITEMS, Score, contests_of, is_constant
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.features import Draw
from calibration.statistics.core.resampling import Plan, Resampling, resampling_of
from calibration.statistics.core.samples import Sample, additive
from calibration.statistics.core.types import Floats
from calibration.statistics.replacement import by_rejected, p_values
from calibration.statistics.table import STATISTICS

GRID = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000)


@dataclass(frozen=True)
class Width:
    """The expected width of an interval with this many dialogues."""

    n_clusters: int
    width: float
    share_undefined: float


@dataclass(frozen=True)
class WidthPlan:
    """Widths by number of dialogues; ``needed`` is the least of the grid that reaches the target.

    ``design_effect`` is the variance over dialogues relative to the variance if items were independent;
    ``n_pilot`` the pilot's dialogues.
    """

    target: float
    needed: int | None
    widths: tuple[Width, ...]
    design_effect: float | None
    n_pilot: int


def clusters_for_width(
    pilot: Ratings,
    statistic: str,
    raters: Sequence[str],
    target: float,
    *,
    grid: Sequence[int] = GRID,
    plan: Plan | None = None,
) -> WidthPlan:
    """Return how many dialogues give an interval of the target width (high less low) for a statistic.

    ValueError where the pilot leaves the statistic without a value.
    """
    plan = plan or Plan()
    columns = tuple(pilot.column(r) for r in raters)
    resampling = resampling_of(pilot, plan)
    sample = Sample(pilot, columns, resampling)
    found = estimates(sample, [STATISTICS[statistic]], resampling)[0]
    if not found.ok:
        raise ValueError(f"the pilot has no {statistic}: {found.verdict.reason}")
    widths = tuple(_width(sample, statistic, n, plan) for n in grid)
    needed = next((w.n_clusters for w in widths if w.width <= target and w.share_undefined <= 0.05), None)
    return WidthPlan(target, needed, widths, design_effect(pilot, statistic, raters, plan), sample.n_clusters)


def design_effect(
    ratings: Ratings, statistic: str, raters: Sequence[str], plan: Plan | None = None
) -> float | None:
    """Variance of a statistic over dialogues, relative to that over independent items.

    None where it does not vary, or the ratings leave it without a value.
    """
    plan = plan or Plan()
    spread = []
    for clustered in (True, False):
        own = ratings if clustered else replace(ratings, clusters=np.arange(ratings.n_items))
        resampling = resampling_of(own, plan)
        sample = Sample(own, [own.column(r) for r in raters], resampling)
        drawn = estimates(sample, [STATISTICS[statistic]], resampling)[0].replicates
        defined = drawn[~np.isnan(drawn)]
        spread.append(float(defined.var()) if defined.size else 0.0)
    return spread[0] / spread[1] if spread[1] > 0 else None


def _width(sample: Sample, statistic: str, n: int, plan: Plan) -> Width:
    rng = np.random.default_rng(plan.seed)
    weights = _drawn(rng, sample.resampling.n_units, n, plan.resamples)
    values = STATISTICS[statistic].compute(Draw(sample, weights))
    defined = values[~np.isnan(values)]
    tail = (1 - plan.level) / 2
    width = float(np.diff(np.quantile(defined, [tail, 1 - tail]))[0]) if defined.size else float("inf")
    return Width(n, width, 1 - defined.size / max(values.size, 1))


def _drawn(rng: np.random.Generator, n_units: int, n: int, rows: int) -> Floats:
    """Return how often each of the pilot's units is in each of the studies of n units."""
    return rng.multinomial(n, np.full(n_units, 1 / n_units), size=rows).astype(np.float64)


@dataclass(frozen=True)
class Power:
    """The share of simulated studies of this size in which the judge passes (winning rate at least 0.5)."""

    n_clusters: int
    power: float


@dataclass(frozen=True)
class PowerPlan:
    """Power by number of dialogues; ``needed`` is the least of the grid that reaches the target."""

    target: float
    needed: int | None
    powers: tuple[Power, ...]
    n_pilot: int


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
    grid: Sequence[int] = GRID,
    plan: Plan | None = None,
) -> PowerPlan:
    """Return how many dialogues give the alternative annotator test the target power.

    As in the test, annotators with fewer than ``min_items`` shared items are left out of a simulated study,
    which does not pass without any. ValueError where the pilot's judge gave one value throughout.
    """
    plan = plan or Plan()
    chosen: Score = score or ("accuracy" if pilot.level in ("binary", "nominal") else "neg_rmse")
    resampling: Resampling = resampling_of(pilot, plan)
    columns = [pilot.column(r) for r in people]
    if is_constant(pilot, pilot.column(judge), columns):
        raise ValueError(f"the pilot has no winning rate: {judge} gave one value throughout")
    contests = contests_of(pilot, pilot.column(judge), columns, chosen, None, resampling)
    rows = [
        additive(
            c.units,
            resampling.n_units,
            np.column_stack([np.ones(len(c.units)), c.difference, c.difference**2]),
        ).sums
        for c in contests
    ]
    sums, margins = np.concatenate(rows, axis=1), np.full(len(contests), epsilon)
    powers = []
    for n in grid:
        rng = np.random.default_rng(plan.seed)
        totals = (_drawn(rng, resampling.n_units, n, plan.resamples) @ sums).reshape(-1, len(contests), 3)
        items = totals[:, :, 0]
        kept = items >= min_items
        p = np.where(kept, p_values(items, totals[:, :, 1], totals[:, :, 2], margins), np.nan)
        won = by_rejected(p, q).sum(axis=1)
        powers.append(Power(n, float((2 * won >= np.maximum(kept.sum(axis=1), 1)).mean())))
    needed = next((p.n_clusters for p in powers if p.power >= target), None)
    return PowerPlan(target, needed, tuple(powers), resampling.n_units)
