"""What of a row and the reference counts together, and the scores of both at each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

import numpy as np

from calibration.statistics.by_level.means import means, tied
from calibration.statistics.by_level.scored import Frame, Mask, Scored, Scores, Units
from calibration.statistics.core.data import Ratings
from calibration.statistics.core.engine import estimates, result_of
from calibration.statistics.core.resampling import Plan, Resampling, Scheme, resampling_of
from calibration.statistics.core.result import Result
from calibration.statistics.core.samples import Sample
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.permutation import Correlation
from calibration.statistics.table import STATISTICS

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


# Correlation of items and of continuations: points, and intervals that draw dialogues and systems.

LEAST_CROSSED = 10
"""Clusters, and systems, from which on both are drawn; with fewer of either, clusters alone."""


@dataclass
class Draws:
    """The resamples of units and items, drawn once for all rows of a table."""

    units: Units
    plan: Plan
    _kept: dict[tuple[Scheme, bytes], Resampling] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, scheme: Scheme, units: Ints) -> Resampling:
        """Return the resamples of items in these units."""
        key = scheme, units.tobytes()
        with self._lock:
            if key not in self._kept:
                ratings = self.ratings(np.empty((len(units), 0)), units, ())
                self._kept[key] = resampling_of(ratings, self.plan_of(scheme))
                for _ in self._kept[key].chunks():  # drawn and kept before rows read them side by side
                    pass
            return self._kept[key]

    def plan_of(self, scheme: Scheme) -> Plan:
        """Return the plan with this scheme; BCa needs one kind of unit, so that crossed is percentile."""
        interval = "percentile" if scheme == "crossed" else self.plan.interval
        return replace(self.plan, scheme=scheme, interval=interval)

    def ratings(self, values: Floats, units: Ints, raters: tuple[str, ...]) -> Ratings:
        """Return values (items x raters) of items in these units, as ratings."""
        made = Ratings.from_matrix(
            values, level="interval", raters=raters, kinds=("metric",) * len(raters)
        )  # of no shared scale: the two sides meet by correlation alone
        return replace(made, clusters=self.units.clusters[units], systems=self.units.systems[units])


def correlations(
    scored: Scored,
    pair: Pair,
    names: tuple[str, str],
    by_item: bool,
    wanted: Sequence[Correlation],
    draws: Draws,
) -> list[Result]:
    """Return the correlations over items that both rated, or over the units in which both have a score."""
    if by_item:
        x, y, units = pair.x.items, pair.y.items, pair.x.frame.units
        n_missing = pair.left_out.turns if pair.x.frame.kind == "turn" else pair.left_out.units
    else:
        x, y, units = pair.x.units, pair.y.units, np.arange(len(scored.units))
        n_missing = pair.left_out.units
    both = ~np.isnan(x) & ~np.isnan(y)
    scheme = scheme_of(scored.units, units[both])
    resampling = draws.of(scheme, units)
    ratings = draws.ratings(np.column_stack([x, y]), units, names)
    sample = Sample(ratings, (0, 1), resampling)
    found = estimates(sample, [STATISTICS[key] for key in wanted], resampling)
    return [replace(result_of(one, sample, resampling.plan), n_missing=n_missing) for one in found]


def scheme_of(units: Units, used: Ints) -> Scheme:
    """Return what is drawn: clusters and systems where there are enough of both, else clusters."""
    least = min(len(np.unique(codes[used])) for codes in (units.clusters, units.systems))
    return "crossed" if least >= LEAST_CROSSED else "clusters"
