"""The table of correlations at levels: its options, and the types of what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibration.statistics.by_level.scored import Kind, Level, Scored
from calibration.statistics.core.resampling import Plan
from calibration.statistics.core.result import Result
from calibration.statistics.p_values import Correlation

Missing = Literal["skip", "whole"]
SystemScore = Literal["all_turns", "mean_of_dialogues"]
Unit = Literal["continuation", "dialogue_system"]
Chosen = Literal["clustered", "item"]
COEFFICIENTS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall_tau_b")
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Options:
    """How scores become those of a level, and how they are tested.

    ``missing``: `skip` leaves out turns without a value on either side, `whole` the continuations of such
    turns. ``system_score``: mean over all turns, or over the means of the dialogues. ``unit``:
    `dialogue_system` joins the continuations of one system for one dialogue. ``p``: `clustered` permutes
    systems or dialogues, `item` takes units as independent. ``shared``: only the dialogues that all systems
    answered.
    """

    missing: Missing = "skip"
    system_score: SystemScore = "all_turns"
    unit: Unit = "continuation"
    p: Chosen = "clustered"
    shared: bool = False
    permutations: int = 2000


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
class LevelEntry:
    """One row's correlation with the reference at one level.

    ``p`` is two-sided by the chosen test, None with ``p_reason`` where there is none; ``p_method`` says how.
    ``starred``: p is not below 0.05. ``best``: the highest of its column (bold); ``best_of_group``: the
    highest of its column among the rows of its group (underlined).
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
class SystemPoint:
    """A system's score by the reference (x) and by the row (y), each with its interval over dialogues."""

    system: str
    x: Result
    y: Result


@dataclass(frozen=True)
class LevelRow:
    """A row: the rater, what its scores come from, its entries by level and coefficient, and its systems."""

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


def level_table(
    scored: Scored,
    levels: tuple[Level, ...],
    *,
    coefficients: tuple[Correlation, ...] = COEFFICIENTS,
    options: Options | None = None,
    plan: Plan | None = None,
    points: bool = False,
) -> LevelTable:
    """Return the correlations of every row with the reference, at every level, all on the same resamples.

    ``points`` also gives each row's systems with intervals, for a scatter. ValueError where ``shared`` is
    asked for and no dialogue is shared.
    """
    raise NotImplementedError
