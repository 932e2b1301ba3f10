"""Labels of a reader's answer to a question, by rule and by key."""

from __future__ import annotations

from typing import Any

import pytest

from suites.long_dialogue.scripts.answers import WAITS, Answered, labels_of, late


def answer(outcome: str, *, key: str = "B", form: str = "template", lenient: bool = False) -> dict[str, Any]:
    choices = ["Ann", "Ben", "Cleo", "Dan"]
    return {
        "outcome": outcome,
        "lenient": lenient,
        "key": key,
        "format": form,
        "answer": "Ben",
        "answers": ["Ben"],
        "choices": choices,
    }


def scores(told: list[Answered], rater: str) -> dict[str, float | str | None]:
    return {label.question: label.value for label in told if label.rater == rater}


def test_a_right_letter_is_right_by_both_rules() -> None:
    assert labels_of(answer("B"), "(B)") == [
        ("observed", "choice", "B", ""),
        ("key", "choice", "B", ""),
        ("score:strict", "right", 1.0, ""),
        ("score:strict", "abstained", 0.0, ""),
        ("score:lenient", "right", 1.0, ""),
        ("score:lenient", "abstained", 0.0, ""),
    ]


def test_a_lenient_letter_is_observed_but_right_by_one_rule() -> None:
    told = labels_of(answer("E", key="E", lenient=True), "I don't know")
    assert scores(told, "observed") == {"choice": "E"}
    assert scores(told, "score:strict") == {"right": 0.0, "abstained": 0.0}
    assert scores(told, "score:lenient") == {"right": 1.0, "abstained": 1.0}


@pytest.mark.parametrize("outcome", ["ambiguous", "none", "late"])
def test_what_is_no_letter_is_wrong_and_its_choice_missing_for_that_reason(outcome: str) -> None:
    told = labels_of(answer(outcome), "(B)")
    assert told[0] == ("observed", "choice", None, outcome)
    for rater in ("score:strict", "score:lenient"):
        assert scores(told, rater) == {"right": 0.0, "abstained": 0.0}


def test_of_a_failed_call_all_but_the_key_is_missing() -> None:
    told = labels_of(answer("failed"), "")
    assert [label for label in told if label.value is not None] == [("key", "choice", "B", "")]
    assert {label.missing for label in told if label.value is None} == {"failed"}


def test_an_open_answer_has_no_choice_and_waits_for_a_judge_where_no_rule_decides() -> None:
    told = labels_of(answer("text", form="open"), "the one with the boots")
    assert {label.question for label in told} == {"right", "abstained"}
    assert {(label.value, label.missing) for label in told if label.question == "right"} == {(None, WAITS)}
    assert scores(labels_of(answer("text", form="open"), "Ben."), "score:strict")["right"] == 1.0


def test_an_open_don_t_know_abstains() -> None:
    for key, right in (("E", 1.0), ("B", 0.0)):
        told = labels_of(answer("text", key=key, form="open"), "I don't know")
        assert scores(told, "score:strict") == {"right": right, "abstained": 1.0}


def test_a_late_free_answer_is_wrong_without_a_judge() -> None:
    told = labels_of(answer("late", form="natural"), "Ben")
    assert told[0] == ("observed", "choice", None, "late")
    assert scores(told, "score:strict") == {"right": 0.0, "abstained": 0.0}


def test_a_natural_answer_is_right_by_the_key_s_text() -> None:
    assert scores(labels_of(answer("B", form="natural"), "Ben"), "score:strict")["right"] == 1.0
    assert scores(labels_of(answer("A", form="natural"), "Ann"), "score:strict")["right"] is None


def test_an_answer_is_late_beyond_its_limit() -> None:
    assert late(3.1, 3)
    assert not late(3, 3)
    assert not late(900, None)
