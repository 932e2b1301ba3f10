"""Correlations with one reference at turn, dialogue and system level (ComperDial, tables 3 to 6)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import scipy

from calibration.statistics import level_scores
from calibration.statistics.analysis import Test
from calibration.statistics.core.engine import Counts, Result, Status, finished
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import Plan, crossed_counts
from calibration.statistics.level_scores import (
    EQUAL,
    Draws,
    Kind,
    LeftOut,
    Level,
    Mask,
    Missing,
    Pair,
    Scored,
    Scores,
    Side,
    SystemScore,
    Units,
    on_shared_dialogues,
    paired,
    systems_apart,
    tied,
)
from calibration.statistics.permutation import Correlation, Orders, Permuted, correlated, extreme, permuted

# p-values of correlations, for independent items (as SciPy gives them).


def correlation_test(x: npt.ArrayLike, y: npt.ArrayLike, correlation: Correlation = "spearman") -> Test:
    """Two-sided p-value of no association, too small for clustered items. ValueError below 3 items."""
    a, b = _complete(x, y)
    if len(a) < 3:
        raise ValueError(f"a correlation needs three items, there are {len(a)}")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise ValueError("a rater gave one value throughout: there is no correlation to test")
    functions: dict[str, Any] = {
        "pearson": scipy.stats.pearsonr,
        "spearman": scipy.stats.spearmanr,
        "kendall_tau_b": scipy.stats.kendalltau,
    }
    value, p = functions[correlation](a, b)
    return Test(float(value), float(p), f"{correlation}, items taken as independent")


def _complete(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    use = ~np.isnan(a) & ~np.isnan(b)
    return a[use], b[use]


# Correlation of systems: their scores, and intervals that draw dialogues and systems both.

LEAST = 3


@dataclass(frozen=True)
class SystemPoint:
    """A system's score by the reference (x) and by the row (y), each with its interval over dialogues."""

    system: str
    x: Result
    y: Result


class SystemDraws:
    """Draw counts of clusters and systems: one row per resample, the same for all rows of a table."""

    def __init__(self, units: Units, plan: Plan) -> None:
        self.plan = replace(plan, scheme="crossed", interval="percentile")
        self.clusters, self.systems = crossed_counts(
            np.random.default_rng(plan.seed),
            int(units.clusters.max(initial=0)) + 1,
            len(units.system_names),
            plan.resamples,
        )


@dataclass(frozen=True)
class Sums:
    """One side's numbers of scores and their totals, clusters x systems."""

    numbers: Floats
    totals: Floats

    @staticmethod
    def of(side: Side, units: Units, system_score: SystemScore, within: Mask | None = None) -> Sums:
        """Sum the items that count, or the means of the units, in the units ``within``."""
        if system_score == "all_turns":
            values, unit = side.items, side.frame.units
        else:
            values, unit = side.units, np.arange(len(units))
        use = ~np.isnan(values) & (within[unit] if within is not None else True)
        shape = int(units.clusters.max(initial=0)) + 1, len(units.system_names)
        cell = units.clusters[unit[use]] * shape[1] + units.systems[unit[use]]
        size = shape[0] * shape[1]
        numbers, totals = (
            np.bincount(cell, weights=weights, minlength=size).astype(np.float64).reshape(shape)
            for weights in (np.ones(len(cell)), values[use])
        )
        return Sums(numbers, totals)

    def means(self, cluster_counts: Floats) -> Floats:
        """Return the systems' means (rows x systems) for rows of cluster counts; NaN for nothing drawn."""
        n = cluster_counts @ self.numbers
        return np.where(n > 0, (cluster_counts @ self.totals) / np.where(n > 0, n, 1.0), np.nan)

    @property
    def point(self) -> Floats:
        """The systems' means, ties kept."""
        return tied(self.means(np.ones((1, len(self.numbers))))[0])


def sums_of(
    pair: Pair, units: Units, system_score: SystemScore, within: Mask | None = None
) -> tuple[Sums, Sums]:
    """Return the sums of both sides."""
    x, y = (Sums.of(side, units, system_score, within) for side in (pair.x, pair.y))
    return x, y


def system_correlations(
    sums: tuple[Sums, Sums], names: tuple[str, str], correlations: Sequence[Correlation], draws: SystemDraws
) -> list[Result]:
    """Return the correlations of systems' scores."""
    x, y = (side.point for side in sums)
    both = ~np.isnan(x) & ~np.isnan(y)
    n = int(both.sum())
    n_clusters = int((sums[0].numbers + sums[1].numbers)[:, both].any(axis=1).sum())
    counts: Counts = {
        "n_items": n,
        "n_clusters": n_clusters,
        "n_raters": 2,
        "n_missing": int((~np.isnan(x) | ~np.isnan(y)).sum()) - n,
    }
    alike = [name for name, side in zip(names, (x, y), strict=True) if n and np.ptp(side[both]) == 0]
    if n < LEAST or alike:
        few = f"correlation of systems needs three, there are {n}"
        reason = few if n < LEAST else f"{alike[0]} scores all systems alike"
        flags = () if n < LEAST else ("constant_rater",)
        status: Status = "insufficient" if n < LEAST else "undefined"
        method = draws.plan.method
        return [
            Result(name, status=status, reason=reason, flags=flags, method=method, **counts)
            for name in correlations
        ]
    unit_weights = np.ones((1, len(x)))
    system_points = correlated(x[None, :], y[None, :], unit_weights, tuple(correlations))[0]
    drawn_x, drawn_y = (side.means(draws.clusters) for side in sums)
    replicates = correlated(drawn_x, drawn_y, draws.systems, tuple(correlations))
    return [
        finished(
            name,
            float(system_points[at]),
            centred(float(system_points[at]), replicates[:, at], n),
            draws.plan,
            method="systems' means, resampled values centred on the value (Fisher's z)",
            undefined="a side scores all systems alike",
            n_drawn=min(n, n_clusters),
            **counts,
        )
        for at, name in enumerate(correlations)
    ]


def centred(point: float, replicates: Floats, n: int) -> Floats:
    """Return resampled correlations of n systems, shifted on Fisher's z so that their median is the value.

    Means over drawn dialogues are noisier than means over all of them, so that resampled correlations lie
    below the value by about as much as the value lies below a noise-free one: their spread estimates the
    value's spread, their location does not. A correlation of 1 is shifted as if just above the largest one
    below it; whatever reaches that place then becomes 1 as well, so that the interval ends at the value.
    """
    if not (np.isfinite(point) and np.isfinite(replicates).any()):
        return replicates
    sizes = np.abs(np.append(replicates[np.isfinite(replicates)], point))
    most = max(1 - 1 / (n * (n - 1)), float(sizes[sizes < 1 - EQUAL].max(initial=0.0)))
    z, place = np.arctanh(np.clip(replicates, -most, most)), np.arctanh(np.clip(point, -most, most))
    moved = np.asarray(np.tanh(z + place - np.nanmedian(z)))
    if abs(point) < 1 - EQUAL:
        return moved
    return np.where(moved * np.sign(point) >= most - EQUAL, point, moved)


def system_points(
    sums: tuple[Sums, Sums], names: tuple[str, str], units: Units, draws: SystemDraws
) -> tuple[SystemPoint, ...]:
    """Return the systems that both sides score, each score with its interval over clusters."""
    values = [side.point for side in sums]
    replicates = [side.means(draws.clusters) for side in sums]
    plan = replace(draws.plan, scheme="clusters")
    both = ~np.isnan(values[0]) & ~np.isnan(values[1])

    def score(side: int, system: int) -> Result:
        return finished(
            names[side],
            float(values[side][system]),
            replicates[side][:, system],
            plan,
            n_items=int(sums[side].numbers[:, system].sum()),
            n_clusters=int((sums[side].numbers[:, system] > 0).sum()),
            n_raters=1,
        )

    return tuple(
        SystemPoint(units.system_names[system], score(0, system), score(1, system))
        for system in np.flatnonzero(both).tolist()
    )


# The table of correlations at levels: its options and its contents.

Unit = Literal["continuation", "dialogue_system"]
PValueKind = Literal["clustered", "item"]
COEFFICIENTS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall_tau_b")


@dataclass(frozen=True)
class Options:
    """Options for aggregating scores to a level and testing correlations.

    ``missing``: `skip` leaves out turns without a value on either side, `whole` the continuations of such
    turns. ``system_score``: mean over all turns, or over the means of the dialogues. ``unit``:
    `dialogue_system` joins the continuations of one system for one dialogue. ``p``: `clustered` permutes
    systems or dialogues, `item` treats units as independent. ``shared``: only the dialogues that all systems
    answered.
    """

    missing: Missing = "skip"
    system_score: SystemScore = "all_turns"
    unit: Unit = "continuation"
    p: PValueKind = "clustered"
    shared: bool = False
    permutations: int = 2000


@dataclass(frozen=True)
class LevelEntry:
    """One row's correlation with the reference at one level.

    ``p`` is two-sided by the chosen test, None with ``p_reason`` where there is none; ``p_method`` describes
    the test. ``starred``: p is not below 0.05. ``best``: the highest of its column (bold); ``best_of_group``:
    the highest of its column among the rows of its group (underlined).
    """

    level: Level
    coefficient: Correlation
    result: Result
    p: float | None = None
    p_method: str = ""
    p_reason: str = ""
    starred: bool = False
    best: bool = False
    best_of_group: bool = False


@dataclass(frozen=True)
class LevelRow:
    """A row: the rater, the source of its scores, its entries by level and coefficient, and its systems."""

    name: str
    kind: str
    group: str
    scores: Kind
    entries: tuple[LevelEntry, ...]
    left_out: LeftOut
    points: tuple[SystemPoint, ...] = ()

    def entry(self, level: Level, coefficient: Correlation) -> LevelEntry:
        """Return the entry of a column. KeyError where the table has no such column."""
        for entry in self.entries:
            if (entry.level, entry.coefficient) == (level, coefficient):
                return entry
        raise KeyError(f"no column {level} {coefficient}")


@dataclass(frozen=True)
class LevelTable:
    """Correlations of rows with one reference at levels. ``warnings`` are sentences."""

    reference: str
    reference_scores: Kind
    levels: tuple[Level, ...]
    coefficients: tuple[Correlation, ...]
    options: Options
    rows: tuple[LevelRow, ...]
    warnings: tuple[str, ...] = ()


# p-values of the printed coefficients: permutations of one side's systems, dialogues and turns.
#
# Without association either side's labels of systems and of dialogues are exchangeable. So the coefficient
# itself is computed again with y relabelled: system s is paired with the y of another system, in another
# dialogue, from another turn on, all systems and dialogues permuted alike. Features shared by systems,
# dialogues and units stay together, so that the test keeps its level however similar they are.

DENSE = 0.8
"""Share of items with values from which the others keep their places; below it they are left out."""
CROSSED = 0.5
"""Share of existing systems x clusters cells from which both are permuted; below it clusters of systems."""
AT_ONCE = 2_000_000  # values of relabelled sides held at a time
MOST_KEPT = 30_000_000  # values of draws kept for further rows


@dataclass(frozen=True)
class Tested:
    """A two-sided p-value and its method, or the reason why there is none."""

    p: float | None = None
    method: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Places:
    """Locations of values: units of clusters and systems, and each value's unit, in order of its turns."""

    clusters: Ints
    systems: Ints
    units: Ints

    @staticmethod
    def of(units: Units, unit: Ints, position: Ints) -> tuple[Places, Ints]:
        """Return the places of values in these units and positions, and their order."""
        used, local = np.unique(unit, return_inverse=True)
        order = np.lexsort(
            (np.arange(len(used)), units.dialogues[used], units.systems[used], units.clusters[used])
        )
        rank = np.empty(len(used), np.int64)
        rank[order] = np.arange(len(used))
        unit_rows = used[order]
        clusters, systems = (
            np.unique(codes[unit_rows], return_inverse=True)[1].ravel()
            for codes in (units.clusters, units.systems)
        )
        local = rank[local.ravel()]
        by_turn = np.lexsort((position, local))
        return Places(clusters, systems, local[by_turn]), by_turn

    @property
    def key(self) -> bytes:
        """Identity of the places."""
        return self.clusters.tobytes() + self.systems.tobytes() + self.units.tobytes()


class Relabelling:
    """Draws, for each value, the place whose value it is paired with.

    A cell holds a system's answers in a cluster. Where most systems answered most clusters, systems and
    clusters are permuted independently, and a value paired with a missing cell is paired with nothing;
    otherwise systems are permuted, and cells within them. Turns are shifted cyclically by the same share of
    their number throughout. Where numbers of turns, units or cells differ, the shorter sequence is repeated.
    The last place, one more than there are values, is for no value.
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
        """Whether no place is used twice in a draw, except for nothing."""
        even = [self.units_of, self.turns_of]
        even += [] if self.is_crossed else [self.cells_of]
        return all(np.ptp(sizes) == 0 for sizes in even)

    @property
    def has_gaps(self) -> bool:
        """Whether some places are paired with nothing, which is one more place."""
        return self.is_crossed and not (self.table >= 0).all()

    @property
    def description(self) -> str:
        """Description of the permuted units."""
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
        """Reason why nothing can be permuted, or an empty string."""
        if max(self.n_systems, self.n_clusters) >= LEAST:
            return ""
        return (
            f"{self.n_clusters} clusters and {self.n_systems} systems; exchanging them needs three of either"
        )

    def draw_places(self, rng: np.random.Generator, times: int) -> Ints:
        """Return this many draws: rows of the place that each value is paired with."""
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
        """Return the place of each value, from the paired unit of its own unit and the shift of turns."""
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
    """The permutations tested, the same for all rows and levels that have the same places."""

    n_orders: int
    seed: int
    _orders: dict[int, Orders] = field(default_factory=dict, repr=False)
    _draws: dict[bytes, list[Ints]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def systems(self, x: Floats, y: Floats, correlations: Sequence[Correlation]) -> dict[Correlation, Tested]:
        """Test the scores of systems, which are permuted."""
        both = ~np.isnan(x) & ~np.isnan(y)
        n = int(both.sum())
        if n < LEAST:
            return self._refused(f"{n} systems; permuting them needs three", correlations)
        with self._lock:
            if n not in self._orders and self.n_orders:
                self._orders[n] = Orders.of(n, self.n_orders, self.seed)
        if not self.n_orders:
            return self._refused("", correlations)
        tests = {name: permuted(x[both], y[both], name, self._orders[n]) for name in correlations}
        return {name: self._tested("systems permuted", result) for name, result in tests.items()}

    def below(
        self, units: Units, pair: Pair, level: Level, correlations: Sequence[Correlation]
    ) -> dict[Correlation, Tested]:
        """Test items or units: systems, clusters and turns of one side are permuted."""
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
        if relabelling.refusal or not self.n_orders:
            return self._refused(relabelling.refusal, correlations)
        x, y = x[order], y[order]
        if relabelling.has_gaps:
            x, y = np.append(x, np.nan), np.append(y, np.nan)
        counted = dict.fromkeys(correlations, 0)
        draws = self._shared(relabelling, len(x)) if is_whole else self._draw_chunks(relabelling, len(x))
        for partners in draws:
            for name in correlations:
                counted[name] += extreme(x, y, name, partners, is_bijective=relabelling.is_bijective)
        return {
            name: self._tested(relabelling.description, Permuted(count, self.n_orders, False))
            for name, count in counted.items()
        }

    def _shared(self, relabelling: Relabelling, n: int) -> Iterable[Ints]:
        """Return the draws for values that rows share, drawn once where they can be kept."""
        if self.n_orders * n > MOST_KEPT:
            return self._draw_chunks(relabelling, n)
        with self._lock:
            if relabelling.places.key not in self._draws:
                self._draws[relabelling.places.key] = list(self._draw_chunks(relabelling, n))
            return self._draws[relabelling.places.key]

    def _draw_chunks(self, relabelling: Relabelling, n: int) -> Iterator[Ints]:
        rng = np.random.default_rng(self.seed)
        step = max(1, AT_ONCE // n)
        for start in range(0, self.n_orders, step):
            yield relabelling.draw_places(rng, min(step, self.n_orders - start))

    def _tested(self, description: str, permuted_result: Permuted) -> Tested:
        seed = "" if permuted_result.is_exact else f", seed {self.seed}"
        return Tested(permuted_result.p, f"{description}, {permuted_result.description}{seed}")

    def _refused(self, reason: str, correlations: Sequence[Correlation]) -> dict[Correlation, Tested]:
        return dict.fromkeys(correlations, Tested(reason=reason or "no permutations were asked for"))


def by_items(x: Floats, y: Floats, correlation: Correlation) -> Tested:
    """Test as if items (or units, or systems) were independent, as SciPy does."""
    test = correlation_test(x, y, correlation)
    return Tested(test.p, test.method)


# Correlations of rows with one reference at turn, dialogue and system level.

SIGNIFICANT = 0.05
APART = ("human", "baseline")
"""Kinds of rows that are not marked as the best: the others are compared with them."""
MOST_NAMES = 5
NOT_AT_TURN_LEVEL = (
    "scores of turns and of whole dialogues cannot meet at turn level: ask for the level dialogue or system"
)


def level_table(
    scored: Scored,
    levels: Sequence[Level],
    *,
    coefficients: Sequence[Correlation] = COEFFICIENTS,
    options: Options | None = None,
    plan: Plan | None = None,
    points: bool = False,
) -> LevelTable:
    """Return the correlations of every row with the reference, at every level, all on the same resamples.

    ``points`` also gives each row's systems with intervals, for a scatter plot. Raises ValueError where
    ``shared`` is requested and no dialogue is shared.
    """
    options, plan = options or Options(), plan or Plan()
    apart = systems_apart(scored.units)
    if options.unit == "dialogue_system":
        scored = scored.joined()
    if options.shared:
        scored = on_shared_dialogues(scored)
    computing = _Computing(scored, tuple(levels), tuple(coefficients), options, plan, points)
    return LevelTable(
        scored.reference.name,
        scored.reference.frame,
        tuple(levels),
        tuple(coefficients),
        options,
        marked(computing.rows()),
        _warnings(apart, options.shared),
    )


class _Computing:
    """Resamples and permutations shared by all rows of a table."""

    def __init__(
        self,
        scored: Scored,
        levels: tuple[Level, ...],
        coefficients: tuple[Correlation, ...],
        options: Options,
        plan: Plan,
        points: bool,
    ) -> None:
        self.scored, self.levels, self.coefficients = scored, levels, coefficients
        self.options, self.points = options, points
        self.draws = Draws(scored.units, plan)
        self.permutations = Permutations(options.permutations, plan.seed)

    def rows(self) -> tuple[LevelRow, ...]:
        """Return all rows, as many at a time as there are processors."""
        if self.points or "system" in self.levels:
            self.system_draws = SystemDraws(self.scored.units, self.draws.plan)
        if len(self.scored.rows) < 2:
            return tuple(self.row(row) for row in self.scored.rows)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return tuple(pool.map(self.row, self.scored.rows))

    def row(self, row: Scores) -> LevelRow:
        """Return a row's entries at all levels."""
        pair = paired(self.scored, row, self.options.missing)
        entries = tuple(entry for level in self.levels for entry in self.entries(row, pair, level))
        points: tuple[SystemPoint, ...] = ()
        if self.points:
            names = self.scored.reference.name, row.name
            points = system_points(self.sums(pair), names, self.scored.units, self.system_draws)
        return LevelRow(row.name, row.kind, row.group, row.frame, entries, pair.left_out, points)

    def sums(self, pair: Pair) -> tuple[Sums, Sums]:
        """Return the sums of a row's and the reference's scores by cluster and system."""
        return sums_of(pair, self.scored.units, self.options.system_score)

    def entries(self, row: Scores, pair: Pair, level: Level) -> list[LevelEntry]:
        """Return a row's entries at one level."""
        names = self.scored.reference.name, row.name
        if level == "turn" and not (pair.same_items and row.frame == "turn"):
            return [
                LevelEntry(level, name, Result(name, status="insufficient", reason=NOT_AT_TURN_LEVEL))
                for name in self.coefficients
            ]
        if level == "system":
            sums = self.sums(pair)
            results = system_correlations(sums, names, self.coefficients, self.system_draws)
            x, y = (side.point for side in sums)
        else:
            is_turn = level == "turn"
            results = level_scores.correlations(
                self.scored, pair, names, is_turn, self.coefficients, self.draws
            )
            x, y = (side.items if is_turn else side.units for side in (pair.x, pair.y))
        defined = [cast(Correlation, result.name) for result in results if result.ok]
        if self.options.p == "item" or not defined:
            tests = {name: by_items(x, y, name) for name in defined}
        elif level == "system":
            tests = self.permutations.systems(x, y, defined)
        else:
            tests = self.permutations.below(self.scored.units, pair, level, defined)
        return [self.entry(level, result, tests) for result in results]

    def entry(self, level: Level, result: Result, tests: Mapping[Correlation, Tested]) -> LevelEntry:
        """Return an entry with its p-value by the chosen test."""
        name = cast(Correlation, result.name)
        result = holding_value(result)
        if not result.ok:
            return LevelEntry(level, name, result, p_reason="there is no correlation to test")
        tested = tests[name]
        if self.options.p == "item" and level != "system":
            result = result.with_flags("ignores_clusters")
        starred = tested.p is not None and tested.p >= SIGNIFICANT
        return LevelEntry(level, name, result, tested.p, tested.method, tested.reason, starred)


def holding_value(result: Result) -> Result:
    """Return the result; where the interval does not contain the value, without it and with the reason."""
    if result.value is None or result.low is None or result.high is None:
        return result
    if result.low - EQUAL <= result.value <= result.high + EQUAL:
        return result
    reason = "no interval: resampled values are biased, their interval does not hold the value"
    return replace(result, low=None, high=None, reason=reason)


def marked(rows: tuple[LevelRow, ...]) -> tuple[LevelRow, ...]:
    """Mark the highest value of each column, and of each column within each group.

    Rows of people and of baselines are for comparison and are not marked. Equal values are all marked.
    """
    best: dict[tuple[str, str, str], float] = {}
    contenders = [row for row in rows if row.kind not in APART]
    for row in contenders:
        for entry in row.entries:
            if entry.result.value is not None:
                for group in {"", row.group}:
                    key = group, entry.level, entry.coefficient
                    best[key] = max(best.get(key, -np.inf), entry.result.value)

    def is_best(entry: LevelEntry, group: str) -> bool:
        value = entry.result.value
        return value is not None and value >= best[group, entry.level, entry.coefficient] - EQUAL

    def with_marks(row: LevelRow) -> LevelRow:
        if row.kind in APART:
            return row
        entries = tuple(
            replace(
                entry,
                best=is_best(entry, ""),
                best_of_group=bool(row.group) and is_best(entry, row.group),
            )
            for entry in row.entries
        )
        return replace(row, entries=entries)

    return tuple(with_marks(row) for row in rows)


def _warnings(apart: tuple[str, ...], is_shared: bool) -> tuple[str, ...]:
    if not apart:
        return ()
    system_names = ", ".join(apart[:MOST_NAMES]) + (
        f" and {len(apart) - MOST_NAMES} more" if len(apart) > MOST_NAMES else ""
    )
    subject = "1 system" if len(apart) == 1 else f"{len(apart)} systems"
    then = "only those that all answered count" if is_shared else "system scores rest on different dialogues"
    return (f"{subject} answered other dialogues than most did ({system_names}): {then}.",)
