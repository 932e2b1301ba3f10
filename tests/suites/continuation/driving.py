"""Runs a generator without a database: a function answers every prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt
from suites.continuation.generators import GENERATORS, Done, Generator, Reply
from tests.demo.asking import asked, said

Answer = Callable[[Prompt], str]


def turns(*lines: str) -> tuple[Turn, ...]:
    """Return turns from lines such as `ana: hello`."""
    return tuple(Turn(*line.split(": ", 1)) for line in lines)


def people(*names: str, **fields: Any) -> tuple[Participant, ...]:
    """Return participants whose ids are their names in lower case."""
    return tuple(Participant(name.casefold(), name, **fields) for name in names)


def driven(
    key: str, dialogue: Dialogue, answer: Answer, settings: Mapping[str, Any] | None = None
) -> tuple[Done, list[Prompt]]:
    """Return the result of a production and its prompts in order; the state is stored between steps."""
    generator = GENERATORS[key]
    resolved = generator.resolved(settings or {})
    assert generator.why_not(dialogue, resolved) == ""
    state = stored(generator.begin(dialogue, resolved))
    prompts: list[Prompt] = []
    for _ in range(1000):
        step = generator.request(state)
        if isinstance(step, Done):
            return step, prompts
        prompts += step
        state = stored(generator.receive(state, replies(generator, state, step, answer)))
    raise AssertionError(f"{key} does not end")


def replies(generator: Generator, state: Any, step: Sequence[Prompt], answer: Answer) -> list[Reply]:
    """Return the checked replies to the prompts of a step."""
    found = [answer(prompt) for prompt in step]
    for part, text in enumerate(found):
        generator.check(state, part, text)
    return [Reply(text) for text in found]


def stored(state: Any) -> Any:
    """Return a state as it comes back from the database: JSON, with keys in another order."""
    return json.loads(json.dumps(state, sort_keys=True))


def fake(role: str = "*", seed: int = 0, schema: bool = True, **own: Any) -> Answer:
    """Return the fake model as a function, with a role's own error rates; all prompts must be that role's."""
    model = FakeModel(ErrorModel({role: RoleErrors(own=own)}), seed=seed)

    def answer(prompt: Prompt) -> str:
        body = asked(prompt, schema=schema)
        found = [one.key for one in recognise(request(body))]
        assert len(found) == 1
        assert role in ("*", *found)
        return said(model, body)

    return answer


def canned(*texts: str) -> Answer:
    """Return an answer function that gives the texts one after the other."""
    left = list(texts)
    return lambda _: left.pop(0)
