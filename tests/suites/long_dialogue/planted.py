"""A small script with facts and a quiz planted in its turns, and generators that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Question, Script, Session
from jobs.prompt import Prompt
from suites.continuation.generators import GENERATORS, Done, Generator
from suites.long_dialogue.agent.memory import Material
from tests.suites.continuation.driving import Answer, replies, stored

PEOPLE = (
    Participant("ana", "Ana", aliases=("Annie", "Red")),
    Participant("ben", "Ben", aliases=("Red",)),
    Participant("cara", "Cara Miller", aliases=("Cara",)),
)
LINES = {
    "s1": (("ana", "Ben lives with Cara now. {fact Ben | roommate | Cara}"), ("ben", "So I do.")),
    "s2": (("ben", ""), ("cara", "I got the job! {fact cara | job | cook} {evidence q1}")),
    "s3": (("ana", "And the boots are red. {evidence q2 1/2}"), ("cara", "Who lost them?")),
    "s4": (("ben", "I lost them. {evidence q2 2/2}"),),
}
EPISODES = {"s1": "one", "s2": "one", "s3": "two", "s4": "two"}


def quiz(key: str, **more: Any) -> Question:
    """Return a quiz question without known evidence."""
    choices = tuple(f"{key} {letter}" for letter in "wxyz")
    text = f"What of it? {{answer {key} {choices[0]}}}"
    return Question(key, "quiz", text, choices, choices[0], **more)


def script(*questions: Question, lines: Mapping[str, Any] = LINES) -> Dialogue:
    """Return a script of one session per month, each with its lines."""
    sessions = tuple(
        Session(
            key,
            Date(1994 + (number - 1) // 12, (number - 1) % 12 + 1),
            "kitchen" if number == 1 else "",
            EPISODES.get(key, ""),
        )
        for number, key in enumerate(lines, start=1)
    )
    turns = tuple(Turn(who, text, session=key) for key, said in lines.items() for who, text in said)
    return Dialogue("series", turns, PEOPLE, script=Script("ana", sessions), questions=questions)


def bound(key: str, dialogue: Dialogue) -> Generator:
    """Return a generator bound to a script."""
    return GENERATORS[key].bound(Material(dialogue, dialogue.questions, ()))


def made(
    key: str, dialogue: Dialogue, answer: Answer, **settings: Any
) -> tuple[Done, list[list[Prompt]], list[Any]]:
    """Return the result of a production, the prompts of each step, and each stored state."""
    generator = bound(key, dialogue)
    resolved = generator.resolved(settings)
    assert generator.why_not(dialogue, resolved) == ""
    states = [stored(generator.begin(dialogue, resolved))]
    steps: list[list[Prompt]] = []
    while not isinstance(step := generator.request(states[-1]), Done):
        steps.append(list(step))
        told = replies(generator, states[-1], step, answer)
        generator = bound(key, dialogue)  # as if another worker goes on
        states.append(stored(generator.receive(states[-1], told)))
    return step, steps, states
