"""Verdicts as games between two systems, and their tables of wins and ties per resample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.statistics.core.data import codes
from calibration.statistics.core.resampling import Plan, Resampling
from calibration.statistics.core.samples import Additive, tabulated
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.preferences.votes import BOTH_BAD, FIRST, SECOND, TIE, BothBad, Verdict

MOST_CELLS = 2_000_000
"""Cells of the tables of resamples that are worked on at a time."""


@dataclass(frozen=True)
class Tables:
    """Rows (one a resample) of systems x systems: how often the row's system beat the column's, and tied it.

    ``ties`` is symmetric; both have an empty diagonal.
    """

    wins: Floats
    ties: Floats

    @property
    def n(self) -> Floats:
        """How often two systems met."""
        return np.asarray(self.wins + self.wins.swapaxes(1, 2) + self.ties)


@dataclass(frozen=True)
class Games:
    """Games between two systems: ``a`` and ``b`` are codes of ``systems``, ``outcome`` is 1 where a won, -1
    where b won and 0 for a tie; ``items``, ``raters`` and ``units`` (clusters) are codes from 0.

    A ranking of n is n(n - 1)/2 games of one item. ``left_out`` counts votes that no game came of.
    """

    systems: tuple[str, ...]
    a: Ints
    b: Ints
    outcome: Ints
    items: Ints
    raters: Ints
    units: Ints
    left_out: int = 0

    @property
    def n_units(self) -> int:
        """Number of clusters."""
        return int(self.units.max()) + 1 if self.units.size else 0

    def only(self, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Games:
        """Return the games chosen."""
        return Games(
            self.systems,
            self.a[chosen],
            self.b[chosen],
            self.outcome[chosen],
            self.items[chosen],
            self.raters[chosen],
            self.units[chosen],
        )

    def tables(self, plan: Plan) -> tuple[Tables, Iterator[Tables]]:
        """Return the table of all games, and those of the resamples part by part."""
        n = len(self.systems)
        won = np.where(self.outcome >= 0, self.a * n + self.b, self.b * n + self.a)
        cells = won + np.where(self.outcome == 0, n * n, 0)
        kept = tabulated(self.units, self.n_units, cells, (2, n, n))
        whole = _tables(kept, np.ones((1, self.n_units)))
        rows = max(1, MOST_CELLS // max(1, 2 * n * n))

        def drawn() -> Iterator[Tables]:
            for weights in Resampling(plan, self.units, self.n_units).chunks():
                for start in range(0, len(weights), rows):
                    yield _tables(kept, weights[start : start + rows])

        return whole, drawn()


def _tables(kept: Additive, weights: Floats) -> Tables:
    totals = kept.totals(weights)
    return Tables(totals[:, 0], totals[:, 1] + totals[:, 1].swapaxes(1, 2))


def games_of(verdicts: Sequence[Verdict], both_bad: BothBad = "tie") -> Games:
    """Return the games of verdicts, systems in the order of their names; a system never meets itself."""
    systems = tuple(sorted({system for verdict in verdicts for system in verdict.systems}))
    code = {system: at for at, system in enumerate(systems)}
    rows: list[tuple[int, int, int, str, str, str]] = []
    left_out = 0
    for verdict in verdicts:
        found = [
            (code[one], code[other], outcome, verdict.item, verdict.rater, verdict.place)
            for one, other, outcome in _games(verdict, both_bad)
            if one != other
        ]
        left_out += not found
        rows += found
    columns = list(zip(*rows, strict=True)) or [()] * 6
    a, b, outcome = (np.array(column, dtype=np.int64) for column in columns[:3])
    items, raters, units = (codes(list(column)) for column in columns[3:])
    return Games(systems, a, b, outcome, items, raters, units, left_out)


def _games(verdict: Verdict, both_bad: BothBad) -> list[tuple[str, str, int]]:
    if verdict.ranks:
        return [
            (one, other, int(np.sign(below - above)))
            for (one, above), (other, below) in combinations(
                zip(verdict.systems, verdict.ranks, strict=True), 2
            )
        ]
    if verdict.label == BOTH_BAD and both_bad == "drop":
        return []
    outcome = {FIRST: 1, SECOND: -1, TIE: 0, BOTH_BAD: 0}[verdict.label]
    return [(verdict.systems[0], verdict.systems[1], outcome)]
