"""Examples for fine-tuning: what the generator would send, and people's own turns as the reply to it.

One example for each window of as many turns as one call writes, with people's turns as the history. Every
example is read back with the generator's own reader before it is given away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotation.records import EVENTS, Dialogue, Turn
from annotation.text.cleaning import clean
from jobs.prompt import Unparseable
from systems.generators.base import Done, Reply, Settings
from systems.generators.cocoeval_continuation import CocoevalContinuation
from systems.generators.cocoeval_replies import OVERLONG

Example = dict[str, Any]
"""A line of the file: `messages` of the roles system, user and assistant."""


class NotTaught(ValueError):
    """A conversation of which no examples can be made; the message says why, in a few words."""


def why_not(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> str:
    """Return why people's continuation of a dialogue cannot be taught, '' where it can."""
    if reason := CocoevalContinuation().why_not(dialogue, settings):
        return reason
    if len(people) < int(settings["turns"]):
        return f"people's continuation has {len(people)} turns, not {settings['turns']}"
    if any(turn.act in EVENTS or not clean(turn.text).strip() for turn in people[: int(settings["turns"])]):
        return "a turn of people's continuation says nothing"
    return ""


def examples(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> Iterator[Example]:
    """Yield the examples of one dialogue: turns / turns_per_call of them.

    `people` is people's own continuation, of which the first `turns` count. Raises NotTaught, before the
    first example, where it cannot be taught.
    """
    if reason := why_not(dialogue, people, settings):
        raise NotTaught(reason)
    found = list(_examples(dialogue, people[: int(settings["turns"])], settings))
    yield from found


def _examples(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> Iterator[Example]:
    generator, per_call = CocoevalContinuation(), int(settings["turns_per_call"])
    state = generator.begin(dialogue, settings)
    for start in range(0, len(people), per_call):
        prompts = generator.request(state)
        assert not isinstance(prompts, Done)  # it ends after the last turn
        reply = generator.reply(state, people[start : start + per_call])
        try:
            state = generator.receive(state, [Reply(reply)])
        except Unparseable as refused:
            raise NotTaught(f"the reader refuses people's own turns: {refused}") from refused
        yield {"messages": [*prompts[0].messages(), {"role": "assistant", "content": reply}]}
    _check(generator.request(state), people)


def _check(read: Any, people: Sequence[Turn]) -> None:
    """Refuse where what was read back is not what people said."""
    said = [(turn.speaker, clean(turn.text)) for turn in people]
    if not isinstance(read, Done) or [(turn.speaker, turn.text) for turn in read.turns] != said:
        raise NotTaught("people's own turns are read back otherwise than they were said")
    if odd := [flag for flag in read.flags if not flag.startswith(OVERLONG)]:
        raise NotTaught(f"people's own turns are read back with the flag {odd[0]}")
