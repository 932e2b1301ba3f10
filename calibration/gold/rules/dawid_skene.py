"""The most probable answer, where each rater has their own way to err."""

from __future__ import annotations

from calibration.gold.rules.base import Answers, Options, Rule
from calibration.gold.rules.options import TIES
from calibration.statistics.core.types import CATEGORIES
from calibration.statistics.dawid_skene import dawid_skene
from calibration.statistics.gold import Chosen


def _choose(answers: Answers, options: Options) -> Chosen:
    return dawid_skene(answers.ratings, ties=options["ties"]).gold


RULE = Rule(
    key="dawid_skene",
    title="Dawid-Skene",
    levels=CATEGORIES | {"ordinal"},
    needs="categories or an ordinal scale",
    choose=_choose,
    explanation="the most probable answer, by how each rater mistakes each value for each other",
    support="its probability",
    options={"ties": TIES},
    samples="first",
    least_raters=3,
    tells_raters_apart=True,
    slow=True,
)
