"""CoCoEval's judges: their prompts about a continuation, and strict parsing of replies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from judges.protocols import PROTOCOLS, Asking, Unparseable
from judges.protocols.cocoeval import BEHAVIOUR_KEYS as KEYS
from tests.judges.protocol_cases import behaviours_reply, case


def test_the_turns_decide_and_given_turns_are_not_judged() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    reply = behaviours_reply(repetition_turns=[2], repetition_count=1, repetition_explanation="again")
    reading = protocol.parse(f"```json\n{reply}\n```", case())
    assert len(reading.verdicts) == 3 * 10
    assert [(v.question, v.turn, v.explanation) for v in reading.verdicts if v.value] == [
        ("repetition", 2, "again")
    ]
    assert reading.flags == ()
    prompt = protocol.prompt(case(), "").user
    assert "[not judged] Ben: Hm." in prompt
    assert "[2] Speaker 3: Yes, gladly." in prompt


def test_a_count_that_contradicts_the_turns_is_flagged() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    reading = protocol.parse(behaviours_reply(off_topic_turns=[1, 3, 3], off_topic_count=3), case())
    assert reading.flags == ("off_topic: the count 3 contradicts the 2 turns named",)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"repetition_turns": [4]}, "there is no turn 4; the turns are 1 to 3"),
        ({"repetition_turns": [0]}, "there is no turn 0"),
        ({"repetition_turns": ["one"]}, "is not a turn number"),
        ({"repetition_turns": [True]}, "is not a turn number"),
        ({"repetition_turns": "1"}, "missing or no list"),
        ({"repetition_count": 4}, "4 is not between 0 and 3"),
        ({"repetition_count": -1}, "-1 is not between"),
        ({"repetition_count": 1.0}, "is not a whole number"),
        ({"repetition_count": None}, "is not a whole number"),
        ({"repetition_explanation": 3}, "missing or no text"),
    ],
)
def test_a_reply_about_behaviours_is_read_strictly(changes: dict[str, Any], why: str) -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    with pytest.raises(Unparseable, match=why):
        protocol.parse(behaviours_reply(**changes), case())


def test_a_field_that_is_there_twice_is_refused() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    with pytest.raises(Unparseable, match="repetition_count is there twice"):
        protocol.parse(behaviours_reply()[:-1] + ', "repetition_count": 1}', case())


def test_the_schema_asks_for_exactly_the_fields_that_are_read() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    schema = protocol.prompt(case(), "").schema
    assert schema is not None
    assert set(schema["required"]) == set(json.loads(behaviours_reply()))


def overall_reply(**changes: Any) -> str:
    fields = {"consistency_explanation": "turn 2", "consistency": 7}
    fields |= {"collaborativeness_explanation": "", "collaborativeness": 10}
    return json.dumps(fields | changes)


def test_overall_scores_are_about_the_continuation_and_a_lost_point_has_a_reason() -> None:
    protocol = PROTOCOLS["cocoeval_overall"]
    assert isinstance(protocol, Asking)
    reading = protocol.parse(overall_reply(), case(protocol=protocol))
    assert [(v.question, v.turn, v.value, v.explanation) for v in reading.verdicts] == [
        ("consistency", None, 7.0, "turn 2"),
        ("collaborativeness", None, 10.0, ""),
    ]
    assert reading.flags == ()
    silent = protocol.parse(overall_reply(collaborativeness=9), case(protocol=protocol))
    assert silent.flags == ("no_reason: nothing is said of what cost collaborativeness",)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"consistency": 7.5}, "is not a whole number"),
        ({"consistency": 7.0}, "is not a whole number"),
        ({"consistency": "7.5"}, "is not a whole number"),
        ({"consistency": True}, "is not a whole number"),
        ({"consistency": 0}, "0 is not on the scale 1 to 10"),
        ({"consistency": 11}, "11 is not on the scale 1 to 10"),
        ({"consistency_explanation": 3}, "missing or no text"),
        ({"consistency_explanation": "x" * 10_001}, "10,001 characters"),
    ],
)
def test_an_overall_score_is_a_whole_number_from_1_to_10(changes: dict[str, Any], why: str) -> None:
    protocol = PROTOCOLS["cocoeval_overall"]
    assert isinstance(protocol, Asking)
    with pytest.raises(Unparseable, match=why):
        protocol.parse(overall_reply(**changes), case(protocol=protocol))


def test_the_overall_prompt_has_the_bands_of_the_scheme_and_the_numbered_turns() -> None:
    protocol = PROTOCOLS["cocoeval_overall"]
    assert isinstance(protocol, Asking)
    prompt = protocol.prompt(case(protocol=protocol), "")
    assert "- 1 to 2: Logic fails badly" in prompt.user
    assert "- 10: Complete:" in prompt.user
    assert "[2] Speaker 3: Yes, gladly." in prompt.user
    assert prompt.schema is not None
    assert prompt.schema["properties"]["consistency"]["enum"] == list(range(1, 11))


@pytest.mark.parametrize("key", ["cocoeval_behaviours", "cocoeval_overall"])
def test_static_continuations_are_no_one_conversation(key: str) -> None:
    protocol = PROTOCOLS[key]
    static = replace(case(protocol=PROTOCOLS["cpdscore_simple"]), turn=None)
    for variant in protocol.variants:
        assert "not one conversation" in protocol.unavailable_reason(static, variant)
        assert protocol.unavailable_reason(case(protocol=protocol), variant) == ""


def test_one_behaviour_a_call_asks_for_that_one_alone() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    assert protocol.parts("") == ("",)
    assert protocol.parts("one_behaviour") == KEYS
    asked = replace(case(), part="off_topic")
    prompt = protocol.prompt(asked, "one_behaviour")
    assert "- off_topic (uncollaborative):" in prompt.user
    assert "repetition" not in prompt.user
    assert prompt.schema is not None
    assert list(prompt.schema["properties"]) == [
        "off_topic_explanation",
        "off_topic_turns",
        "off_topic_count",
    ]
    reply = json.dumps({"off_topic_explanation": "x", "off_topic_turns": [1], "off_topic_count": 1})
    assert {v.question for v in protocol.parse(reply, asked).verdicts} == {"off_topic"}
    assert {v.question for v in protocol.unanswered(asked, "why").verdicts} == {"off_topic"}


def test_the_papers_field_names_for_interruptions_are_read_too() -> None:
    protocol = PROTOCOLS["cocoeval_behaviours"]
    assert isinstance(protocol, Asking)
    ours = behaviours_reply(interruption_turns=[2], interruption_count=1, interruption_explanation="x")
    theirs = ours.replace('"interruption_', '"interruptions_')
    assert protocol.parse(theirs, case()) == protocol.parse(ours, case())
    with pytest.raises(Unparseable, match="interruption_count is there twice, also as interruptions_count"):
        protocol.parse(ours[:-1] + ', "interruptions_count": 1}', case())
