"""Generators that draw facts from a script, and find the sessions that answer the questions of a quiz."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Self

from annotation.records import Dialogue
from annotation.script_records import FACT, QUESTION, Fact, Question, Session, fact_json, question_json
from annotation.text.context import happening
from annotation.text.views import clean, one_line
from annotation.text.words import fold
from jobs.prompt import TEXT, Prompt, Unparseable, list_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import whole_number
from suites.continuation.benchmarks.summary import MORE, by_name, spoken
from suites.continuation.generators.generator import (
    Done,
    Generator,
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
from suites.long_dialogue.agent import PROMPTS
from suites.long_dialogue.agent.memory import Material
from suites.long_dialogue.scripts.graph import PERSON, Relation, RelationTable
from suites.long_dialogue.scripts.sessions import People, Sessions, called
from suites.long_dialogue.scripts.sessions import spoken as in_words

# Generators of records from a whole script. Each is bound to its script, so that no state contains it.

# A script as these generators read it: people, and sessions as lines.

NO_SCRIPT = "it is no script of dated sessions"
NOTHING_SAID = "nothing is said in its sessions"


class Reading:
    """A full script as lines to quote, whoever could hear them; private turns are marked."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.sessions = Sessions(dialogue)
        self.names = by_name(dialogue)

    @cached_property
    def spoken_sessions(self) -> tuple[int, ...]:
        """Numbers of the sessions with speech, in order."""
        return tuple(number for number in self.sessions.positions if self.places(number))

    def places(self, number: int) -> tuple[int, ...]:
        """Return the positions of a session's turns with speech."""
        turns = self.dialogue.turns
        return tuple(place for place in self.sessions.positions[number] if spoken(turns[place]))

    def numbered(self, number: int) -> list[str]:
        """Return a session as lines: its heading, then its turns, numbered from 1 as in `places`."""
        return [
            self.heading(self.sessions[number]),
            *(f"[{place}] {line}" for place, line in enumerate(self._lines(number), start=1)),
        ]

    def lines(self, number: int) -> list[str]:
        """Return a session as lines: its heading, then its turns."""
        return [self.heading(self.sessions[number]), *self._lines(number)]

    def people(self) -> list[str]:
        """Return the characters as lines, each with its other names."""
        return [
            one_line(called(person))
            + (f", also called {', '.join(map(one_line, person.aliases))}" if person.aliases else "")
            for person in self.dialogue.participants
        ]

    @staticmethod
    def heading(session: Session) -> str:
        """Return the date and place of a session, such as `== September 22nd, 1994 · kitchen ==`."""
        place = one_line(session.place)
        return f"== {in_words(session.date)}{' · ' + place if place else ''} =="

    def _lines(self, number: int) -> list[str]:
        return [self._line(place) for place in self.places(number)]

    def _line(self, place: int) -> str:
        turn = self.dialogue.turns[place]
        first, *rest = happening(turn, self.names, clean(turn.text)).line().split("\n")
        return "\n".join([first, *(MORE + line for line in rest)])


def why_not(dialogue: Dialogue) -> str:
    """Return why a dialogue cannot be used, '' for a script with speech."""
    if dialogue.script is None:
        return NO_SCRIPT
    numbers = {session.id for session in dialogue.script.sessions}
    return "" if any(spoken(turn) and turn.session in numbers for turn in dialogue.turns) else NOTHING_SAID


class OfScript(Generator):
    """A generator that works once it is bound to the material of a script."""

    needs = "records"

    def __init__(self, material: Material | None = None) -> None:
        self._material = material
        self._reading = Reading(material.dialogue) if material else None

    def bound(self, material: Material) -> Self:
        """Return the generator bound to a script."""
        return type(self)(material)

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why a dialogue cannot be used: it must be a script with speech."""
        return why_not(dialogue)

    @property
    def material(self) -> Material:
        """Material of the bound script. Raises ValueError when unbound."""
        if self._material is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._material

    @property
    def reading(self) -> Reading:
        """The script as lines. Raises ValueError when unbound."""
        if self._reading is None:
            raise ValueError(f"{self.key} reads a script that it is not bound to.")
        return self._reading


# Facts drawn from a script, session by session: head, relation, tail, and the turn that states the fact.

UNKNOWN_RELATION, STRANGER, TWICE = "unknown_relation", "not_a_participant", "same_fact_twice"
FACT_LIST = "facts"
FACT_FIELDS = ("head", "relation", "tail", "turn")
MOST = 200
"""Maximum number of facts in one reply, which covers one session."""
FACT_SCHEMA = list_schema(FACT_LIST, {**dict.fromkeys(FACT_FIELDS[:3], TEXT), "turn": {"type": "integer"}})


@dataclass(frozen=True, slots=True)
class ReplyFact:
    """A fact in a reply; `turn` counts from 1 among the turns shown."""

    head: str
    relation: str
    tail: str
    turn: int


class DialsimFacts(OfScript):
    """One call per session with speech; a step covers `sessions` of them.

    State: `batch`, `asked` (number of sessions done), the `facts` so far ([session's number, head, relation,
    tail, position of the turn]) and `counts` of flagged problems. The script itself is material, never state.
    """

    key = "dialsim_facts"
    title = "DialSim: facts drawn from a script, one call per session"
    produces = "record"
    settings = (Setting("sessions", 10, "Sessions that are asked about at the same time.", low=1, high=100),)

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and its task."""
        return f"{model} facts"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return a state without facts."""
        return {"batch": settings["sessions"], "asked": 0, "facts": [], "counts": {}}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return a prompt for each of the next sessions, or all facts."""
        batch = self._batch(state)
        return [self._prompt(number) for number in batch] if batch else self._done(state)

    def calls_left(self, state: State) -> int:
        """Return the number of sessions without a reply."""
        return len(self.reading.spoken_sessions) - int(state["asked"])

    def check(self, state: State, part: int, reply: str) -> None:
        """Validate the reply about one session."""
        read_facts(reply, len(self.reading.places(self._batch(state)[part])))

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Store the facts whose relation is in the table, with people under their main names."""
        counts: Counter[str] = Counter(state["counts"])
        fact_rows = list(state["facts"])
        batch = self._batch(state)
        keeper = _Keeper(self.material.relations, People(self.reading.dialogue.participants), counts)
        for number, reply in zip(batch, replies, strict=True):
            places = self.reading.places(number)
            facts = keeper.valid_facts(read_facts(reply.text, len(places)))
            fact_rows += [
                [number, fact.head, fact.relation, fact.tail, places[fact.turn - 1]] for fact in facts
            ]
        return {**state, "asked": state["asked"] + len(batch), "facts": fact_rows, "counts": dict(counts)}

    def pretend(self, state: State) -> Sequence[str]:
        """Return one fact per session."""
        fact = {"head": "somebody", "relation": next(iter(self.material.relations)), "tail": "another"}
        return [json.dumps({FACT_LIST: [fact | {"turn": 1}]})] * len(self._batch(state))

    def _batch(self, state: State) -> tuple[int, ...]:
        return self.reading.spoken_sessions[state["asked"] :][: state["batch"]]

    def _prompt(self, number: int) -> Prompt:
        relations = [_relation_line(relation) for relation in self.material.relations.values()]
        values = {
            "people": quote("PEOPLE", self.reading.people()),
            "relations": quote("RELATIONS", relations),
            "session": quote("SESSION", self.reading.numbered(number)),
        }
        return filled("dialsim_facts", 1, values, FACT_SCHEMA, folder=PROMPTS)

    def _done(self, state: State) -> Done:
        numbers: Counter[int] = Counter()
        records = []
        for number, head, relation, tail, place in state["facts"]:
            numbers[number] += 1
            session = self.reading.sessions[number].id
            fact = Fact(f"f{session}-{numbers[number]}", head, relation, tail, session, (place,))
            records.append(MadeRecord(FACT, fact.id, fact_json(fact)))
        flags = tuple(f"{name}: {count}" for name, count in sorted(state["counts"].items()))
        return Done(records=tuple(records), flags=flags)


class _Keeper:
    """Filters facts by the table of relations, and counts suspicious ones."""

    def __init__(self, relations: RelationTable, people: People, counts: Counter[str]) -> None:
        self._relations = {fold(key): relation for key, relation in relations.items()}
        self._people = people
        self._counts = counts

    def valid_facts(self, reply_facts: Sequence[ReplyFact]) -> list[ReplyFact]:
        """Return the valid facts of a session, without duplicates, in order."""
        facts: dict[tuple[str, str, str], ReplyFact] = {}
        for fact in reply_facts:
            relation = self._relations.get(fold(fact.relation))
            if relation is None:
                self._counts[UNKNOWN_RELATION] += 1
                continue
            head = self._resolved(fact.head, relation.head)
            tail = self._resolved(fact.tail, relation.tail)
            same = fold(head), relation.key, fold(tail)
            if same in facts:
                self._counts[TWICE] += 1
            else:
                facts[same] = ReplyFact(head, relation.key, tail, fact.turn)
        return list(facts.values())

    def _resolved(self, text: str, kind: str) -> str:
        """Return a participant's name, or the text itself if it names nobody."""
        if kind != PERSON:
            return text
        name = self._people.name(text)
        if name is None:
            self._counts[STRANGER] += 1
        return name or text


def read_facts(reply: str, turns: int) -> list[ReplyFact]:
    """Parse the facts of a reply about a session of `turns` turns.

    Raises Unparseable for another form, a text that is empty or too long to be a name, a turn that was not
    shown, and more than MOST facts.
    """
    entries = array(reply)
    if len(entries) > MOST:
        raise Unparseable(f"the reply has {len(entries):,} facts, not at most {MOST}")
    return [_fact(entry, f"fact {number}", turns) for number, entry in enumerate(entries, start=1)]


def _fact(entry: Any, where: str, turns: int) -> ReplyFact:
    values = fields(entry, FACT_FIELDS, where)
    only(values, FACT_FIELDS, where)
    head, relation, tail = (speaker(values[name], f"{where}: {name}") for name in FACT_FIELDS[:3])
    turn = whole_number(values, "turn", turns)
    if turn < 1:
        raise Unparseable(f"{where}: there is no turn {turn}")
    return ReplyFact(head, relation, tail, turn)


def _relation_line(relation: Relation) -> str:
    """Return a relation with its head and tail: `boss: a person's; the tail is a person`."""
    return one_line(f"{relation.key}: a {relation.head}'s; the tail is a {relation.tail}")


UNANSWERED, SEVERAL = "without_evidence", "several_sets_of_sessions"
LIST = "answerable"
FIELDS = ("question", "sessions", "all_needed")
SCHEMA = list_schema(
    LIST,
    {
        "question": {"type": "integer"},
        "sessions": {"type": "array", "items": {"type": "integer"}},
        "all_needed": {"type": "boolean"},
    },
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal of a reply: the sessions that answer a question, by the numbers shown (from 1)."""

    question: int
    sessions: tuple[int, ...]
    all_needed: bool


class DialsimQuiz(OfScript):
    """One call per episode (a session that names none is its own episode) and part of the questions.

    State: `ids` of the questions, `batch`, `most` (questions per request), `asked` (number of requests made),
    and the `proposals` so far ([question's id, [numbers of sessions], whether all of them are needed]).
    Result: each question with the proposed evidence, as a draft that supersedes it.
    """

    key = "dialsim_quiz"
    title = "DialSim: which sessions answer the questions of a quiz, one call per episode"
    produces = "record"
    settings = (
        Setting("questions", 100, "Questions that are asked about in one request.", low=1, high=1000),
        Setting("episodes", 10, "Requests that are made at the same time.", low=1, high=100),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and its task."""
        return f"{model} evidence"

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why a dialogue cannot be used: it must be a script with quiz questions without evidence."""
        if (why := super().why_not(dialogue, settings)) or self._material is None:
            return why
        return "" if open_questions(self.reading.dialogue) else "it has no quiz questions without evidence"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Store the ids of the questions."""
        ids = [question.id for question in open_questions(self.reading.dialogue)]
        return {
            "ids": ids,
            "batch": settings["episodes"],
            "most": settings["questions"],
            "asked": 0,
            "proposals": [],
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the next prompts, or the questions with their evidence."""
        batch = self._batch(state)
        return [self._prompt(*request) for request in batch] if batch else self._done(state)

    def calls_left(self, state: State) -> int:
        """Return the number of remaining requests: one per episode and part of the questions."""
        return self._requests(state) - int(state["asked"])

    def check(self, state: State, part: int, reply: str) -> None:
        """Validate the reply about one episode."""
        episode, ids = self._batch(state)[part]
        read(reply, len(ids), len(episode))

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Store the proposals."""
        batch = self._batch(state)
        proposals = list(state["proposals"])
        for (episode, ids), reply in zip(batch, replies, strict=True):
            for proposal in read(reply.text, len(ids), len(episode)):
                sessions = [episode[number - 1] for number in proposal.sessions]
                proposals.append([ids[proposal.question - 1], sessions, proposal.all_needed])
        return {**state, "asked": state["asked"] + len(batch), "proposals": proposals}

    def pretend(self, state: State) -> Sequence[str]:
        """Return one answerable question per episode."""
        proposal = {"question": 1, "sessions": [1], "all_needed": False}
        return [json.dumps({LIST: [proposal]})] * len(self._batch(state))

    @cached_property
    def _episodes(self) -> list[tuple[int, ...]]:
        """Numbers of the sessions of each episode, in order."""
        sessions = self.reading.sessions

        def episode(number: int) -> tuple[str, str | int]:
            session = sessions[number]
            return session.season, session.episode or number

        return [tuple(numbers) for _, numbers in groupby(self.reading.spoken_sessions, key=episode)]

    @cached_property
    def _questions(self) -> Mapping[str, Question]:
        return {question.id: question for question in self.reading.dialogue.questions}

    def _batch(self, state: State) -> list[tuple[tuple[int, ...], list[str]]]:
        """Return the episodes of the next requests, each with the ids of its questions."""
        ids, most = state["ids"], state["most"]
        last = min(state["asked"] + state["batch"], self._requests(state))
        pairs = (divmod(request, _parts(state)) for request in range(state["asked"], last))
        return [(self._episodes[episode], ids[part * most :][:most]) for episode, part in pairs]

    def _requests(self, state: State) -> int:
        return _parts(state) * len(self._episodes)

    def _prompt(self, episode: tuple[int, ...], ids: Sequence[str]) -> Prompt:
        sessions = [
            line
            for place, number in enumerate(episode, start=1)
            for line in (f"Session {place}", *self.reading.lines(number))
        ]
        questions = [
            f"[{place}] {self._question_line(self._questions.get(key))}"
            for place, key in enumerate(ids, start=1)
        ]
        values = {"sessions": quote("SESSIONS", sessions), "questions": quote("QUESTIONS", questions)}
        return filled("dialsim_quiz", 1, values, SCHEMA, folder=PROMPTS)

    @staticmethod
    def _question_line(question: Question | None) -> str:
        """Return a question with its answer, on one line; a deleted question is marked."""
        if question is None:
            return "(taken back)"
        return f"{one_line(question.text)} Answer: {one_line(question.answer)}"

    def _done(self, state: State) -> Done:
        proposed: dict[str, list[tuple[tuple[int, ...], bool]]] = {key: [] for key in state["ids"]}
        for key, sessions, all_needed in state["proposals"]:
            proposed[key].append((tuple(sessions), all_needed))
        flags: Counter[str] = Counter()
        records = []
        for key, sets in proposed.items():
            evidence, all_needed, several = merged(sets)
            flags[SEVERAL] += several
            flags[UNANSWERED] += not evidence
            if evidence and key in self._questions:
                records.append(self._question_record(self._questions[key], evidence, all_needed))
        return Done(
            records=tuple(records), flags=tuple(f"{name}: {n}" for name, n in sorted(flags.items()) if n)
        )

    def _question_record(self, question: Question, evidence: Sequence[int], all_needed: bool) -> MadeRecord:
        ids = tuple(self.reading.sessions[number].id for number in evidence)
        revised = replace(question, evidence=ids, evidence_all=all_needed)
        return MadeRecord(QUESTION, question.id, question_json(revised), supersedes=question.id)


def _parts(state: State) -> int:
    """Return the number of parts into which the questions are divided."""
    return -(-len(state["ids"]) // int(state["most"]))


def open_questions(dialogue: Dialogue) -> list[Question]:
    """Return the drafts of quiz questions without evidence, in order."""
    return [
        question
        for question in dialogue.questions
        if question.source == "quiz"
        and question.status == "draft"
        and not question.evidence
        and not question.origin
    ]


def merged(sets: Sequence[tuple[tuple[int, ...], bool]]) -> tuple[tuple[int, ...], bool, bool]:
    """Merge all episodes' proposals for a question: sessions, whether all are needed, whether any are lost.

    Where single sessions suffice, these are the evidence, from all episodes together, and sets of which all
    would be needed are dropped. Of several such sets the first is taken. In both cases something is lost.
    """
    single = sorted({session for sessions, all_needed in sets if not all_needed for session in sessions})
    joint = [tuple(sorted(sessions)) for sessions, all_needed in sets if all_needed]
    if single:
        return tuple(single), False, bool(joint)
    return (joint[0], True, len(joint) > 1) if joint else ((), False, False)


def read(reply: str, questions: int, sessions: int) -> list[Proposal]:
    """Parse the proposals of a reply about `questions` questions and `sessions` sessions.

    `all_needed` is always false for a single session. Raises Unparseable for another form, numbers that were
    not shown, a duplicate question or session, and an entry without a session.
    """
    proposals = [
        _proposal(entry, f"entry {number}", questions, sessions)
        for number, entry in enumerate(array(reply), start=1)
    ]
    question_numbers = [proposal.question for proposal in proposals]
    if twice := next((number for number in question_numbers if question_numbers.count(number) > 1), None):
        raise Unparseable(f"question {twice} is there twice")
    return proposals


def _proposal(entry: Any, where: str, questions: int, sessions: int) -> Proposal:
    values = fields(entry, FIELDS, where)
    only(values, FIELDS, where)
    question = _number(values["question"], f"{where}: question", questions)
    session_numbers = values["sessions"]
    if not isinstance(session_numbers, list) or not session_numbers:
        raise Unparseable(f"{where}: at least one session is needed")
    numbers = tuple(_number(number, f"{where}: sessions", sessions) for number in session_numbers)
    if len(set(numbers)) < len(numbers):
        raise Unparseable(f"{where}: a session is there twice")
    if not isinstance(values["all_needed"], bool):
        raise Unparseable(f"{where}: all_needed is neither true nor false")
    return Proposal(question, tuple(sorted(numbers)), values["all_needed"] and len(numbers) > 1)


def _number(value: Any, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unparseable(f"{where}: {str(value)[:40]!r} is not a whole number")
    if not 1 <= value <= most:
        raise Unparseable(f"{where}: {str(value)[:40]} was not shown")
    return value


GENERATORS = {generator.key: generator for generator in (DialsimFacts(), DialsimQuiz())}
