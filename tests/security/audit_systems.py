"""Generations, benchmarks and simulations for the audit; `audit_worlds` creates everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.security.audit_worlds import make_endpoint

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_generation(by: User) -> dict[str, Any]:
    from suites.continuation.productions.dialogues import Dialogues
    from suites.continuation.productions.plans import Generation
    from tests import factories

    corpus = factories.corpus()
    factories.dialogue(corpus)
    generation = Generation("cocoeval_continuation", make_endpoint(by))
    return {"generation": generation, "dialogues": Dialogues(corpus)}


def make_baseline(by: User) -> dict[str, Any]:
    from suites.continuation.productions.dialogues import Dialogues
    from suites.group_chat.baselines import Baseline
    from tests import factories

    corpus = factories.corpus()
    made = factories.dialogue(corpus, turns=4)
    made.participants = [{"id": "kit", "name": "Kit", "agent": True}]
    made.scenario = {"agent": "kit"}
    made.save()
    return {"baseline": Baseline("always_silent"), "dialogues": Dialogues(corpus)}


def make_several(by: User) -> dict[str, Any]:
    from suites.continuation.productions.dialogues import of_rows

    made = make_generation(by)
    corpus = made["dialogues"].corpus
    rows = list(corpus.dialogues.all())
    read = [(row, of_rows(rows)[row.pk]) for row in rows]
    return {"corpus": corpus, "planned": [(made["generation"].plan(), read)], "scope": {}}


def make_benchmark_fields() -> dict[str, Any]:
    from suites.continuation.productions.benchmark_steps import Order
    from tests import factories

    corpus = factories.corpus()
    factories.dialogue(corpus, turns=60)
    order = Order(1, steps=("cut",))
    return {"name": "bench", "sources": [(corpus, "source")], "order": order, "endpoint": None}


def make_benchmark(by: User, state: str) -> Any:
    from suites.continuation.productions import benchmark_actions

    made = benchmark_actions.start(by=by, **make_benchmark_fields())
    if state == "done":
        return benchmark_actions.advance(made.pk)
    return benchmark_actions.cancel(by=by, benchmark=made) if state == "cancelled" else made


def make_simulation_fields() -> dict[str, Any]:
    from annotation.models import QuestionSet, Record, Use
    from suites.long_dialogue.simulations.steps import Order
    from tests import factories

    corpus = factories.corpus()
    script = factories.dialogue(corpus)
    script.script = {"main": "A", "sessions": [{"id": "s1", "date": {"year": 1994}}]}
    script.save()
    told = {"source": "quiz", "text": "Who?", "choices": ["a", "b", "c", "d"], "answer": "a"}
    question = Record.objects.create(
        corpus=corpus, dialogue=script, kind="question", key="q1", content=told, status="accepted"
    )
    asked = QuestionSet.objects.create(corpus=corpus, name="usual")
    Use.objects.create(set=asked, question=question, session=1, answerable=False, key="E", type="future")
    return {"question_set": asked, "order": Order("always_e", trials=1), "endpoint": None}


def make_baseline_answers() -> dict[str, Any]:
    made = make_simulation_fields()
    return {"corpus": made["question_set"].corpus, "order": made["order"]}


def make_simulation(by: User, state: str) -> Any:
    from suites.long_dialogue.simulations import simulation_actions

    made = simulation_actions.start(by=by, **make_simulation_fields())
    return simulation_actions.cancel(by=by, simulation=made) if state == "cancelled" else made


SIMULATIONS: dict[str, Callable[[User], dict[str, Any]]] = {
    "suites.long_dialogue.simulations.steps.writer": lambda by: make_baseline_answers(),
    "suites.long_dialogue.simulations.simulation_actions.start": lambda by: make_simulation_fields(),
    "suites.long_dialogue.simulations.simulation_actions.go_on": lambda by: {
        "simulation": make_simulation(by, "cancelled")
    },
    "suites.long_dialogue.simulations.simulation_actions.cancel": lambda by: {
        "simulation": make_simulation(by, "making")
    },
}
