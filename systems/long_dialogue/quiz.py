"""Where a script answers the questions of a quiz: which sessions of each episode give which answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from annotation.records import Dialogue
from annotation.scripts.records import QUESTION, Question, question_json
from annotation.text.views import one_line
from jobs.prompt import Prompt, Unparseable
from judges.protocols.quoting import quote
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
)
from systems.long_dialogue.of_script import OfScript

UNANSWERED, SEVERAL = "without_evidence", "several_sets_of_sessions"
LIST = "answerable"
FIELDS = ("question", "sessions", "all_needed")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        LIST: {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "integer"},
                    "sessions": {"type": "array", "items": {"type": "integer"}},
                    "all_needed": {"type": "boolean"},
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
class Proposal:
    """What a reply says of a question: the sessions that answer it, by the numbers shown (from 1)."""

    question: int
    sessions: tuple[int, ...]
    all_needed: bool


class DialsimQuiz(OfScript):
    """A call for each episode (a session that names none is one by itself) and each so many questions.

    State: `ids` of the questions that are asked about, `batch`, `most` (questions in a request), `asked` (how
    many requests are), and the `proposals` so far ([question's id, [numbers of sessions], whether all of them
    are needed]). Result: each question with the evidence proposed, as a draft that supersedes it.
    """

    key = "dialsim_quiz"
    title = "DialSim: which sessions answer the questions of a quiz, one call per episode"
    produces = "record"
    settings = (
        Setting("questions", 100, "Questions that are asked about in one request.", low=1, high=1000),
        Setting("episodes", 10, "Requests that are made at the same time.", low=1, high=100),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and what it does."""
        return f"{model} evidence"

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """A script is needed, with questions of a quiz whose evidence nobody knows."""
        if (why := super().why_not(dialogue, settings)) or self._material is None:
            return why
        return "" if open_questions(self.reading.dialogue) else "it has no quiz questions without evidence"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Take note of the questions."""
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
        return [self._prompt(*asked) for asked in batch] if batch else self._done(state)

    def calls_left(self, state: State) -> int:
        """Return how many episodes are still to be asked about, each with all parts of the questions."""
        return self._requests(state) - int(state["asked"])

    def check(self, state: State, part: int, reply: str) -> None:
        """Read the reply about one episode."""
        episode, ids = self._batch(state)[part]
        read(reply, len(ids), len(episode))

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep what is proposed."""
        batch = self._batch(state)
        kept = list(state["proposals"])
        for (episode, ids), reply in zip(batch, replies, strict=True):
            for told in read(reply.text, len(ids), len(episode)):
                sessions = [episode[number - 1] for number in told.sessions]
                kept.append([ids[told.question - 1], sessions, told.all_needed])
        return {**state, "asked": state["asked"] + len(batch), "proposals": kept}

    def pretend(self, state: State) -> Sequence[str]:
        """Return one question that can be answered for each episode."""
        told = {"question": 1, "sessions": [1], "all_needed": False}
        return [json.dumps({LIST: [told]})] * len(self._batch(state))

    @cached_property
    def _episodes(self) -> list[tuple[int, ...]]:
        """The numbers of the sessions of each episode, in order."""
        sessions = self.reading.sessions

        def episode(number: int) -> tuple[str, str | int]:
            session = sessions[number]
            return session.season, session.episode or number

        return [tuple(numbers) for _, numbers in groupby(self.reading.told, key=episode)]

    @cached_property
    def _questions(self) -> Mapping[str, Question]:
        return {question.id: question for question in self.reading.dialogue.questions}

    def _batch(self, state: State) -> list[tuple[tuple[int, ...], list[str]]]:
        """Return the episodes of the next requests, each with the questions that go with it."""
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
            f"[{place}] {self._told(self._questions.get(key))}" for place, key in enumerate(ids, start=1)
        ]
        values = {"sessions": quote("SESSIONS", sessions), "questions": quote("QUESTIONS", questions)}
        return filled("dialsim_quiz", 1, values, SCHEMA)

    @staticmethod
    def _told(question: Question | None) -> str:
        """Return a question with its answer, on one line; one that is no longer there says so."""
        if question is None:
            return "(taken back)"
        return f"{one_line(question.text)} Answer: {one_line(question.answer)}"

    def _done(self, state: State) -> Done:
        proposed: dict[str, list[tuple[tuple[int, ...], bool]]] = {key: [] for key in state["ids"]}
        for key, sessions, all_needed in state["proposals"]:
            proposed[key].append((tuple(sessions), all_needed))
        flags: Counter[str] = Counter()
        made = []
        for key, sets in proposed.items():
            evidence, all_needed, several = merged(sets)
            flags[SEVERAL] += several
            flags[UNANSWERED] += not evidence
            if evidence and key in self._questions:
                made.append(self._made(self._questions[key], evidence, all_needed))
        return Done(
            records=tuple(made), flags=tuple(f"{name}: {n}" for name, n in sorted(flags.items()) if n)
        )

    def _made(self, question: Question, evidence: Sequence[int], all_needed: bool) -> MadeRecord:
        ids = tuple(self.reading.sessions[number].id for number in evidence)
        made = replace(question, evidence=ids, evidence_all=all_needed)
        return MadeRecord(QUESTION, question.id, question_json(made), supersedes=question.id)


def _parts(state: State) -> int:
    """Return into how many parts the questions are divided."""
    return -(-len(state["ids"]) // int(state["most"]))


def open_questions(dialogue: Dialogue) -> list[Question]:
    """Return the drafts of quiz questions whose evidence nobody knows, in their order."""
    return [
        question
        for question in dialogue.questions
        if question.source == "quiz"
        and question.status == "draft"
        and not question.evidence
        and not question.origin
    ]


def merged(sets: Sequence[tuple[tuple[int, ...], bool]]) -> tuple[tuple[int, ...], bool, bool]:
    """Return the sessions of a question from what each episode proposes, whether all are needed, and whether
    something could not be told.

    Where single sessions suffice, these are the evidence, of all episodes together, and sets of which all
    would be needed are left out. Of several such sets the first is taken. In both cases something is lost.
    """
    single = sorted({session for sessions, all_needed in sets if not all_needed for session in sessions})
    whole = [tuple(sorted(sessions)) for sessions, all_needed in sets if all_needed]
    if single:
        return tuple(single), False, bool(whole)
    return (whole[0], True, len(whole) > 1) if whole else ((), False, False)


def read(reply: str, questions: int, sessions: int) -> list[Proposal]:
    """Return the proposals of a reply about so many questions and sessions.

    Of a single session all are never needed. Raises Unparseable for another form, numbers that were not
    shown, a question or a session that is there twice, and no session.
    """
    made = [
        _proposal(entry, f"entry {number}", questions, sessions)
        for number, entry in enumerate(array(reply), start=1)
    ]
    listed = [one.question for one in made]
    if twice := next((number for number in listed if listed.count(number) > 1), None):
        raise Unparseable(f"question {twice} is there twice")
    return made


def _proposal(entry: Any, where: str, questions: int, sessions: int) -> Proposal:
    told = fields(entry, FIELDS, where)
    only(told, FIELDS, where)
    question = _number(told["question"], f"{where}: question", questions)
    listed = told["sessions"]
    if not isinstance(listed, list) or not listed:
        raise Unparseable(f"{where}: at least one session is needed")
    numbers = tuple(_number(number, f"{where}: sessions", sessions) for number in listed)
    if len(set(numbers)) < len(numbers):
        raise Unparseable(f"{where}: a session is there twice")
    if not isinstance(told["all_needed"], bool):
        raise Unparseable(f"{where}: all_needed is neither true nor false")
    return Proposal(question, tuple(sorted(numbers)), told["all_needed"] and len(numbers) > 1)


def _number(value: Any, where: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unparseable(f"{where}: {str(value)[:40]!r} is not a whole number")
    if not 1 <= value <= most:
        raise Unparseable(f"{where}: {str(value)[:40]} was not shown")
    return value
