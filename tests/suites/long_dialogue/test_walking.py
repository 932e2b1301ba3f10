"""The questions on a walk through a script: place, asker, and number."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

import pytest

from annotation.records import Dialogue
from annotation.script_records import Date, Fact, Question, Use
from annotation.text.draws import u
from suites.long_dialogue.agent.walking import (
    ANSWERABLE,
    UNANSWERABLE,
    Offers,
    Walk,
    WalkSettings,
    walk,
    walk_offers,
)
from tests.suites.long_dialogue.walks import large, question, script_of, session_id, use


def everywhere(dialogue: Dialogue, keys: str) -> tuple[dict[str, Question], list[Use]]:
    """Return questions with an answerable use in each session."""
    assert dialogue.script is not None
    numbers = range(1, len(dialogue.script.sessions) + 1)
    return {key: question(key) for key in keys}, [use(key, number) for key in keys for number in numbers]


def seed_that_says(classes: str, *, unanswerable: float = 0.2) -> int:
    """Return a seed whose draws for sessions 1, 2 ... say these classes, U or A."""

    def says(seed: int, number: int) -> str:
        drawn = u(seed, "series", 0, session_id(number), "class")
        return "U" if drawn < unanswerable else "A"

    return next(
        seed
        for seed in range(100_000)
        if all(says(seed, number) == kind for number, kind in enumerate(classes, start=1))
    )


def classes(made: Walk) -> str:
    return "".join("A" if ask.asked_class == ANSWERABLE else "U" for ask in made.asks)


def test_sessions_without_a_chance_to_ask_are_skipped_with_the_reason() -> None:
    dialogue = script_of(["AB", "MM", "MAM", "M", ["M", "all", "M"], "MAM"])
    questions, uses = everywhere(dialogue, "pq")
    made = walk(dialogue, questions, [one for one in uses if one.session != session_id(6)], trial=0)
    assert [ask.session for ask in made.asks] == [3]
    assert dict(made.skipped) == {1: "absent", 2: "alone", 4: "alone", 5: "no_asker", 6: "no_use"}
    assert made.reasons == {"absent": 1, "alone": 2, "no_asker": 1, "no_use": 1}


def test_who_is_present_without_a_word_is_asked_nothing() -> None:
    dialogue = script_of(["AB"])
    assert dialogue.script is not None
    session = replace(dialogue.script.sessions[0], present=("M",))
    dialogue = replace(dialogue, script=replace(dialogue.script, sessions=(session,)))
    assert walk(dialogue, *everywhere(dialogue, "p"), trial=0).skipped == {1: "silent"}


def test_the_point_is_any_own_turn_but_the_first_of_several() -> None:
    dialogue = script_of(["AMAMAMA"])
    questions, uses = everywhere(dialogue, "p")
    points = Counter(walk(dialogue, questions, uses, trial=trial).asks[0].point for trial in range(200))
    assert set(points) == {3, 5}
    assert min(points.values()) > 70
    settings = WalkSettings(point="any_turn")
    after = {
        walk(dialogue, questions, uses, trial=trial, settings=settings).asks[0].point for trial in range(200)
    }
    assert after == {2, 3, 4, 5, 6}


def test_the_only_own_turn_is_the_point() -> None:
    dialogue = script_of(["AMA"])
    assert walk(dialogue, *everywhere(dialogue, "p"), trial=0).asks[0].point == 1


def test_an_asker_speaks_within_three_turns_of_the_last_own_turn_and_in_the_session() -> None:
    dialogue = script_of(["Z", ["M", "C", "A", "all", "B", "M", "D", "D", "E", "F"], "Z"])
    questions, uses = everywhere(dialogue, "p")
    asks = [walk(dialogue, questions, uses[1:2], trial=trial).asks[0] for trial in range(300)]
    assert {ask.point for ask in asks} == {6}
    assert {ask.asker for ask in asks} == {"A", "B", "D", "E"}
    assert min(Counter(ask.asker for ask in asks).values()) > 50


def test_the_example_of_a_debt() -> None:
    dialogue = script_of(["MAM"] * 4)
    questions = {key: question(key) for key in "abcdu"}
    uses = [use(key, number) for key in "abcd" for number in range(1, 5)]
    uses += [use("u", number, answerable=False) for number in (2, 3, 4)]
    settings = WalkSettings(seed=seed_that_says("UAAA"))
    made = walk(dialogue, questions, uses, trial=0, settings=settings)
    assert classes(made) == "AUAA"
    assert [ask.drawn_class for ask in made.asks] == [UNANSWERABLE, ANSWERABLE, ANSWERABLE, ANSWERABLE]
    assert [ask.owed for ask in made.asks] == [(UNANSWERABLE,), (), (), ()]
    assert made.owed == ()
    assert (made.shares or {})["unanswerable"] == 0.25


def test_a_debt_is_not_paid_where_the_draw_says_the_owed_class_itself() -> None:
    dialogue = script_of(["MAM"] * 3)
    questions = {key: question(key) for key in "abcuv"}
    uses = [use(key, number) for key in "abc" for number in (1, 2, 3)]
    uses += [use(key, number, answerable=False) for key in "uv" for number in (2, 3)]
    settings = WalkSettings(seed=seed_that_says("UUA"))
    made = walk(dialogue, questions, uses, trial=0, settings=settings)
    assert classes(made) == "AUU"
    assert [len(ask.owed) for ask in made.asks] == [1, 1, 0]


def test_what_is_never_there_stays_owed() -> None:
    dialogue = script_of(["MAM"] * 3)
    made = walk(
        dialogue, *everywhere(dialogue, "abc"), trial=0, settings=WalkSettings(seed=seed_that_says("UAU"))
    )
    assert classes(made) == "AAA"
    assert made.owed == (UNANSWERABLE, UNANSWERABLE)


def test_nothing_is_owed_where_nothing_is_asked() -> None:
    dialogue = script_of(["MAM"])
    made = walk(dialogue, {}, [], trial=0, settings=WalkSettings(seed=seed_that_says("U")))
    assert (made.asks, made.owed, made.shares) == ((), (), None)


def test_no_question_and_no_dated_variant_of_it_is_asked_twice() -> None:
    dialogue = script_of(["MAM"] * 6)
    questions = {key: question(key) for key in "ab"} | {"a:dated": question("a:dated", base="a", dated=True)}
    uses = [use(key, number) for key in questions for number in range(1, 7)]
    for trial in range(20):
        made = walk(dialogue, questions, uses, trial=trial)
        assert len(made.asks) == 2
        assert {ask.question[0] for ask in made.asks} == {"a", "b"}


def test_a_use_that_needs_a_later_turn_is_not_asked() -> None:
    dialogue = script_of(["MAMAM"])
    uses = [use("p", 1, since=3), use("q", 1, since=2)]
    questions = {key: question(key) for key in "pq"}
    for trial in range(60):
        ask = walk(dialogue, questions, uses, trial=trial).asks[0]
        assert (ask.use.since or 0) <= ask.point
    assert walk(dialogue, {"p": question("p")}, [use("p", 1, since=9)], trial=0).skipped == {1: "no_use"}


def test_a_past_form_does_not_name_the_current_date() -> None:
    day = Date(1995, 5, 3)
    dialogue = replace(
        script_of(["MAM", "MAM", "MAM"], dates={1: day, 2: day, 3: Date(1996)}),
        facts=(Fact("f1", "A", "boss", "B", session_id(1), status="accepted"),),
    )
    made = question("p", "tkg", facts=("f1",), forms=("past",))
    told = replace(question("q", "tkg", forms=("past",)), text="Who was A's boss on May 3rd, 1995?")
    for asked in (made, told):
        assert (
            walk(dialogue, {asked.id: asked}, [use(asked.id, 2, type="past")], trial=0).skipped[2] == "no_use"
        )
        assert (
            walk(dialogue, {asked.id: asked}, [use(asked.id, 3, type="past")], trial=0).asks[0].session == 3
        )
    current = replace(made, forms=("present",))
    assert walk(dialogue, {"p": current}, [use("p", 2, type="current")], trial=0).asks[0].session == 2


def test_the_other_source_is_asked_where_the_wanted_one_is_missing() -> None:
    dialogue = script_of(["MAM"])
    settings = WalkSettings(quiz=1)
    ask = walk(dialogue, {"k": question("k", "tkg")}, [use("k", 1)], trial=0, settings=settings).asks[0]
    assert (ask.drawn_source, ask.source) == ("quiz", "tkg")


def test_a_type_is_as_likely_as_another_however_many_uses_it_has() -> None:
    dialogue = script_of(["MAM"])
    questions = {key: question(key, "tkg") for key in "abcdefgh"}
    uses = [use(key, 1, type="past" if key == "a" else "current") for key in questions]
    types = Counter(walk(dialogue, questions, uses, trial=trial).asks[0].use.type for trial in range(400))
    assert abs(types["past"] - 200) < 3 * 10


def test_the_types_asked_can_be_chosen() -> None:
    dialogue = script_of(["MAM"])
    uses = [use("a", 1, type="past"), use("b", 1, type="current")]
    settings = WalkSettings(types=("past",))
    for trial in range(10):
        made = walk(dialogue, {key: question(key) for key in "ab"}, uses, trial=trial, settings=settings)
        assert made.asks[0].question == "a"


def test_several_questions_of_a_session_have_points_of_their_own_and_come_in_their_order() -> None:
    dialogue = script_of(["AMAMAMAMA"])
    questions, uses = everywhere(dialogue, "pqrstu")
    made = walk(dialogue, questions, uses, trial=3, settings=WalkSettings(per_session=2))
    points = [ask.point for ask in made.asks]
    assert len(set(points)) == 2
    assert points == sorted(points)
    single = walk(dialogue, questions, uses, trial=3).asks[0]
    assert single.point in points


def test_the_same_trial_asks_the_same_whatever_order_uses_come_in() -> None:
    dialogue, questions, uses = large(1, sessions=30, per_session=40)
    made = walk(dialogue, questions, uses, trial=2)
    assert walk(dialogue, list(questions.values())[::-1], uses[::-1], trial=2) == made
    named = tuple(replace(person, name=f"Name of {person.id}") for person in dialogue.participants)
    assert walk(replace(dialogue, participants=named), questions, uses, trial=2) == made
    assert walk(dialogue, questions, uses, trial=3) != made
    assert walk(dialogue, questions, uses, trial=2, settings=WalkSettings(seed=1)) != made


def test_a_use_of_an_unknown_question_is_refused() -> None:
    with pytest.raises(ValueError, match="no question 'p'"):
        walk(script_of(["MAM"]), {}, [use("p", 1)], trial=0)


@pytest.mark.exhaustive
def test_shares_and_letters_are_as_wanted() -> None:
    dialogue, questions, uses = large(0, sessions=400, per_session=600)
    offers = Offers(dialogue, questions, uses)
    asks = [
        ask for trial in range(13) for ask in walk_offers(offers, trial=trial, settings=WalkSettings()).asks
    ]
    n = len(asks)
    assert n >= 5000

    def within(share: float, wanted: float) -> bool:
        return abs(share - wanted) <= 3 * sqrt(wanted * (1 - wanted) / n)

    for letter in "ABCDE":
        assert within(sum(ask.use.key == letter for ask in asks) / n, 0.2)
    assert within(sum(ask.asked_class == UNANSWERABLE for ask in asks) / n, 0.2)
    assert within(sum(ask.source == "quiz" for ask in asks) / n, 0.3)


@pytest.mark.exhaustive
def test_the_achieved_shares_are_those_of_the_questions_asked() -> None:
    dialogue, questions, uses = large(0, sessions=100, per_session=200)
    made = walk(dialogue, questions, uses, trial=0)
    assert made.shares is not None
    assert sum(made.counts.values()) == len(made.asks)
    unanswerable = sum(not ask.use.answerable for ask in made.asks)
    assert made.shares["unanswerable"] == pytest.approx(unanswerable / len(made.asks))
    assert made.shares["quiz"] == pytest.approx(
        sum(questions[ask.question].source == "quiz" for ask in made.asks) / len(made.asks)
    )
