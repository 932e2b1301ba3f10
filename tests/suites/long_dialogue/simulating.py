"""Small scripts imported into the database, and simulations over them, advanced as workers do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.corpora.import_file import import_path
from annotation.models import Continuation, QuestionSet, Turn
from annotation.script_records import question_json, script_json, use_json
from jobs.models import Endpoint
from judges.runs.selection import RunSettings
from suites.long_dialogue.agent.memory import Material
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.steps import Order
from tests.judges.helpers import finish

USUAL = "usual"


def brought(material: Material, folder: Path, corpus: str = "world") -> QuestionSet:
    """Import a script with its questions and uses, and return its question set."""
    path = folder / f"{corpus}.jsonl"
    path.write_text(json.dumps(told(material)) + "\n")
    import_path(path=path, name=path.name, format="jsonl", corpus=corpus, into=False, by=None)
    return QuestionSet.objects.get(corpus__name=corpus, name=USUAL)


def told(material: Material) -> dict[str, Any]:
    """Convert material to an object of the native format."""
    dialogue = material.dialogue
    questions = [{"id": one.id, "status": one.status, **question_json(one)} for one in material.questions]
    return {
        "id": dialogue.id,
        "kind": "longform",
        "participants": [{"id": one.id, "name": one.name} for one in dialogue.participants],
        "turns": [
            {"speaker": turn.speaker, "text": turn.text, "session": turn.session} for turn in dialogue.turns
        ],
        **(script_json(dialogue.script) or {}),
        "questions": questions,
        "question_sets": [{"name": USUAL, "uses": [use_json(use) for use in material.uses]}],
    }


def ordered(
    *, trials: int = 1, baseline: str = "", name: str = "", condition: Any = None, **settings: Any
) -> Order:
    """Return an order; other keywords are settings of the agent."""
    return Order(baseline, settings, trials, name=name, condition=condition or {})


def simulate(
    asked: QuestionSet,
    endpoint: Endpoint | None,
    *,
    asking: RunSettings | None = None,
    rounds: int = 8,
    **order: Any,
) -> Simulation:
    """Start a simulation and advance it until it is done, stuck, or waits for a person."""
    begun = simulation_actions.start(
        by=None, question_set=asked, order=ordered(**order), endpoint=endpoint, settings=asking
    )
    return brought_on(begun, rounds)


def brought_on(simulation: Simulation, rounds: int = 8) -> Simulation:
    """Advance a simulation as workers do, until it is done, stuck, or waits for a person."""
    for _ in range(rounds):
        simulation = simulation_actions.advance(simulation.pk)
        if simulation.state != Simulation.State.MAKING:
            break
        finish()
    return simulation


def written(simulation: Simulation) -> list[Continuation]:
    """Return a simulation's continuations, one per script and trial."""
    return list(simulation_actions.continuations(simulation).order_by("dialogue__key", "trial"))


def answers(continuation: Continuation) -> list[tuple[Turn, Mapping[str, Any]]]:
    """Return the answer turns of a continuation, each with its record."""
    rows = continuation.turns.filter(given=False).order_by("position")
    return [(turn, turn.extra["extra"]["answer"]) for turn in rows]


def asks(continuation: Continuation) -> list[tuple[Any, ...]]:
    """Return (place, asker, question, key, session) of each question asked, whatever the answer."""
    return [
        (turn.at, one["asker"], one["question"], one["key"], one["session"])
        for turn, one in answers(continuation)
    ]
