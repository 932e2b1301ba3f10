"""CPDScore-Dialogue's rule, and its judge's prompt and parsing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.records import Continuation, Dialogue, Participant, Turn
from judges.protocols import PROTOCOLS, Asking, Case, NeedAnswer, Unparseable
from judges.protocols.cpdscore import BOTH, DISREGARD, broken, words

JUDGE = PROTOCOLS["cpdscore_dialogue"]
SHORT = (5, 20, 12)


@pytest.mark.parametrize(
    ("scores", "lengths", "flag"),
    [
        ((3.4, 2.6, 3.0), SHORT, ""),
        ((3.4, 2.6, 3.9), SHORT, "final_outside: final 3.9 is not between 2.6 and 3.4"),
        ((4.5, 2.0, 4.5), SHORT, ""),
        ((4.5, 2.0, 3.2), SHORT, "rule_not_followed: final 3.2, though the turn score 4.5 alone counts"),
        ((4.5, 2.0, 3.2), (5, 31, 12), ""),
    ],
)
def test_the_five_examples(scores: tuple[float, float, float], lengths: tuple[int, ...], flag: str) -> None:
    assert broken(*scores, lengths, DISREGARD) == flag


@pytest.mark.parametrize(
    ("final", "at_four", "flag"),
    [
        (4.0, DISREGARD, ""),
        (3.0, DISREGARD, "rule_not_followed"),
        (3.0, BOTH, ""),
        (4.0, BOTH, ""),
        (1.9, BOTH, "final_outside"),
        (4.1, BOTH, "final_outside"),
    ],
)
def test_a_turn_score_of_exactly_four_is_as_the_variant_says(final: float, at_four: str, flag: str) -> None:
    assert broken(4.0, 2.0, final, SHORT, at_four).partition(":")[0] == flag


def test_five_hundredths_are_no_difference() -> None:
    assert broken(4.5, 2.0, 4.55, SHORT, DISREGARD) == broken(4.5, 2.0, 4.45, SHORT, DISREGARD) == ""
    assert broken(4.5, 2.0, 4.56, SHORT, DISREGARD)
    assert broken(3.4, 2.6, 3.45, SHORT, DISREGARD) == broken(3.4, 2.6, 2.55, SHORT, DISREGARD) == ""
    assert broken(3.4, 2.6, 3.46, SHORT, DISREGARD)


def test_twenty_words_are_not_long_and_twenty_one_are() -> None:
    assert words("Well , 2 of-them -- don't !") == 4
    for length, flag in ((20, "rule_not_followed"), (21, "")):
        assert broken(4.5, 2.0, 3.2, [words("word " * length)], DISREGARD).partition(":")[0] == flag


def dialogue(*texts: str, scores: tuple[float, ...] = (4.0, 3.333)) -> Case:
    """Two responses to a fixed dialogue, with their scores."""
    people = (Participant("A", "Ana"), Participant("B", "Ben"))
    turns = (Turn("A", "Hello?"), Turn("B", "Hi."), Turn("A", "How are you?"))
    said = tuple(Turn("B", text, at=at) for text, at in zip(texts, (1, 3), strict=True))
    static = Continuation("c", "model-x", said, mode="static")
    given = {"turn_scores": {i: NeedAnswer(score) for i, score in enumerate(scores)}}
    return Case(Dialogue("d", turns, people, (static,)), static, None, need_answers=given)


def reply(turn: str = "3.4", interaction: str = "2.6", final: str = "3.0") -> str:
    return (
        f"Overall Dialogue Turn Score - {turn}\n"
        f"Dialogue Interaction Score - {interaction}\nFinal Score - {final}"
    )


def test_the_prompt_has_the_scores_with_two_decimals_and_the_responses_as_texts() -> None:
    assert isinstance(JUDGE, Asking)
    case = dialogue("Hey there.\nAll well?", "Fine.")
    plain = JUDGE.prompt(case, "disregard").user
    assert "| Turn 1 - 4.00\n| Turn 2 - 3.33\n" in plain
    assert "<<<BEGIN RESPONSES>>>\n| [1] Hey there.\n|       All well?\n| [2] Fine.\n<<<END" in plain
    assert "Ben" not in plain
    context = JUDGE.prompt(case, "disregard_with_context").user
    assert "| [before 1] Ana: Hello?\n| [1] Hey there." in context
    assert "| [before 2] Ana: How are you?\n| [2] Fine." in context


@pytest.mark.parametrize(
    ("variant", "rule"),
    [("disregard", "is 4 or more, it alone decides"), ("both", "is 4 or less, both scores count")],
)
def test_the_prompt_says_what_the_variant_does_at_four(variant: str, rule: str) -> None:
    assert isinstance(JUDGE, Asking)
    for name in (variant, f"{variant}_with_context"):
        assert rule in JUDGE.prompt(dialogue("a", "b"), name).user


def test_the_scores_are_about_the_dialogue_and_keep_what_they_rest_on() -> None:
    assert isinstance(JUDGE, Asking)
    case = dialogue("Hey there.", "word " * 31)
    reading = JUDGE.read(reply(), (), case, "disregard")
    assert [(v.question, v.turn, v.value, v.explanation) for v in reading.verdicts] == [
        ("turn_score", None, 3.4, "mean of the turn scores given: 3.667"),
        ("interaction", None, 2.6, "words of the responses: 2, 31"),
        ("final", None, 3.0, ""),
    ]
    assert reading.flags == ()
    assert JUDGE.read(reply("4.5", "2", "3.2"), (), case, "disregard").flags == ()
    short = dialogue("Hey there.", "Fine.")
    assert JUDGE.read(reply("4.5", "2", "3.2"), (), short, "disregard").flags[0].startswith("rule_not_foll")
    assert JUDGE.read(reply("4.00", "2", "3"), (), short, "both_with_context").flags == ()


@pytest.mark.parametrize(
    "changes", [{"final": "5.1"}, {"turn": "0.9"}, {"interaction": "good"}, {"final": ""}]
)
def test_three_numbers_from_1_to_5_are_needed(changes: dict[str, str]) -> None:
    assert isinstance(JUDGE, Asking)
    with pytest.raises(Unparseable):
        JUDGE.parse(reply(**changes), dialogue("a", "b"))


def test_a_turn_without_a_score_is_a_need_that_is_not_met() -> None:
    case = dialogue("a", "b")
    lacking = {"turn_scores": {0: NeedAnswer(4.0), 1: NeedAnswer(missing="turn 2 has no score by m1")}}
    assert JUDGE.unmet(case) == ""
    assert JUDGE.unmet(replace(case, need_answers=lacking)) == "turn 2 has no score by m1"
