"""Every use in small random worlds, against a walk through their turns that remembers what was heard."""

from __future__ import annotations

from dataclasses import replace
from datetime import date as Day
from datetime import timedelta
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.records import Dialogue
from annotation.script_records import Date, Fact, Question
from suites.long_dialogue.scripts.making import MadeSet, make
from tests.suites.long_dialogue.worlds import FILLERS, MAIN, said, script

Stand = tuple[tuple[str, ...], str, bool]
"""Forms, type, and whether there is an answer."""
DATED = {"boss", "roommate", "dating with", "job"}
SEVERAL = {"subordinate", "roommate", "brother"}
REVERSED = {
    "boss": ["subordinate"],
    "subordinate": ["boss"],
    "roommate": ["roommate"],
    "dating with": ["dating with"],
    "brother": ["brother", "sister"],
}
RELATIONS = ("boss", "roommate", "mother", "job", "brother", "subordinate", "dating with")
PEOPLE = ("Ana", "Ben", "Cara", "Dora")
DATES = ("1994", "1995", "1995-05", "1995-05-03", "1995-05-03", "1995-06-01", "1996-01-05", "1996")


@st.composite
def worlds(draw: st.DrawFn) -> Dialogue:
    """Return a script of a few sessions with facts, some whispered or said without the main character."""
    dates = draw(st.lists(st.sampled_from(DATES), min_size=2, max_size=6))
    if draw(st.booleans()):
        dates.sort()
    sessions = [(date, draw(st.sampled_from(["am", "mbm", "ab", "abmc", "abc"]))) for date in dates]
    world = script(sessions)
    turns = tuple(
        replace(turn, audience=draw(st.sampled_from([None, None, ("cara",)]))) for turn in world.turns
    )
    relations = draw(st.lists(st.sampled_from(RELATIONS), min_size=1, max_size=3, unique=True))
    facts = [draw(_fact(world, key, relations)) for key in range(draw(st.integers(1, 7)))]
    return replace(world, turns=turns, facts=(*FILLERS, *facts))


@st.composite
def _fact(draw: st.DrawFn, world: Dialogue, key: int, relations: list[str]) -> Fact:
    relation = draw(st.sampled_from(relations))
    tails = ("smith", "poet") if relation == "job" else PEOPLE
    number = draw(st.integers(1, len(world.script.sessions)))
    places = [place for place, turn in enumerate(world.turns) if turn.session == f"s{number:03}"]
    turns = draw(st.lists(st.sampled_from(places), unique=True, max_size=2))
    status = draw(st.sampled_from(["accepted", "accepted", "accepted", "draft", "corrected"]))
    text = f"{draw(st.sampled_from(PEOPLE))}, {relation}, {draw(st.sampled_from(tails))}"
    return said(text, number, *sorted(turns), key=f"f{key}", status=status)


@cache
def days(date: Date) -> frozenset[Day]:
    """All days that a date can mean."""
    year = (Day(date.year, 1, 1) + timedelta(days=n) for n in range(366))
    return frozenset(
        day
        for day in year
        if day.year == date.year and date.month in (None, day.month) and date.day in (None, day.day)
    )


class Walk:
    """A main character that walks through a script's turns up to a place and remembers what it heard."""

    def __init__(self, world: Dialogue, presence: bool, place: int) -> None:
        self.world, self.presence, self.place = world, presence, place
        self.facts = [fact for fact in world.facts if fact.status == "accepted"]
        self.now = self.number(world.turns[place].session)
        self.there = {self.number(turn.session) for turn in world.turns if turn.speaker == MAIN}
        self.heard = {at for at in range(place + 1) if self.hears(at)}

    @staticmethod
    def number(session: str) -> int:
        return int(session[1:])

    def hears(self, at: int) -> bool:
        turn = self.world.turns[at]
        audible = turn.audience is None or MAIN in (turn.speaker, *turn.audience)
        return not self.presence or (audible and self.number(turn.session) in self.there)

    def date(self, fact: Fact | None) -> Date:
        number = self.now if fact is None else self.number(fact.session)
        return self.world.script.sessions[number - 1].date

    def known(self, fact: Fact) -> bool:
        if fact.turns:
            return set(fact.turns) <= self.heard
        number = self.number(fact.session)
        return number < self.now and (not self.presence or number in self.there)

    def may_know(self, head: str, relation: str) -> bool:
        return any(
            self.number(fact.session) <= self.now
            and (any(map(self.hears, fact.turns)) if fact.turns else self.hears_session(fact))
            for fact in self.facts
            if (fact.head, fact.relation) == (head, relation)
            or (fact.tail == head and relation in REVERSED.get(fact.relation, ()))
        )

    def hears_session(self, fact: Fact) -> bool:
        return not self.presence or self.number(fact.session) in self.there

    def said_of(self, head: str, relation: str) -> list[tuple[str, Date]]:
        direct = [(f.tail, self.date(f)) for f in self.facts if (f.head, f.relation) == (head, relation)]
        back = [f for f in self.facts if f.tail == head and REVERSED.get(f.relation) == [relation]]
        return direct + [(fact.head, self.date(fact)) for fact in back]

    def right(self, head: str, fact: Fact) -> set[str]:
        """The tails of a head that hold when a fact does."""
        dated = fact.relation in DATED
        return {t for t, d in self.said_of(head, fact.relation) if not dated or d == self.date(fact)}

    def ambiguous(self, fact: Fact) -> bool:
        return fact.relation not in SEVERAL and len(self.right(fact.head, fact)) > 1

    def stand(self, fact: Fact) -> Stand | None:
        """The table of section 3, for one hop."""
        then, now = days(self.date(fact)), days(self.date(None))
        earlier, later = max(then) < min(now), min(then) > max(now)
        same = self.date(fact) == self.date(None)
        dated = fact.relation in DATED
        form = "undated" if not dated else "present" if same else "past" if earlier else ""
        if self.known(fact):
            kind = {"undated": "undated", "present": "current", "past": "past", "": ""}[form]
            return ((form,), kind, True) if form else None
        if self.may_know(fact.head, fact.relation):
            return None
        number = self.number(fact.session)
        if number > self.now:
            return (("present" if dated else "undated",), "future", False) if later else None
        return ((form,), "unheard", False) if form and number < self.now else None

    def two(self, first: Fact, second: Fact) -> Stand | None:
        one, other = self.stand(first), self.stand(second)
        if one is None or other is None or not (one[2] or other[2]):
            return None
        if not other[2] and first.relation in SEVERAL:
            told = self.said_of(first.head, first.relation)
            maybe = {
                f.head
                for f in self.facts
                if f.tail == first.head and first.relation in REVERSED.get(f.relation, ())
            }
            if any(self.may_know(person, second.relation) for person in {t for t, _ in told} | maybe):
                return None
        return one[0] + other[0], f"{one[1]}_{other[1]}", one[2] and other[2]

    def expected(self) -> set[tuple[tuple[str, ...], Stand]]:
        uses = {((f.id,), self.stand(f)) for f in self.facts if f.tail != f.head and not self.ambiguous(f)}
        for first, second in product(self.facts, self.facts):
            linked = first.tail == second.head and first.relation != "job" and second.tail != first.head
            if linked and not self.ambiguous(first) and not self.ambiguous(second):
                uses.add(((first.id, second.id), self.two(first, second)))
        return {(facts, stand) for facts, stand in uses if stand is not None}


def offered(result: MadeSet, session: str, place: int) -> list[tuple[tuple[str, ...], Stand]]:
    questions = {question.id: question for question in result.questions}
    return [
        (question.facts, (question.forms, use.type, use.answerable))
        for use in result.set.uses
        if use.session == session and (use.since is None or use.since <= place)
        for question in (questions[use.question],)
    ]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(worlds(), st.booleans())
def test_every_use_of_facts_is_what_was_heard_by_then(world: Dialogue, presence: bool) -> None:
    result = make(world, name="set", seed=0, presence=presence)
    assert "too few distractors" not in result.dropped
    for place, turn in enumerate(world.turns):
        walk = Walk(world, presence, place)
        uses = offered(result, turn.session, place)
        assert len(uses) == len(set(uses))
        assert set(uses) == (walk.expected() if walk.now in walk.there else set()), place


@pytest.mark.exhaustive
@settings(max_examples=150, deadline=None, derandomize=True)
@given(worlds())
def test_answers_and_choices_are_what_the_facts_say(world: Dialogue) -> None:
    walk = Walk(world, True, 0)
    by_id = {fact.id: fact for fact in world.facts}
    for question in make(world, name="set", seed=0).questions:
        *before, last = (by_id[key] for key in question.facts)
        people = walk.right(before[0].head, before[0]) if before else {last.head}
        right = set().union(*(walk.right(person, last) for person in people))
        assert set(question.answers) == right
        assert len(set(question.choices)) == 4
        assert set(question.choices) & right == {question.answer} == {last.tail}
        if last.relation in SEVERAL:
            tails = {tail for tail, _ in walk.said_of(last.head, last.relation)}
            assert not (set(question.choices) - {question.answer}) & tails


@pytest.mark.exhaustive
@settings(max_examples=150, deadline=None, derandomize=True)
@given(worlds(), st.data())
def test_every_use_of_a_quiz_question_is_what_was_heard_by_then(world: Dialogue, data: st.DataObject) -> None:
    numbers = range(1, len(world.script.sessions) + 1)
    evidence = data.draw(st.sets(st.sampled_from(numbers), min_size=1, max_size=3))
    needed = data.draw(st.booleans())
    ids = tuple(f"s{number:03}" for number in sorted(evidence))
    quiz = Question("q", "quiz", "What?", ("a", "b", "c", "d"), "b", ids, needed, status="accepted")
    result = make(world, name="set", seed=0, facts=(), questions=[quiz])
    uses = {use.session: use for use in result.set.uses if use.question == "q"}
    heard: set[int] = set()
    there = {int(turn.session[1:]) for turn in world.turns if turn.speaker == MAIN}
    for t in numbers:
        use = uses.get(f"s{t:03}")
        told = use.type if use else None
        assert told == (expected_quiz(evidence, there, heard, needed, t) if t in there else None)
        heard |= {t} & there
    variants = {use.session: use.answerable for use in result.set.uses if use.question != "q"}
    dates = {session.id: days(session.date) for session in world.script.sessions}
    named = max((dates[key] for key in ids), key=lambda each: (max(each), min(each)))
    assert variants == {
        key: use.answerable
        for key, use in uses.items()
        if use.type != "before_event_unans" and not max(dates[key]) < min(named)
    }


def expected_quiz(evidence: set[int], there: set[int], heard: set[int], needed: bool, t: int) -> str | None:
    """Return a quiz question's type in a session, from what was heard before it; None where it is unclear."""
    if not evidence & there:
        return "dont_know_unans"
    if needed and not evidence <= there:
        return None
    if evidence <= heard if needed else evidence & heard:
        return "ans_wo_time"
    decides = max(evidence) == t if needed else t in evidence
    return None if decides else "before_event_unans"
