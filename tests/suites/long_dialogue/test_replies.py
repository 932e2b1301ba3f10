"""Parsing of a model's reply to a question about a script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites.long_dialogue.scripts.answers import Outcome, read_free, read_natural, read_template, score

CHOICES = ("Ben", "a dog", "the harbour", "Ben Stone")


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("(C)", "C"),
        ("I would say (C), as she told me.", "C"),
        ("(C) the harbour. Yes, (C).", "C"),
        ("C) the harbour", "C"),
        ("C. the harbour", "C"),
        ("C: the harbour", "C"),
        ("Let me think.\n  C: the harbour", "C"),
        ("C", "C"),
        ("c\n", "C"),
        ("**C**", "C"),
        ("**(C)** the harbour", "C"),
        ("（C）", "C"),
        ("(E) I don't know", "E"),
        ("E", "E"),
    ],
)
def test_a_letter_is_read_in_each_form(reply: str, letter: str) -> None:
    assert read_template(reply, CHOICES) == Outcome(letter)


@pytest.mark.parametrize(
    "reply",
    [
        "(A) or (B)",
        "A) perhaps\nB) more likely",
        "(A) Ben (B) a dog (C) the harbour (D) Ben Stone (E) I don't know",
        "(A) Ben\n(B) a dog\n(C) the harbour\n(D) Ben Stone\nAnswer: (C)",
    ],
)
def test_several_letters_are_ambiguous(reply: str) -> None:
    assert read_template(reply, CHOICES) == Outcome("ambiguous")


@pytest.mark.parametrize(
    "reply",
    [
        "A cat sat there.",
        "I choose A",
        "Plan C it is",
        "The answer C) is not at the start",
        "C.J. told me",
        "Bento boxes and dogs",
        "Ben or a dog",
        "Ben, a dog, the harbour, Ben Stone: I don't know",
        "(F)",
        "(c) 1994",
        "",
    ],
)
def test_what_names_no_letter_and_not_just_one_option_is_none(reply: str) -> None:
    assert read_template(reply, CHOICES) == Outcome("none")


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("It was Ben.", "A"),
        ("A dog", "B"),
        ("It was A DOG, not a dogfish.", "B"),
        ("Ben's, I believe", "A"),
        ("That was Ben Stone.", "D"),
        ("I don’t know.", "E"),
        ("Bento, at the  harbour? No, the\nharbour.", "C"),
    ],
)
def test_just_one_option_s_text_counts_in_the_lenient_score_alone(reply: str, letter: str) -> None:
    outcome = read_template(reply, CHOICES)
    assert outcome == Outcome(letter, lenient=True)
    assert not score(outcome, letter)
    assert score(outcome, letter, "lenient")


def test_in_a_script_without_spaces_an_option_is_found_anywhere() -> None:
    assert read_template("他住在波士顿。", ("波士顿", "纽约", "x", "y")) == Outcome("A", lenient=True)


def test_two_options_of_one_text_are_told_apart_by_letter_alone() -> None:
    assert read_template("Ben", ("Ben", "ben", "x", "y")) == Outcome("none")


def test_a_letter_goes_before_the_texts_of_options() -> None:
    assert read_template("(B), for Ben has one", CHOICES) == Outcome("B")


@given(st.text(), st.lists(st.text(), min_size=4, max_size=4))
def test_any_reply_is_read_as_a_letter_or_a_reason(reply: str, choices: list[str]) -> None:
    outcome = read_template(reply, choices)
    assert outcome.value in {*"ABCDE", "ambiguous", "none"}
    assert read_natural(reply, choices).value in {*"ABCDE", "text", "none"}
    assert read_free(reply, choices, "A") in {"right", "wrong", "undecided"}


@pytest.mark.parametrize("reply", ["Ben", "ben.", " BEN!", "The Ben", "Ben\n"])
def test_a_free_reply_that_equals_the_answer_is_right(reply: str) -> None:
    assert read_free(reply, ["Ben"], "A") == "right"


def test_each_of_several_answers_is_right_and_articles_do_not_matter() -> None:
    assert read_free("a dog", ["the dog", "the cat"], "B") == "right"
    assert read_free("Cat", ["the dog", "the cat"], "B") == "right"
    assert read_free("A", ["A"], "B") == "right"
    assert read_free("dogs", ["the dog"], "B") == "undecided"


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        "I don’t know who that was.",
        "Sorry, I have no idea.",
        "Hmm. I'm not sure!",
        "Unknown",
        "no idea...",
        "Sorry!\nI do not remember",
    ],
)
def test_a_plain_don_t_know_is_right_for_e_alone(reply: str) -> None:
    assert read_free(reply, ["Ben"], "E") == "right"
    assert read_free(reply, ["Ben"], "A") == "wrong"
    assert read_natural(reply, CHOICES) == Outcome("E")


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know, but I think it was Ben",
        "I'm not sure, maybe Ben Stone",
        "the unknown soldier",
        "She told me that I don't know her",
        "He has gone home",
    ],
)
def test_what_may_say_either_waits_for_a_judge(reply: str) -> None:
    assert read_free(reply, ["Ben"], "E") == "undecided"
    assert read_free(reply, ["Ben"], "A") == "undecided"


def test_an_empty_reply_is_wrong_and_so_is_the_true_tail_where_it_cannot_be_known() -> None:
    assert read_free(" ", ["Ben"], "E") == "wrong"
    assert read_free("", ["Ben"], "A") == "wrong"
    assert read_free("Ben", ["Ben"], "E") == "wrong"


def test_a_natural_reply_is_an_option_by_its_text() -> None:
    assert read_natural("The dog.", CHOICES) == Outcome("B")
    assert read_natural("It was Ben Stone.", CHOICES) == Outcome("D", lenient=True)
    assert read_natural("Ben or a dog", CHOICES) == Outcome("text")
    assert read_natural("", CHOICES) == Outcome("none")
