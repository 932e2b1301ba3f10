"""The share of a question's evidence that a prompt shows."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Script, Session
from suites.long_dialogue.scripts.answers import Extent, Moment, PromptContent, sufficiency
from suites.long_dialogue.scripts.sessions import Sessions

PRESENT = {1: "MA", 2: "MA", 3: "AB", 4: "MB"}
"""Who speaks in each session, two turns each; turns 2n - 2 and 2n - 1 are those of session n."""


ASKED = Moment(session=4, point=6)


def world() -> Sessions:
    turns = [
        Turn(speaker=speaker, text="...", session=f"s{number}")
        for number, speakers in PRESENT.items()
        for speaker in speakers
    ]
    script = Script("M", tuple(Session(f"s{number}", Date(1990 + number)) for number in PRESENT))
    people = tuple(Participant(id=who) for who in "MAB")
    return Sessions(Dialogue(id="d", turns=tuple(turns), participants=people, script=script))


def extent(
    evidence: Iterable[int],
    *,
    needs_all: bool = False,
    known: Iterable[int] = (),
    sessions: Iterable[int] = (),
    turns: Iterable[int] = (),
    asked: Moment = ASKED,
) -> Extent:
    shown = PromptContent(frozenset(sessions), frozenset(turns))
    return sufficiency(evidence, needs_all, known, shown, sessions=world(), moment=asked)


def test_one_session_suffices_where_one_suffices() -> None:
    assert extent([1, 2], sessions=[2]) == "sufficient"
    assert extent([1, 2], needs_all=True, sessions=[2]) == "partly"
    assert extent([1, 2], needs_all=True, sessions=[1, 2]) == "sufficient"
    assert extent([1, 2], sessions=[]) == "none"


def test_of_single_turns_the_known_evidence_is_needed() -> None:
    assert extent([1], known=[1], turns=[1]) == "sufficient"
    assert extent([1], known=[0, 1], turns=[1]) == "partly"
    assert extent([1], known=[1], turns=[0]) == "none"


def test_where_no_evidence_turns_are_known_all_that_was_heard_of_the_session_is_needed() -> None:
    assert extent([1], turns=[0, 1]) == "sufficient"
    assert extent([1], turns=[0]) == "partly"
    assert extent([1], known=[3], turns=[0, 1]) == "sufficient"  # known of another session alone


def test_two_facts_of_one_session_are_both_needed() -> None:
    assert extent([2], needs_all=True, known=[2, 3], turns=[2]) == "partly"
    assert extent([2], needs_all=True, known=[2, 3], turns=[2, 3]) == "sufficient"


@pytest.mark.parametrize("evidence", [[3], [5], []])
def test_what_was_not_heard_never_counts(evidence: list[int]) -> None:
    everything = range(len(world().dialogue.turns))
    assert extent(evidence, sessions=[3, 5], turns=everything, asked=Moment(4, 6)) == "none"


def test_the_running_session_counts_by_known_turns_up_to_the_point() -> None:
    assert extent([4], known=[6], sessions=[4]) == "sufficient"
    assert extent([4], known=[7], sessions=[4]) == "none"
    assert extent([4], known=[6, 7], sessions=[4]) == "partly"
    assert extent([4], sessions=[4]) == "partly"


def test_one_of_all_sessions_that_was_not_heard_leaves_the_evidence_partial() -> None:
    assert extent([2, 3], needs_all=True, sessions=[1, 2, 3]) == "partly"
