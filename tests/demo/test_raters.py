"""Simulated raters are deterministic and err according to their error model."""

from __future__ import annotations

import pytest

from demo import raters
from demo.raters import RATERS

ITEMS = [f"dialogue/system/{turn}" for turn in range(3000)]


def test_simulated_raters_say_so_in_their_names() -> None:
    assert len({rater.name for rater in RATERS}) == len(RATERS) == 3
    assert all("simulated" in rater.name for rater in RATERS)


@pytest.mark.parametrize("rater", RATERS, ids=lambda rater: rater.name)
@pytest.mark.parametrize("behaviour", raters.BEHAVIOURS)
def test_marks_follow_sensitivity_and_specificity(rater, behaviour) -> None:
    hits = sum(rater.marks(item, behaviour, True) for item in ITEMS) / len(ITEMS)
    alarms = sum(rater.marks(item, behaviour, False) for item in ITEMS) / len(ITEMS)
    assert hits == pytest.approx(rater.sensitivity[behaviour], abs=0.03)
    assert alarms == pytest.approx(1 - rater.specificity[behaviour], abs=0.01)


@pytest.mark.parametrize("rater", RATERS, ids=lambda rater: rater.name)
def test_ratings_follow_severity_and_stay_on_the_scale(rater) -> None:
    middle = [rater.rates(item, "overall", 3) for item in ITEMS]
    assert sum(middle) / len(middle) - 3 == pytest.approx(rater.severity, abs=0.05)
    for quality in (1, 5):
        assert {rater.rates(item, "overall", quality) for item in ITEMS} <= {1, 2, 3, 4, 5}
    assert {rater.rates(item, "overall", 9, 10) for item in ITEMS} <= set(range(1, 11))


def test_raters_err_independently_of_each_other() -> None:
    first, second = RATERS[0], RATERS[2]
    both = sum(first.marks(i, "repetition", True) and second.marks(i, "repetition", True) for i in ITEMS)
    expected = first.sensitivity["repetition"] * second.sensitivity["repetition"]
    assert both / len(ITEMS) == pytest.approx(expected, abs=0.03)


def test_the_same_seed_gives_the_same_answers_in_any_order() -> None:
    planted = raters.load()
    once = list(raters.behaviour_answers(planted))
    turned = list(raters.behaviour_answers(planted, RATERS[::-1]))
    assert once != turned
    assert set(once) == set(turned)


def test_another_seed_gives_other_answers() -> None:
    draws = [raters.uniform(seed, "item", "question") for seed in range(5)]
    assert len(set(draws)) == 5
    assert all(0 < draw < 1 for draw in draws)


def test_every_rater_answers_every_question_about_every_turn() -> None:
    planted = raters.load()
    turns = sum(len(meeting.turns) for meeting in planted.meetings.values())
    answers = list(raters.behaviour_answers(planted))
    assert len(answers) == turns * len(RATERS) * len(raters.BEHAVIOURS)
    assert {answer.value for answer in answers} == {0, 1}


def test_aspects_are_asked_only_after_a_low_score() -> None:
    answers = list(raters.dialogue_answers(raters.load()))
    low = {(a.rater, a.item) for a in answers if a.question == "overall" and a.value <= raters.LOW}
    explained = {(a.rater, a.item) for a in answers if a.question != "overall"}
    assert low == explained != set()


def test_scores_from_one_to_ten_stay_near_the_truth() -> None:
    planted = raters.load()
    errors = [
        answer.value - planted.meetings[answer.continuation].overall[answer.question]
        for answer in raters.overall_answers(planted)
    ]
    assert max(abs(error) for error in errors) <= 5
    assert abs(sum(errors) / len(errors)) < 0.75
