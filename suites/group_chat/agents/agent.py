"""A group-chat agent: decides at every point of a scenario, from the turns it has seen.

The script continues regardless of the agent, so all points are asked at once, unless the agent sees its
earlier decisions. An unreadable reply is requested once more; if the second one is unreadable too, the
decision is `unparseable`: silence that counts as a failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.records import Dialogue, Participant, Turn
from annotation.scenario_records import ACTS, EVERYBODY, MODE, MODES, MOVES, UNPARSEABLE, Act, Decision
from annotation.text.views import one_line
from annotation.text.words import fold
from jobs.prompt import Prompt, Unparseable, object_schema
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
    message,
    only,
)
from suites.continuation.generators.named_cast import Cast
from suites.group_chat.agents import PROMPTS
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import (
    as_delivered,
    others_at,
    points_of,
    positions_seen,
    present_at,
    scenario_of,
)

# Parsing an agent's reply: a decision, or the reason why it is unreadable. Nothing is repaired silently.

EXPLICIT_FIELDS = ("attend", "act", "addressed", "targets", "ground", "text")
IMPLICIT_FIELDS = ("act", "text")
SILENCE_TOKEN = "[silence]"
BY_NAME = "named_by_name"
"""The only repair: a name or alias in place of an id, found by exact match after folding."""
LONGEST = 8_000


def explicit(
    reply: str, point: int, people: Sequence[Participant], everybody: Mapping[str, Sequence[str]]
) -> Decision:
    """Return the decision of a reply in explicit mode; raise Unparseable.

    `people` are all participants; `everybody` lists the ids meant by `all` in addressed and targets.
    """
    values = fields(json_object(reply), EXPLICIT_FIELDS, "the reply")
    only(values, EXPLICIT_FIELDS, "the reply")
    if not isinstance(values["attend"], bool):
        raise Unparseable("attend is neither true nor false")
    if values["ground"] not in MOVES:
        raise Unparseable(f"ground is none of {', '.join(MOVES)}")
    act = _act(values["act"])
    text = _text(values["text"], act)
    flags: list[str] = []
    addressed = _ids(values["addressed"], "addressed", people, everybody["addressed"], flags)
    targets = _ids(values["targets"], "targets", people, everybody["targets"], flags)
    if act == "silence" and targets:
        raise Unparseable("silence has targets")
    return Decision(
        point=point,
        act=act,
        text=text,
        mode="explicit",
        attend=values["attend"],
        addressed=addressed,
        targets=targets,
        ground=values["ground"],
        flags=tuple(dict.fromkeys(flags)),
    )


def implicit(reply: str, point: int) -> Decision:
    """Return the decision of a reply in implicit mode: an object of act and text, or plain text."""
    plain = reply.strip()
    if plain.startswith(("{", "```")):
        values = fields(json_object(reply), IMPLICIT_FIELDS, "the reply")
        only(values, IMPLICIT_FIELDS, "the reply")
        act = _act(values["act"])
        return Decision(point, act, _text(values["text"], act), "implicit")
    if fold(plain) == SILENCE_TOKEN:
        return Decision(point, "silence", "", "implicit")
    return Decision(point, "message", _text(plain, "message"), "implicit")


def _act(value: Any) -> Act:
    if value not in ACTS:
        raise Unparseable(f"act is none of {', '.join(ACTS)}")
    return cast(Act, value)


def _text(value: Any, act: Act) -> str:
    if act == "silence":
        if not isinstance(value, str) or value.strip():
            raise Unparseable("silence has a text")
        return ""
    text = message(value, "text").strip()
    if len(text) > LONGEST:
        raise Unparseable(f"text has {len(text):,} characters; a message has at most {LONGEST:,}")
    return text


def _ids(
    value: Any, name: str, people: Sequence[Participant], everybody: Sequence[str], flags: list[str]
) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise Unparseable(f"{name} is not a list of ids")
    member_ids = {person.id for person in people}
    ids: set[str] = set()
    for entry in value:
        if entry in member_ids:
            ids.add(entry)
        elif fold(entry) == EVERYBODY:
            ids.update(everybody)
        else:
            ids.add(_by_name(entry, name, people))
            flags.append(BY_NAME)
    return tuple(sorted(ids))


def _by_name(value: str, name: str, people: Sequence[Participant]) -> str:
    folded = fold(one_line(value)).removeprefix("@")
    matches = {
        person.id
        for person in people
        if folded and folded in {fold(alias) for alias in (person.id, person.name, *person.aliases)}
    }
    if len(matches) != 1:
        raise Unparseable(f"{name}: {value[:60]!r} is not the id of a member")
    return matches.pop()


def explicit_schema() -> Mapping[str, Any]:
    """Return the JSON schema of a reply in explicit mode."""
    ids = {"type": "array", "items": {"type": "string"}}
    return object_schema(
        {
            "attend": {"type": "boolean"},
            "act": {"type": "string", "enum": list(ACTS)},
            "addressed": ids,
            "targets": ids,
            "ground": {"type": "string", "enum": list(MOVES)},
            "text": {"type": "string"},
        }
    )


OWN_OUTPUTS = "own_outputs"
YOU, MEMBERS, DATE, CHAT = "YOU", "MEMBERS", "DATE", "CHAT"
AGAIN = (
    "Your last answer to this could not be read: it was not in the form that is described above. Answer once "
    "more, in that form and with nothing else."
)
DATES = ("date", "time")
SETTINGS = (
    Setting(
        MODE,
        "explicit",
        "Whether the agent declares whom it thinks is meant and what it does, or only acts.",
        choices=MODES,
        varies=True,
    ),
    Setting(OWN_OUTPUTS, False, "Show the agent its own earlier decisions at their places.", varies=True),
)


class GroupChatAgent(Generator):
    """Decides at every point of a scenario: message, reaction or silence."""

    key = "group_chat_agent"
    title = "Decisions of a group-chat agent"
    produces = "static"
    settings = SETTINGS

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Refuse a dialogue that is not a scenario, or has no points."""
        if dialogue.scenario is None:
            return "it is no scenario"
        return "" if points_of(dialogue) else "it has no points"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the script, the members, and the turns that the agent sees at each point."""
        scenario = scenario_of(dialogue)
        points = points_of(dialogue)
        by_id = {person.id: person for person in dialogue.participants}
        return {
            "cast": Cast.of(dialogue).as_json(),
            "agent": scenario.agent,
            "order": [person.id for person in dialogue.participants if person.id != scenario.agent],
            "people": [[person.id, person.name, list(person.aliases)] for person in dialogue.participants],
            "about": _about(by_id[scenario.agent]),
            "members": {
                person.id: _member(person) for person in dialogue.participants if person.id != scenario.agent
            },
            "date": next((str(dialogue.metadata[name]) for name in DATES if dialogue.metadata.get(name)), ""),
            "turns": StoredTurns(as_delivered(scenario, dialogue.turns)).as_json(),
            "points": list(points),
            "seen": [list(positions_seen(dialogue, scenario.agent, point + 1)) for point in points],
            "present": [sorted(present_at(dialogue, point)) for point in points],
            "all": [_everybody(dialogue, point) for point in points],
            "mode": settings[MODE],
            "own": bool(settings[OWN_OUTPUTS]),
            "decided": {},
            "again": [],
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return a prompt for each point of this step, or all decisions."""
        places = _open_places(state)
        if places:
            return [self._prompt(state, place) for place in places]
        turns = StoredTurns.from_json(state["turns"]).turns
        decisions = [_decision(state["decided"][str(point)], point, state) for point in state["points"]]
        unread = sum(UNPARSEABLE in decision.flags for decision in decisions)
        return Done(
            turns=tuple(turn_of(decision, state["agent"], turns[decision.point]) for decision in decisions),
            flags=(f"{UNPARSEABLE}: {unread} of {len(decisions)} decisions",) if unread else (),
        )

    def check(self, state: State, part: int, reply: str) -> None:
        """Accept every reply: an unreadable one is requested once more in a step of its own."""

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with the decisions; unreadable replies are requested again, once."""
        decided, again = dict(state["decided"]), list[int]()
        for place, reply in zip(_open_places(state), replies, strict=True):
            point = state["points"][place]
            try:
                decided[str(point)] = _decision_json(self._read(state, place, reply.text))
            except Unparseable as error:
                if place in state["again"]:
                    unread = Decision(point, "silence", mode=state["mode"], flags=(UNPARSEABLE,))
                    decided[str(point)] = _decision_json(unread) | {"error": str(error)[:200]}
                else:
                    again.append(place)
        return {**state, "decided": decided, "again": again}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a short message for each point of this step."""
        declared = {"attend": True, "act": "message", "addressed": [], "targets": [], "ground": "answer"}
        text = {"text": " ".join(["word"] * 12)}
        short = json.dumps({"act": "message"} | text)
        return [
            short if state["mode"] == "implicit" else json.dumps(declared | text) for _ in _open_places(state)
        ]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model; mode and the rest are in the condition."""
        return model

    def _read(self, state: State, place: int, reply: str) -> Decision:
        point = state["points"][place]
        if state["mode"] == "implicit":
            return implicit(reply, point)
        people = [Participant(pk, name, aliases=tuple(also)) for pk, name, also in state["people"]]
        return explicit(reply, point, people, state["all"][place])

    def _prompt(self, state: State, place: int) -> Prompt:
        cast = Cast.from_json(state["cast"])
        present_members = [
            state["members"][member_id]
            for member_id in state["order"]
            if member_id in state["present"][place]
        ]
        blocks = [
            quote(YOU, state["about"]),
            quote(MEMBERS, present_members),
            *([quote(DATE, [state["date"]])] if state["date"] else []),
            quote(CHAT, cast.transcript(_chat(state, place))),
            *([AGAIN] if place in state["again"] else []),
        ]
        name = f"{self.key}_{state['mode']}"
        schema = explicit_schema() if state["mode"] == "explicit" else None
        return filled(name, self.version, {"blocks": "\n\n".join(blocks)}, schema, folder=PROMPTS)


def _everybody(dialogue: Dialogue, point: int) -> dict[str, list[str]]:
    """Return the ids meant by `all` at a point: in addressed, and in targets."""
    author, agent = dialogue.turns[point].speaker, scenario_of(dialogue).agent
    return {
        "addressed": sorted(others_at(dialogue, point, author)),
        "targets": sorted(others_at(dialogue, point, agent)),
    }


def _about(agent: Participant) -> list[str]:
    return [f"{agent.id}: {agent.name or agent.id}", *([agent.role] if agent.role else []), *agent.profile]


def _member(person: Participant) -> str:
    heading = f"{person.id}: {person.name or person.id}"
    also = f", also called {', '.join(person.aliases)}" if person.aliases else ""
    return f"{heading}{f' ({person.role})' if person.role else ''}{also}"


def _open_places(state: State) -> list[int]:
    """Return the places of this step's points: the repeated ones, else all open ones, or the next one."""
    if state["again"]:
        return list(state["again"])
    open_places = [at for at, point in enumerate(state["points"]) if str(point) not in state["decided"]]
    return open_places[:1] if state["own"] else open_places


def _chat(state: State, place: int) -> list[Turn]:
    """Return the turns that the agent has seen at a point, with its own earlier decisions if shown."""
    turns = StoredTurns.from_json(state["turns"]).turns
    seen_turns: list[Turn] = []
    for at in state["seen"][place]:
        seen_turns.append(turns[at])
        stored = state["decided"].get(str(at)) if state["own"] and at < state["points"][place] else None
        if stored and stored["act"] != "silence":
            seen_turns.append(turn_of(_decision(stored, at, state), state["agent"], turns[at]))
    return seen_turns


def _decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "act": decision.act,
        "text": decision.text,
        "attend": decision.attend,
        "addressed": decision.addressed,
        "targets": decision.targets,
        "ground": decision.ground,
        "flags": decision.flags,
    }


def _decision(stored: Mapping[str, Any], point: int, state: State) -> Decision:
    addressed, targets = stored["addressed"], stored["targets"]
    return Decision(
        point=point,
        act=stored["act"],
        text=stored["text"],
        mode=state["mode"],
        attend=stored["attend"],
        addressed=None if addressed is None else tuple(addressed),
        targets=None if targets is None else tuple(targets),
        ground=stored["ground"],
        flags=tuple(stored["flags"]),
    )


GENERATORS = {GroupChatAgent.key: GroupChatAgent()}
