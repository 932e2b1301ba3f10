"""The mean after each rater's severity is taken off."""

from __future__ import annotations

from calibration.gold.rules.base import Answers, Options, Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED


def _check(answers: Answers, options: Options) -> str:
    if gold.comparable(answers.ratings.values).sum() < 2:
        return "no two raters answered about the same item, so their severities cannot be compared"
    return ""


RULE = Rule(
    key="severity_adjusted_mean",
    title="Severity-adjusted mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.severity_adjusted(answers.ratings),
    explanation="the mean after each rater’s severity, the same on all items, is taken off",
    support="as for the mean, of the adjusted answers",
    least_raters=2,
    tells_raters_apart=True,
    check=_check,
)
