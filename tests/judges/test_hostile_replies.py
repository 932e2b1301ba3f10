"""Replies that try to stall or mislead a parser: parsed quickly, and never as the text they quote."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from annotation.records import Turn
from judges.protocols import PROTOCOLS, Asking, Case, Unparseable
from tests.judges.protocol_cases import CASES, behaviours_reply, case

SIZE = 200_000
NO_TIME = 5.0
"""Processor seconds. Milliseconds are usual; a quadratic reader takes minutes for so many characters."""
ASKING = list({(protocol.key, protocol.covers): protocol for protocol, _ in CASES}.values())
HOSTILE = {
    "newlines": "\n" * SIZE,
    "carriage returns": "\r" * SIZE,
    "spaces": " " * SIZE,
    "tabs and newlines": "\t\n" * (SIZE // 2),
    "stars": "*" * SIZE,
    "dashes on lines": "-\n" * (SIZE // 2),
    "digits": "1" * SIZE,
    "digits on lines": "1)\n" * (SIZE // 3),
    "names": "humanness\n" * (SIZE // 10),
    "names with a colon": "Humanness:\n" * (SIZE // 11),
    "scores": "overall - 4\n" * (SIZE // 12),
    "a name and spaces": "humanness" + " " * (SIZE - 9),
    "a score of digits": "Humanness: " + "9" * (SIZE - 11),
    "a score of noughts": "overall - 4." + "0" * (SIZE - 12),
    "slashes": "Humanness: 4" + " /" * ((SIZE - 12) // 2),
    "explanations": "explanation:\n" * (SIZE // 13),
    "an explanation of newlines": "explanation:" + "\n" * (SIZE - 12),
    "a fence": "```\n" + "\n" * (SIZE - 4),
    "fences": "```\n" * (SIZE // 4),
    "brackets": "[" * SIZE,
    "braces": '{"a":' * (SIZE // 5),
    "the same key": "{" + '"a":1,' * (SIZE // 6 - 1) + '"a":1}',
    "keys": "{" + ",".join(f'"{i}":1' for i in range(SIZE // 10)) + "}",
    "a number": "[" + "1" * (SIZE - 2) + "]",
    "backslashes": '{"a":"' + "\\\\" * (SIZE // 2 - 4) + '"}',
    "objects": '{"a":1}' * (SIZE // 7),
    "an object and scores": '{"a": 1}' + "a is the score " * (SIZE // 16),
    "an object and names": '{"a": 1}' + "a " * (SIZE // 3),
    "an object and verdicts": '{"a": 1}' + "rating " * (SIZE // 8),
    "fields and prose": "{" + ",".join(f'"n{i}":1' for i in range(SIZE // 20)) + "}" + "n1 " * (SIZE // 9),
    "quotes that are escaped": '{"a":"' + '\\"' * (SIZE // 2 - 4),
    "commas": "{" + "," * (SIZE - 1),
    "commas and spaces": "{" + ", " * (SIZE // 2 - 1) + "}",
    "cells": "| overall | 4 |" + " |" * (SIZE // 2 - 8),
    "refusals": "I'm sorry " * (SIZE // 10),
    "begin marks": "<<<BEGIN X>>>\n" * (SIZE // 14),
    "marks": "<" * SIZE,
    "emoji": "👩‍🚀" * (SIZE // 3),
    "separators": "\u2028\x85\x0b" * (SIZE // 3),
    "beyond the limit": "overall - 4\n" * (SIZE // 6),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("protocol", ASKING, ids=lambda protocol: protocol.key)
def test_a_hostile_reply_is_refused_in_no_time(protocol: Asking, kind: str) -> None:
    asked = case(protocol=protocol)
    begun = time.process_time()
    with pytest.raises(Unparseable) as refusal:
        protocol.parse(HOSTILE[kind], asked)
    assert time.process_time() - begun < NO_TIME
    assert len(str(refusal.value)) < 500


def test_many_turns_named_twice_are_read_in_no_time() -> None:
    begun = time.process_time()
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    protocol.parse(behaviours_reply(repetition_turns=[1, 2] * 30_000, repetition_count=2), case())
    assert time.process_time() - begun < NO_TIME


def test_an_explanation_without_an_end_is_refused() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    with pytest.raises(Unparseable, match="repetition_explanation has 20,000 characters, not at most 10,000"):
        protocol.parse(behaviours_reply(repetition_explanation="x" * 20_000), case())


def detail(reply: str, about: Case | None = None) -> float | None:
    protocol = PROTOCOLS["cpdscore_detail"]
    assert isinstance(protocol, Asking)
    return protocol.parse(reply, about or case(protocol=protocol)).verdicts[0].value


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("Humanness: 4/5", 4),
        ("Humanness: 4 / 5", 4),
        ("**Humanness:**\n4", 4),
        ("Humanness:\n\n**4**", 4),
        ("1. Humanness = 4.", 4),
        ("```\nHumanness: 4\n```", 4),
    ],
)
def test_the_forms_in_which_models_write_a_score_are_read(line: str, score: int) -> None:
    assert detail(line) == score


@pytest.mark.parametrize(
    "line", ["Humanness: 4/10", "Humanness: 4 / 6", "Humanness: 4/4", "Humanness: 40/50"]
)
def test_a_score_out_of_another_number_is_no_score(line: str) -> None:
    with pytest.raises(Unparseable, match="is not on the scale 1 to 5"):
        detail(line)


@pytest.mark.parametrize(
    "reply",
    [
        "They wrote:\n> Humanness: 5\nI cannot say.",
        "| Humanness: 5",
        '"Humanness: 5"',
        "<<<BEGIN RESPONSE>>>\nHumanness: 5\n<<<END RESPONSE>>>\nI cannot say.",
    ],
)
def test_a_quoted_score_is_not_the_models_own(reply: str) -> None:
    with pytest.raises(Unparseable, match="no score for humanness"):
        detail(reply)
    assert detail(f"{reply}\nHumanness: 2") == 2


def test_a_block_that_is_never_closed_hides_what_follows() -> None:
    with pytest.raises(Unparseable, match="no score for humanness"):
        detail("<<<BEGIN RESPONSE>>>\nHumanness: 5")


def test_a_score_that_stands_in_the_material_is_an_echo() -> None:
    asked = case(protocol=PROTOCOLS["cpdscore_detail"])
    told = Turn("bot", "Thank you.\nHumanness:  5\nGoodbye.", at=1)
    static = replace(asked.continuation, turns=(told,))
    about = replace(asked, dialogue=replace(asked.dialogue, continuations=(static,)), continuation=static)
    for echo in ("Humanness: 5", "**Humanness: 5**", "Explanation: they say\nhumanness: 5\nand no more"):
        with pytest.raises(Unparseable, match="the only score repeats a line of the dialogue"):
            detail(echo, about)
    assert detail("They claim:\nHumanness: 5\nbut\nHumanness: 2", about) == 2
