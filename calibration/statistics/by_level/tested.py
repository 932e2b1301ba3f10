"""p-values of the printed coefficients: one side's systems, dialogues and turns take each other's places.

With no association either side's labels of systems and of dialogues could be exchanged without a trace. So
the coefficient itself is computed again with y relabelled: system s meets the y of another system, in another
dialogue, from another turn on, all systems and dialogues exchanged alike. What systems, dialogues and units
have in common stays together, so that the test holds its level however alike they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from calibration.statistics.by_level.paired import Pair
from calibration.statistics.by_level.scored import Level, Units
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.p_values import correlation_test
from calibration.statistics.permutation import Correlation, Orders, Permuted, extreme, permuted

LEAST = 3
DENSE = 0.8
"""Share of the items with values from which on the others keep their places; with fewer they are left out."""
CROSSED = 0.5
"""Share of systems x clusters that there are from which on both are exchanged; else clusters of systems."""
AT_ONCE = 2_000_000  # values of relabelled sides held at a time
MOST_KEPT = 30_000_000  # values of draws that are kept for further rows


@dataclass(frozen=True)
class Tested:
    """A two-sided p-value and how it was made, or why there is none."""

    p: float | None = None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Places:
    """Where values lie: units of clusters and systems, and each value's unit, in order of its turns."""

    clusters: Ints
    systems: Ints
    units: Ints

    @staticmethod
    def of(units: Units, unit: Ints, position: Ints) -> tuple[Places, Ints]:
        """Return the places of values in these units and positions, and the order they are in."""
        used, local = np.unique(unit, return_inverse=True)
        order = np.lexsort(
            (np.arange(len(used)), units.dialogues[used], units.systems[used], units.clusters[used])
        )
        rank = np.empty(len(used), np.int64)
        rank[order] = np.arange(len(used))
        chosen = used[order]
        clusters, systems = (
            np.unique(codes[chosen], return_inverse=True)[1].ravel()
            for codes in (units.clusters, units.systems)
        )
        local = rank[local.ravel()]
        by_turn = np.lexsort((position, local))
        return Places(clusters, systems, local[by_turn]), by_turn

    @property
    def key(self) -> bytes:
        """What tells equal places."""
        return self.clusters.tobytes() + self.systems.tobytes() + self.units.tobytes()


class Relabelling:
    """Draws, for each value, the place whose value it meets.

    A cell is what a system answered in a cluster. Where most systems answered most clusters, systems and
    clusters are permuted each by themselves, and what would meet a cell that is not there meets nothing;
    else systems are permuted, and cells within them. Turns are shifted by one share of their number
    throughout, round the end. Where numbers of turns, units or cells differ, they are gone through again.
    The last place, one more than there are values, stands for nothing.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        width = int(places.systems.max()) + 1
        cells, cell = np.unique(places.clusters * width + places.systems, return_inverse=True)
        self.cell = cell.ravel()
        self.cluster, self.system = np.divmod(cells, width)
        self.n_systems, self.n_clusters = width, int(self.cluster.max()) + 1
        self.units_of = np.bincount(self.cell)
        self.first_unit = np.cumsum(self.units_of) - self.units_of
        self.turns_of = np.bincount(places.units)
        self.first = np.cumsum(self.turns_of) - self.turns_of
        self.table = np.full((self.n_systems, self.n_clusters), -1)
        self.table[self.system, self.cluster] = np.arange(len(cells))
        self.is_crossed = len(cells) >= CROSSED * self.table.size
        self.cells_of = np.bincount(self.system)
        self.first_cell = np.cumsum(self.cells_of) - self.cells_of
        by_system = np.argsort(self.system, kind="stable")
        self.within = np.empty(len(cells), np.int64)
        self.within[by_system] = np.arange(len(cells)) - np.repeat(self.first_cell, self.cells_of)

    @property
    def is_bijective(self) -> bool:
        """Whether no place is met twice in a draw, but for nothing."""
        even = [self.units_of, self.turns_of]
        even += [] if self.is_crossed else [self.cells_of]
        return all(np.ptp(sizes) == 0 for sizes in even)

    @property
    def has_gaps(self) -> bool:
        """Whether some places meet nothing, which is one place more."""
        return self.is_crossed and not (self.table >= 0).all()

    @property
    def said(self) -> str:
        """What is exchanged."""
        if self.n_clusters == 1:
            return "systems exchanged"
        if self.n_systems == 1:
            return "clusters exchanged"
        return (
            "systems and clusters exchanged"
            if self.is_crossed
            else "systems exchanged, and clusters within them"
        )

    @property
    def refusal(self) -> str:
        """Why nothing can be exchanged, or nothing."""
        if max(self.n_systems, self.n_clusters) >= LEAST:
            return ""
        return (
            f"{self.n_clusters} clusters and {self.n_systems} systems; exchanging them needs three of either"
        )

    def drawn(self, rng: np.random.Generator, times: int) -> Ints:
        """Return so many draws: rows of the place that each value meets."""
        system = rng.permuted(np.tile(np.arange(self.n_systems), (times, 1)), axis=1)[:, self.system]
        if not self.is_crossed:
            place = self.first_cell[system] + self.within % self.cells_of[system]
            cell = np.take_along_axis(self._shuffled(rng, times), place, axis=1)
        else:
            cluster = rng.permuted(np.tile(np.arange(self.n_clusters), (times, 1)), axis=1)[:, self.cluster]
            cell = self.table[system, cluster]
        at = np.arange(len(self.cell)) - self.first_unit[self.cell]
        met = cell[:, self.cell] if len(self.cell) > len(self.cluster) else cell
        unit = met if (self.units_of == 1).all() else self.first_unit[met] + at % self.units_of[met]
        places = self._values(unit.astype(np.int32), rng.random(times))
        if not self.has_gaps:
            return places
        nothing = np.full((times, 1), places.shape[1], np.int32)
        places = np.where((met >= 0)[:, self.places.units], places, nothing)
        return np.append(places, nothing, axis=1)

    def _shuffled(self, rng: np.random.Generator, times: int) -> Ints:
        """Return the cells of each system in a random order, one system after the other."""
        keys = self.system + rng.random((times, len(self.system)))
        return np.argsort(keys, axis=1)

    def _values(self, unit: Ints, shift: Floats) -> Ints:
        """Return the place of each value, from the unit its unit meets and the share turns are shifted."""
        own = self.places.units
        at = (np.arange(len(own)) - self.first[own]).astype(np.int32)
        most = int(self.turns_of.max())
        if most == 1:
            return unit[:, own]
        if (self.turns_of == most).all():
            shifted = (at + np.arange(most, dtype=np.int32)[:, None]) % most
            places = (unit * most)[:, own]
            places += shifted[(shift * most).astype(np.int64)]
            return places
        length = self.turns_of.astype(np.int32)[unit]
        moved = at + (shift[:, None] * length).astype(np.int32)[:, own]
        return self.first.astype(np.int32)[unit][:, own] + moved % length[:, own]


@dataclass
class Permutations:
    """The permutations tried, the same for all rows and levels that have the same places."""

    wanted: int
    seed: int
    _orders: dict[int, Orders] = field(default_factory=dict, repr=False)
    _draws: dict[bytes, list[Ints]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def systems(self, x: Floats, y: Floats, wanted: Sequence[Correlation]) -> dict[Correlation, Tested]:
        """Test the scores of systems, which are permuted."""
        both = ~np.isnan(x) & ~np.isnan(y)
        n = int(both.sum())
        if n < LEAST:
            return self._refused(f"{n} systems; permuting them needs three", wanted)
        with self._lock:
            if n not in self._orders and self.wanted:
                self._orders[n] = Orders.of(n, self.wanted, self.seed)
        if not self.wanted:
            return self._refused("", wanted)
        found = {name: permuted(x[both], y[both], name, self._orders[n]) for name in wanted}
        return {name: self._tested("systems permuted", result) for name, result in found.items()}

    def below(
        self, units: Units, pair: Pair, level: Level, wanted: Sequence[Correlation]
    ) -> dict[Correlation, Tested]:
        """Test items or units: systems, clusters and turns of one side are exchanged."""
        if level == "turn":
            x, y, unit, position = pair.x.items, pair.y.items, pair.x.frame.units, pair.x.frame.positions
        else:
            x, y, unit = pair.x.units, pair.y.units, np.arange(len(units))
            position = np.zeros_like(unit)
        both = ~np.isnan(x) & ~np.isnan(y)
        is_whole = both.mean() >= DENSE
        if not is_whole:
            x, y, unit, position = x[both], y[both], unit[both], position[both]
        places, order = Places.of(units, unit, position)
        relabelling = Relabelling(places)
        if relabelling.refusal or not self.wanted:
            return self._refused(relabelling.refusal, wanted)
        x, y = x[order], y[order]
        if relabelling.has_gaps:
            x, y = np.append(x, np.nan), np.append(y, np.nan)
        counted = dict.fromkeys(wanted, 0)
        draws = self._shared(relabelling, len(x)) if is_whole else self._drawn(relabelling, len(x))
        for partners in draws:
            for name in wanted:
                counted[name] += extreme(x, y, name, partners, is_bijective=relabelling.is_bijective)
        return {
            name: self._tested(relabelling.said, Permuted(count, self.wanted, False))
            for name, count in counted.items()
        }

    def _shared(self, relabelling: Relabelling, n: int) -> Iterable[Ints]:
        """Return the draws for values that rows share, drawn for the first of them where they can be kept."""
        if self.wanted * n > MOST_KEPT:
            return self._drawn(relabelling, n)
        with self._lock:
            if relabelling.places.key not in self._draws:
                self._draws[relabelling.places.key] = list(self._drawn(relabelling, n))
            return self._draws[relabelling.places.key]

    def _drawn(self, relabelling: Relabelling, n: int) -> Iterator[Ints]:
        rng = np.random.default_rng(self.seed)
        step = max(1, AT_ONCE // n)
        for start in range(0, self.wanted, step):
            yield relabelling.drawn(rng, min(step, self.wanted - start))

    def _tested(self, said: str, found: Permuted) -> Tested:
        seed = "" if found.is_exact else f", seed {self.seed}"
        return Tested(found.p, f"{said}, {found.said}{seed}")

    def _refused(self, reason: str, wanted: Sequence[Correlation]) -> dict[Correlation, Tested]:
        return dict.fromkeys(wanted, Tested(reason=reason or "no permutations were asked for"))


def by_items(x: Floats, y: Floats, correlation: Correlation) -> Tested:
    """Test as if items (or units, or systems) were independent, as SciPy does."""
    test = correlation_test(x, y, correlation)
    return Tested(test.p, test.method)
