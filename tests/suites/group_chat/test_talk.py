"""The agent's share of talk counts its decision, its scripted turns and its own earlier decisions."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from annotation.records import Continuation
from annotation.scenario_records import Decision
from judges.metrics import METRICS, Tools, score_continuation
from judges.metrics.kit.instrument import parse_key
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import evenness_of_talk, share_of_talk, talk_until
from tests.suites.group_chat.scripts import chat

FREE = {"free": True}
SCRIPT = chat(
    ("ana", "one two three"),
    ("kit", "four"),
    ("bo", "five six"),
    {"speaker": "cy", "text": "👍", "act": "reaction"},
    ("ana", "seven"),
    keys={"4": FREE},
)
"""Four messages of seven words; Cy has only reacted."""
SAYS = Decision(4, "message", "eight nine ten")
SILENT = Decision(4, "silence")


def test_the_decision_counts_and_scripted_turns_do() -> None:
    assert share_of_talk(SCRIPT, SAYS, {}) == Fraction(2, 5)
    assert share_of_talk(SCRIPT, SILENT, {}) == Fraction(1, 4)
    assert share_of_talk(SCRIPT, SAYS, {}, in_words=True) == Fraction(4, 10)


def test_earlier_decisions_count_at_their_places_silences_and_reactions_do_not() -> None:
    earlier = {0: Decision(0, "message", "zero"), 2: Decision(2, "reaction", "👍")}
    assert share_of_talk(SCRIPT, SAYS, earlier) == Fraction(3, 6)
    assert share_of_talk(SCRIPT, SAYS, earlier, window=4) == Fraction(2, 4)
    assert share_of_talk(SCRIPT, SAYS, earlier, window=5) == Fraction(3, 5)


def test_only_the_last_messages_count() -> None:
    assert share_of_talk(SCRIPT, SAYS, {}, window=1) == 1
    assert talk_until(SCRIPT, SAYS, {}, window=3) == {"kit": 1, "ana": 1, "bo": 1}


def test_evenness_counts_those_who_say_nothing() -> None:
    assert evenness_of_talk(SCRIPT, SAYS, {}, window=1) == 0
    assert evenness_of_talk(SCRIPT, SAYS, {}, window=3) == pytest.approx(log(3) / log(4))
    everybody = chat(("ana", "a"), ("bo", "b"), ("cy", "c"))
    assert evenness_of_talk(everybody, Decision(2, "message", "d"), {}) == pytest.approx(1)


def test_the_metrics_read_them_off_a_decision() -> None:
    turns = tuple(turn_of(one, "kit", SCRIPT.turns[one.point]) for one in (Decision(0, "silence"), SAYS))
    made = Continuation("kit-1", "kit", turns, mode="static")
    keys = ("talk_share", "talk_share@words", "talk_evenness:last=3")
    found = {
        (instrument.metric.key, instrument.variant, turn): score.value
        for instrument, turn, score in score_continuation(
            [parse_key(key, METRICS) for key in keys], SCRIPT, made, Tools()
        )
    }
    assert sorted(value for (*_, turn), value in found.items() if turn == 1) == pytest.approx(
        [0.4, 0.4, log(3) / log(4)]
    )
    assert sorted(value for (*_, turn), value in found.items() if turn == 0) == [0, 0, 0]
