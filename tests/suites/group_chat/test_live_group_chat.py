"""Live chat: people are simulated, the agent decides at every message, and outcomes are computed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from annotation.records import Continuation, Dialogue
from jobs.prompt import Prompt
from judges.metrics import Tools, instrument_for
from judges.metrics.kit.instrument import score_continuation
from suites.continuation.generators import Done
from suites.group_chat.scenarios.points import scenario_of
from suites.group_chat.scenarios.probes import LIVE_PROBE, OUTCOME, is_met
from tests.suites.continuation.driving import driven, fake
from tests.suites.group_chat.scripts import chat

QUIET = {
    "id": "q1",
    "kind": "quiet_participant",
    "when": {"quiet": "cy", "turns": 4},
    "key": {"attend": 1, "speak": {"message": 1}, "target": {"contains": ["cy"]}},
}
SECRET = {
    "id": "s1",
    "owner": "ana",
    "known_to": ["ana", "kit"],
    "since": 0,
    "canaries": ["surprise"],
    "text": "there is a surprise for Bo",
}


def script(**fields: object) -> Dialogue:
    return chat(
        {"speaker": "ana", "text": "We plan a surprise for Bo.", "audience": ["kit"], "addressees": ["kit"]},
        ("bo", "Where shall we eat?"),
        ("cy", "I am fine with anything."),
        keys={"0": {"free": True}},
        metadata={"outcome": {"question": "Where will you eat?", "options": ["the harbour", "the market"]}},
        **fields,
    )


def silent(prompt: Prompt) -> str:
    """Answer as a silent agent among people who always say something, who like the market."""
    if "<<<BEGIN OPTIONS>>>" in prompt.user:
        is_bo = prompt.user.partition("<<<BEGIN PERSON>>>\n| ")[2].startswith("Bo")
        return json.dumps({"choice": "The  market" if is_bo else "the harbour"})
    if "<<<BEGIN PERSON>>>" in prompt.user:
        return json.dumps({"says": "And then?"})
    return json.dumps(
        {"attend": False, "act": "silence", "addressed": [], "targets": [], "ground": "none", "text": ""}
    )


def talking(text: str, target: str):
    """Answer as an agent that always says one thing to one person."""

    def answer(prompt: Prompt) -> str:
        if "<<<BEGIN YOU>>>" not in prompt.user:
            return silent(prompt)
        told = {
            "attend": True,
            "act": "message",
            "addressed": ["kit"],
            "targets": [target],
            "ground": "answer",
        }
        return json.dumps(told | {"text": text})

    return answer


def score(done: Done, dialogue: Dialogue, key: str) -> float | None:
    made = Continuation("live-0", "kit", done.turns, "rollout")
    ((_, _, found),) = score_continuation(
        [instrument_for(key)], replace(dialogue, continuations=(made,)), made, Tools()
    )
    assert found.value is None or found.flags == ("unvalidated_simulator",)
    return found.value if not isinstance(found.value, str) else None


def test_without_a_message_of_the_agent_the_people_go_on_for_so_many_turns() -> None:
    done, _ = driven("group_chat_live", script(), silent, {"after": 3})
    people = [turn for turn in done.turns if turn.given]
    assert [turn.speaker for turn in people] == ["ana", "bo", "cy"]
    assert all(turn.act == "silence" for turn in done.turns if not turn.given)
    assert done.flags == ("unvalidated_simulator",)


def test_a_message_of_the_agent_starts_their_turns_anew_until_the_talk_is_full() -> None:
    done, _ = driven("group_chat_live", script(), talking("Bo, the harbour?", "bo"), {"after": 2, "most": 9})
    assert len(done.turns) == 9
    assert [turn.speaker for turn in done.turns[:4]] == ["kit", "bo", "kit", "bo"]


def test_nobody_sees_what_was_private_to_others() -> None:
    _, prompts = driven("group_chat_live", script(), silent, {"after": 3})
    for prompt in prompts:
        person = prompt.user.partition("<<<BEGIN PERSON>>>\n| ")[2].split("\n")[0]
        assert ("surprise" in prompt.user.split("<<<BEGIN CHAT>>>")[1]) == (person in ("", "Ana")), person


def test_a_live_probe_fires_once_and_its_decision_is_scored() -> None:
    dialogue = script(live=[QUIET])
    done, _ = driven("group_chat_live", dialogue, talking("Bo, the harbour?", "bo"), {"after": 2, "most": 14})
    told = [turn.extra[LIVE_PROBE] for turn in done.turns if LIVE_PROBE in turn.extra]
    assert told == [{"id": "q1", "kind": "quiet_participant", "competence": 0.0, "failed_at": "address"}]
    assert score(done, dialogue, "live_competence") == 0
    done, _ = driven("group_chat_live", dialogue, talking("Cy, and you?", "cy"), {"after": 2, "most": 14})
    assert not any(LIVE_PROBE in turn.extra for turn in done.turns)


def test_a_condition_needs_as_many_messages_without_the_person() -> None:
    dialogue = script(live=[QUIET])
    (probe,) = scenario_of(dialogue).live
    more = chat(*[("ana", "Hm."), ("bo", "Hm.")] * 2, live=[QUIET])
    assert is_met(more, probe)
    assert not is_met(replace(more, turns=more.turns[1:]), probe)
    named = replace(more.turns[-1], text="Cy?")
    assert not is_met(replace(more, turns=(*more.turns[:-1], named)), probe)


def test_what_came_of_it_is_asked_of_everybody_and_counted() -> None:
    dialogue = script(secrets=[SECRET])
    done, _ = driven("group_chat_live", dialogue, silent, {"after": 3})
    assert done.turns[-1].extra[OUTCOME]["choices"] == {
        "ana": "the harbour",
        "bo": "the market",
        "cy": "the harbour",
    }
    assert score(done, dialogue, "live_consensus") == pytest.approx(2 / 3)
    assert score(done, dialogue, "live_leaks") == 0
    assert score(done, dialogue, "live_evenness") == pytest.approx(0.792, abs=0.001)


def test_each_message_that_tells_a_secret_is_a_leak() -> None:
    dialogue = script(secrets=[SECRET])
    done, _ = driven(
        "group_chat_live", dialogue, talking("Surprises all round!", "bo"), {"after": 1, "most": 6}
    )
    assert score(done, dialogue, "live_leaks") == 3


def test_an_unreadable_agent_is_asked_once_more_and_then_counts_as_silent() -> None:
    def mumbling(prompt: Prompt) -> str:
        return "hm" if "<<<BEGIN YOU>>>" in prompt.user else silent(prompt)

    done, prompts = driven("group_chat_live", script(), mumbling, {"after": 1})
    own = [turn for turn in done.turns if not turn.given]
    assert [turn.extra["decision"]["flags"] for turn in own] == [["unparseable"]] * len(own)
    asked = [prompt for prompt in prompts if "<<<BEGIN YOU>>>" in prompt.user]
    assert sum("could not be read" in prompt.user for prompt in asked) * 2 == len(asked)


def test_the_fake_people_and_the_fake_agent_end_a_talk() -> None:
    done, _ = driven("group_chat_live", script(), fake(), {"after": 3, "most": 10})
    assert done.turns
    assert {turn.speaker for turn in done.turns} <= {"ana", "bo", "cy", "kit"}
