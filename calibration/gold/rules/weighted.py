"""Raters weighted by how well they agree with the others on dev."""

from __future__ import annotations

from calibration.gold.rules.base import Answers, Option, Options, Rule
from calibration.gold.rules.options import TIES
from calibration.statistics import weighting
from calibration.statistics.core.types import CATEGORIES, ORDERED
from calibration.statistics.gold import Chosen

LEAST = Option(
    weighting.LEAST, "How many dev items two raters must share to be compared.", low=2, high=1_000_000
)


def _choose(answers: Answers, options: Options) -> Chosen:
    assert answers.dev is not None  # the rule learns on dev
    return weighting.weighted(answers.ratings, answers.dev, ties=options["ties"], least=options["least"])


def _check(answers: Answers, options: Options) -> str:
    assert answers.dev is not None
    weights = weighting.learned(answers.ratings, answers.dev, least=options["least"])
    if (weights.weights > 0).any():
        return ""
    if (weights.agreement == weights.agreement).any():
        return "no rater agrees with the others beyond chance on dev: there is nothing to learn weights from"
    return (
        f"no two raters share {options['least']} dev items with an agreement that is defined: there is "
        "nothing to learn weights from"
    )


RULE = Rule(
    key="weighted",
    title="Weighted by agreement on dev",
    levels=ORDERED | CATEGORIES,
    needs="a question with values",
    choose=_choose,
    explanation=(
        "categories: the answer with the most weight behind it; ordered scales: the weighted mean. A rater’s "
        "weight is the agreement with the others on the dev part"
    ),
    support="its share of the weight; of a mean, 1 less the weighted spread over the largest possible",
    options={"ties": TIES, "least": LEAST},
    least_raters=3,
    tells_raters_apart=True,
    learns_on_dev=True,
    check=_check,
)
