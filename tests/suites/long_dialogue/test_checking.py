"""Imported uses checked against the rules, and the counts of a set."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.script_records import Question, Use
from suites.long_dialogue.scripts.making import Difference, MadeSet, check, make, overview, unchecked
from tests.suites.long_dialogue.worlds import FILLERS, said, script

SESSIONS = [("1994-01-01", "am"), ("1995-05-03", "am"), ("1995-06-01", "ab"), ("1996-01-05", "am")]
QUIZ = Question("q1", "quiz", "Where?", ("desk", "roof", "bag", "box"), "roof", ("s002",), status="accepted")
FACTS = (*FILLERS, said("Ana, roommate, Ben", 2, 3, key="f1"), said("Ben, boss, Cara", 3, key="f2"))
SCRIPT = script(SESSIONS, FACTS, [QUIZ])
USE = Use("q1", "s004", True, "B", "ans_wo_time")


@pytest.fixture(scope="module")
def made() -> MadeSet:
    return make(SCRIPT, name="set", seed=0)


@pytest.mark.parametrize("policy", ["body", "appendix"])
def test_a_set_that_the_rules_made_has_no_differences(policy: str) -> None:
    made = make(SCRIPT, name="set", seed=0, policy=policy)
    questions = (*SCRIPT.questions, *made.questions)
    assert {question.hops for question in made.questions} == {0, 1, 2}
    assert check(SCRIPT, questions, made.set.uses, policy) == []


@pytest.mark.parametrize(
    ("use", "file", "rules"),
    [
        (
            replace(USE, answerable=False, key="E"),
            "unanswerable, ans_wo_time",
            "answerable, ans_wo_time: heard",
        ),
        (replace(USE, type="ans_w_time"), "answerable, ans_w_time", "answerable, ans_wo_time: heard"),
        (replace(USE, session="s002"), "answerable, ans_wo_time", "excluded: same session"),
        (replace(USE, session="s003"), "asked", "the main character is not there"),
        (replace(USE, session="s009"), "asked", "there is no such session"),
        (replace(USE, question="q9"), "a use", "there is no such question"),
        (replace(USE, key="C"), "key C: 'bag'", "the answer is 'roof'"),
        (replace(USE, key="E"), "answerable, key E", "key E exactly where there is no answer"),
    ],
)
def test_a_difference_tells_what_the_file_and_the_rules_say(use: Use, file: str, rules: str) -> None:
    assert check(SCRIPT, [QUIZ], [use]) == [Difference(use.question, use.session, file, rules)]


def test_a_question_about_facts_is_checked_by_them(made: MadeSet) -> None:
    use = next(use for use in made.set.uses if use.question == "set:f1+f2:past-past")
    assert use.type == "past_unheard"
    (difference,) = check(SCRIPT, made.questions, [replace(use, type="past_past")])
    assert difference.rules == "unanswerable, past_unheard: not heard"
    worded = replace(
        next(each for each in made.questions if each.id == use.question), forms=("past", "present")
    )
    (difference,) = check(SCRIPT, [worded], [use])
    assert (difference.file, difference.rules) == (
        "worded as past and present",
        "worded as past and past: not heard",
    )


def test_a_type_that_the_file_does_not_name_is_no_difference() -> None:
    assert check(SCRIPT, [QUIZ], [replace(USE, type="")]) == []


def test_questions_without_evidence_or_facts_are_named() -> None:
    bare = replace(QUIZ, id="q2", evidence=())
    lost = replace(QUIZ, id="t1", source="tkg", facts=("f9",))
    assert unchecked(SCRIPT, [QUIZ, bare, lost]) == ["q2", "t1"]
    assert check(SCRIPT, [bare], [replace(USE, question="q2")]) == []


def test_the_overview_adds_up(made: MadeSet) -> None:
    told = overview(SCRIPT, (*SCRIPT.questions, *made.questions), made.set.uses)
    assert (told.sessions, told.askable_sessions, told.turns) == (4, 3, 8)
    assert told.uses() == len(made.set.uses) == told.uses("quiz") + told.uses("tkg")
    assert told.uses("tkg") == told.uses(hops=1) + told.uses(hops=2)
    assert told.unanswerable() == sum(not use.answerable for use in made.set.uses)
    quiz = {row.type: (row.answerable, row.unanswerable) for row in told.rows if row.source == "quiz"}
    assert quiz == {"ans_w_time": (1, 0), "ans_wo_time": (1, 0), "before_event_unans": (0, 1)}
    assert told.per_session(told.uses("quiz")) == 1
    with pytest.raises(ValueError, match="there is no question 'q1'"):
        overview(SCRIPT, made.questions, made.set.uses)
