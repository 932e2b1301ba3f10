"""Two prompts of known quality: the better one is recognised, and equal ones are rarely told apart.

The fake model defines each prompt's errors; a study compares the prompts by swapping whole clusters.
"""

from __future__ import annotations

import numpy as np

from calibration.statistics import Plan, Ratings
from calibration.statistics.judges_compared import contenders_of, judges_compared
from demo.fake_model.errors import ErrorModel, Phrase, RoleErrors, u
from demo.fake_model.role import Sampler
from demo.fake_model.roles.judges import propose

SENTENCE = "Think of the whole dialogue."
MODEL = ErrorModel(
    {"turn_judge": RoleErrors(noise={"*": 0.8}, wording=1.0)},
    (Phrase(SENTENCE, amounts={"noise": {"*": -0.6}}),),
    ("Be strict.", "Read it twice.", SENTENCE, "Be kind."),
)
SCALE = (1, 2, 3, 4, 5)
STUDIES, CLUSTERS, ITEMS = 100, 60, 2
STATISTIC = "cohen_kappa_quadratic"


def judged(instruction: str, texts: list[str]) -> list[int]:
    """What the fake model says of each text under an instruction."""
    sampler = Sampler("turn_judge", 5, MODEL.errors("turn_judge", instruction), instruction)
    return [sampler.score("overall", text, SCALE) for text in texts]


def study(number: int, one: str, other: str) -> tuple[float, float]:
    """The difference between two prompts' agreement with a person, and its p."""
    names = [f"{number}.{i}" for i in range(CLUSTERS * ITEMS)]
    truth = [1 + int(u(1, "truth", name) * 5) for name in names]
    texts = [f"{name} {{quality {value}}}" for name, value in zip(names, truth, strict=True)]
    person = Sampler("person", 9, RoleErrors(noise={"*": 0.3}))
    columns = [
        [person.score("overall", text, SCALE) for text in texts],
        judged(one, texts),
        judged(other, texts),
    ]
    ratings = Ratings.from_matrix(
        np.column_stack(columns).astype(np.float64),
        level="ordinal",
        scale=SCALE,
        clusters=np.arange(len(texts)) // ITEMS,
        raters=["person", "one", "other"],
        kinds=["human", "judge", "judge"],
    )
    contenders = contenders_of(ratings, None, {})
    plan = Plan(resamples=50)
    found = judges_compared(ratings, contenders, plan=plan, statistics=[STATISTIC], permutations=200)
    (row,) = found.pairs
    assert row.difference.value is not None
    assert row.p.value is not None
    return row.difference.value, row.p.value


def test_a_better_prompt_is_recognised() -> None:
    for number in range(10):
        difference, p = study(number, f"Rate it. {SENTENCE}", "Rate it.")
        assert difference > 0
        assert p < 0.05


def test_equally_good_prompts_are_called_different_at_the_stated_rate() -> None:
    different = sum(study(number, "Rate it.", "Please rate it.")[1] < 0.05 for number in range(STUDIES))
    error = (0.05 * 0.95 / STUDIES) ** 0.5
    assert abs(different / STUDIES - 0.05) <= 3 * error


def test_the_improver_reaches_the_best_instruction_within_a_few_proposals() -> None:
    sampler = Sampler("improver", 2, proposals=MODEL.proposals)
    found = "Rate it."
    for step in range(len(MODEL.proposals)):
        found = propose(found, f"disagreements {step}", sampler)
    assert SENTENCE in found
    assert MODEL.errors("turn_judge", found).of("noise", "overall") < 0.3
    assert propose(found, "more", sampler) == found, "nothing is left to propose"
