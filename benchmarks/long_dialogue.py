"""Memory of an agent at a script of 25,000 turns: CPU seconds to index it and to retrieve for 800 questions.

A script of Friends' size is generated from a seed: 788 sessions of 32 turns, 14 words each by Zipf's law,
four in five with the main character. For each memory with a retriever, its entries are indexed once and
searched by BM25 at 800 points spread over the turns heard, with the statistics of each moment. A whole trial
asks one question in every session and includes its prompts and the records of its answers. `peak_mb` is the
peak memory of the process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Question, Script, Session, Use
from suites.continuation.generators.generator import Done, Reply
from suites.long_dialogue.agent.agent import DialsimAgent
from suites.long_dialogue.agent.memory import SESSION, USUAL_K, UTTERANCE, Heard, Material
from suites.long_dialogue.agent.walking import World
from suites.long_dialogue.scripts.answers import Moment

GOAL_SECONDS, GOAL_MB = 60.0, 1024
SESSIONS, TURNS, WORDS, QUESTIONS, VOCABULARY = 788, 32, 14, 800, 12_000
CAST = ("ana", "ben", "cara", "dan", "eve", "fay")


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks long_dialogue", description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="sessions of 32 turns (788)")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="questions (800)")
    options = parser.parse_args(list(argv))
    made = material(options.sessions)
    searched = {memory: _searched(made, memory, options.questions) for memory in (UTTERANCE, SESSION)}
    trial = _trial(made)
    peak = _peak_mb()
    return {
        "turns": len(made.dialogue.turns),
        "questions": options.questions,
        "search_cpu_seconds": searched,
        **trial,
        "peak_mb": peak,
        "goal_peak_mb": GOAL_MB,
        "headline": {
            "name": "CPU seconds to index the turns and retrieve for the questions",
            "value": searched[UTTERANCE],
            "goal": GOAL_SECONDS,
            "better": "lower",
        },
    }


def material(sessions: int) -> Material:
    """Return a script with one question per session, which an earlier session answers."""
    draws = np.random.default_rng(0)
    words = np.minimum(draws.zipf(1.2, size=(sessions * TURNS, WORDS)), VOCABULARY)
    turns = tuple(
        Turn(_speaker(place), " ".join(f"w{word}" for word in row), session=f"s{place // TURNS}")
        for place, row in enumerate(words)
    )
    dates = [Date(1994 + number // 100, number % 12 + 1, number % 28 + 1) for number in range(sessions)]
    script = Script(CAST[0], tuple(Session(f"s{number}", date) for number, date in enumerate(dates)))
    people = tuple(Participant(key, key.capitalize()) for key in CAST)
    questions = tuple(
        Question(
            f"q{number}", "quiz", f"{' '.join(turns[number * 7].text.split()[:8])}?", ("a", "b", "c", "d"),
            "a", (turns[number * 7].session,),
        )
        for number in range(sessions)
    )  # fmt: skip
    uses = tuple(Use(f"q{number}", f"s{number}", True, "A", "ans_wo_time") for number in range(sessions))
    return Material(Dialogue("script", turns, people, script=script), questions, uses)


def _speaker(place: int) -> str:
    """Return the speaker at a place; every fifth session is without the main character."""
    session = place // TURNS
    there = (CAST[0], *CAST[1 + session % 3 : 4 + session % 3]) if session % 5 else CAST[1:5]
    return there[place % len(there)]


def _searched(made: Material, memory: str, questions: int) -> float:
    """Return the CPU seconds of building a memory with its index and searching it."""
    began = time.process_time()
    world = World(made, None)
    search = world.search(memory, "bm25")
    places = world.heard.places
    for number in range(questions):
        point = places[(number + 1) * len(places) // questions - 1]
        moment = Moment(world.heard.sessions.of_turn[point], point)
        asked = made.questions[number % len(made.questions)].text
        search.best(f"Ben: {asked}", moment, USUAL_K[memory])
    return round(time.process_time() - began, 2)


def _trial(made: Material) -> dict[str, Any]:
    """Measure a whole trial with turns as memory: one question in each session with an asker."""
    began = time.process_time()
    agent = DialsimAgent().bound(made)
    state = agent.begin(made.dialogue, agent.resolved({"memory": UTTERANCE, "context": 8000}))
    characters = asked = 0
    while not isinstance(step := agent.request(state), Done):
        characters, asked = characters + len(step[0].user), asked + 1
        state = agent.receive(state, [Reply("(A)")])
    return {
        "trial_questions": asked,
        "trial_cpu_seconds": round(time.process_time() - began, 2),
        "prompt_characters": characters,
        "heard_turns": len(Heard(made.dialogue).places),
    }


def _peak_mb() -> float:
    """Return the peak memory of the process in MiB, without swapped pages."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024, 1)
