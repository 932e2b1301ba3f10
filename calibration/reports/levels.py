"""Correlations at turn, dialogue and system level as a report keeps them: one table per reference."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.reading.levels import Level
from calibration.statistics import Result
from calibration.statistics.permutation import Correlation


@dataclass(frozen=True, slots=True)
class LevelCell:
    """A row's correlation with the reference in one column, and its p-value by the chosen test.

    `p` is None where there is no test: `p_reason` says why. `starred`: p is not below 0.05. `best`: the
    highest of its column; `best_of_group`: the highest of its column within its group.
    """

    level: Level
    coefficient: Correlation
    result: Result
    p: float | None
    p_method: str
    p_reason: str
    starred: bool
    best: bool
    best_of_group: bool


@dataclass(frozen=True, slots=True)
class SystemDot:
    """A system's scores: by the reference (x) and by the row (y), with intervals over dialogues."""

    system: str
    x: float | None
    x_low: float | None
    x_high: float | None
    y: float | None
    y_low: float | None
    y_high: float | None


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A rater beside the reference: the kind of item its answers are about, and what it leaves out.

    `heading` is what it stands under, `group` within what its best is marked. `samples` says how a repeated
    answer was read, where that differs between rows.
    """

    name: str
    kind: str
    scores: str
    samples: str
    heading: str
    group: str
    cells: tuple[LevelCell, ...]
    turns_left_out: int
    turns: int
    continuations_left_out: int
    continuations: int
    dots: tuple[SystemDot, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelTable:
    """All rows beside one reference, on static continuations, on a dialogue's own turns, or on all.

    `about` is the kind of item that the reference answered about. `made` is static, rollout, or empty where
    the table has all continuations. Without rows, `reason` says why.
    """

    question: str
    title: str
    scheme_title: str
    about: str
    reference: str
    people: int
    made: str
    levels: tuple[Level, ...]
    n_turns: int
    n_continuations: int
    n_dialogues: int
    n_systems: int
    rows: tuple[LevelRow, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""
