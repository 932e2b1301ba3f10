"""MPCEval: a whole conversation, from a topic and its speakers alone or as the continuation of a history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import Dialogue
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from systems.generators import cocoeval_continuation, mpc_constraints, mpc_replies
from systems.generators.base import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    Shown,
    State,
    Value,
    filled,
    list_schema,
    object_schema,
)
from systems.generators.mpc_replies import ADDRESSEE, MESSAGE, SPEAKER, Read
from systems.generators.named_cast import Cast

FROM, SCRATCH, HISTORY = "from", "scratch", "history"
STRATEGY, ONE_PASS, TURN_BY_TURN = "strategy", "one_pass", "turn_by_turn"
SETTINGS = (
    Setting(FROM, HISTORY, "Continue the dialogue, or begin one of a dialogue without turns.",
            choices=(HISTORY, SCRATCH), varies=True),
    Setting(STRATEGY, ONE_PASS, "All turns in one reply, or one turn a call.",
            choices=(ONE_PASS, TURN_BY_TURN), varies=True),
    *mpc_constraints.SETTINGS,
)  # fmt: skip
FORMS = {SPEAKER: "the name of whoever speaks", MESSAGE: "what is said, without the name in front",
         ADDRESSEE: "the name of whoever it is addressed to, or all"}  # fmt: skip


class Conversation(Generator):
    """Writes a conversation under declared constraints. What breaks one stands, and is counted afterwards."""

    key = "mpc_conversation"
    title = "A whole conversation among several people, under constraints"
    produces = "rollout"
    settings = SETTINGS

    def checked(self, settings: Settings) -> None:
        """Refuse numbers of turns that contradict one another."""
        mpc_constraints.checked(settings)

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why no conversation can be written: turns or none of them, nobody to speak, no topic."""
        speakers = len(Cast.of(dialogue).members)
        if settings[FROM] == SCRATCH and dialogue.turns:
            return "it has turns, and a conversation from scratch begins without any"
        if settings[FROM] == SCRATCH and not cocoeval_continuation.told(
            dialogue, cocoeval_continuation.TOPIC
        ):
            return f"its metadata have no {cocoeval_continuation.listed(cocoeval_continuation.TOPIC)}"
        if settings[FROM] == HISTORY and not dialogue.turns:
            return f"it has no turns to continue; set {FROM} to {SCRATCH}"
        if speakers < 2:
            return "it has fewer than two speakers"
        return mpc_constraints.why_not(dialogue, speakers, settings)

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the history, who may speak, what it is about, and the settings."""
        cast = Cast.of(dialogue)
        return {
            "cast": cast.as_json(),
            "people": cast.people(dialogue),
            "facts": cocoeval_continuation.facts(dialogue),
            "history": Shown(dialogue.turns).as_json(),
            "settings": dict(settings),
            "written": [],
            "done": False,
            "flags": {},
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt for the conversation or its next turn, or all turns that were written."""
        if state["done"]:
            return Done(
                turns=Shown.from_json(state["written"]).turns, flags=mpc_replies.flags_told(state["flags"])
            )
        names = mpc_replies.names(state["settings"][ADDRESSEES])
        step_by_step = _step_by_step(state)
        schema = object_schema(names) if step_by_step else list_schema("conversation", names)
        return [
            filled(f"{self.key}_{state['settings'][STRATEGY]}", self.version, _values(state, names), schema)
        ]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with the turns of the reply; raises Unparseable for errors of form alone."""
        cast, addressees = Cast.from_json(state["cast"]), bool(state["settings"][ADDRESSEES])
        text, number = replies[0].text, len(state["written"]) + 1
        read: list[Read]
        if _step_by_step(state):
            read = [mpc_replies.next_turn(text, number, cast, addressees=addressees)]
            done = number >= state["settings"][mpc_constraints.TURNS]
        else:
            read = mpc_replies.conversation(text, cast, addressees=addressees)
            done = True
        flags = {name: list(turns) for name, turns in state["flags"].items()}
        for place, (_, names) in enumerate(read, start=number):
            for name in names:
                flags.setdefault(name, []).append(place)
        written = [*state["written"], *Shown(tuple(turn for turn, _ in read)).as_json()]
        return {**state, "written": written, "done": done, "flags": flags}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a turn, or as many as are wanted, by the speakers in their order."""
        names = Cast.from_json(state["cast"]).shown()
        wanted = state["settings"][mpc_constraints.TURNS]
        words = " ".join(["word"] * _usual_words(state))
        asked = mpc_replies.names(state["settings"][ADDRESSEES])
        at = len(state["written"])
        numbers = [at] if _step_by_step(state) else range(wanted)
        turns = [
            {name: {SPEAKER: names[i % len(names)], MESSAGE: words, ADDRESSEE: "all"}[name] for name in asked}
            for i in numbers
        ]
        return [json.dumps(turns[0] if _step_by_step(state) else turns, ensure_ascii=False)]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model with what is not as usual, such as `m1 from scratch max_in_a_row 1`."""
        told = [model, "conversation"]
        for one in self.settings:
            if (value := condition[one.name]) != one.default:
                told.append(one.name if value is True else f"{one.name} {value}")
        return " ".join(told)


ADDRESSEES = mpc_constraints.ADDRESSEES
CONTINUES = "Continue the conversation whose turns so far stand under CONVERSATION."
BEGINS = (
    "Write the conversation that these people have about what stands under TOPIC, from its first turn on."
)
USUAL_WORDS = 20


def _step_by_step(state: State) -> bool:
    return bool(state["settings"][STRATEGY] == TURN_BY_TURN)


def _values(state: State, names: Sequence[str]) -> dict[str, str]:
    """Return what the places of the prompt stand for."""
    cast, settings = Cast.from_json(state["cast"]), state["settings"]
    history, written = (Shown.from_json(state[name]).turns for name in ("history", "written"))
    blocks = [quote("CAST", state["people"])]
    blocks += [quote("TOPIC", state["facts"])] if state["facts"] else []
    blocks += [quote("CONVERSATION", cast.transcript(history))] if history else []
    blocks += [quote("NEW TURNS", cast.transcript(written, after=history, numbers=True))] if written else []
    fields: dict[str, Any] = dict.fromkeys(names, "...")
    return {
        "task": CONTINUES if settings[FROM] == HISTORY else BEGINS,
        "blocks": "\n\n".join(blocks),
        "constraints": mpc_constraints.worded(settings),
        "number": str(len(written) + 1),
        "wanted": str(settings[mpc_constraints.TURNS]),
        "fields": "\n".join(f'- "{name}": {FORMS[name]}' for name in names),
        "example": json.dumps(fields),
    }


def _usual_words(state: State) -> int:
    """Return the mean length of a turn of the history in words, that of a short turn without one."""
    lengths = [len(turn["text"].split()) for turn in state["history"]]
    return max(1, sum(lengths) // len(lengths)) if lengths else USUAL_WORDS
