"""Private messages reach nobody else: no participant, no agent's prompt, no answer to it."""

from __future__ import annotations

import random

import pytest

from annotation.records import Dialogue, Participant, Turn
from annotation.scenario_records import Decision, Scenario
from annotation.text.views import hears
from suites.continuation.generators.generator import Done
from suites.group_chat.agents.agent import OWN_OUTPUTS, GroupChatAgent
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import listeners_at, points_of, positions_seen, seen_by

PEOPLE = ("ana", "bo", "cy", "kit")
AGENT = "kit"
CHATS = 40


def chat(draw: random.Random) -> Dialogue:
    """Return a chat with private turns, comings and goings; each turn says a word of its own."""
    turns = [_turn(draw, place) for place in range(draw.randint(2, 14))]
    people = tuple(Participant(name, name.title(), agent=name == AGENT) for name in PEOPLE)
    return Dialogue("d", turns=tuple(turns), participants=people, scenario=Scenario(AGENT))


def _turn(draw: random.Random, place: int) -> Turn:
    speaker = draw.choice(PEOPLE)
    act = draw.choice(["message", "message", "message", "reaction", "join", "leave"])
    audience = tuple(draw.sample(PEOPLE, draw.randint(0, 3))) if draw.random() < 0.5 else None
    return Turn(
        speaker,
        f"word{place}word",
        act=act,  # type: ignore[arg-type]
        audience=None if act in ("join", "leave") else audience,
        sees_history=act == "join" and draw.random() < 0.4,
    )


def unheard(dialogue: Dialogue, viewer: str) -> list[Turn]:
    return [turn for turn in dialogue.turns if not hears(turn, viewer)]


@pytest.mark.parametrize("seed", range(10))
def test_a_private_turn_is_in_no_outsiders_view(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(CHATS):
        dialogue = chat(draw)
        for viewer in PEOPLE:
            for point in range(len(dialogue.turns)):
                seen = seen_by(dialogue, point, viewer)
                assert not any(turn is other for turn in seen for other in unheard(dialogue, viewer))
                assert max(positions_seen(dialogue, viewer, point + 1), default=0) <= point


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
@pytest.mark.parametrize("own", [False, True], ids=["script", "own outputs"])
def test_a_private_turn_is_in_no_prompt_of_an_agent_that_did_not_hear_it(mode: str, own: bool) -> None:
    draw, agent, asked = random.Random(7), GroupChatAgent(), 0
    for _ in range(CHATS):
        dialogue = chat(draw)
        settings = {"mode": mode, OWN_OUTPUTS: own}
        if agent.why_not(dialogue, settings):
            continue
        prompts = agent.request(agent.begin(dialogue, settings))
        assert not isinstance(prompts, Done)
        for point, prompt in zip(points_of(dialogue), prompts, strict=False):
            asked += 1
            later = list(dialogue.turns[point + 1 :])
            for turn in (*unheard(dialogue, AGENT), *later):
                assert turn.text not in prompt.user
            assert dialogue.turns[point].text in prompt.user or dialogue.turns[point].act == "join"
    assert asked >= CHATS // 2


@pytest.mark.parametrize("seed", range(10))
def test_an_answer_to_a_private_turn_is_for_those_who_saw_that_alone(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(CHATS):
        dialogue = chat(draw)
        for point in points_of(dialogue):
            reacted = dialogue.turns[point]
            answer = turn_of(Decision(point, "message", "Fine."), AGENT, reacted)
            outsiders = [name for name in PEOPLE if name != AGENT and not hears(reacted, name)]
            assert not any(hears(answer, name) for name in outsiders)
            assert not listeners_at(dialogue, point) & set(outsiders)
            assert hears(answer, reacted.speaker)
