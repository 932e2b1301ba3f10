"""Live talk: after a script, people are simulated with one prompt per persona, and the agent decides anew.

The agent is called after every message. After one of its own messages the people continue for some turns; if
it stays silent for as many turns, or the talk has its full length, the talk ends, and the people answer a
final question. The people's turns are given: context that is never rated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from annotation.scenario_records import MODE, MODES, UNPARSEABLE, Decision, scenario_json, scenario_record
from annotation.text.words import fold
from jobs.prompt import TEXT, Prompt, Unparseable, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
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
    only,
)
from suites.continuation.generators.named_cast import Cast
from suites.group_chat.agents import PROMPTS
from suites.group_chat.agents.agent import explicit, explicit_schema, implicit
from suites.group_chat.scenarios.cascade import DECLARED
from suites.group_chat.scenarios.points import as_delivered, positions_seen, scenario_of
from suites.group_chat.scenarios.probes import (
    COMPETENCE,
    FAILED_AT,
    LIVE_PROBE,
    OUTCOME,
    fired_probe,
    live_outcome,
)

SAYS, CHOICE = "says", "choice"
AGENT, PEOPLE, CLOSING = "agent", "people", "asked"
"""Current phase: the agent decides, a person speaks, or all answer the final question."""
AGAIN = "Your last answer could not be read. Answer once more, in the form described, with nothing else."
UNVALIDATED = "unvalidated_simulator"
"""Flag: no study has compared these simulated people with real ones."""
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
        """Refuse a dialogue that is not a scenario."""
        return "" if dialogue.scenario is not None else "it is no scenario"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the script to begin with, the participants, and the final question."""
        scenario = scenario_of(dialogue)
        start = int(settings["start"]) or len(dialogue.turns)
        cast = Cast.of(dialogue)
        by_id = {person.id: person for person in dialogue.participants}
        outcome = dialogue.metadata.get(OUTCOME)
        final_question = outcome if isinstance(outcome, Mapping) and outcome.get("options") else {}
        return {
            "cast": cast.as_json(),
            "agent": scenario.agent,
            "people": [[person.id, person.name, list(person.aliases)] for person in dialogue.participants],
            "about": {member.id: cast.person(member, by_id.get(member.id)) for member in cast.members},
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
            "question": str(final_question.get("question", "")),
            "options": [str(option) for option in final_question.get("options", ())],
            "choices": None,
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt of the next speaker, those of the final question, or the talk."""
        if state["turn_of"] == AGENT:
            return [self._agent_prompt(state)]
        if state["turn_of"] == PEOPLE:
            return [self._person_prompt(state, _next(state))]
        if state["choices"] is None and state["options"]:
            return [self._outcome_prompt(state, person) for person in _others(state)]
        turns = [_turn(turn) for turn in state["made"]]
        if state["choices"]:
            extra = {OUTCOME: {"question": state["question"], "choices": state["choices"]}}
            turns[-1] = _with_extra(turns[-1], extra)
        return Done(turns=tuple(turns), flags=(UNVALIDATED,))

    def check(self, state: State, part: int, reply: str) -> None:
        """Accept every reply of the agent, even an unreadable one; parse the others strictly."""
        if state["turn_of"] == PEOPLE:
            _read_message(reply)
        elif state["turn_of"] == CLOSING:
            _choice(reply, state["options"])

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state after a decision, a person's turn, or the final answers."""
        if state["turn_of"] == AGENT:
            return self._record_decision(state, replies[0].text)
        if state["turn_of"] == PEOPLE:
            return _record_turn(state, _next(state), _read_message(replies[0].text))
        answers = zip(_others(state), replies, strict=True)
        return {
            **state,
            "choices": {person: _choice(reply.text, state["options"]) for person, reply in answers},
        }

    def pretend(self, state: State) -> Sequence[str]:
        """Return a message of a few words, or the first option from everybody."""
        if state["turn_of"] == AGENT:
            declared = {
                "attend": False,
                "act": "silence",
                "addressed": [],
                "targets": [],
                "ground": "none",
                "text": "",
            }
            return ["[silence]" if state["mode"] == "implicit" else json.dumps(declared)]
        if state["turn_of"] == PEOPLE:
            return [json.dumps({SAYS: " ".join(["word"] * 12)})]
        return [json.dumps({CHOICE: state["options"][0]}) for _ in _others(state)]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model, which plays the agent and all people."""
        return f"{model} live"

    def _record_decision(self, state: State, reply: str) -> State:
        point = len(state["script"]) + len(state["made"]) - 1
        try:
            decision = _read(state, point, reply)
        except Unparseable:
            if not state["again"]:
                return {**state, "again": True}
            decision = Decision(point, "silence", mode=state["mode"], flags=(UNPARSEABLE,))
        now = fired_probe(_dialogue(state), state["fired"])
        extra: dict[str, Any] = {DECLARED: _declared_fields(decision)}
        if now:
            result = live_outcome(_dialogue(state), now, decision)
            extra[LIVE_PROBE] = {
                "id": now.id,
                "kind": now.kind,
                COMPETENCE: result.competence,
                FAILED_AT: result.failed_at,
            }
        turn = _turn_json(state["agent"], decision.text, decision.act, decision.targets or (), given=False)
        says = decision.act == "message"
        return _advance(
            {
                **state,
                "made": [*state["made"], turn | {"extra": extra}],
                "again": False,
                "fired": [*state["fired"], *([now.id] if now else [])],
                "left": state["after"] if says else state["left"],
                "last": state["agent"] if says else state["last"],
            },
            PEOPLE,
        )

    def _agent_prompt(self, state: State) -> Prompt:
        agent = state["agent"]
        delivered = as_delivered(scenario_of(_dialogue(state)), _visible_turns(state, agent))
        blocks = [
            quote("YOU", [f"{agent}: {state['about'][agent][0]}", *state["about"][agent][1:]]),
            quote("MEMBERS", [f"{pk}: {name or pk}" for pk, name, _ in state["people"] if pk != agent]),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(delivered)),
            *([AGAIN] if state["again"] else []),
        ]
        schema = explicit_schema() if state["mode"] == "explicit" else None
        name = f"group_chat_agent_{state['mode']}"
        return filled(name, 1, {"blocks": "\n\n".join(blocks)}, schema, folder=PROMPTS)

    def _person_prompt(self, state: State, person: str) -> Prompt:
        blocks = [
            *_stance(state, person),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(_visible_turns(state, person))),
        ]
        return filled(
            "group_chat_persona",
            1,
            {"blocks": "\n\n".join(blocks)},
            object_schema({SAYS: TEXT}),
            folder=PROMPTS,
        )

    def _outcome_prompt(self, state: State, person: str) -> Prompt:
        blocks = [
            quote("PERSON", state["about"][person]),
            quote("CHAT", Cast.from_json(state["cast"]).transcript(_visible_turns(state, person))),
            quote("QUESTION", [state["question"]]),
            quote("OPTIONS", state["options"]),
        ]
        return filled(
            "group_chat_outcome",
            1,
            {"blocks": "\n\n".join(blocks)},
            object_schema({CHOICE: TEXT}),
            folder=PROMPTS,
        )


def _stance(state: State, person: str) -> list[str]:
    others = [state["about"][other][0] for other in state["about"] if other != person]
    return [quote("PERSON", state["about"][person]), quote("OTHERS", others)]


def _read(state: State, point: int, reply: str) -> Decision:
    if state["mode"] == "implicit":
        return implicit(reply, point)
    people = [Participant(pk, name, aliases=tuple(also)) for pk, name, also in state["people"]]
    everybody = [pk for pk, *_ in state["people"]]
    excluded_by_field = {"addressed": state["last"], "targets": state["agent"]}
    all_ids = {
        name: [pk for pk in everybody if pk != excluded] for name, excluded in excluded_by_field.items()
    }
    return explicit(reply, point, people, all_ids)


def _read_message(reply: str) -> str:
    values = fields(json_object(reply), [SAYS], "the reply")
    only(values, [SAYS], "the reply")
    if not isinstance(values[SAYS], str) or "\0" in values[SAYS]:
        raise Unparseable(f"{SAYS} is not a text")
    return values[SAYS].strip()


def _choice(reply: str, options: Sequence[str]) -> str:
    values = fields(json_object(reply), [CHOICE], "the reply")
    only(values, [CHOICE], "the reply")
    matches = [
        option
        for option in options
        if isinstance(values[CHOICE], str) and fold(option) == fold(values[CHOICE])
    ]
    if not matches:
        raise Unparseable(f"{CHOICE} is none of the options")
    return matches[0]


def _record_turn(state: State, speaker: str, text: str) -> State:
    """Return the state after a person spoke, or passed."""
    act = "message" if text else "silence"
    turn = _turn_json(speaker, text, act, (), given=True)
    spoken = {**state, "made": [*state["made"], turn], "last": speaker, "left": state["left"] - 1}
    return _advance(spoken, AGENT if text else PEOPLE)


def _advance(state: State, turn_of: str) -> State:
    """Return the state with the next phase; the end where the people had their turns, or the talk is full."""
    is_over = len(state["made"]) >= state["most"] or (turn_of == PEOPLE and state["left"] <= 0)
    return {**state, "turn_of": CLOSING if is_over else turn_of}


def _others(state: State) -> list[str]:
    return [pk for pk, *_ in state["people"] if pk != state["agent"]]


def _next(state: State) -> str:
    """Return the next speaker: the person just addressed by the agent, else the one silent the longest."""
    others = _others(state)
    if state["made"] and state["made"][-1]["speaker"] == state["agent"]:
        addressees = [addressee for addressee in state["made"][-1]["addressees"] if addressee in others]
        if addressees and state["made"][-1]["act"] == "message":
            return str(addressees[0])
    spoke = [turn["speaker"] for turn in (*state["script"], *state["made"])]
    last = {
        person: max((at for at, speaker in enumerate(spoke) if speaker == person), default=-1)
        for person in others
    }
    return min(others, key=lambda person: (last[person], others.index(person)))


def _visible_turns(state: State, viewer: str) -> list[Turn]:
    """Return the turns that a person has seen, without the silence of others."""
    dialogue = _dialogue(state)
    turns = [dialogue.turns[place] for place in positions_seen(dialogue, viewer)]
    return [turn for turn in turns if turn.act != "silence" or turn.speaker == viewer]


def _dialogue(state: State) -> Dialogue:
    """Return the talk so far as the script of a scenario."""
    turns = (*StoredTurns.from_json(state["script"]).turns, *map(_turn, state["made"]))
    people = tuple(
        Participant(pk, name, aliases=tuple(also), agent=pk == state["agent"])
        for pk, name, also in state["people"]
    )
    return Dialogue("", turns=turns, participants=people, scenario=scenario_record(state["scenario"]))


def _turn_json(
    speaker: str, text: str, act: str, addressees: Sequence[str], *, given: bool
) -> dict[str, Any]:
    return {
        "speaker": speaker,
        "text": text,
        "act": act,
        "addressees": list(addressees),
        "given": given,
        "extra": {},
    }


def _turn(stored: Mapping[str, Any]) -> Turn:
    return Turn(
        speaker=stored["speaker"],
        text=stored["text"],
        act=stored["act"],
        given=stored["given"],
        addressees=tuple(stored["addressees"]),
        extra=stored["extra"],
    )


def _with_extra(turn: Turn, extra: Mapping[str, Any]) -> Turn:
    return Turn(
        speaker=turn.speaker,
        text=turn.text,
        act=turn.act,
        given=turn.given,
        addressees=turn.addressees,
        extra={**turn.extra, **extra},
    )


def _declared_fields(decision: Decision) -> dict[str, Any]:
    declared = {
        "mode": decision.mode,
        "attend": decision.attend,
        "addressed": None if decision.addressed is None else list(decision.addressed),
        "targets": None if decision.targets is None else list(decision.targets),
        "ground": decision.ground,
        "flags": list(decision.flags),
    }
    return {name: value for name, value in declared.items() if value not in (None, [])}


GENERATORS = {LiveGroupChat.key: LiveGroupChat()}
