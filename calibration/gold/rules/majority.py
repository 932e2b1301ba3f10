"""The answer that most raters gave."""

from __future__ import annotations

from calibration.gold.rules.base import Rule
from calibration.statistics import gold
from calibration.statistics.core.types import CATEGORIES, ORDERED

TIES = {
    "none": "no gold label; the tie is listed",
    "lowest": "the lowest of the tied values",
    "highest": "the highest of the tied values",
}

RULE = Rule(
    "majority",
    "Majority",
    ORDERED | CATEGORIES,
    "a question with values",
    {"ties": TIES},
    lambda ratings, options: gold.majority(ratings, ties=options["ties"]),
    "the answer that most raters gave. Support is its share of the item’s answers.",
    samples="first",
)
