"""The mean without the extremes."""

from __future__ import annotations

from calibration.gold.rules.base import Option, Rule
from calibration.statistics import gold
from calibration.statistics.core.types import ORDERED

SHARE = Option(
    0.2,
    "Share of an item’s answers left out at each end, rounded down: of five answers 0.2 is one.",
    low=0,
    high=0.49,
)

RULE = Rule(
    key="trimmed_mean",
    title="Trimmed mean",
    levels=ORDERED,
    needs="an ordered scale",
    choose=lambda answers, options: gold.trimmed_mean(answers.ratings, share=options["share"]),
    explanation="the mean without the lowest and the highest answers",
    support="as for the mean, of all answers",
    options={"share": SHARE},
)
