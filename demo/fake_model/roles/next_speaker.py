"""Whoever predicts the next turn of numbered conversations: who speaks, what is said, or one of the two.

Keys of its own in an error model:

q          chance of the speaker of the most recent turn that is not by the last speaker (default 0.5); else,
           and where there is none, one of the listed speakers, each alike
left_out   chance that a conversation is left out of the reply
stranger   chance that somebody speaks who is not listed
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

NUMBER, SPEAKER, MESSAGE = "dialogue_id", "next_speaker", "next_message"
LIST = "predictions"
Q = 0.5
STRANGER = "Nobody Listed"
_TITLE = re.compile(r"DIALOGUE (\d+)")
_PRIVATE = re.compile(r"^\(private: .*?\) ")
_SAID = re.compile(r"(?: \([^()]*\))?: (.*)")
_FIELD = re.compile(r'"(\w+)":')
_MARKER = re.compile(r"\{[^{}]*\}")
_OPENINGS = (
    "Yes,",
    "I am not so sure about",
    "Could we come back to",
    "That reminds me:",
    "Before we go on,",
    "So,",
)
_WORDS = 8


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a prompt: its number, who may speak, and (speaker, text) of what was said."""

    number: int
    names: tuple[str, ...]
    said: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """What draws are about."""
        return "\n".join(f"{who}: {text}" for who, text in self.said)


def conversations(request: Request) -> list[Conversation]:
    """Return the conversations of a prompt, in their order."""
    numbers = [int(found[1]) for title in request.titles if (found := _TITLE.fullmatch(title))]
    read = []
    for each in numbers:
        names = tuple(request.block(f"SPEAKERS {each}") or ())
        lines = request.block(f"DIALOGUE {each}") or ()
        read.append(Conversation(each, names, tuple(filter(None, (said(line, names) for line in lines)))))
    return read


def said(line: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return who says what in a line of a transcript; None where nothing is said in it."""
    bare = _PRIVATE.sub("", line)
    for name in sorted(names, key=len, reverse=True):
        if bare.startswith(name) and (found := _SAID.match(bare[len(name) :])):
            return name, found[1]
    return None


def recent_other(speakers: Sequence[str]) -> str | None:
    """Return the speaker of the most recent turn that is not by the last speaker, None without one."""
    return next((one for one in reversed(speakers) if one != speakers[-1]), None)


def chances(speakers: Sequence[str], names: Sequence[str], q: float = Q) -> dict[str, float]:
    """Return how likely each of the listed speakers is to be named after turns by `speakers`."""
    recent = recent_other(speakers)
    own = q if recent in names else 0.0
    return {name: (1 - own) / len(names) + (own if name == recent else 0.0) for name in names}


def expected(likely: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Return the expectation of a metric that has a value for each speaker:
    q · f(r) + (1 - q) / n · the sum of f over all n."""
    return sum(chance * values[name] for name, chance in likely.items())


def expected_square(likely: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Return the expectation of its square, for the variance."""
    return sum(chance * values[name] ** 2 for name, chance in likely.items())


class NextSpeaker(Role):
    """Answers with the speaker by the rule, and a message made of what was said last."""

    key = "next_speaker"
    title = "who speaks next, and what is said"
    own_keys = dict.fromkeys(("q", "left_out", "stranger"), one_chance)

    def recognises(self, request: Request) -> bool:
        """Numbered conversations with their speakers, and one half of a turn or both as reply."""
        asked = set(_FIELD.findall(request.instruction))
        return NUMBER in asked and bool(asked & {SPEAKER, MESSAGE}) and "DIALOGUE 1" in request.titles

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the list; in an object with one key where the request wants an object."""
        asked = [name for name in (SPEAKER, MESSAGE) if f'"{name}":' in request.instruction]
        told = []
        for one in conversations(request):
            if mind.draw("left_out", one.text) >= mind.errors.own.get("left_out", 0.0):
                whole = {SPEAKER: speaker(one, mind), MESSAGE: message(one, mind)}
                told.append({NUMBER: str(one.number), **{name: whole[name] for name in asked}})
        reply = told if request.schema is None else {LIST: told}
        return Answer(lines=[json.dumps(reply, ensure_ascii=False)])


def speaker(conversation: Conversation, mind: Mind) -> str:
    """Return who speaks next, by one draw over the chances of all."""
    if mind.draw("stranger", conversation.text) < mind.errors.own.get("stranger", 0.0):
        return STRANGER
    likely = chances([who for who, _ in conversation.said], conversation.names, mind.errors.own.get("q", Q))
    draw, total = mind.draw("speaker", conversation.text), 0.0
    for name, chance in likely.items():
        total += chance
        if draw < total:
            return name
    return conversation.names[-1]


def message(conversation: Conversation, mind: Mind) -> str:
    """Return a message: an opening, and the first words of the last turn without its markers."""
    last = conversation.said[-1][1] if conversation.said else "what we are here for"
    words = _MARKER.sub("", last).split()[:_WORDS] or ["that"]
    opening = _OPENINGS[int(mind.draw("message", conversation.text) * len(_OPENINGS))]
    return f"{opening} {' '.join(words)}"
