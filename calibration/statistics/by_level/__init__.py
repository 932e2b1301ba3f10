"""Correlations at turn, dialogue and system level, as in ComperDial's tables 3 to 6.

    table = level_table(scored, ("turn", "dialogue", "system"), options=Options(p="clustered"))
    table.rows[0].entry("system", "spearman").result

A continuation's score is the mean of its turns, a system's the mean over all its turns (or all its
dialogues, where those were rated). Intervals draw dialogues and systems both.
"""

from calibration.statistics.by_level.inversions import Inversions, Placed, turns_and_whole
from calibration.statistics.by_level.means import unit_means
from calibration.statistics.by_level.paired import LeftOut
from calibration.statistics.by_level.scored import (
    LEVELS,
    Frame,
    Level,
    Scored,
    Scores,
    Units,
)
from calibration.statistics.by_level.shared import on_shared_dialogues, systems_apart
from calibration.statistics.by_level.systems import SystemPoint
from calibration.statistics.by_level.table import level_table
from calibration.statistics.by_level.types import COEFFICIENTS, LevelEntry, LevelRow, LevelTable, Options

__all__ = [
    "COEFFICIENTS",
    "LEVELS",
    "Frame",
    "Inversions",
    "LeftOut",
    "Level",
    "LevelEntry",
    "LevelRow",
    "LevelTable",
    "Options",
    "Placed",
    "Scored",
    "Scores",
    "SystemPoint",
    "Units",
    "level_table",
    "on_shared_dialogues",
    "systems_apart",
    "turns_and_whole",
    "unit_means",
]
