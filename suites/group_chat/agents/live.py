"""Live talk: after a script people are simulated, one prompt for each persona, and the agent decides anew.

The agent is asked after every message. After one of its own the people go on for some turns; where it says
nothing for as long, or the talk has its full length, it ends, and the people are asked what came of it. What
the people say is given: context, and never rated. `group_chat.md`, section 8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from annotation.scenario_records import MODE, MODES, UNPARSEABLE, Decision, scenario_json, scenario_record
from annotation.text.words import fold
from jobs.prompt import Prompt, Unparseable
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from suites.continuation.generators.base import (
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
    object_schema,
    only,
)
from suites.continuation.generators.named_cast import Cast
from suites.group_chat.agents import PROMPTS
from suites.group_chat.agents.agent import explicit, explicit_schema, implicit
from suites.group_chat.scenarios.cascade import DECLARED
from suites.group_chat.scenarios.points import as_delivered, positions_seen, scenario_of
from suites.group_chat.scenarios.probes import COMPETENCE, FAILED_AT, LIVE_PROBE, OUTCOME, fired, judged_live

SAYS, CHOICE = "says", "choice"
AGENT, PEOPLE, ASKED = "agent", "people", "asked"
"""Whose turn it is: the agent decides, somebody speaks, or all are asked what came of it."""
AGAIN = "Your last answer could not be read. Answer once more, in the form described, with nothing else."
UNVALIDATED = "unvalidated_simulator"
"""No study has compared these simulated people with real ones."""
SETTINGS = (
    Setting(MODE, "explicit", "Whether the agent declares whom it thinks is meant, or only acts.",
            choices=MODES, varies=True),
    Setting("after", 3, "Turns that the people go on for after a message of the agent.",
            low=1, high=20, varies=True),
    Setting("most", 24, "Turns after which the live talk ends.", low=2, high=200, varies=True),
    Setting("start", 0, "Turns of the script before the live talk; 0 takes all of it.",
            low=0, high=1000, varies=True),
)  # fmt: skip


class LiveGroupChat(Generator):
    """A group chat in which the people are simulated and the agent decides at every message."""

    key = "group_chat_live"
    title = "Live group chat with simulated people"
    produces = "rollout"
    settings = SETTINGS

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why there is no live talk: the dialogue is no scenario."""
        return "" if dialogue.scenario is not None else "it is no scenario"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the script to begin with, who takes part, and what is asked in the end."""
        scenario = scenario_of(dialogue)
        start = int(settings["start"]) or len(dialogue.turns)
        cast = Cast.of(dialogue)
        known = {person.id: person for person in dialogue.participants}
        outcome = dialogue.metadata.get(OUTCOME)
        asked = outcome if isinstance(outcome, Mapping) and outcome.get("options") else {}
        return {
            "cast": cast.as_json(),
            "agent": scenario.agent,
            "people": [[one.id, one.name, list(one.aliases)] for one in dialogue.participants],
            "about": {one.id: cast.person(one, known.get(one.id)) for one in cast.members},
            "script": StoredTurns(dialogue.turns[:start]).as_json(),
            "scenario": scenario_json(scenario),
            "made": [],
            "left": int(settings["after"]),
            "after": int(settings["after"]),
            "most": int(settings["most"]),
            "mode": settings[MODE],
            "turn_of": AGENT,
            "last": "",
            "again": False,
            "fired": [],
            "question": str(asked.get("question", "")),
            "options": [str(one) for one in asked.get("options", ())],
            "choices": None,
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt of whoever is in turn, those of all who are asked in the end, or the talk."""
        if state["turn_of"] == AGENT:
            return [self._to_agent(state)]
        if state["turn_of"] == PEOPLE:
            return [self._to_person(state, _next(state))]
        if state["choices"] is None and state["options"]:
            return [self._about_outcome(state, who) for who in _others(state)]
        turns = [_turn(one) for one in state["made"]]
        if state["choices"]:
            told = {OUTCOME: {"question": state["question"], "choices": state["choices"]}}
            turns[-1] = _with_extra(turns[-1], told)
        return Done(turns=tuple(turns), flags=(UNVALIDATED,))

    def check(self, state: State, part: int, reply: str) -> None:
        """Every reply of the agent is taken, also an unreadable one; the others are read strictly."""
        if state["turn_of"] == PEOPLE:
            _said(reply)
        elif state["turn_of"] == ASKED:
            _choice(reply, state["options"])

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state after a decision, a person's turn, or the answers in the end."""
        if state["turn_of"] == AGENT:
            return self._decided(state, replies[0].text)
        if state["turn_of"] == PEOPLE:
            return _spoke(state, _next(state), _said(replies[0].text))
        told = zip(_others(state), replies, strict=True)
        return {**state, "choices": {who: _choice(reply.text, state["options"]) for who, reply in told}}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a message of a few words, or the first option from all."""
        if state["turn_of"] == AGENT:
            told = {
                "attend": False,
                "act": "silence",
                "addressed": [],
                "targets": [],
                "ground": "none",
                "text": "",
            }
            return ["[silence]" if state["mode"] == "implicit" else json.dumps(told)]
        if state["turn_of"] == PEOPLE:
            return [json.dumps({SAYS: " ".join(["word"] * 12)})]
        return [json.dumps({CHOICE: state["options"][0]}) for _ in _others(state)]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model, which is the agent and all the people."""
        return f"{model} live"

    def _decided(self, state: State, reply: str) -> State:
        point = len(state["script"]) + len(state["made"]) - 1
        try:
            decision = _read(state, point, reply)
        except Unparseable:
            if not state["again"]:
                return {**state, "again": True}
            decision = Decision(point, "silence", mode=state["mode"], flags=(UNPARSEABLE,))
        now = fired(_dialogue(state), state["fired"])
        extra: dict[str, Any] = {DECLARED: _declared(decision)}
        if now:
            result = judged_live(_dialogue(state), now, decision)
            extra[LIVE_PROBE] = {
                "id": now.id,
                "kind": now.kind,
                COMPETENCE: result.competence,
                FAILED_AT: result.failed_at,
            }
        made = _stored(state["agent"], decision.text, decision.act, decision.targets or (), given=False)
        says = decision.act == "message"
        return _onward(
            {
                **state,
                "made": [*state["made"], made | {"extra": extra}],
                "again": False,
                "fired": [*state["fired"], *([now.id] if now else [])],
                "left": state["after"] if says else state["left"],
                "last": state["agent"] if says else state["last"],
            },
            PEOPLE,
        )

    def _to_agent(self, state: State) -> Prompt:
        agent = state["agent"]
        delivered = as_delivered(scenario_of(_dialogue(state)), _seen(state, agent))
        blocks = [
            quote("YOU", [f"{agent}: {state['about'][agent][0]}", *state["about"][agent][1:]]),
            quote("MEMBERS", [f"{pk}: {name or pk}" for pk, name, _ in state["people"] if pk != agent]),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(delivered)),
            *([AGAIN] if state["again"] else []),
        ]
        schema = explicit_schema() if state["mode"] == "explicit" else None
        name = f"group_chat_agent_{state['mode']}"
        return filled(name, 1, {"blocks": "\n\n".join(blocks)}, schema, folder=PROMPTS)

    def _to_person(self, state: State, who: str) -> Prompt:
        blocks = [
            *_stance(state, who),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(_seen(state, who))),
        ]
        return filled(
            "group_chat_persona", 1, {"blocks": "\n\n".join(blocks)}, object_schema([SAYS]), folder=PROMPTS
        )

    def _about_outcome(self, state: State, who: str) -> Prompt:
        blocks = [
            quote("PERSON", state["about"][who]),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(_seen(state, who))),
            quote("QUESTION", [state["question"]]),
            quote("OPTIONS", state["options"]),
        ]
        return filled(
            "group_chat_outcome", 1, {"blocks": "\n\n".join(blocks)}, object_schema([CHOICE]), folder=PROMPTS
        )


def _stance(state: State, who: str) -> list[str]:
    others = [state["about"][one][0] for one in state["about"] if one != who]
    return [quote("PERSON", state["about"][who]), quote("OTHERS", others)]


def _read(state: State, point: int, reply: str) -> Decision:
    if state["mode"] == "implicit":
        return implicit(reply, point)
    people = [Participant(pk, name, aliases=tuple(also)) for pk, name, also in state["people"]]
    everybody = [pk for pk, *_ in state["people"]]
    without = {"addressed": state["last"], "targets": state["agent"]}
    listed = {name: [pk for pk in everybody if pk != who] for name, who in without.items()}
    return explicit(reply, point, people, listed)


def _said(reply: str) -> str:
    found = fields(json_object(reply), [SAYS], "the reply")
    only(found, [SAYS], "the reply")
    if not isinstance(found[SAYS], str) or "\0" in found[SAYS]:
        raise Unparseable(f"{SAYS} is not a text")
    return found[SAYS].strip()


def _choice(reply: str, options: Sequence[str]) -> str:
    found = fields(json_object(reply), [CHOICE], "the reply")
    only(found, [CHOICE], "the reply")
    meant = [one for one in options if isinstance(found[CHOICE], str) and fold(one) == fold(found[CHOICE])]
    if not meant:
        raise Unparseable(f"{CHOICE} is none of the options")
    return meant[0]


def _spoke(state: State, who: str, text: str) -> State:
    """Return the state after somebody spoke, or passed."""
    act = "message" if text else "silence"
    made = _stored(who, text, act, (), given=True)
    said = {**state, "made": [*state["made"], made], "last": who, "left": state["left"] - 1}
    return _onward(said, AGENT if text else PEOPLE)


def _onward(state: State, turn_of: str) -> State:
    """Return the state with who is in turn; the end where the people have gone on, or the talk is full."""
    is_over = len(state["made"]) >= state["most"] or (turn_of == PEOPLE and state["left"] <= 0)
    return {**state, "turn_of": ASKED if is_over else turn_of}


def _others(state: State) -> list[str]:
    return [pk for pk, *_ in state["people"] if pk != state["agent"]]


def _next(state: State) -> str:
    """Return who speaks next: whom the agent has just spoken to, else whoever has been silent longest."""
    others = _others(state)
    if state["made"] and state["made"][-1]["speaker"] == state["agent"]:
        meant = [one for one in state["made"][-1]["addressees"] if one in others]
        if meant and state["made"][-1]["act"] == "message":
            return str(meant[0])
    spoke = [one["speaker"] for one in (*state["script"], *state["made"])]
    last = {who: max((at for at, one in enumerate(spoke) if one == who), default=-1) for who in others}
    return min(others, key=lambda who: (last[who], others.index(who)))


def _seen(state: State, viewer: str) -> list[Turn]:
    """Return what somebody has seen: nobody sees that others said nothing."""
    dialogue = _dialogue(state)
    turns = [dialogue.turns[place] for place in positions_seen(dialogue, viewer)]
    return [turn for turn in turns if turn.act != "silence" or turn.speaker == viewer]


def _dialogue(state: State) -> Dialogue:
    """Return the talk so far as a scenario whose script it is."""
    turns = (*StoredTurns.from_json(state["script"]).turns, *map(_turn, state["made"]))
    people = tuple(
        Participant(pk, name, aliases=tuple(also), agent=pk == state["agent"])
        for pk, name, also in state["people"]
    )
    return Dialogue("", turns=turns, participants=people, scenario=scenario_record(state["scenario"]))


def _stored(speaker: str, text: str, act: str, addressees: Sequence[str], *, given: bool) -> dict[str, Any]:
    return {
        "speaker": speaker,
        "text": text,
        "act": act,
        "addressees": list(addressees),
        "given": given,
        "extra": {},
    }


def _turn(one: Mapping[str, Any]) -> Turn:
    return Turn(
        speaker=one["speaker"],
        text=one["text"],
        act=one["act"],
        given=one["given"],
        addressees=tuple(one["addressees"]),
        extra=one["extra"],
    )


def _with_extra(turn: Turn, told: Mapping[str, Any]) -> Turn:
    return Turn(
        speaker=turn.speaker,
        text=turn.text,
        act=turn.act,
        given=turn.given,
        addressees=turn.addressees,
        extra={**turn.extra, **told},
    )


def _declared(decision: Decision) -> dict[str, Any]:
    told = {
        "mode": decision.mode,
        "attend": decision.attend,
        "addressed": None if decision.addressed is None else list(decision.addressed),
        "targets": None if decision.targets is None else list(decision.targets),
        "ground": decision.ground,
        "flags": list(decision.flags),
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


GENERATORS = {LiveGroupChat.key: LiveGroupChat()}
