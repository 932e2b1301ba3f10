"""Scores of continuations and systems: means of the scores of items, with ties kept as ties."""

from __future__ import annotations

from calibration.statistics.by_level.scored import Scored, Scores
from calibration.statistics.core.types import Floats


def unit_means(scored: Scored, side: Scores) -> Floats:
    """Return the mean of a side's scores in each unit, NaN where it has none."""
    raise NotImplementedError
