"""The middle answer, the lower of two."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

RULE = Rule(
    key="median_low",
    title="Lower median",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.median_low(answers.ratings),
    explanation="the middle answer, the lower of the two in the middle: always a value that somebody gave",
    support="as for the mean",
    samples="first",
)
