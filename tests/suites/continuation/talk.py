"""Conversations written for tests: planted words, and a generator's results on them with the fake model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt, Unparseable
from suites.continuation.generators import GENERATORS
from suites.continuation.generators.generator import Done, Reply
from tests.demo.asking import asked, said

SPEAKERS = ("Chair", "Grad A", "Grad B")


def conversation(key: str = "m1", turns: int = 100, filler: bool = False) -> Dialogue:
    """Return a conversation of three people with different words in each turn."""

    def text(number: int) -> str:
        planted = "{filler um} um, " if filler and number % 4 == 0 else ""
        return f"{planted}so this is point {number} of {key}."

    return Dialogue(
        id=key,
        cluster=key,
        language="en",
        turns=tuple(Turn(SPEAKERS[number % 3], text(number)) for number in range(turns)),
        participants=tuple(Participant(one) for one in SPEAKERS),
    )


def fake(role: str = "", seed: int = 0, **rates: float) -> FakeModel:
    """Return a fake model that errs at the given rates in one role."""
    return FakeModel(ErrorModel({role: RoleErrors(own=rates)}) if role else ErrorModel(), seed=seed)


def produced(
    key: str, dialogue: Dialogue, model: FakeModel, settings: Mapping[str, Any] | None = None
) -> tuple[Done, list[Prompt]]:
    """Return a generator's result for a dialogue, and its prompts; raises Unparseable as it does."""
    generator = GENERATORS[key]
    state = generator.begin(dialogue, generator.resolved(settings or {}))
    sent: list[Prompt] = []
    while True:
        step = generator.request(state)
        if isinstance(step, Done):
            return step, sent
        replies = [said(model, asked(prompt)) for prompt in step]
        for part, reply in enumerate(replies):
            generator.check(state, part, reply)
        state = generator.receive(state, [Reply(reply) for reply in replies])
        sent += step


def refused(key: str, dialogue: Dialogue, reply: str, settings: Mapping[str, Any] | None = None) -> str:
    """Return why a generator cannot read a reply to its first prompt; '' if it can."""
    generator = GENERATORS[key]
    state = generator.begin(dialogue, generator.resolved(settings or {}))
    try:
        generator.check(state, 0, reply)
    except Unparseable as error:
        return str(error)
    return ""
