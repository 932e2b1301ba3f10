"""The question set of a script as long as a television series is created in seconds."""

from __future__ import annotations

import random
import resource
import time
from collections import Counter

import pytest

from annotation.records import Dialogue
from annotation.script_records import Fact, Question
from suites.long_dialogue.scripts.graph import DEFAULT
from suites.long_dialogue.scripts.making import make
from tests.suites.long_dialogue.worlds import script

SESSIONS, QUIZ = 788, 150
PEOPLE = [f"Person{number}" for number in range(120)]
DATED = ("boss", "job", "girlfriend", "roommate", "place of work")
UNDATED = ("mother", "brother", "hometown", "ex-wife")


def series(seed: int = 0, facts: int = 700, sessions: int = SESSIONS) -> Dialogue:
    draw = random.Random(seed)
    dates = [
        (
            f"{1994 + n // 80}-{1 + n % 80 // 7:02}-{1 + n % 7 * 4:02}",
            "ambmcm" if draw.random() < 0.95 else "abc",
        )
        for n in range(sessions)
    ]
    return script(
        dates,
        [fact(draw, key, sessions) for key in range(facts)],
        [quiz(draw, key, sessions) for key in range(QUIZ)],
    )


def fact(draw: random.Random, key: int, sessions: int) -> Fact:
    relation = draw.choice(DATED + UNDATED)
    head = draw.choice(PEOPLE)
    tail = draw.choice(PEOPLE) if DEFAULT[relation].tail == "person" else f"{relation} {draw.randrange(40)}"
    session = 1 + int(draw.random() ** 1.5 * sessions)
    return Fact(f"f{key:04}", head, relation, tail, f"s{min(session, sessions):03}", status="accepted")


def quiz(draw: random.Random, key: int, sessions: int) -> Question:
    choices = tuple(f"answer {key} {n}" for n in range(4))
    evidence = tuple(f"s{draw.randint(1, sessions):03}" for _ in range(draw.randint(1, 3)))
    return Question(
        f"q{key:03}", "quiz", f"What was {key}?", choices, choices[key % 4], evidence, status="accepted"
    )


@pytest.mark.exhaustive
def test_over_a_million_uses_are_made() -> None:
    dialogue = series()
    began = time.perf_counter()
    made = make(dialogue, name="first", seed=0)
    seconds = time.perf_counter() - began
    kinds = Counter((use.type, use.answerable) for use in made.set.uses)
    many = len(made.set.uses), len(made.questions) + QUIZ
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{many[0]} uses of {many[1]} questions: {seconds:.1f} s, {memory:.0f} MiB at most")
    print(kinds.most_common(8), made.dropped, made.excluded, sep="\n")
    assert len(made.set.uses) > 1_000_000
