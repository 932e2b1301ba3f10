"""Facts drawn from a script, session by session: head, relation, tail, and the turn that says it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.records import Dialogue
from annotation.scripts.graph import PERSON, Relation, RelationTable
from annotation.scripts.records import FACT, Fact, fact_json
from annotation.scripts.sessions import People
from annotation.text.views import one_line
from annotation.text.words import fold
from jobs.prompt import Prompt, Unparseable
from judges.protocols.quoting import quote
from judges.protocols.replies import whole_number
from systems.generators.base import (
    Done,
    MadeRecord,
    Reply,
    Setting,
    Settings,
    State,
    Value,
    array,
    fields,
    filled,
    only,
    speaker,
)
from systems.long_dialogue.of_script import OfScript

UNKNOWN_RELATION, STRANGER, TWICE = "unknown_relation", "not_a_participant", "same_fact_twice"
LIST = "facts"
FIELDS = ("head", "relation", "tail", "turn")
MOST = 200
"""A session tells at most so many facts."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        LIST: {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{name: {"type": "string"} for name in FIELDS[:3]},
                    "turn": {"type": "integer"},
                },
                "required": list(FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": [LIST],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fact as a reply has it; `turn` counts from 1 among the turns shown."""

    head: str
    relation: str
    tail: str
    turn: int


class DialsimFacts(OfScript):
    """A call for each session in which something is said; a step asks about `sessions` of them.

    State: `batch`, `asked` (how many sessions are), the `facts` so far ([session's number, head, relation,
    tail, position of the turn]) and `counts` of what was flagged. The script itself is material, never state.
    """

    key = "dialsim_facts"
    title = "DialSim: facts drawn from a script, one call per session"
    produces = "record"
    settings = (Setting("sessions", 10, "Sessions that are asked about at the same time.", low=1, high=100),)

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and what it does."""
        return f"{model} facts"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Nothing is asked yet."""
        return {"batch": settings["sessions"], "asked": 0, "facts": [], "counts": {}}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return a prompt for each of the next sessions, or the facts of all."""
        batch = self._batch(state)
        return [self._prompt(number) for number in batch] if batch else self._done(state)

    def calls_left(self, state: State) -> int:
        """Return how many sessions are still to be asked about."""
        return len(self.reading.told) - int(state["asked"])

    def check(self, state: State, part: int, reply: str) -> None:
        """Read the reply about one session."""
        read(reply, len(self.reading.places(self._batch(state)[part])))

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep the facts whose relation is one of the table, with people under their names."""
        counts: Counter[str] = Counter(state["counts"])
        kept = list(state["facts"])
        batch = self._batch(state)
        keeper = _Keeper(self.material.relations, People(self.reading.dialogue.participants), counts)
        for number, reply in zip(batch, replies, strict=True):
            places = self.reading.places(number)
            facts = keeper.kept(read(reply.text, len(places)))
            kept += [[number, fact.head, fact.relation, fact.tail, places[fact.turn - 1]] for fact in facts]
        return {**state, "asked": state["asked"] + len(batch), "facts": kept, "counts": dict(counts)}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a fact for each of the sessions."""
        fact = {"head": "somebody", "relation": next(iter(self.material.relations)), "tail": "another"}
        return [json.dumps({LIST: [fact | {"turn": 1}]})] * len(self._batch(state))

    def _batch(self, state: State) -> tuple[int, ...]:
        return self.reading.told[state["asked"] :][: state["batch"]]

    def _prompt(self, number: int) -> Prompt:
        relations = [_told(relation) for relation in self.material.relations.values()]
        values = {
            "people": quote("PEOPLE", self.reading.people()),
            "relations": quote("RELATIONS", relations),
            "session": quote("SESSION", self.reading.numbered(number)),
        }
        return filled("dialsim_facts", 1, values, SCHEMA)

    def _done(self, state: State) -> Done:
        numbers: Counter[int] = Counter()
        made = []
        for number, head, relation, tail, place in state["facts"]:
            numbers[number] += 1
            session = self.reading.sessions[number].id
            fact = Fact(f"f{session}-{numbers[number]}", head, relation, tail, session, (place,))
            made.append(MadeRecord(FACT, fact.id, fact_json(fact)))
        flags = tuple(f"{name}: {count}" for name, count in sorted(state["counts"].items()))
        return Done(records=tuple(made), flags=flags)


class _Keeper:
    """Takes from replies what is a fact of the table, and counts what deserves a look."""

    def __init__(self, relations: RelationTable, people: People, counts: Counter[str]) -> None:
        self._relations = {fold(key): relation for key, relation in relations.items()}
        self._people = people
        self._counts = counts

    def kept(self, drawn: Sequence[Drawn]) -> list[Drawn]:
        """Return the facts of a session that are kept, in their order."""
        kept: dict[tuple[str, str, str], Drawn] = {}
        for fact in drawn:
            relation = self._relations.get(fold(fact.relation))
            if relation is None:
                self._counts[UNKNOWN_RELATION] += 1
                continue
            head = self._resolved(fact.head, relation.head)
            tail = self._resolved(fact.tail, relation.tail)
            same = fold(head), relation.key, fold(tail)
            if same in kept:
                self._counts[TWICE] += 1
            else:
                kept[same] = Drawn(head, relation.key, tail, fact.turn)
        return list(kept.values())

    def _resolved(self, told: str, kind: str) -> str:
        """Return the name of a participant, or what is told where it is nobody's."""
        if kind != PERSON:
            return told
        name = self._people.name(told)
        if name is None:
            self._counts[STRANGER] += 1
        return name or told


def read(reply: str, turns: int) -> list[Drawn]:
    """Return the facts of a reply about a session of so many turns.

    Raises Unparseable for another form, a text that is empty or too long to be a name, a turn that was not
    shown, and more facts than a session can tell.
    """
    entries = array(reply)
    if len(entries) > MOST:
        raise Unparseable(f"the reply has {len(entries):,} facts, not at most {MOST}")
    return [_fact(entry, f"fact {number}", turns) for number, entry in enumerate(entries, start=1)]


def _fact(entry: Any, where: str, turns: int) -> Drawn:
    told = fields(entry, FIELDS, where)
    only(told, FIELDS, where)
    head, relation, tail = (speaker(told[name], f"{where}: {name}") for name in FIELDS[:3])
    turn = whole_number(told, "turn", turns)
    if turn < 1:
        raise Unparseable(f"{where}: there is no turn {turn}")
    return Drawn(head, relation, tail, turn)


def _told(relation: Relation) -> str:
    """Return a relation with what it links: `boss: a person's; the tail is a person`."""
    return one_line(f"{relation.key}: a {relation.head}'s; the tail is a {relation.tail}")
