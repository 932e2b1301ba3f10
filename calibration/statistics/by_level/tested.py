"""p-values at levels: systems permuted within the dialogues they share, else whole clusters, or items."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibration.statistics.by_level.paired import Pair, SystemScore
from calibration.statistics.by_level.scored import Level, Mask, Scored, Units
from calibration.statistics.by_level.shared import shared_dialogues
from calibration.statistics.by_level.systems import sums_of
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.p_values import correlation_test
from calibration.statistics.permutation import Correlation, Orders, permuted

LEAST_SYSTEMS = 10
"""Systems on the same dialogues from which on they are permuted; with fewer, whole clusters are."""


@dataclass(frozen=True)
class Tested:
    """A two-sided p-value and how it was made, or why there is none."""

    p: float | None = None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Exchangeable:
    """Both sides' values with what may be permuted as rows; ``said`` names the rows."""

    x: Floats
    y: Floats
    said: str


@dataclass
class Permutations:
    """The orders tried, drawn once for all rows and levels."""

    wanted: int
    seed: int
    _kept: dict[int, Orders] = field(default_factory=dict, repr=False)

    def of(self, n: int) -> Orders:
        """Return the orders of n rows."""
        if n not in self._kept:
            self._kept[n] = Orders.of(n, self.wanted, self.seed)
        return self._kept[n]

    def test(self, rows: Exchangeable | str, correlation: Correlation) -> Tested:
        """Permute the rows; where there are none, a text says why."""
        if isinstance(rows, str):
            return Tested(reason=rows)
        if self.wanted < 1:
            return Tested(reason="no permutations were asked for")
        orders = self.of(len(rows.x))
        found = permuted(rows.x, rows.y, correlation, orders)
        seed = "" if orders.is_exact else f", seed {self.seed}"
        return Tested(found.p, f"{rows.said}, {found.said}{seed}")


def by_items(x: Floats, y: Floats, correlation: Correlation) -> Tested:
    """Test as if items (or units, or systems) were independent, as SciPy does."""
    test = correlation_test(x, y, correlation)
    return Tested(test.p, test.method)


def exchangeable(scored: Scored, pair: Pair, level: Level, score: SystemScore) -> Exchangeable | str:
    """Return the rows that may be permuted at a level, or why there are none.

    At system level rows are systems. Below, they are systems where at least ten answered the same dialogues,
    else whole clusters by their mean values. Systems are compared on the dialogues that all of them answered.
    """
    units = scored.units
    used = _used(pair, level)
    systems = np.unique(units.systems[used])
    if level != "system" and len(systems) < LEAST_SYSTEMS:
        return _whole_clusters(units, pair, level)
    if len(systems) < 3:
        return f"{len(systems)} systems; permuting them needs three"
    present = np.isin(units.systems, systems)
    shared = shared_dialogues(units.take(present))
    if not shared.any():
        return f"no dialogue was answered by all {len(systems)} systems, so that they cannot be permuted"
    within = present & shared[units.dialogues]
    said = "systems permuted"
    if not shared[units.dialogues[present]].all():
        said += f" on the {int(shared.sum())} dialogues that all {len(systems)} answered"
    if level == "system":
        sides = [sums.point for sums in sums_of(pair, units, score, within)]
        both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        if both.sum() < 3:
            return (
                f"{int(both.sum())} systems have scores in the dialogues that all answered; three are needed"
            )
        return Exchangeable(sides[0][both][:, None], sides[1][both][:, None], said)
    x, y = _grids(units, pair, level, within, systems)
    return Exchangeable(x, y, said)


def _used(pair: Pair, level: Level) -> Mask:
    """Return the units that count at a level."""
    if level == "turn":
        out = np.zeros(len(pair.x.units), dtype=bool)
        out[pair.x.frame.units[pair.x.given]] = True
        return out
    if level == "dialogue":
        return pair.in_both
    return ~np.isnan(pair.x.units) | ~np.isnan(pair.y.units)


def _values(pair: Pair, level: Level) -> tuple[Floats, Floats, Ints, Ints]:
    """Return both sides' values, each one's unit, and its position there."""
    if level == "turn":
        return pair.x.items, pair.y.items, pair.x.frame.units, pair.x.frame.positions
    units = np.arange(len(pair.x.units))
    both = pair.in_both
    return np.where(both, pair.x.units, np.nan), np.where(both, pair.y.units, np.nan), units, 0 * units


def _whole_clusters(units: Units, pair: Pair, level: Level) -> Exchangeable | str:
    x, y, unit, _ = _values(pair, level)
    both = ~np.isnan(x) & ~np.isnan(y)
    _, cluster, sizes = np.unique(units.clusters[unit[both]], return_inverse=True, return_counts=True)
    if len(sizes) < 3:
        return f"{len(sizes)} clusters; permuting them needs three"
    one, other = (np.bincount(cluster.ravel(), weights=side[both]) / sizes for side in (x, y))
    return Exchangeable(one[:, None], other[:, None], f"means of {len(sizes)} whole clusters permuted")


def _grids(units: Units, pair: Pair, level: Level, within: Mask, systems: Ints) -> tuple[Floats, Floats]:
    """Return both sides' values as systems x places: a place is a dialogue, its n-th answer, and the turn."""
    x, y, unit, position = _values(pair, level)
    use = within[unit] & ~(np.isnan(x) & np.isnan(y))
    slot = _slots(units)
    places = np.column_stack([units.dialogues[unit], slot[unit], position])[use]
    _, place = np.unique(places, axis=0, return_inverse=True)
    row = np.searchsorted(systems, units.systems[unit[use]])
    grids = []
    for side in (x, y):
        grid = np.full((len(systems), int(place.max(initial=-1)) + 1), np.nan)
        grid[row, place.ravel()] = side[use]
        grids.append(grid)
    return grids[0], grids[1]


def _slots(units: Units) -> Ints:
    """Return which of its system's answers to its dialogue each unit is, from 0."""
    order = np.lexsort((np.arange(len(units)), units.systems, units.dialogues))
    pair = units.dialogues[order] * (int(units.systems.max(initial=0)) + 1) + units.systems[order]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    out = np.empty(len(units), np.int64)
    out[order] = np.arange(len(units)) - np.repeat(starts, np.diff(np.append(starts, len(units))))
    return out
