"""The most probable answer, where raters know it or guess."""

from __future__ import annotations

from calibration.gold.rules.base import Option, Rule
from calibration.gold.rules.options import TIES
from calibration.statistics.core.types import CATEGORIES
from calibration.statistics.mace import mace

SEED = Option(0, "The seed of the random starts of the estimation.", low=0, high=2**32 - 1)

RULE = Rule(
    key="mace",
    title="MACE",
    levels=CATEGORIES | {"ordinal"},
    needs="categories or an ordinal scale",
    choose=lambda answers, options: mace(answers.ratings, ties=options["ties"], seed=options["seed"]),
    explanation="the most probable answer, by how often each rater knows it instead of guessing",
    support="its probability",
    options={"ties": TIES, "seed": SEED},
    samples="first",
    least_raters=3,
    tells_raters_apart=True,
    slow=True,
)
