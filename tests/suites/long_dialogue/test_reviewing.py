"""Outcomes of reviews of facts and quiz questions: two people who agree, or one who adjudicates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Fact, Question, Script, Session
from suites.long_dialogue.scripts.reviewing import ALONE, UNREVIEWED, Review, fact_outcome, quiz_outcome
from suites.long_dialogue.scripts.sessions import People, Sessions

PEOPLE = (
    Participant("ana", "Ana", aliases=("Annie",)),
    Participant("ben", "Ben Miller", aliases=("Red",)),
    Participant("cara", "", aliases=("Red",)),
)
SESSIONS = Sessions(
    Dialogue(
        "d",
        (*(Turn("ana", "x", session=f"s{n}") for n in (1, 1, 2, 3)), Turn("ben", "y")),
        PEOPLE,
        script=Script("ana", tuple(Session(f"s{n}", Date(1994 + n)) for n in (1, 2, 3))),
    )
)
FACT = Fact("fs1-1", "Ana", "boss", "Ben Miller", "s1", (1,))
QUESTION = Question("q1", "quiz", "Who?", ("a", "b", "c", "d"), "a", ("s1",), evidence_turns=(0, 1))
YES, NO = {"right": 1}, {"right": 0}


def reviews(*answers: dict[str, Any], adjudicated: dict[str, Any] | None = None) -> list[Review]:
    told = [Review(f"rater {n}", each) for n, each in enumerate(answers, start=1)]
    return told + ([Review("chair", adjudicated, adjudicated=True)] if adjudicated else [])


def quiz(sessions: str = "s1", needed: int = 0, right: int = 1) -> dict[str, Any]:
    return {"answerable": 1, "evidence_sessions": sessions, "all_needed": needed, "answer_right": right}


def test_two_who_find_a_fact_right_accept_it() -> None:
    outcome = fact_outcome(FACT, reviews(YES, YES), SESSIONS)
    assert (outcome.decision, outcome.content) == ("accepted", replace(FACT, status="accepted"))
    assert fact_outcome(FACT, reviews(YES | {"evidence_turn": 2}, YES), SESSIONS).decision == "accepted"


def test_two_who_find_it_wrong_and_put_nothing_right_reject_it() -> None:
    outcome = fact_outcome(FACT, reviews(NO, NO | {"head": " ", "note": "a joke"}), SESSIONS)
    assert (outcome.decision, outcome.reason) == ("rejected", "it is not said")
    assert outcome.content == replace(FACT, status="rejected")


def test_two_who_put_the_same_right_correct_it_with_people_under_their_names() -> None:
    told = reviews(
        NO | {"tail": "annie", "relation": "BOSS", "head": "ben  miller"},
        NO | {"tail": "Ana", "head": "Ben Miller"},
    )
    outcome = fact_outcome(FACT, told, SESSIONS)
    assert outcome.decision == "corrected"
    assert outcome.content == replace(FACT, head="Ben Miller", tail="Ana", status="accepted")


def test_another_turn_is_a_correction_and_takes_the_session_with_it() -> None:
    outcome = fact_outcome(FACT, reviews(YES | {"evidence_turn": 3}, YES | {"evidence_turn": 3}), SESSIONS)
    assert outcome.content == replace(FACT, session="s2", turns=(2,), status="accepted")
    differing = fact_outcome(FACT, reviews(YES | {"evidence_turn": 3}, YES), SESSIONS)
    assert (differing.decision, differing.reason) == ("undecided", "the reviewers differ in its session")
    same = fact_outcome(FACT, reviews(YES | {"evidence_turn": 1}, YES), SESSIONS)
    assert same.reason == "the reviewers differ in its turns"


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ([], UNREVIEWED),
        ([{}], UNREVIEWED),
        ([YES], ALONE),
        ([YES, {"note": "?"}], ALONE),
        ([YES, NO], "the reviewers differ: some reject it, others do not"),
        ([YES, YES, NO], "the reviewers differ: some reject it, others do not"),
        ([NO | {"tail": "Ana"}, NO | {"tail": "Ben"}], "the reviewers differ in its tail"),
        ([NO | {"tail": "Ana"}, YES], "the reviewers differ in its tail"),
        ([NO | {"relation": "foe"}, YES], "rater 1: there is no relation 'foe'"),
        ([YES, YES | {"evidence_turn": 9}], "rater 2: there is no turn 9 in a session"),
        ([YES, YES | {"evidence_turn": 5}], "rater 2: there is no turn 5 in a session"),
    ],
)
def test_a_fact_stays_open_with_the_reason(told: list[dict[str, Any]], reason: str) -> None:
    outcome = fact_outcome(FACT, reviews(*told), SESSIONS)
    assert (outcome.decision, outcome.content, outcome.reason) == ("undecided", None, reason)


def test_one_person_twice_is_not_two_people() -> None:
    told = [Review("ana", YES), Review("ana", YES)]
    assert fact_outcome(FACT, told, SESSIONS).reason == ALONE


def test_an_adjudicated_answer_stands_over_all_others() -> None:
    assert fact_outcome(FACT, reviews(YES, NO, adjudicated=NO), SESSIONS).decision == "rejected"
    assert fact_outcome(FACT, reviews(NO, NO, adjudicated=YES), SESSIONS).decision == "accepted"
    assert fact_outcome(FACT, reviews(adjudicated=YES), SESSIONS).decision == "accepted"
    unreadable = NO | {"relation": "foe"}
    assert fact_outcome(FACT, reviews(unreadable, YES, adjudicated=YES), SESSIONS).decision == "accepted"


def test_what_is_put_right_to_what_it_was_is_accepted() -> None:
    told = reviews(NO | {"head": "ANNIE"}, YES)
    assert fact_outcome(FACT, told, SESSIONS).decision == "accepted"


def test_who_is_called_alike_or_is_nobody_stays_as_written() -> None:
    outcome = fact_outcome(FACT, reviews(NO | {"tail": "Red"}, NO | {"tail": "red"}), SESSIONS)
    assert outcome.content is not None
    assert outcome.content.tail == "Red"
    people = People(PEOPLE)
    assert [people.name(told) for told in ("ANNIE", "ben", "cara", "red", "Zed")] == [
        *("Ana", "Ben Miller", "cara"),
        *(None, None),
    ]


def test_a_quiz_question_is_accepted_with_the_evidence_it_has() -> None:
    outcome = quiz_outcome(QUESTION, reviews(quiz(), quiz(" s1 ;", needed=1)), SESSIONS)
    assert (outcome.decision, outcome.content) == ("accepted", replace(QUESTION, status="accepted"))


def test_other_evidence_is_a_correction_in_the_order_of_the_script() -> None:
    outcome = quiz_outcome(QUESTION, reviews(quiz("s3; s2", 1), quiz("s2;s3", 1)), SESSIONS)
    assert outcome.content == replace(
        QUESTION, evidence=("s2", "s3"), evidence_all=True, evidence_turns=(), status="accepted"
    )
    more = quiz_outcome(QUESTION, reviews(quiz("s1;s2"), quiz("s1;s2")), SESSIONS)
    assert more.content is not None
    assert (more.content.evidence_turns, more.content.evidence_all) == ((0, 1), False)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"answerable": 0}, "it cannot be answered from the script"),
        (quiz(right=0), "its answer is not right"),
    ],
)
def test_a_question_that_is_no_use_is_rejected(told: dict[str, Any], reason: str) -> None:
    outcome = quiz_outcome(QUESTION, reviews(told, told), SESSIONS)
    assert (outcome.decision, outcome.reason) == ("rejected", reason)
    assert outcome.content == replace(QUESTION, status="rejected")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ([quiz("s1;s2"), quiz("s1;s2", 1)], "the reviewers differ in its evidence all"),
        ([quiz("s1"), quiz("s2")], "the reviewers differ in its evidence"),
        ([quiz(), {"answerable": 0}], "the reviewers differ: some reject it, others do not"),
        ([quiz(), quiz("s9")], "rater 2: there is no session 's9'"),
        ([quiz(), quiz(" ; ")], "rater 2: no session is named"),
        ([quiz(), {"answerable": 1}], "rater 2: the review is not complete"),
    ],
)
def test_a_question_stays_open_with_the_reason(told: list[dict[str, Any]], reason: str) -> None:
    outcome = quiz_outcome(QUESTION, reviews(*told), SESSIONS)
    assert (outcome.decision, outcome.reason) == ("undecided", reason)
