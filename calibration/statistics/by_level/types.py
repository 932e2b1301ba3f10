"""The table of correlations at levels: its options, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibration.statistics.by_level.paired import LeftOut, Missing, SystemScore
from calibration.statistics.by_level.scored import Kind, Level
from calibration.statistics.by_level.systems import SystemPoint
from calibration.statistics.core.result import Result
from calibration.statistics.permutation import Correlation

Unit = Literal["continuation", "dialogue_system"]
Chosen = Literal["clustered", "item"]
COEFFICIENTS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall_tau_b")


@dataclass(frozen=True)
class Options:
    """How scores become those of a level, and how they are tested.

    ``missing``: `skip` leaves out turns without a value on either side, `whole` the continuations of such
    turns. ``system_score``: mean over all turns, or over the means of the dialogues. ``unit``:
    `dialogue_system` joins the continuations of one system for one dialogue. ``p``: `clustered` exchanges
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
