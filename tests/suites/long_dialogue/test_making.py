"""Wordings, keys and types of questions at their points, and questions that are not created."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from annotation.records import Dialogue
from annotation.script_records import Fact, Question, Use
from annotation.text.words import fold
from suites.long_dialogue.scripts.making import MadeSet, make
from tests.suites.long_dialogue.test_scale import series
from tests.suites.long_dialogue.worlds import FILLERS, said, script

YEARS = [
    ("1994-01-01", "am"),
    ("1994-06-01", "am"),
    ("1995-05-03", "abm"),
    ("1995-05-03", "mam"),
    ("1996-02", "am"),
]
ANA = (said("Ana, boss, Ben", 4, 11, key="f1"),)


def made(sessions: Sequence[tuple[str, str]], facts: Sequence[Fact], **settings: Any) -> MadeSet:
    return make(script(sessions, (*FILLERS, *facts)), name="set", seed=settings.pop("seed", 0), **settings)


def asked(result: MadeSet, *facts: str) -> dict[int, tuple[str, str, str | None, Use]]:
    """Return text, type, keyed answer (None for E) and use, by session, of the question about these facts."""
    questions = {question.id: question for question in result.questions if question.facts == facts}
    found = {}
    for use in result.set.uses:
        if use.question in questions:
            question = questions[use.question]
            keyed = None if use.key == "E" else question.choices[int(use.order["ABCD".index(use.key)])]
            assert int(use.session[1:]) not in found
            found[int(use.session[1:])] = (question.text, use.type, keyed, use)
    return found


def brief(result: MadeSet, *facts: str) -> dict[int, tuple[str, str, str | None]]:
    return {number: told[:3] for number, told in asked(result, *facts).items()}


def test_the_worked_example_of_a_boss() -> None:
    result = made([*YEARS[:4], ("1996-02-01", "am")], [said("Ana, boss, Ben", 4, 9, key="f1")])
    assert brief(result, "f1") == {
        1: ("Who is Ana's boss?", "future", None),
        2: ("Who is Ana's boss?", "future", None),
        4: ("Who is Ana's boss?", "current", "Ben"),
        5: ("Who was Ana's boss on May 3rd, 1995?", "past", "Ben"),
    }
    own = asked(result, "f1")[4][3]
    assert own.since == 9
    assert asked(result, "f1")[5][3].since is None
    question = next(question for question in result.questions if question.id == "set:f1:present")
    assert "Ben" in question.choices
    assert (question.evidence, question.evidence_turns, question.hops) == (("s004",), (9,), 1)


def test_nothing_is_asked_later_the_same_day_or_against_the_order_or_where_dates_overlap() -> None:
    sessions = [
        ("1995-05-03", "am"),
        ("1995", "am"),
        ("1996-01-01", "am"),
        ("1995-05-03", "am"),
        ("1994", "am"),
    ]
    result = made(sessions, [said("Ana, boss, Ben", 4, key="f1")])
    assert brief(result, "f1") == {}
    rules = {"said later on the same date", "dates overlap", "dates against the order of sessions"}
    assert rules <= set(result.excluded)


def test_a_fact_of_the_asking_session_is_asked_only_where_its_turns_are_known() -> None:
    assert 4 not in brief(made(YEARS, [said("Ana, boss, Ben", 4, key="f1")]), "f1")
    assert 4 in brief(made(YEARS, [said("Ana, boss, Ben", 4, 8, key="f1")]), "f1")


def test_what_is_said_without_the_main_character_is_unheard_unless_presence_is_dropped() -> None:
    sessions = [("1994", "am"), ("1995", "ab"), ("1995", "am"), ("1996", "am")]
    facts = [said("Ana, boss, Ben", 2, key="f1"), said("Ana, mother, Eve", 2, key="f2")]
    result = made(sessions, facts)
    assert brief(result, "f1") == {
        1: ("Who is Ana's boss?", "future", None),
        3: ("Who is Ana's boss?", "unheard", None),
        4: ("Who was Ana's boss in 1995?", "unheard", None),
    }
    assert brief(result, "f2")[4] == ("Who is Ana's mother?", "unheard", None)
    without = made(sessions, facts, presence=False)
    types = {number: told[1:] for number, told in brief(without, "f1").items()}
    assert types == {1: ("future", None), 3: ("current", "Ben"), 4: ("past", "Ben")}


def test_what_another_fact_may_answer_is_not_asked_as_unknown() -> None:
    other = said("Ana, boss, Cara", 2, key="f2")
    assert set(brief(made(YEARS, [*ANA, other]), "f1")) == {1, 4, 5}
    unsaid = said("Ana, boss, Cara", 2, key="f2", status="draft")
    assert set(brief(made(YEARS, [*ANA, unsaid]), "f1")) == {1, 2, 4, 5}


def test_what_is_known_from_its_inverse_is_not_asked_as_unknown() -> None:
    inverse = said("Ben, subordinate, Ana", 2, key="f2")
    assert set(brief(made(YEARS, [*ANA, inverse]), "f1")) == {1, 4, 5}


HOPS = [("1994", "am"), ("1995-05-03", "am"), ("1996-01-05", "am"), ("1996-01-05", "am"), ("1997", "am")]


def test_two_hops_stand_in_each_others_time() -> None:
    facts = [said("Ana, roommate, Ben", 2, 3, key="f1"), said("Ben, boss, Cara", 3, 5, key="f2")]
    result = made(HOPS, facts)
    now = "Who is now the boss of the person who was Ana's roommate on May 3rd, 1995?"
    then = "On January 5th, 1996, who was the boss of the person who was Ana's roommate on May 3rd, 1995?"
    assert brief(result, "f1", "f2") == {
        2: ("Who is the boss of Ana's roommate?", "current_future", None),
        3: (now, "past_current", "Cara"),
        4: (now, "past_current", "Cara"),
        5: (then, "past_past", "Cara"),
    }
    assert [asked(result, "f1", "f2")[number][3].since for number in (2, 3, 4)] == [3, 5, None]
    question = next(each for each in result.questions if each.id == "set:f1+f2:past-present")
    assert (question.hops, question.evidence, question.evidence_all) == (2, ("s002", "s003"), True)


def test_two_hops_over_both_unknown_facts_are_not_asked() -> None:
    facts = [said("Ana, roommate, Ben", 4, key="f1"), said("Ben, boss, Cara", 5, key="f2")]
    result = made(HOPS, facts)
    assert 1 not in brief(result, "f1", "f2")
    assert result.excluded["neither fact is known"]


def test_a_hop_that_may_mean_another_person_with_a_known_answer_is_not_unknown() -> None:
    facts = [
        said("Ana, brother, Ben", 1, key="f1"),
        said("Ana, brother, Carl", 1, key="f2"),
        said("Ben, job, smith", 3, key="f3"),
    ]
    assert brief(made(HOPS, facts), "f1", "f3")[2][1] == "undated_future"
    known = said("Carl, job, poet", 1, key="f4")
    assert 2 not in brief(made(HOPS, [*facts, known]), "f1", "f3")


def test_a_fact_and_its_inverse_make_no_two_hops() -> None:
    facts = [said("Ana, boss, Ben", 1, key="f1"), said("Ben, subordinate, Ana", 1, key="f2")]
    result = made(HOPS, facts)
    assert not [question for question in result.questions if set(question.facts) == {"f1", "f2"}]


def test_an_answer_in_the_question_is_dropped() -> None:
    facts = [said("Ana, hometown, Anafield", 1, key="f1"), said("Ana, father, Ana", 1, key="f2")]
    facts += [said(f"{head}, hometown, {head}ville", 1) for head in ("Kit", "Lea", "Max")]
    result = made(HOPS, facts)
    assert brief(result, "f1")
    assert not brief(result, "f2")
    assert result.dropped["answer in text"] == 1


def test_two_tails_at_the_same_date_are_ambiguous_but_not_at_others() -> None:
    rival = said("Ana, boss, Cara", 3, key="f2")
    result = made(YEARS, [*ANA, rival])
    assert not brief(result, "f1")
    assert not brief(result, "f2")
    assert result.dropped["ambiguous"] == 2
    assert brief(made(YEARS, [*ANA, said("Ana, boss, Cara", 2, key="f2")]), "f1")
    assert brief(made(YEARS, [*ANA, said("ana, boss, BEN", 3, key="f2")]), "f1")


def test_two_tails_of_an_undated_relation_are_ambiguous_at_any_dates() -> None:
    facts = [said("Ana, mother, Eve", 1, key="f1"), said("Ana, mother, Ida", 5, key="f2")]
    assert not brief(made(YEARS, facts), "f1")


def test_no_wrong_choice_names_the_person_who_is_asked_about() -> None:
    others = [said(f"{head}, boss, {tail}", 1) for head, tail in (("Ben", "Ana"), ("Cara", "Annie Lee"))]
    named = replace(script(YEARS, (*FILLERS, *ANA, *others)))
    people = tuple(replace(one, aliases=("Annie",)) if one.id == "ana" else one for one in named.participants)
    named = replace(named, participants=people)
    for seed in range(40):
        result = make(named, name="set", seed=seed)
        own = [question for question in result.questions if question.facts == ("f1",)]
        assert own
        assert not [question for question in own if {"Ana", "Annie Lee"} & set(question.choices)]


def test_of_two_hops_no_wrong_choice_names_whom_either_is_about() -> None:
    facts = [said("Ana, roommate, Ben", 2, 3, key="f1"), said("Ben, boss, Cara", 3, 5, key="f2")]
    others = [said(f"{head}, boss, {tail}", 1) for head, tail in (("Cara", "Ana"), ("Dora", "Ben"))]
    offered = {
        choice
        for seed in range(40)
        for question in made(HOPS, [*facts, *others], seed=seed).questions
        if question.facts == ("f1", "f2")
        for choice in question.choices
    }
    assert "Cara" in offered
    assert not {"Ana", "Ben"} & offered


def test_of_several_tails_each_is_right_and_none_a_distractor() -> None:
    facts = [
        said("Ana, roommate, Ben", 3, key="f1"),
        said("Ana, roommate, Cara", 4, key="f2"),
        said("Ana, roommate, Dora", 1, key="f3"),
        said("Emil, roommate, Ana", 4, key="f4"),
    ]
    result = made(YEARS, facts)
    questions = [question for question in result.questions if question.facts == ("f1",)]
    assert questions
    for question in questions:
        assert set(question.answers) == {"Ben", "Cara", "Emil"}
        assert question.answers[0] == question.answer == "Ben"
        assert not {"Cara", "Dora", "Emil"} & set(question.choices)


def test_an_ambiguous_hop_drops_two_hops() -> None:
    facts = [
        said("Ana, boss, Ben", 1, key="f1"),
        said("Ana, boss, Carl", 1, key="f2"),
        said("Ben, job, smith", 1, key="f3"),
    ]
    assert not brief(made(YEARS, facts), "f1", "f3")
    assert brief(made(YEARS, facts), "f3")


def test_wrong_answers_are_first_those_of_the_head_at_other_dates_then_of_the_relation() -> None:
    facts = [*ANA, said("Ana, boss, Cara", 2, key="f2"), said("Ana, boss, Dora", 5, key="f3")]
    for seed in range(20):
        result = made(YEARS, facts, seed=seed)
        question = next(question for question in result.questions if question.facts == ("f1",))
        assert {"Ben", "Cara", "Dora"} <= set(question.choices)
        assert set(question.choices) - {"Ben", "Cara", "Dora"} <= {"Pia", "Quin", "Rosa", "Sven"}


def test_a_tail_of_the_head_at_an_overlapping_date_is_no_wrong_answer() -> None:
    sessions = [("1995-05-03", "am"), ("1995-05", "am"), ("1996", "am")]
    facts = [said("Ana, boss, Ben", 1, key="f1"), said("Ana, boss, Cara", 2, key="f2")]
    questions = [each for each in made(sessions, facts).questions if each.facts in (("f1",), ("f2",))]
    assert {question.answer for question in questions} == {"Ben", "Cara"}
    assert not [question for question in questions if {"Ben", "Cara"} <= set(question.choices)]


def test_wrong_answers_are_filled_with_those_of_the_type_else_the_question_is_dropped() -> None:
    eve = said("Ana, father, Ben", 1, key="f1")
    result = made(YEARS, [eve])
    question = next(question for question in result.questions if question.facts == ("f1",))
    assert len({fold(choice) for choice in question.choices}) == 4
    result = make(script(YEARS, [eve, *FILLERS[:2]]), name="set", seed=0)
    assert result.dropped["too few distractors"] == 3
    assert not result.set.uses


QUIZ = Question(
    "q1",
    "quiz",
    "Where did Ana find the key?",
    ("desk", "roof", "May", "bag"),
    "desk",
    ("s002", "s004"),
    status="accepted",
)


def test_a_quiz_question_is_asked_with_and_without_the_most_recent_date_of_its_evidence() -> None:
    result = make(script(YEARS, questions=[QUIZ]), name="set", seed=0)
    (variant,) = result.questions
    assert (variant.id, variant.base, variant.dated, variant.origin) == ("set:q1:dated", "q1", True, "set")
    assert variant.text == "Where did Ana find the key on May 3rd, 1995?"
    types = {(use.question, use.session): use.type for use in result.set.uses}
    assert types == {
        ("q1", "s001"): "before_event_unans",
        ("q1", "s003"): "ans_wo_time",
        ("q1", "s004"): "ans_wo_time",
        ("q1", "s005"): "ans_wo_time",
        ("set:q1:dated", "s003"): "ans_w_time",
        ("set:q1:dated", "s004"): "ans_w_time",
        ("set:q1:dated", "s005"): "ans_w_time",
    }


def test_no_question_is_asked_with_a_date_that_is_still_to_come() -> None:
    absent = replace(QUIZ, evidence=("s002",))
    missed = [day if number != 2 else (day[0], "ab") for number, day in enumerate(YEARS, start=1)]
    result = make(script(missed, questions=[absent]), name="set", seed=0)
    where = {(use.question, use.session) for use in result.set.uses}
    assert {("q1", "s001"), ("q1", "s003"), ("set:q1:dated", "s003")} <= where
    assert ("set:q1:dated", "s001") not in where


def test_quiz_questions_that_cannot_be_asked_are_counted() -> None:
    questions = [
        replace(QUIZ, id="q2", evidence=()),
        replace(QUIZ, id="q3", choices=("desk", "Desk", "roof", "bag")),
        replace(QUIZ, id="q4", answer="shelf"),
        replace(QUIZ, id="q5", answer="May 3rd, 1995", choices=("May 3rd, 1995", "a", "b", "c")),
        replace(QUIZ, id="q6", status="draft"),
        replace(QUIZ, id="q7", origin="other"),
    ]
    result = make(script(YEARS, questions=questions), name="set", seed=0)
    assert result.dropped == {
        "answer among no choices": 1,
        "answer in text": 1,
        "no evidence": 1,
        "not four choices": 1,
    }
    assert {use.question for use in result.set.uses} == {"q5"}


def test_a_question_dated_by_itself_has_no_variant() -> None:
    result = make(script(YEARS, questions=[replace(QUIZ, dated=True)]), name="set", seed=0)
    assert {use.type for use in result.set.uses} == {"ans_w_time"}
    assert not result.questions


def test_an_unknown_session_or_policy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'f1'.*'s099'"):
        made(YEARS, [said("Ana, boss, Ben", 99, key="f1")])
    with pytest.raises(ValueError, match=r"'q1'.*'s099'"):
        make(script(YEARS, questions=[replace(QUIZ, evidence=("s099",))]), name="set", seed=0)
    with pytest.raises(ValueError, match="is no policy"):
        made(YEARS, [], policy="paper")


@pytest.fixture(scope="module")
def long() -> Dialogue:
    return series(facts=60, sessions=150)


def test_the_key_is_among_the_options_and_each_letter_is_as_likely(long: Dialogue) -> None:
    result = make(long, name="set", seed=3)
    questions = {question.id: question for question in (*long.questions, *result.questions)}
    letters: Counter[str] = Counter()
    for use in result.set.uses:
        question = questions[use.question]
        assert sorted(use.order) == list("0123")
        assert use.answerable == (use.key != "E")
        if use.answerable:
            letters[use.key] += 1
            assert question.choices[int(use.order["ABCD".index(use.key)])] == question.answer
    total = letters.total()
    assert total > 5000
    for letter in "ABCD":
        assert abs(letters[letter] / total - 0.25) < 3 * (0.25 * 0.75 / total) ** 0.5


@pytest.mark.exhaustive
def test_facts_and_questions_in_another_order_give_the_same_set(long: Dialogue) -> None:
    facts, questions = list(long.facts), list(long.questions)
    random.Random(1).shuffle(facts)
    random.Random(2).shuffle(questions)
    first = make(long, name="set", seed=3)
    assert make(long, name="set", seed=3, facts=facts, questions=questions) == first
    assert make(long, name="set", seed=4).set.uses != first.set.uses
