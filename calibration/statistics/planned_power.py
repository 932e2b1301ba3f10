"""How many dialogues the alternative annotator test needs to pass, from a pilot, by simulation.

Studies are drawn from the pilot's dialogues as in ``planning``, and the test is made on each. The pilot's own
gap between judge and people stands for the true one, so power varies a good deal from pilot to pilot: the
range over pilots drawn from the pilot says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.resampling import Plan, resampling_of
from calibration.statistics.core.samples import additive
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.planning import RANGE, Needed, Told, check, drawn, pilots, silent
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

# Agreement planned with other numbers of raters an item: the pilot with some of its ratings left out.
#
# Of each item so many ratings are kept, drawn at random, and items that have fewer are left out. What is
# kept is a pilot as it would have been with so many raters, so it is planned from as any other. Only for
# statistics that take raters as exchangeable: for others it matters which rater is left out.

MOST_RATERS = 5
ENOUGH = 0.5
"""Share of the items with two ratings that must have so many for a number of raters to be planned."""


def crowds(ratings: Ratings, people: Sequence[int]) -> list[int]:
    """Return the numbers of raters an item that a pilot can be thinned to, from 2; [] where it has no other.

    ``people`` are the columns of the raters.
    """
    each = _ratings_an_item(ratings, people)
    twice = int((each >= 2).sum())
    if not twice:
        return []
    found = [r for r in range(2, MOST_RATERS + 1) if (each >= r).sum() >= ENOUGH * twice]
    return found if len(found) > 1 else []


def thinned(ratings: Ratings, people: Sequence[int], n_raters: int, seed: int) -> Ratings:
    """Return the people's ratings with ``n_raters`` of each item, drawn by ``seed``; the other raters' left.

    Items with fewer have none of the people's any more. ValueError below 2 raters.
    """
    if n_raters < 2:
        raise ValueError(f"agreement needs two raters an item, not {n_raters}")
    columns = list(people)
    answered = ~np.isnan(ratings.values[:, columns])
    order = np.where(answered, np.random.default_rng([seed, n_raters]).random(answered.shape), np.inf)
    place = order.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    kept = (place < n_raters) & answered & (answered.sum(axis=1) >= n_raters)[:, None]
    values = ratings.values.copy()
    values[:, columns] = np.where(kept, values[:, columns], np.nan)
    return ratings.with_values(values)


def ratings_an_item(ratings: Ratings, people: Sequence[int]) -> float | None:
    """Return how many of these people rated an item, the mean over items that any of them rated."""
    each = _ratings_an_item(ratings, people)
    rated = each[each > 0]
    return float(rated.mean()) if rated.size else None


def _ratings_an_item(ratings: Ratings, people: Sequence[int]) -> Ints:
    return np.asarray((~np.isnan(ratings.values[:, list(people)])).sum(axis=1))


GRID = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000)
DRAWS = 100
"""Studies drawn from each drawn pilot: power is known from them to within 0.05."""
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
    """Power by number of dialogues; ``needed`` is the least of those looked at that reaches the target.

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
    grid: Sequence[int] = GRID,
    plan: Plan | None = None,
    told: Told = silent,
) -> PowerPlan:
    """Return how many dialogues give the alternative annotator test the target power.

    As in the test, annotators with fewer than ``min_items`` shared items are left out of a simulated study,
    which does not pass with fewer than three others. ValueError, in one line, with fewer than three people or
    LEAST_PILOT dialogues, where the pilot's judge gave one value throughout, and where it would pass though
    one value given to every item scores as well.
    """
    plan = plan or Plan()
    if not 0 < target < 1:
        raise ValueError(f"a power lies between 0 and 1, not {target:g}")
    if len(people) < MIN_PEOPLE:
        raise ValueError(f"the alternative annotator test needs three identified people, not {len(people)}")
    columns = [pilot.column(r) for r in people]
    chosen: Score = score or ("accuracy" if pilot.level in ("binary", "nominal") else "neg_rmse")
    if is_constant(pilot, pilot.column(judge), columns):
        raise ValueError(f"the pilot has no winning rate: {judge} gave one value throughout")
    contests = contests_of(pilot, pilot.column(judge), columns, chosen, None, resampling_of(pilot, plan))
    used = np.unique(np.concatenate([c.units for c in contests]))
    items = np.unique(np.concatenate([c.items for c in contests]))
    check(len(used), "" if len(used) else "no item was rated by the judge and two people", plan)
    rows = [np.column_stack([np.ones(len(c.units)), c.difference, c.difference**2]) for c in contests]
    units = [np.searchsorted(used, c.units) for c in contests]
    sums = np.concatenate([additive(u, len(used), r).sums for u, r in zip(units, rows, strict=True)], axis=1)
    test = _Test(sums, len(contests), epsilon, q, min_items)
    powers, reached = _over_pilots(test, sorted({*grid, len(used)}), target, plan, told)
    needed = next((p.n_clusters for p in powers if p.power >= target), None)
    constant = None if needed is None else best_constant(pilot, pilot.column(judge), columns, chosen, None)
    if constant is not None and constant.as_good:
        raise ValueError(f"{judge} passes with no number of dialogues like the pilot's: {constant.in_words}")
    found = [n for n in reached if n is not None]
    ends = _ends(reached)
    return PowerPlan(
        judge,
        tuple(people),
        target,
        epsilon,
        needed,
        *ends,
        len(found) / len(reached),
        powers,
        len(used),
        len(items),
        f"{plan.resamples} studies of each size drawn from the pilot's dialogues, tested with epsilon "
        f"{epsilon:g}, score {chosen}, Benjamini-Yekutieli q {q:g}; range: {RANGE:.0%} of {DRAWN_PILOTS} "
        f"pilots drawn from the pilot, {DRAWS} studies of each; seed {plan.seed}",
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
        totals = (drawn(rng, pilot, n, rows) @ self.sums).reshape(-1, self.n_people, 3)
        items = totals[:, :, 0]
        kept = items >= self.min_items
        margins = np.full(self.n_people, self.epsilon)
        p = np.where(kept, p_values(items, totals[:, :, 1], totals[:, :, 2], margins), np.nan)
        won = by_rejected(p, self.q).sum(axis=1)
        tested = kept.sum(axis=1)
        return float(((2 * won >= tested) & (tested >= MIN_PEOPLE)).mean())


def _over_pilots(
    test: _Test, grid: Sequence[int], target: float, plan: Plan, told: Told
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
        by_pilot[:, place] = [test.power(rng, own, n, DRAWS) for own in others]
        low, high = np.quantile(by_pilot[:, place], [tail, 1 - tail])
        powers.append(Power(n, power, float(low), float(high)))
        told(place + 1, len(grid))
    reached = [
        next((n for n, power in zip(grid, row, strict=True) if power >= target), None) for row in by_pilot
    ]
    return tuple(powers), reached


def _ends(reached: Sequence[int | None]) -> tuple[int | None, int | None]:
    """Return the range of the numbers that pilots need; one that reaches the target with none lies beyond."""
    ordered = sorted(float("inf") if n is None else n for n in reached)
    tail = round((1 - RANGE) / 2 * len(ordered))
    ends = ordered[tail], ordered[len(ordered) - 1 - tail]
    low, high = (None if end == float("inf") else int(end) for end in ends)
    return low, high
