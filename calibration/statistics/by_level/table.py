"""Correlations of rows with one reference at turn, dialogue and system level."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import numpy as np

from calibration.statistics.by_level import paired as below
from calibration.statistics.by_level import systems
from calibration.statistics.by_level.means import EQUAL
from calibration.statistics.by_level.paired import Draws, Pair, paired
from calibration.statistics.by_level.scored import Level, Scored, Scores
from calibration.statistics.by_level.shared import on_shared_dialogues, systems_apart
from calibration.statistics.by_level.systems import Sums, SystemDraws, SystemPoint, sums_of
from calibration.statistics.by_level.tested import Permutations, Tested, by_items
from calibration.statistics.by_level.types import COEFFICIENTS, LevelEntry, LevelRow, LevelTable, Options
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Result
from calibration.statistics.permutation import Correlation

SIGNIFICANT = 0.05
APART = ("human", "baseline")
"""Kinds of rows that are not marked as the best: what the others are compared with."""
NAMED = 5
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

    ``points`` also gives each row's systems with intervals, for a scatter. ValueError where ``shared`` is
    asked for and no dialogue is shared.
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
    """What all rows of a table share: resamples and permutations."""

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
        found: tuple[SystemPoint, ...] = ()
        if self.points:
            names = self.scored.reference.name, row.name
            found = systems.points(self.sums(pair), names, self.scored.units, self.system_draws)
        return LevelRow(row.name, row.kind, row.group, row.frame, entries, pair.left_out, found)

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
            results = systems.correlations(sums, names, self.coefficients, self.system_draws)
            x, y = (side.point for side in sums)
        else:
            is_turn = level == "turn"
            results = below.correlations(self.scored, pair, names, is_turn, self.coefficients, self.draws)
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
    """Return the result; without an interval, and with the reason, where that does not hold the value."""
    if result.value is None or result.low is None or result.high is None:
        return result
    if result.low - EQUAL <= result.value <= result.high + EQUAL:
        return result
    reason = "no interval: resampled values are biased, their interval does not hold the value"
    return replace(result, low=None, high=None, reason=reason)


def marked(rows: tuple[LevelRow, ...]) -> tuple[LevelRow, ...]:
    """Mark the highest value of each column, and of each column within each group.

    Rows of people and of baselines stand beside the others and are not marked. Equal values are marked all.
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
    named = ", ".join(apart[:NAMED]) + (f" and {len(apart) - NAMED} more" if len(apart) > NAMED else "")
    who = "1 system" if len(apart) == 1 else f"{len(apart)} systems"
    then = "only those that all answered count" if is_shared else "system scores rest on different dialogues"
    return (f"{who} answered other dialogues than most did ({named}): {then}.",)
