"""Small generated scripts whose evidence carries the fake reader's marks, and agents run over them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import (
    KIND,
    Date,
    NameMap,
    Question,
    QuestionSet,
    Script,
    Session,
    Use,
    question_json,
    script_json,
    set_json,
)
from demo.fake_model.serving import embed as unit
from jobs.prompt import Prompt
from suites.continuation.generators.generator import Done, Generator, Reply
from suites.long_dialogue.agent.agent import DialsimAgent
from suites.long_dialogue.agent.memory import Material
from suites.long_dialogue.scripts.quiz import quiz_use
from suites.long_dialogue.scripts.sessions import Sessions

PEOPLE = ("Ana", "Ben", "Cara", "Dan", "Eve")
OTHERS = {"Ana": "Ida", "Ben": "Joe", "Cara": "Kim", "Dan": "Leo", "Eve": "May"}
WORDS = [f"word{number}" for number in range(120)]
THINGS = [f"thing{number}" for number in range(400)]
ANONYMISED = NameMap("anonymised", 1, tuple(OTHERS.items()))


def world(sessions: int = 30, questions: int = 40, seed: int = 0, turns: int = 8) -> Material:
    """Return a script with questions: one session suffices for most, every third needs two."""
    source = random.Random(seed)
    told = [_session(number, source, turns) for number in range(1, sessions + 1)]
    lines = [list(each) for each in told]
    made = [_question(number, sessions, lines, source) for number in range(questions)]
    dialogue = _dialogue(f"world-{seed}", lines)
    placed = tuple(_placed(question, dialogue) for question in made)
    return Material(dialogue, placed, tuple(_uses(dialogue, placed, source)), vectors=embed)


def embed(texts: Any) -> Any:
    """Return the fake model's vectors."""
    import numpy as np

    return np.array([unit(text) for text in texts], dtype=np.float32)


def _session(number: int, source: random.Random, turns: int) -> list[Turn]:
    others = source.sample(PEOPLE[1:], 2)
    there = ["Ana", *others] if source.random() < 0.8 else others
    said = []
    for place in range(turns):
        speaker = there[place % len(there)]
        text = " ".join(source.choices(WORDS, k=6)) + f" {source.choice(PEOPLE)} t{number}x{place}"
        said.append(Turn(speaker.lower(), text, session=f"s{number}"))
    return said


def _question(number: int, sessions: int, lines: list[list[Turn]], source: random.Random) -> Question:
    needed = 2 if number % 3 == 2 else 1
    chosen = sorted(source.sample(range(1, sessions + 1), needed))
    about, thing = source.choice(WORDS), source.sample(THINGS, 4)
    for part, session in enumerate(chosen, start=1):
        place = source.randrange(len(lines[session - 1]))
        turn = lines[session - 1][place]
        mark = f"{{evidence q{number}{f' {part}/{needed}' if needed > 1 else ''}}}"
        lines[session - 1][place] = replace(turn, text=f"{turn.text} {about} {mark}")
    text = f"What did {source.choice(PEOPLE)} say of {about}? {{answer q.{number} {thing[0]}}}"
    evidence = tuple(f"s{session}" for session in chosen)
    return Question(
        f"q{number}", "quiz", text, tuple(thing), thing[0], evidence, evidence_all=needed > 1,
        status="accepted",
    )  # fmt: skip


def _dialogue(id: str, lines: list[list[Turn]]) -> Dialogue:
    dates = [Date(1994 + number // 12, number % 12 + 1, 1 + number % 28) for number in range(len(lines))]
    sessions = tuple(Session(f"s{number}", date) for number, date in enumerate(dates, start=1))
    return Dialogue(
        id,
        tuple(turn for session in lines for turn in session),
        tuple(Participant(name.lower(), name) for name in PEOPLE),
        script=Script("ana", sessions, names=(ANONYMISED,)),
    )


def _placed(question: Question, dialogue: Dialogue) -> Question:
    marks = (f"{{evidence {question.id}}}", f"{{evidence {question.id} ")
    places = [at for at, turn in enumerate(dialogue.turns) if any(mark in turn.text for mark in marks)]
    return replace(question, evidence_turns=tuple(places))


def _uses(dialogue: Dialogue, questions: tuple[Question, ...], source: random.Random) -> list[Use]:
    sessions = Sessions(dialogue)
    made = []
    for question in questions:
        evidence = [sessions.numbers[session] for session in question.evidence]
        for t in sorted(sessions.heard):
            said = quiz_use(sessions.heard, evidence, question.evidence_all, t)
            if said.kind == "excluded":
                continue
            order = "".join(source.sample("0123", 4))
            key = "ABCD"[order.index("0")] if said.kind == "answerable" else "E"
            made.append(Use(question.id, f"s{t}", key != "E", key, said.type, order, rule=said.rule))
    return made


def answered(
    material: Material, answer: Callable[[Prompt], str | Reply], trial: int = 0, **settings: Any
) -> tuple[Done, list[Prompt]]:
    """Return the result of a trial, and its prompts in order."""
    agent: Generator = DialsimAgent().bound(material)
    resolved = agent.resolved(settings)
    assert agent.why_not(material.dialogue, resolved) == ""
    state = agent.begin_trial(material.dialogue, resolved, trial)
    prompts: list[Prompt] = []
    while not isinstance(step := agent.request(state), Done):
        prompts += step
        said = answer(step[0])
        state = agent.receive(state, [said if isinstance(said, Reply) else Reply(said)])
    return step, prompts


def answers_of(done: Done) -> list[Mapping[str, Any]]:
    """Return the record of each answer."""
    return [turn.extra["answer"] for turn in done.turns if not turn.given]


def native(material: Material, name: str = "first") -> dict[str, Any]:
    """Return a script with its questions in the native format, the uses as a question set."""
    dialogue = material.dialogue
    told = script_json(dialogue.script)
    assert told is not None
    return told | {
        "id": dialogue.id,
        "kind": KIND,
        "participants": [{"id": person.id, "name": person.name} for person in dialogue.participants],
        "turns": [
            {"speaker": turn.speaker, "text": turn.text, "session": turn.session} for turn in dialogue.turns
        ],
        "questions": [
            question_json(one) | {"id": one.id, "status": one.status} for one in material.questions
        ],
        "question_sets": [set_json(QuestionSet(name, uses=material.uses))],
    }
