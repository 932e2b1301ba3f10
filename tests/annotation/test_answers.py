"""Validation of answers, with a one-line error message for each invalid one."""

import pytest

from annotation.errors import AnswerRefused
from annotation.scheme_store import Questionnaire, ScreenQuestion
from annotation.schemes import SCHEMES
from annotation.work.checking import check, cleaned, parse


def plan(key):
    scheme = SCHEMES[key]
    questions = tuple(
        ScreenQuestion(
            number,
            question.key,
            question.wording,
            question.level,
            question.values,
            {},
            question.positive,
            question.group,
            question.help,
            question.shortcut,
            question.required,
            question.show_if,
        )
        for number, question in enumerate(scheme.questions)
    )
    return Questionnaire(1, key, scheme.title, "", scheme.item_kind, scheme.unit, questions)


def values(key, answers, items=(7,)):
    names = [question.key for question in plan(key).questions]
    return {
        (given.item, names[given.question]): given.value
        for given in check(plan=plan(key), items=items, answers=answers)
    }


def test_untouched_tags_are_recorded_as_negatives_on_every_turn():
    given = values("cocoeval_behaviours", {"7": {"repetition": 1}}, items=(7, 8))
    assert len(given) == 22
    assert given[7, "repetition"] == 1
    assert sum(given.values()) == 1


def test_a_note_is_kept_only_beside_its_tag_and_required_there():
    note = {"another_behaviour_note": " shouting "}
    assert (7, "another_behaviour_note") not in values("cocoeval_behaviours", {"7": note})
    with_tag = values("cocoeval_behaviours", {"7": note | {"another_behaviour": 1}})
    assert with_tag[7, "another_behaviour_note"] == "shouting"
    with pytest.raises(AnswerRefused, match="What is it"):
        values("cocoeval_behaviours", {"7": {"another_behaviour": 1}})


@pytest.mark.parametrize(("overall", "asked"), [(1, 6), (3, 6), (4, 0), (5, 0)])
def test_causes_are_asked_for_low_scores_alone(overall, asked):
    given = values("comperdial_dialogue", {"7": {"overall": overall, "low_fluency": 1}})
    assert len(given) == 1 + asked
    assert given.get((7, "low_fluency"), 0) == (1 if asked else 0)


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({}, "“How good is this response overall?” has no answer yet."),
        ({"7": {"overall": 6}}, "does not take 6: choose one of 1, 2, 3, 4, 5"),
        ({"7": {"overall": "4"}}, "does not take 4"),
        ({"7": {"overall": True}}, "does not take True"),
        ({"7": {"overall": 2.5}}, "does not take 2.5"),
        ({"7": {"overall": [4]}}, "does not take"),
        ({"7": {"overall": 4, "colour": 1}}, "no question “colour”"),
        ({"8": {"overall": 4}}, "Item 8 is not part of this task."),
        ({"7": "good"}, "must be an object"),
        ([], "must be an object"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_one_line(answers, problem):
    with pytest.raises(AnswerRefused, match=problem.replace("?", r"\?")) as caught:
        values("comperdial_turn", answers)
    assert "\n" not in str(caught.value)


def test_a_problem_in_one_of_many_turns_names_the_turn():
    with pytest.raises(AnswerRefused, match=r"^Turn 2 of 2: "):
        values("cocoeval_behaviours", {"8": {"repetition": 3}}, items=(7, 8))


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b'{"a": NaN}', b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(body):
    with pytest.raises(AnswerRefused):
        parse(body)


def test_what_the_database_cannot_store_is_taken_out():
    assert cleaned({"a\x00": ["\ud800x", 1]}) == {"a": ["?x", 1]}
