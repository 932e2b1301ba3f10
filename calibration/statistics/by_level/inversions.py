"""Where turns and whole dialogues disagree: the order of systems within each dialogue, by two scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from calibration.statistics.by_level.means import tied
from calibration.statistics.by_level.scored import Units
from calibration.statistics.core.types import Floats


@dataclass(frozen=True)
class Placed:
    """A unit with both scores: its rank in its dialogue by each (1 is best, ties share the mean rank).

    ``unit`` is its place among the units.
    """

    unit: int
    by_turns: float
    by_whole: float
    rank_by_turns: float
    rank_by_whole: float

    @property
    def difference(self) -> float:
        """The score of the whole less the mean of the turns."""
        return self.by_whole - self.by_turns

    @property
    def moved(self) -> float:
        """Ranks gained by the score of the whole: above 0 where it places the unit better than turns do."""
        return self.rank_by_turns - self.rank_by_whole


@dataclass(frozen=True)
class Inversions:
    """A dialogue's pairs of units that the two orders put differently; tied by one score alone: a half."""

    dialogue: str
    n_units: int
    inversions: float
    pairs: int

    @property
    def share(self) -> float | None:
        """Of all pairs; None for a dialogue with fewer than two units."""
        return self.inversions / self.pairs if self.pairs else None


def turns_and_whole(
    units: Units, by_turns: Floats, by_whole: Floats
) -> tuple[tuple[Placed, ...], tuple[Inversions, ...]]:
    """Return the units with both scores, those that moved most first, and each dialogue's inversions.

    ``by_turns`` and ``by_whole`` hold a score per unit, NaN where there is none. Dialogues come in the order
    of their codes, those without a unit with both scores left out.
    """
    both = ~np.isnan(by_turns) & ~np.isnan(by_whole)
    placed: list[Placed] = []
    found: list[Inversions] = []
    for dialogue in np.unique(units.dialogues[both]):
        own = np.flatnonzero(both & (units.dialogues == dialogue))
        turns, whole = tied(by_turns[own]), tied(by_whole[own])
        ranks = rankdata(-turns), rankdata(-whole)
        placed += [
            Placed(int(unit), float(x), float(y), float(one), float(other))
            for unit, x, y, one, other in zip(own, by_turns[own], by_whole[own], *ranks, strict=True)
        ]
        name = units.dialogue_names[int(dialogue)]
        pairs = len(own) * (len(own) - 1) // 2
        found.append(Inversions(name, len(own), _inverted(turns, whole), pairs))
    return tuple(sorted(placed, key=lambda one: -abs(one.moved))), tuple(found)


def _inverted(one: Floats, other: Floats) -> float:
    """Count pairs with orders apart: 1 where opposite, a half where tied in one alone."""
    orders = [np.sign(values[:, None] - values[None, :]) for values in (one, other)]
    return float(np.abs(orders[0] - orders[1]).sum() / 4)
