"""The middle answer."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

RULE = Rule(
    key="median",
    title="Median",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.median(answers.ratings),
    explanation="the middle answer, or the mean of the two in the middle",
    support="as for the mean",
)
