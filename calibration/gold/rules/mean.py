"""The mean of the answers."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

RULE = Rule(
    key="mean",
    title="Mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.mean(answers.ratings),
    explanation="the mean of the answers",
    support="1 less their spread over the largest possible",
)
