"""Conversations to continue, and the fake model that continues them, for tests of `cocoeval_continuation`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt
from suites.continuation.generators import GENERATORS, Done, Reply
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from tests.demo.asking import asked, said

GENERATOR = GENERATORS["cocoeval_continuation"]
assert isinstance(GENERATOR, CocoevalContinuation)
PEOPLE = (
    Participant("A", "Ana", "chair", extra={"hidden_information": {"hidden_agenda": "go home early"}}),
    Participant("B", "Ben", aliases=("Benny",)),
    Participant("C", "Cara"),
)


def talk(
    turns: int | Sequence[Turn] = 40, key: str = "d1", people: Sequence[Participant] = PEOPLE, **fields: Any
) -> Dialogue:
    """Return a conversation whose turns say `d1 says 0`, `d1 says 1`, ... by A, B and C in turn."""
    if isinstance(turns, int):
        turns = tuple(Turn("ABC"[n % 3], f"{key} says {n}") for n in range(turns))
    return Dialogue(key, tuple(turns), tuple(people), **fields)


def begun(dialogue: Dialogue, **settings: Any) -> dict[str, Any]:
    """Return the first state, as it comes back from the database."""
    found: dict[str, Any] = json.loads(json.dumps(GENERATOR.begin(dialogue, GENERATOR.resolved(settings))))
    return found


def prompt_of(state: dict[str, Any]) -> Prompt:
    """Return the only prompt of a step."""
    prompts = GENERATOR.request(state)
    assert not isinstance(prompts, Done)
    (prompt,) = prompts
    return prompt


def received(state: dict[str, Any], reply: str) -> dict[str, Any]:
    """Return the state after a reply, as it comes back from the database."""
    found: dict[str, Any] = json.loads(json.dumps(GENERATOR.receive(state, [Reply(reply)]), sort_keys=True))
    return found


def written(model: FakeModel, dialogue: Dialogue, **settings: Any) -> tuple[Done, list[str]]:
    """Return the fake model's continuation, and its replies."""
    state, replies = begun(dialogue, **settings), []
    while not isinstance(step := GENERATOR.request(state), Done):
        replies.append(said(model, asked(step[0])))
        state = received(state, replies[-1])
    return step, replies


def reply(
    turns: Sequence[tuple[Any, Any, Any]], copies: Sequence[tuple[Any, Any, Any]] | None = None, **more: Any
) -> str:
    """Return a reply of (number, speaker, content); by default the copies are those of `talk(40)`."""
    if copies is None:
        copies = [(n + 1, "ABC"[n % 3], f"d1 says {n}") for n in range(35, 40)]
    lists = {
        name: [dict(zip(("turn_number", "speaker", "content"), one, strict=True)) for one in found]
        for name, found in (("five_previous_turns", copies), ("generated_turns", turns))
    }
    return json.dumps(lists | more, ensure_ascii=False)
