"""Generator of question wordings: one for each recurring character of a script, and one for anybody else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.records import Dialogue
from annotation.script_records import DEFAULT_STYLE, Question, versioned
from annotation.text.views import one_line
from jobs.prompt import TEXT, Prompt, Unparseable, list_schema
from judges.protocols.quoting import quote
from suites.continuation.benchmarks.summary import MORE
from suites.continuation.generators.generator import (
    Done,
    Reply,
    Setting,
    Settings,
    State,
    Value,
    array,
    fields,
    filled,
    message,
    only,
)
from suites.long_dialogue.agent import PROMPTS
from suites.long_dialogue.agent.quiz import OfScript
from suites.long_dialogue.agent.trial_settings import SET
from suites.long_dialogue.scripts.quiz import style_faults
from suites.long_dialogue.scripts.sessions import called

DROPPED = "wording_dropped"
ELSE = "anybody else"
LIST = "wordings"
FIELDS = ("asker", "text")
LONGEST = 1000
"""Maximum length of a wording, in characters."""
SPOKEN = range(5, 31)
"""Length, in words, of a turn that serves as a sample of a character's speech."""
SCHEMA = list_schema(LIST, {"asker": {"type": "integer"}, "text": TEXT})
Wordings = dict[int, str]
"""Texts by the number of the asker; 0 stands for anybody else."""


@dataclass(frozen=True, slots=True)
class WordingRequest:
    """One request: a question, the numbers of the askers, and the faults of their previous wordings."""

    question: Question
    numbers: tuple[int, ...]
    faults: Mapping[int, str]


class DialsimStyle(OfScript):
    """One call per question, and once more for the wordings that do not match their question.

    State: `ids` of the remaining questions, the `askers` by number, the `wordings` so far ({id: [texts by
    number, null where missing]}), the requests to repeat `again` ([id, {number: fault}]), and the number of
    `dropped` wordings. Result: {"styles": {id: {speaker: text, "default": text}}}.
    """

    key = "dialsim_style"
    title = "DialSim: questions as the characters of a script would ask them"
    produces = "text"
    settings = (
        Setting(SET, "", "The question set whose questions are worded; NAME:2 is its second version. Empty: "
                "the questions that are in none.", varies=True),
        Setting("sessions", 3, "Number of sessions from which a character is recurring.", low=1),
        Setting("samples", 3, "Turns that show how a character talks.", low=0, high=20),
        Setting("questions", 50, "Questions that are asked about at the same time.", low=1, high=500),
    )  # fmt: skip

    def resolved(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """Return a value for every setting; the version of a set as NAME:2, even if given as NAME@2."""
        resolved = super().resolved(values)
        return {**resolved, SET: versioned(str(resolved[SET]))}

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and its task."""
        return f"{model} wordings"

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why a dialogue cannot be used: it must be a script with questions that are not rejected."""
        if (why := super().why_not(dialogue, settings)) or self._material is None:
            return why
        if self._valid_questions:
            return ""
        condition = f"the question set {settings[SET]} made" if settings[SET] else "stand by themselves"
        return f"it has no questions that {condition}"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Store the questions and their possible askers."""
        return {
            "ids": [question.id for question in self._valid_questions],
            "askers": ["", *self._recurring(int(settings["sessions"]))],
            "samples": settings["samples"],
            "batch": settings["questions"],
            "wordings": {},
            "again": [],
            "dropped": 0,
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the next prompts, repeated ones first; or all wordings."""
        requests = self._requests(state)
        return [self._prompt(state, request) for request in requests] if requests else _done(state)

    def calls_left(self, state: State) -> int:
        """Return the number of questions left to word, if every wording matches its question."""
        return len(self._remaining_ids(state)) + len(self._wrong(state))

    def check(self, state: State, part: int, reply: str) -> None:
        """Validate the wordings of one question."""
        read(reply, self._requests(state)[part].numbers)

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Store the wordings that match their question; repeat the others once, then drop them."""
        requests = self._requests(state)
        wordings = dict(state["wordings"])
        again: list[list[Any]] = []
        for request, reply in zip(requests, replies, strict=True):
            texts = read(reply.text, request.numbers)
            faults = {number: self._faults(request.question, text) for number, text in texts.items()}
            valid = {number: text for number, text in texts.items() if not faults[number]}
            wordings[request.question.id] = _with(
                wordings.get(request.question.id), valid, len(state["askers"])
            )
            wrong = {f"{n}": f"{texts[n]} ({'; '.join(why)})" for n, why in faults.items() if why}
            again += [[request.question.id, wrong]] if wrong else []
        if self._wrong(state):
            lost = sum(len(wrong) for _, wrong in again)
            return {**state, "wordings": wordings, "again": [], "dropped": state["dropped"] + lost}
        remaining_ids = self._remaining_ids(state)[state["batch"] :]
        return {**state, "ids": remaining_ids, "wordings": wordings, "again": again}

    def pretend(self, state: State) -> Sequence[str]:
        """Return the questions behind an opener."""
        return [
            json.dumps(
                {
                    LIST: [
                        {"asker": number, "text": f"By the way: {one_line(request.question.text)}"}
                        for number in request.numbers
                    ]
                },
                ensure_ascii=False,
            )
            for request in self._requests(state)
        ]

    @cached_property
    def _questions(self) -> Mapping[str, Question]:
        return {question.id: question for question in self.reading.dialogue.questions}

    @cached_property
    def _names(self) -> list[str]:
        return [called(person) for person in self.reading.dialogue.participants]

    @property
    def _valid_questions(self) -> list[Question]:
        """Questions of the material, without rejected ones."""
        return [question for question in self.material.questions if question.status != "rejected"]

    def _recurring(self, least: int) -> list[str]:
        """Return the speakers in `least` or more sessions, without the main character, by first turn."""
        sessions, turns = self.reading.sessions, self.reading.dialogue.turns
        counted = Counter(
            speaker
            for number in self.reading.spoken_sessions
            for speaker in dict.fromkeys(turns[place].speaker for place in self.reading.places(number))
        )
        nobody = {sessions.main, *sessions.script.collective}
        return [speaker for speaker, n in counted.items() if n >= least and speaker not in nobody]

    def _requests(self, state: State) -> list[WordingRequest]:
        """Return the next requests: those to repeat, or else a batch of new ones."""
        if wrong := self._wrong(state):
            return wrong
        numbers = tuple(range(len(state["askers"])))
        return [
            WordingRequest(self._questions[key], numbers, {})
            for key in self._remaining_ids(state)[: state["batch"]]
        ]

    def _remaining_ids(self, state: State) -> list[str]:
        """Return the ids of the remaining questions, without those deleted meanwhile."""
        return [key for key in state["ids"] if key in self._questions]

    def _wrong(self, state: State) -> list[WordingRequest]:
        """Return the requests to repeat."""
        existing = [(self._questions[key], wrong) for key, wrong in state["again"] if key in self._questions]
        return [
            WordingRequest(
                question, tuple(sorted(map(int, wrong))), {int(number): wrong[number] for number in wrong}
            )
            for question, wrong in existing
        ]

    def _faults(self, question: Question, text: str) -> tuple[str, ...]:
        return style_faults(question.text, text, question.choices, self._names)

    def _prompt(self, state: State, request: WordingRequest) -> Prompt:
        askers = [
            self._asker(number, state["askers"][number], state["samples"]) for number in request.numbers
        ]
        wrong = [f"[{number}] {text}" for number, text in request.faults.items()]
        values = {
            "asked": quote("ASKED", [one_line(self.reading.names.of(self.reading.sessions.main))]),
            "question": quote("QUESTION", [one_line(request.question.text)]),
            "askers": quote("ASKERS", askers),
            "again": quote("AGAIN", wrong),
            "numbers": ", ".join(map(str, request.numbers)),
        }
        return filled("dialsim_style_again" if wrong else "dialsim_style", 1, values, SCHEMA, folder=PROMPTS)

    def _asker(self, number: int, speaker: str, samples: int) -> str:
        """Return an asker as lines: number and name, then samples of their speech."""
        if not number:
            return f"[0] {ELSE}"
        spoken = self._turns_by_speaker.get(speaker, [])
        examples = [spoken[place * len(spoken) // samples] for place in range(min(samples, len(spoken)))]
        return "\n".join(
            [f"[{number}] {self.reading.names.of(speaker)}", *(f"{MORE}- {t}" for t in examples)]
        )

    @cached_property
    def _turns_by_speaker(self) -> Mapping[str, list[str]]:
        """Short turns of each speaker, in order."""
        turns = self.reading.dialogue.turns
        by_speaker: dict[str, list[str]] = {}
        for number in self.reading.spoken_sessions:
            for place in self.reading.places(number):
                text = one_line(turns[place].text)
                if len(text.split()) in SPOKEN:
                    by_speaker.setdefault(turns[place].speaker, []).append(text)
        return by_speaker


def read(reply: str, numbers: Sequence[int]) -> Wordings:
    """Parse the wordings of a reply, by the number of the asker.

    Raises Unparseable for another form, and unless each requested number occurs exactly once.
    """
    wordings: Wordings = {}
    for place, entry in enumerate(array(reply), start=1):
        where = f"entry {place}"
        wording = fields(entry, FIELDS, where)
        only(wording, FIELDS, where)
        number = wording["asker"]
        if not isinstance(number, int) or isinstance(number, bool) or number not in numbers:
            raise Unparseable(f"{where}: {str(number)[:40]!r} is no number that was asked for")
        if number in wordings:
            raise Unparseable(f"{where}: number {number} is there twice")
        wordings[number] = one_line(message(wording["text"], f"{where}: text"))
        if len(wordings[number]) > LONGEST:
            raise Unparseable(f"{where}: the text has more than {LONGEST:,} characters")
    if missing := [number for number in numbers if number not in wordings]:
        raise Unparseable(f"number {missing[0]} is missing")
    return wordings


def _with(texts: Sequence[str | None] | None, more: Wordings, askers: int) -> list[str | None]:
    """Merge more wordings into those of a question."""
    merged = list(texts or [None] * askers)
    for number, text in more.items():
        merged[number] = text
    return merged


def _done(state: State) -> Done:
    names = [DEFAULT_STYLE, *state["askers"][1:]]
    styles = {
        key: {name: text for name, text in zip(names, texts, strict=True) if text is not None}
        for key, texts in state["wordings"].items()
    }
    flags = (f"{DROPPED}: {state['dropped']}",) if state["dropped"] else ()
    return Done(text={"styles": styles}, flags=flags)


GENERATORS = {DialsimStyle.key: DialsimStyle()}
