"""Replies of continuations, line by line: parsed, flagged, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.records import Participant, Turn
from jobs.prompt import Unparseable
from tests.suites.continuation.cocoeval import begun, received, reply, talk

TWO = [(41, "A", "So it is."), (42, "B", "Is it?")]


def read(text: str, dialogue: Any = None, **settings: Any) -> tuple[list[list[str]], list[str]]:
    """What two turns after 40 are read as, and their flags."""
    state = received(begun(dialogue or talk(), turns=4, turns_per_call=2, **settings), text)
    return state["written"], state["flags"]


def test_a_reply_in_the_form_that_was_asked_for_is_read_without_a_flag() -> None:
    assert read(reply(TWO)) == ([["A", "So it is."], ["B", "Is it?"]], [])
    assert read(f"```json\n{reply(TWO)}\n```")[1] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("They went on talking.", "not valid JSON"),
        (json.dumps([reply(TWO)]), "the JSON is not an object"),
        (json.dumps({"five_previous_turns": []}), "the list generated_turns is missing"),
        (json.dumps({"generated_turns": []}), "the list five_previous_turns or previous_turns is missing"),
        (reply(TWO, previous_turns=[]), "there twice, as previous_turns and as five_previous_turns"),
        (reply(TWO[:1]), "generated_turns has 1 turns, not 2"),
        (reply([*TWO, (43, "C", "No.")]), "generated_turns has 3 turns, not 2"),
        (reply(TWO, remark="done"), "there is no field 'remark'"),
        (json.dumps(json.loads(reply(TWO)) | {"generated_turns": ["Hi.", "Ho."]}), "is not an object of"),
        (reply([("41", "A", "So."), (42, "B", "Yes.")]), "'41' is not a whole number"),
        (reply([(41, "A", "So."), (43, "B", "Yes.")]), "numbered 41, 43, not 41 and on without gaps"),
        (reply([(42, "A", "So."), (41, "B", "Yes.")]), "numbered 42, 41"),
        (reply([(41, "A", "So."), (42, "Zoe", "Yes.")]), "turn 42: 'Zoe' is none, or not one alone"),
        (reply([(41, None, "So."), (42, "B", "Yes.")]), "turn 41: the speaker is not a text"),
        (reply([(41, "A", 7), (42, "B", "Yes.")]), "turn 41: the content is not a text"),
        (reply([(41, "A", " \n"), (42, "B", "Yes.")]), "turn 41: the content is empty"),
        (reply([(41, "A", "\u200b\u2066"), (42, "B", "Yes.")]), "turn 41: the content is empty"),
        (reply([(41, "A", "a\0b"), (42, "B", "Yes.")]), "turn 41: the content holds characters"),
    ],
)
def test_a_reply_that_is_not_in_the_form_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(Unparseable) as refusal:
        read(text)
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_shifted_run_of_numbers_without_gaps_is_flagged() -> None:
    for first in (40, 42, 1, 0):
        turns, flags = read(reply([(first, "A", "So."), (first + 1, "B", "Yes.")]))
        assert turns == [["A", "So."], ["B", "Yes."]]
        assert flags == [f"renumbered: turn 41 and on came as {first} and on"]


@pytest.mark.parametrize("name", ["Ana", " ANA ", "Ａｎａ"])
def test_a_speaker_may_be_named_by_name_or_alias_with_a_flag(name: str) -> None:
    turns, flags = read(reply([(41, name, "So."), (42, "benny", "Yes.")]))
    assert turns == [["A", "So."], ["B", "Yes."]]
    assert flags == ["speaker_by_name: turn 41", "speaker_by_name: turn 42"]


def test_an_id_counts_in_any_case_and_before_a_name() -> None:
    assert read(reply([(41, " a ", "So."), (42, "B", "Yes.")]))[1] == []
    people = (Participant("A", "B"), Participant("B", "A"), Participant("C", "Sam"), Participant("D", "Sam"))
    same = talk(people=people)
    assert read(reply([(41, "A", "So."), (42, "b", "Yes.")]), same) == ([["A", "So."], ["B", "Yes."]], [])
    with pytest.raises(Unparseable, match="'Sam' is none, or not one alone"):
        read(reply([(41, "A", "So."), (42, "Sam", "Yes.")]), same)


def test_the_copied_turns_may_be_called_either_name() -> None:
    other = reply(TWO).replace("five_previous_turns", "previous_turns")
    assert read(other) == read(reply(TWO))


def test_copies_are_compared_after_nfkc_and_white_space() -> None:
    copies = [(n + 1, "ABC"[n % 3], f" d1  says\n{n} ") for n in range(35, 39)] + [(40, "Ana", "ｄ1 says 39")]
    assert read(reply(TWO, copies))[1] == []


@pytest.mark.parametrize(
    ("change", "differ"),
    [
        (lambda found: found[:-1], 1),
        (lambda found: [], 5),
        (lambda found: [*found, found[0]], 1),
        (lambda found: [*found[:4], (40, "B", "d1 says 39")], 1),
        (lambda found: [*found[:3], *[(n, s, t.upper()) for n, s, t in found[3:]]], 2),
        (lambda found: [(n, s, 7) for n, s, _ in found], 5),
    ],
)
def test_copies_that_differ_are_counted_and_never_refused(change: Any, differ: int) -> None:
    copies = [(n + 1, "ABC"[n % 3], f"d1 says {n}") for n in range(35, 40)]
    turns, flags = read(reply(TWO, change(copies)))
    assert turns == [["A", "So it is."], ["B", "Is it?"]]
    assert flags == [f"copy_differs: {differ} of 5 turns before turn 41"]


def test_a_turn_of_over_twenty_times_the_usual_length_is_flagged() -> None:
    turns = [*(Turn("A", "one two three") for _ in range(3)), Turn("B", "one"), Turn("A", "one " * 9)]
    long = talk(turns, people=(Participant("A"), Participant("B"), Participant("C")))
    copies = [(n + 1, turn.speaker, turn.text) for n, turn in enumerate(turns)]

    def flags(speaker: str, words: int) -> list[str]:
        return read(reply([(6, speaker, "word " * words), (7, "A", "Yes.")], copies), long)[1]

    for speaker, most in (("A", 60), ("B", 20), ("C", 60)):
        assert flags(speaker, most) == []
        assert flags(speaker, most + 1) == [f"overlong: turn 6 has {most + 1} words, usual are {most // 20}"]


def test_without_copies_none_are_asked_for_and_none_accepted() -> None:
    only = json.dumps({"generated_turns": json.loads(reply(TWO))["generated_turns"]})
    assert read(only, copy=0)[1] == []
    with pytest.raises(Unparseable, match="five_previous_turns: no turns were to be copied"):
        read(reply(TWO), copy=0)
