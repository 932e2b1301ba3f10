"""The answer that most raters gave."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.gold.rules.options import TIES
from calibration.statistics import gold
from calibration.statistics.core.types import CATEGORIES, ORDERED

RULE = Rule(
    key="majority",
    title="Majority",
    levels=ORDERED | CATEGORIES,
    needs="a question with values",
    choose=lambda answers, options: gold.majority(answers.ratings, ties=options["ties"]),
    explanation="the answer that most raters gave",
    support="its share of the item’s answers",
    options={"ties": TIES},
    samples="first",
)
