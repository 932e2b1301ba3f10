"""The middle answer."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

RULE = Rule(
    "median",
    "Median",
    ORDERED,
    "an ordered scale",
    {},
    lambda ratings, options: gold.median(ratings),
    "the middle answer, or the mean of the two in the middle. Support as for the mean.",
)
