"""Agreement planned with other numbers of raters an item: the pilot with some of its ratings left out.

Of each item so many ratings are kept, drawn at random, and items that have fewer are left out. What is kept
is a pilot as it would have been with so many raters, so it is planned from as any other. Only for statistics
that take raters as exchangeable: for others it matters which rater is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Ints

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
