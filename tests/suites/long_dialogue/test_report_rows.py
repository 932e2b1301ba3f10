"""The outcome of an answer: by its labels, by its letter, by a judge."""

from __future__ import annotations

import pytest

from suites.long_dialogue.answers.rows import AnswerRatings
from tests.suites.long_dialogue.answers_small import row

WORDS = {"format": "open", "outcome": "text", "reply": "Some kind of footwear, was it?"}


@pytest.mark.parametrize(
    ("outcome", "lenient", "strict_right", "lenient_right"),
    [
        ("A", False, True, True),
        ("A", True, False, True),
        ("B", False, False, False),
        ("E", False, False, False),
        ("ambiguous", False, False, False),
        ("none", False, False, False),
        ("late", False, False, False),
        ("failed", False, None, None),
    ],
)
def test_a_letter_is_right_where_it_is_the_key(outcome, lenient, strict_right, lenient_right) -> None:
    made = row(outcome=outcome, lenient=lenient)
    assert (made.strict, made.lenient) == (strict_right, lenient_right)


def test_the_labels_of_the_rules_stand_above_what_is_read_again() -> None:
    made = row(**WORDS, said=AnswerRatings(strict=1, lenient=1, abstained=0))
    assert (made.strict, made.lenient, made.abstained, made.by_judge) == (True, True, False, False)


def test_a_judge_decides_what_no_rule_does() -> None:
    made = row(**WORDS, said=AnswerRatings(judge=1))
    assert (made.strict, made.lenient, made.abstained, made.by_judge) == (True, True, False, True)
    assert row(outcome="B", said=AnswerRatings(judge=1)).strict is False, "a letter is no matter for a judge"
    unsure = row(**WORDS, said=AnswerRatings(judge=0, undecided=True))
    assert (unsure.strict, unsure.undecided) == (False, True)


def test_what_nobody_decides_says_why() -> None:
    assert row(**WORDS).why == "waits for a judge"
    assert row(outcome="failed", error="429").why == "the call failed: 429"
    assert row(outcome="late").why == ""


def test_who_is_right_about_an_answer_that_cannot_be_known_abstained() -> None:
    assert row(**WORDS, key="E", said=AnswerRatings(judge=1)).abstained is True
    assert row(**WORDS, key="E", said=AnswerRatings(judge=0)).abstained is False
    assert row(outcome="E").abstained is True
    assert row(outcome="failed").abstained is None
    assert row(**WORDS).abstained is False, "no phrase says so"


def test_words_are_scored_by_their_equality_with_the_answer() -> None:
    equal = row(format="open", outcome="text", reply="The red boots.", said=AnswerRatings(judge=0))
    assert (equal.strict, equal.lenient, equal.by_judge) == (True, True, False)
    unknown = row(format="open", outcome="E", reply="I don't know.")
    assert (unknown.strict, unknown.abstained) == (False, True)
    assert row(format="open", outcome="E", key="E", reply="I don't know.").strict is True
    assert row(format="open", outcome="late", reply="red boots").strict is False
