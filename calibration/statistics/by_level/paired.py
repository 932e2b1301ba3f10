"""What of a row and the reference counts together, and the scores of both at each level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.statistics.by_level.means import means, tied
from calibration.statistics.by_level.scored import Frame, Mask, Scored, Scores
from calibration.statistics.core.types import Floats

Missing = Literal["skip", "whole"]
SystemScore = Literal["all_turns", "mean_of_dialogues"]


@dataclass(frozen=True)
class LeftOut:
    """How many turns and continuations that either side has a score in are left out, and of how many.

    Turns are none of none where neither side rated turns.
    """

    turns: int
    of_turns: int
    units: int
    of_units: int

    @property
    def share_of_turns(self) -> float | None:
        """Between 0 and 1; None where there are no turns."""
        return self.turns / self.of_turns if self.of_turns else None

    @property
    def share_of_units(self) -> float | None:
        """Between 0 and 1; None where there are no continuations."""
        return self.units / self.of_units if self.of_units else None


@dataclass(frozen=True)
class Side:
    """One side's scores that count: per item of its frame, NaN where left out, and per unit."""

    frame: Frame
    items: Floats
    units: Floats

    @property
    def given(self) -> Mask:
        """The items that count."""
        return ~np.isnan(self.items)


@dataclass(frozen=True)
class Pair:
    """The reference (x) and a row (y), with what is left out of both."""

    x: Side
    y: Side
    left_out: LeftOut

    @property
    def same_items(self) -> bool:
        """Whether both sides rated items of the same kind, so that they meet item by item."""
        return self.x.frame is self.y.frame


def paired(scored: Scored, row: Scores, missing: Missing) -> Pair:
    """Return what of a row and the reference counts.

    Where both rated the same kind of items, those that both have a value for; where one side rated turns and
    the other whole dialogues, each side's own. With `whole`, units with a missing turn are left out of both.
    """
    n = len(scored.units)
    frames = scored.frame(scored.reference.frame), scored.frame(row.frame)
    given = [~np.isnan(scored.reference.values), ~np.isnan(row.values)]
    if frames[0] is frames[1]:
        given = [given[0] & given[1]] * 2
    if missing == "whole":
        whole = np.ones(n, dtype=bool)
        for frame, there in zip(frames, given, strict=True):
            if frame.kind == "turn":
                whole &= _complete(frame, there, n)
        given = [there & whole[frame.units] for frame, there in zip(frames, given, strict=True)]
    x, y = (
        _side(frame, side.values, there, n)
        for frame, side, there in zip(frames, (scored.reference, row), given, strict=True)
    )
    return Pair(x, y, _left_out(scored, row, x, y))


def _side(frame: Frame, values: Floats, given: Mask, n: int) -> Side:
    items = tied(np.where(given, values, np.nan))
    return Side(frame, items, means(items, frame.units, n))


def _complete(frame: Frame, given: Mask, n: int) -> Mask:
    """Return the units that have items in the frame, all of them given."""
    expected = np.bincount(frame.units, minlength=n)
    return (expected > 0) & (np.bincount(frame.units[given], minlength=n) == expected)


def _left_out(scored: Scored, row: Scores, x: Side, y: Side) -> LeftOut:
    """Count over the units that either side has a value in."""
    n = len(scored.units)
    touched = np.zeros(n, dtype=bool)
    for frame, values in ((x.frame, scored.reference.values), (y.frame, row.values)):
        touched[frame.units[~np.isnan(values)]] = True
    used = ~np.isnan(x.units) & ~np.isnan(y.units)
    turns = of_turns = 0
    sides = (x, y) if x.frame is not y.frame else (x,)
    for side in sides:
        if side.frame.kind == "turn":
            of_turns = int(touched[side.frame.units].sum())
            turns = of_turns - int(side.given.sum())
    return LeftOut(turns, of_turns, int((touched & ~used).sum()), int(touched.sum()))


__all__ = ["LeftOut", "Missing", "Pair", "Side", "SystemScore", "paired"]
