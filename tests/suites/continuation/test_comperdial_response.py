"""Responses in the second speaker's place, and limits on writing them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from annotation.records import Dialogue, Participant, Turn
from demo.fake_model.role import planted_number
from demo.fake_model.roles.writers import expected_quality
from jobs.prompt import Unparseable, about_tokens
from suites.continuation.generators import GENERATORS, Done, Failed, Reply, WrongSettings
from suites.continuation.generators.generator import spend
from tests.suites.continuation.driving import driven, fake, people, stored

KEY = "comperdial_response"
WRITER = GENERATORS[KEY]
PAIR = (
    Participant("a", "Ana", profile=("I keep bees.", "I am 40.")),
    Participant("b", "Ben", profile=("I run marathons.",)),
)
TALK = Dialogue("d", tuple(Turn("ab"[n % 2], f"Turn {n}.") for n in range(14)), PAIR)
OK = json.dumps({"response": "Me too."})


def after(replies: Sequence[Reply], **chosen: Any) -> Any:
    state = stored(WRITER.begin(TALK, WRITER.resolved(chosen)))
    for reply in replies:
        state = stored(WRITER.receive(state, [reply]))
    return WRITER.request(state)


def test_each_turn_of_the_second_speaker_is_answered_from_the_people_s_history() -> None:
    done, prompts = driven(KEY, TALK, fake("response_writer"))
    assert [turn.at for turn in done.turns] == [1, 3, 5, 7, 9, 11, 13]
    assert {turn.speaker for turn in done.turns} == {"b"}
    assert [(turn.at, turn.text) for turn in done.people] == [(n, f"Turn {n}.") for n in range(1, 14, 2)]
    for number, prompt in enumerate(prompts):
        shown = [n for n in range(14) if f": Turn {n}." in prompt.user]
        assert shown == list(range(2 * number + 1))
        assert not any(turn.text in prompt.user for turn in done.turns)


def test_both_personas_are_shown_or_one_s_own_alone() -> None:
    _, both = driven(KEY, TALK, lambda _: OK)
    assert "<<<BEGIN YOUR PERSONA>>>\n| Ben\n|   I run marathons.\n<<<END" in both[0].user
    assert "<<<BEGIN OTHER PERSONA>>>\n| Ana\n|   I keep bees.\n|   I am 40.\n<<<END" in both[0].user
    _, own = driven(KEY, TALK, lambda _: OK, {"personas": "own"})
    assert "I run marathons." in own[0].user
    assert "bees" not in own[0].user


@pytest.mark.parametrize(
    ("dialogue", "reason"),
    [
        (Dialogue("d", (Turn("a", "Hi."),), PAIR), "nobody answers in it: it has fewer than two speakers"),
        (Dialogue("d", (), PAIR), "nobody answers in it: it has fewer than two speakers"),
        (Dialogue("d", TALK.turns, people("A", "B")), "the second speaker has no persona (profile)"),
    ],
)
def test_dialogues_that_do_not_fit_are_left_out_with_the_reason(dialogue: Dialogue, reason: str) -> None:
    assert WRITER.why_not(dialogue, WRITER.resolved({})) == reason


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Me too.", "not valid JSON"),
        ('["Me too."]', "the JSON is not an object"),
        ("{}", "the field response is missing"),
        ('{"response": "x", "mood": "good"}', "there is no field 'mood'"),
        ('{"response": "  "}', "response is empty"),
        ('{"response": 5}', "response is not a text"),
    ],
)
def test_any_other_reply_is_refused_with_the_reason(reply: str, reason: str) -> None:
    state = WRITER.begin(TALK, WRITER.resolved({}))
    with pytest.raises(Unparseable) as refusal:
        WRITER.check(state, 0, reply)
    assert reason in str(refusal.value)


def test_two_calls_for_a_response_are_fine_and_a_third_is_not() -> None:
    assert not isinstance(after([Reply(OK, 1, 1, attempts=2)]), Done)
    with pytest.raises(Failed, match=r"^calls_per_turn: response 2 of 7 took 3 calls, and 2 are allowed$"):
        after([Reply(OK, 1, 1), Reply(OK, 1, 1, attempts=3)])


@pytest.mark.parametrize(("allowed", "more"), [(1, 0), (2, 1), (5, 4)])
def test_no_more_is_asked_than_a_response_may_take(allowed: int, more: int) -> None:
    assert WRITER.reasks(WRITER.resolved({"calls_per_turn": allowed})) == more


def test_a_thousand_tokens_are_fine_and_one_more_is_not() -> None:
    fine = [Reply(OK, 100, 143), *[Reply(OK, 100, 142)] * 5, Reply(OK, 100, 147)]
    assert sum(reply.tokens_out or 0 for reply in fine) == 1000
    assert isinstance(after(fine), Done)
    with pytest.raises(
        Failed, match=r"^tokens_out: 1,001 tokens after response 7 of 7, and 1,000 are allowed$"
    ):
        after([*fine[:-1], Reply(OK, 100, 148)])
    with pytest.raises(Failed, match=r"^tokens_out: 1,001 tokens after response 1 of 7"):
        after([Reply(OK, 100, 1001)])


def test_tokens_of_the_prompts_are_limited_over_the_dialogue() -> None:
    assert not isinstance(after([Reply(OK, 5000, 1), Reply(OK, 5000, 1)]), Done)
    with pytest.raises(
        Failed, match=r"^tokens_in: 10,001 tokens after response 2 of 7, and 10,000 are allowed$"
    ):
        after([Reply(OK, 5000, 1), Reply(OK, 5001, 1)])


def test_where_the_server_does_not_say_tokens_are_counted() -> None:
    state = WRITER.begin(TALK, WRITER.resolved({}))
    (prompt,) = WRITER.request(state)  # type: ignore[misc]
    spent = WRITER.receive(state, [Reply(OK, attempts=2)])["spent"]
    assert spent == {
        "tokens_in": 2 * about_tokens(prompt.user),
        "tokens_out": 2 * about_tokens(OK),
        "seconds": 0,
    }
    assert (
        spend(spent, prompt, Reply(OK, 1, 1), state["settings"], "it")["tokens_out"]
        == spent["tokens_out"] + 1
    )


def test_time_is_limited_where_that_is_asked_for() -> None:
    quick = [Reply(OK, 1, 1, seconds=10.0)] * 7
    assert isinstance(after(quick), Done)
    assert isinstance(after(quick, seconds=3600), Done)
    slow = "seconds: 80.0 seconds after response 2 of 7, and 72.0 are allowed (3,600 for 50 dialogues)"
    with pytest.raises(Failed) as refusal:
        after([Reply(OK, 1, 1, seconds=40.0)] * 2, seconds=3600)
    assert str(refusal.value) == slow
    with pytest.raises(Failed, match="how long response 1 of 7 took is not known; set the limit to 0"):
        after([Reply(OK, 1, 1)], seconds=3600)


def test_every_completion_takes_its_time_and_one_that_was_there_takes_none() -> None:
    with pytest.raises(Failed, match=r"seconds: 80\.0 seconds after response 1 of 7"):
        after([Reply(OK, 1, 1, attempts=2, seconds=40.0)], seconds=3600)
    assert not isinstance(after([Reply(OK, attempts=0)], seconds=3600), Done)


def test_limits_are_who_the_system_is_and_personas_its_condition() -> None:
    assert [one.name for one in WRITER.settings if one.varies] == ["personas"]
    with pytest.raises(WrongSettings, match="calls_per_turn must be between 1 and 10"):
        WRITER.resolved({"calls_per_turn": 0})


def test_responses_have_the_quality_that_is_planted() -> None:
    rates = {"1": 0.2, "5": 0.5}
    assert expected_quality(rates) == pytest.approx(0.2 + 2.5 + 0.9)
    assert expected_quality({}) == 3
    answer = fake("response_writer", quality=rates)
    seen: list[float] = []
    for number in range(60):
        said = tuple(Turn("ab"[n % 2], f"Turn {n} of {number}.") for n in range(14))
        done, _ = driven(KEY, Dialogue("d", said, PAIR), answer)
        seen += [planted_number(turn.text, "quality") or 3.0 for turn in done.turns]
    variance = 0.2 * 1 + 0.5 * 25 + 0.3 * 9 - 3.6**2
    assert abs(sum(seen) / len(seen) - 3.6) <= 3 * (variance / len(seen)) ** 0.5


def test_an_overlong_response_passes_the_limit_of_tokens() -> None:
    with pytest.raises(Failed, match="tokens_out"):
        driven(KEY, TALK, fake("response_writer", overlong=1.0))
