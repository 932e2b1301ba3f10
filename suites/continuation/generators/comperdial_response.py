"""ComperDial: one response for each turn of the second speaker, given people's turns before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from annotation.records import Dialogue, Turn
from jobs.prompt import TEXT, Prompt, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from suites.continuation.generators import generator
from suites.continuation.generators.generator import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    State,
    StoredTurns,
    Value,
    fields,
    filled,
    message,
    only,
)
from suites.continuation.generators.mpceval_predictions import says
from suites.continuation.generators.named_cast import Cast

RESPONSE = "response"
PERSONAS, BOTH, OWN = "personas", "both", "own"
SETTINGS = (
    Setting(PERSONAS, BOTH, "Show both speakers' personas, or only that of the one who answers.",
            choices=(BOTH, OWN), varies=True),
    *generator.SETTINGS,
)  # fmt: skip


class Response(Generator):
    """Answers in the second speaker's place, each time from the people's own history, within limits.

    Responses are requested one after another, so that nothing is paid for after a limit is exceeded.
    """

    key = "comperdial_response"
    title = "Responses in the second speaker's place"
    produces = "static"
    settings = SETTINGS

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Refuse a dialogue with fewer than two speakers, or whose second speaker has no persona."""
        return refusal(dialogue)

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the turns up to the last point, the personas, and the points."""
        part = Part.of(dialogue, str(settings[PERSONAS]))
        points = list(part.points)
        return {
            "cast": part.cast.as_json(),
            "who": part.speaker,
            "own": list(part.own),
            "others": list(part.others),
            "turns": StoredTurns(dialogue.turns[: points[-1] + 1] if points else ()).as_json(),
            "points": points,
            "settings": {setting.name: settings[setting.name] for setting in generator.SETTINGS},
            "responses": [],
            "spent": dict(generator.NOTHING),
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt for the next response, or all responses."""
        number = len(state["responses"])
        if number < len(state["points"]):
            return [_prompt(self, state, state["points"][number])]
        turns = StoredTurns.from_json(state["turns"]).turns
        answered = zip(state["points"], state["responses"], strict=True)
        return Done(
            turns=tuple(Turn(state["who"], text, at=at) for at, text in answered),
            people=tuple(replace(turns[at], at=at) for at in state["points"]),
        )

    def check(self, state: State, part: int, reply: str) -> None:
        """Raise Unparseable unless the reply is exactly one response; its cost is not checked here."""
        _read(reply)

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with one more response; raise Unparseable, or Failed where a limit is exceeded."""
        number = len(state["responses"])
        prompt = _prompt(self, state, state["points"][number])
        where = f"response {number + 1} of {len(state['points'])}"
        spent = generator.spend(state["spent"], prompt, replies[0], state["settings"], where)
        return {**state, "responses": [*state["responses"], _read(replies[0].text)], "spent": spent}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a response as long as the people's own."""
        own = state["turns"][state["points"][len(state["responses"])]]["text"]
        return [json.dumps({RESPONSE: " ".join(["word"] * max(1, len(own.split())))})]

    def reasks(self, settings: Settings) -> int:
        """Return the number of calls left after the first."""
        return int(settings[generator.CALLS]) - 1

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model, and whether it saw only its own persona."""
        return f"{model} own persona" if condition[PERSONAS] == OWN else model


class Part(NamedTuple):
    """The second speaker's part: whoever answers in their place sees it, and the turns before a point.

    `own` and `others` are lines about the speaker and the others, `points` the indices of their turns.
    """

    cast: Cast
    speaker: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    points: tuple[int, ...]

    @classmethod
    def of(cls, dialogue: Dialogue, personas: str) -> Part:
        """Return the part in a dialogue, with both `personas` or the own one."""
        cast, speakers = Cast.of(dialogue), _speakers(dialogue)
        speaker = speakers[1] if len(speakers) > 1 else ""
        participants = {person.id: person for person in dialogue.participants}
        lines = {member.id: cast.person(member, participants.get(member.id)) for member in cast.members}
        others = [line for member in cast.members if member.id != speaker for line in lines[member.id]]
        points = (at for at, turn in enumerate(dialogue.turns) if turn.speaker == speaker and says(turn))
        own, rest = lines.get(speaker, []), others if personas == BOTH else []
        return cls(cast, speaker, tuple(own), tuple(rest), tuple(points))


def refusal(dialogue: Dialogue) -> str:
    """Explain why nobody can answer in the second speaker's place, '' where one can."""
    speakers = _speakers(dialogue)
    if len(speakers) < 2:
        return "nobody answers in it: it has fewer than two speakers"
    if not any(person.id == speakers[1] and person.profile for person in dialogue.participants):
        return "the second speaker has no persona (profile)"
    return ""


def _speakers(dialogue: Dialogue) -> list[str]:
    """Return the speakers in order of first appearance."""
    return list(dict.fromkeys(turn.speaker for turn in dialogue.turns if says(turn)))


def _prompt(generation: Generator, state: State, point: int) -> Prompt:
    cast = Cast.from_json(state["cast"])
    seen = StoredTurns.from_json(state["turns"][:point]).turns
    blocks = [
        quote("YOUR PERSONA", state["own"]),
        *([quote("OTHER PERSONA", state["others"])] if state["others"] else []),
        quote("CONVERSATION", cast.transcript(seen)),
    ]
    return filled(
        generation.key, generation.version, {"blocks": "\n\n".join(blocks)}, object_schema({RESPONSE: TEXT})
    )


def _read(reply: str) -> str:
    entry = fields(json_object(reply), [RESPONSE], "the reply")
    only(entry, [RESPONSE], "the reply")
    return message(entry[RESPONSE], RESPONSE)
