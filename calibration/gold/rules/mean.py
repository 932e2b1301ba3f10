"""The mean of the answers."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

RULE = Rule(
    "mean",
    "Mean",
    ORDERED,
    "an ordered scale",
    {},
    lambda ratings, options: gold.mean(ratings),
    "the mean of the answers. Support is 1 less their spread over the largest possible.",
)
