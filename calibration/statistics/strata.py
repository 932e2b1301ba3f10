"""Means over strata of continuations, and resamples of clusters within strata.

A unit is a cluster within its stratum. A cell is the mean over strata of the mean over the stratum's
continuations; with a single stratum it is the mean over continuations. Resamples draw as many units within
each stratum as there are, with replacement, so that no source of dialogues is over- or under-represented by
chance (Efron and Tibshirani 1993, ch. 8: the resampling follows the design).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.core.resampling import CHUNK, Plan, Resampling, drawn_counts

Mask = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]
MOST_STORED = 4  # sets of clusters whose resamples are kept: most rows share one


@dataclass
class WithinStrata(Resampling):
    """A resampling that draws the units of each stratum separately. ``strata``: each unit's stratum."""

    strata: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def _draw(self, rng: np.random.Generator, rows: int) -> Floats:
        out = np.empty((rows, self.n_units))
        for stratum in np.unique(self.strata):
            units = np.flatnonzero(self.strata == stratum)
            out[:, units] = drawn_counts(rng, len(units), rows)
        return out


@dataclass(frozen=True)
class Sums:
    """Per unit the sum of the values and their number: units x columns each."""

    totals: Floats
    numbers: Floats

    @property
    def present(self) -> Mask:
        """The units with a value in some column."""
        return np.asarray(self.numbers.any(axis=1))

    def at(self, units: Mask) -> Sums:
        """Return the sums of some units."""
        return Sums(self.totals[units], self.numbers[units])


@dataclass
class Design:
    """The units of continuations. Units are in the order of their names, whatever the continuations' order.

    ``unit`` gives each continuation's unit; ``strata`` and ``clusters`` each unit's stratum and cluster.
    """

    unit: Ints
    strata: Ints
    clusters: Ints
    plan: Plan
    _resamplings: dict[bytes, WithinStrata] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(clusters: Texts, strata: Texts, plan: Plan) -> Design:
        """Build from each continuation's cluster and stratum."""
        _, cluster = np.unique(clusters, return_inverse=True)
        _, stratum = np.unique(strata, return_inverse=True)
        width = int(cluster.max(initial=0)) + 1
        units, unit = np.unique(stratum * width + cluster, return_inverse=True)
        return Design(unit.ravel(), units // width, units % width, plan)

    @property
    def spans(self) -> bool:
        """Whether a cluster lies in several strata: its parts are then drawn as if they were independent."""
        return len(np.unique(self.clusters)) < len(self.clusters)

    def sums(self, values: Floats, mask: Mask) -> Sums:
        """Return the sums of the chosen continuations' values (continuations x columns, NaN for missing)."""
        rows, unit = values[mask], self.unit[mask]
        present = ~np.isnan(rows)
        shape = (len(self.strata), values.shape[1])
        totals, numbers = np.zeros(shape), np.zeros(shape)
        np.add.at(totals, unit, np.where(present, rows, 0.0))
        np.add.at(numbers, unit, present)
        return Sums(totals, numbers)

    def resampling(self, units: Mask) -> WithinStrata:
        """Return the resamples of some units: the same units have the same resamples."""
        key = units.tobytes()
        if key not in self._resamplings:
            if len(self._resamplings) >= MOST_STORED:
                self._resamplings.pop(next(iter(self._resamplings)))
            strata = self.strata[units]
            self._resamplings[key] = WithinStrata(
                self.plan, np.arange(len(strata)), len(strata), strata=strata
            )
        return self._resamplings[key]

    def replicates(self, units: Mask, compute: Callable[[Floats], Floats]) -> Floats:
        """Return compute's values on every resample of some units; it reads weights, resamples x units."""
        if not self.plan.resamples or not units.any():
            return compute(np.empty((0, int(units.sum()))))
        return np.concatenate([compute(weights) for weights in self.resampling(units).chunks()])

    def single(self, units: Mask) -> bool:
        """Whether one of several strata has a single unit, and so contributes no spread."""
        _, sizes = np.unique(self.strata[units], return_counts=True)
        return len(sizes) > 1 and bool((sizes == 1).any())

    def n_clusters(self, units: Mask) -> int:
        """Return the number of clusters among some units."""
        return len(np.unique(self.clusters[units]))


def mean_of_strata(weights: Floats, sums: Sums, strata: Ints) -> Floats:
    """Return the means over strata of the weighted means within each: rows of weights x columns.

    A stratum without any value of a column is left out of that column; NaN where a resample has drawn none of
    a stratum's values.
    """
    total = np.zeros((len(weights), sums.totals.shape[1]))
    n = np.zeros(sums.totals.shape[1])
    for stratum in np.unique(strata):
        own = strata == stratum
        has = sums.numbers[own].sum(axis=0) > 0
        top, bottom = weights[:, own] @ sums.totals[own], weights[:, own] @ sums.numbers[own]
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.where(has, top / bottom, 0.0)
        n += has
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / np.where(n > 0, n, np.nan))


def mean(sums: Sums, strata: Ints) -> Floats:
    """Return the cell of each column: NaN where there is no value."""
    return np.asarray(mean_of_strata(np.ones((1, len(strata))), sums, strata)[0])


def swaps(n: int, permutations: int, seed: int) -> tuple[Iterator[Floats], bool]:
    """Return which of n clusters are swapped, in rows of 0 and 1, and whether these are all possible swaps.

    All are tried where they are at most ``permutations``; the first row of these swaps nothing.
    """
    if n < 63 and 2**n <= permutations:
        return iter([np.array(list(product([0.0, 1.0], repeat=n)))]), True
    return _random_swaps(n, permutations, seed), False


def _random_swaps(n: int, permutations: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    rows = max(1, CHUNK // max(1, n))
    for start in range(0, permutations, rows):
        yield (rng.random((min(rows, permutations - start), n)) < 0.5).astype(np.float64)


# A rater's counts and scores of continuations: the input of a table of counts.

ColumnKind = Literal["tag", "alone", "sum", "any", "score"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table.

    A ``tag`` is a behaviour that belongs to the set whose distribution is compared; one that stands ``alone``
    does not; a ``sum`` adds its ``members`` (columns before it); ``any`` counts turns with at
    least one of its members; a ``score`` answers a question about the continuation. ``per_turn``: the most
    that one turn adds.
    """

    key: str
    kind: ColumnKind
    members: tuple[int, ...] = ()
    per_turn: int = 1

    @property
    def addends(self) -> tuple[int, ...]:
        """The columns that a sum adds; none for other columns."""
        return self.members if self.kind == "sum" else ()

    @property
    def is_count(self) -> bool:
        """Whether turns are counted."""
        return self.kind != "score"


@dataclass(frozen=True)
class Counted:
    """Continuations and one rater's values for each.

    ``values``: continuations x columns, NaN where the rater has no value (a failed call, a turn left
    unanswered). ``lowest`` and ``highest``: the possible range of the value, the value itself where there is
    one; infinite where a scale is open. ``turns``: how many turns each continuation has. ``dialogues``
    identifies continuations of the same history; an empty stratum is a stratum, too.
    """

    columns: tuple[Column, ...]
    dialogues: Texts
    clusters: Texts
    strata: Texts
    turns: Floats
    values: Floats
    lowest: Floats
    highest: Floats

    def __post_init__(self) -> None:
        """Reject arrays that do not fit each other."""
        n, shape = len(self.dialogues), (len(self.dialogues), len(self.columns))
        if any(len(codes) != n for codes in (self.clusters, self.strata, self.turns)):
            raise ValueError("every continuation needs its dialogue, cluster, stratum and number of turns")
        if any(block.shape != shape for block in (self.values, self.lowest, self.highest)):
            raise ValueError(f"values and their bounds are {shape[0]} continuations x {shape[1]} columns")

    def __len__(self) -> int:
        return len(self.dialogues)

    @property
    def is_counts(self) -> bool:
        """Whether some column counts turns."""
        return any(column.is_count for column in self.columns)

    @property
    def most(self) -> Floats:
        """The highest value possible of each column of counts; 1 for scores. Needs one number of turns."""
        turns = self.turns.max(initial=0.0)
        return np.array([column.per_turn * turns if column.is_count else 1.0 for column in self.columns])

    def factors(self, per_turns: float) -> Floats:
        """Factors that turn counts into counts per so many turns (continuations x columns)."""
        scale = per_turns / self.turns
        return np.column_stack([scale if c.is_count else np.ones(len(self)) for c in self.columns])

    def per(self, per_turns: float) -> Counted:
        """Return the counts per so many turns."""
        factors = self.factors(per_turns)
        return replace(
            self,
            turns=np.full(len(self), float(per_turns)),
            values=self.values * factors,
            lowest=self.lowest * factors,
            highest=self.highest * factors,
        )

    def lengths(self) -> tuple[int, int]:
        """Return the least and the greatest number of turns."""
        if not len(self):
            return 0, 0
        return int(self.turns.min()), int(self.turns.max())
