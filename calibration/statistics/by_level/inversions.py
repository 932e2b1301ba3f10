"""Where turns and whole dialogues disagree: the order of systems within each dialogue, by two scores."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.statistics.by_level.scored import Units
from calibration.statistics.core.types import Floats


@dataclass(frozen=True)
class Placed:
    """A unit with both scores: its rank in its dialogue by each (1 is best, ties share the mean rank).

    ``difference`` is the score of the whole less the mean of the turns; ``moved`` the rank by turns less the
    rank by the whole, so that more than 0 means: better placed by the whole.
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
        """Ranks gained by the score of the whole."""
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
    raise NotImplementedError
