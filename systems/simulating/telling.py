"""A simulation in words and figures, for pages, commands and programs alike."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Sum

from jobs import fake_models
from jobs.models import CallCount, Run
from jobs.progress import progress
from jobs.runs import OPEN
from systems.long_dialogue.trial_settings import EMBEDDER
from systems.models import Production, Simulation
from systems.producing import embedders
from systems.simulating.actions import continuations, system_of
from systems.simulating.going_on import ANSWERS, SUMMARIES, VECTORS, trials_of
from systems.simulating.orders import Order

TITLES = {
    SUMMARIES: "Summing up sessions",
    VECTORS: "Embedding what is searched",
    ANSWERS: "Asking questions",
}
SHOWN = ("memory", "retriever", "embedder", "k")
USUAL = {
    "names": "original",
    "format": "template",
    "point": "own_turn",
    "per_session": 1,
    "seed": 0,
    "remember": False,
    "limit": 0,
    "context": 0,
    "order": "time",
}
"""Settings that are told where they are something else."""


def counts(simulation: Simulation) -> dict[str, Any]:
    """Return what a simulation came to: trials, flags of trials, and what its runs took."""
    order = Order.of(simulation.order)
    runs = Run.objects.filter(simulations__simulation=simulation).distinct()
    taken = CallCount.objects.filter(run__in=runs).aggregate(
        calls=Sum("asked"),
        read=Sum("tokens_in"),
        written=Sum("tokens_out"),
        cost=Sum("cost"),
        costed=Sum("costed"),
    )
    return {
        **(_of_baseline(simulation) if order.baseline else _of_model(simulation, order)),
        "calls": taken["calls"] or 0,
        "tokens_in": taken["read"] or 0,
        "tokens_out": taken["written"] or 0,
        "cost": float(taken["cost"] or 0) if taken["costed"] or not taken["calls"] else None,
    }


def _of_model(simulation: Simulation, order: Order) -> dict[str, Any]:
    rows = list(trials_of(simulation, order).values_list("status", "flags"))
    states = Counter(status for status, _ in rows)
    flags = Counter(flag for _, told in rows for flag in {flag.partition(":")[0] for flag in told})
    return {
        "productions": len(rows),
        "done": states[Production.Status.DONE],
        "failed": states[Production.Status.FAILED],
        "flags": dict(sorted(flags.items())),
    }


def _of_baseline(simulation: Simulation) -> dict[str, Any]:
    made = continuations(simulation).count()
    return {"productions": made, "done": made, "failed": 0, "flags": {}}


def steps_of(simulation: Simulation) -> list[dict[str, Any]]:
    """Return the runs of a simulation by step, with their calls: all that are known, done and failed."""
    told = []
    for link in simulation.links.select_related("run__endpoint").order_by("id"):
        state = progress(link.run)
        told.append(
            {
                "step": link.step,
                "title": TITLES[link.step],
                "run": link.run_id,
                "state": state.state,
                "calls": state.total,
                "done": state.done,
                "failed": state.failed,
                "why": state.pause_reason or state.error,
            }
        )
    return told


def paused(simulation: Simulation) -> Run | None:
    """Return a run that waits for a person, None where none does."""
    runs = Run.objects.filter(simulations__simulation=simulation, state__in=OPEN)
    held = list(runs.distinct())
    stopped = [run for run in held if run.state == Run.State.PAUSED]
    return stopped[0] if stopped and len(stopped) == len(held) else None


def fakes(simulation: Simulation) -> dict[str, bool]:
    """Whether a fake model answers, and whether one embeds what is looked up."""
    answering = simulation.endpoint.answering_model if simulation.endpoint else ""
    embedding = embedders.model_of(str(Order.of(simulation.order).settings[EMBEDDER]))
    return {
        "fake_model": fake_models.is_fake(answering),
        "fake_embedder": fake_models.is_fake(embedding),
    }


def condition_told(simulation: Simulation) -> list[tuple[str, Any]]:
    """Return the parts of a condition that a reader looks for, without what is as usual."""
    _, condition = system_of(simulation)
    told = [(name, condition[name]) for name in SHOWN if condition.get(name) not in (None, "", "none", 0)]
    told += [(name, condition[name]) for name, usual in USUAL.items() if condition.get(name, usual) != usual]
    known = {*SHOWN, *USUAL, "set", "model"}
    return told + [(name, value) for name, value in condition.items() if name not in known]


def as_json(simulation: Simulation) -> dict[str, Any]:
    """Return all that is known of a simulation as plain data."""
    name, condition = system_of(simulation)
    return {
        "id": simulation.pk,
        "corpus": simulation.corpus.name,
        "set": str(condition["set"]),
        "system": name,
        "endpoint": simulation.endpoint.name if simulation.endpoint else None,
        "baseline": Order.of(simulation.order).baseline or None,
        "condition": condition,
        "trials": Order.of(simulation.order).trials,
        "state": simulation.state,
        "step": simulation.step,
        "error": simulation.error,
        "steps": steps_of(simulation),
        "counts": counts(simulation),
        **fakes(simulation),
        "created_by": simulation.created_by.get_username() if simulation.created_by else None,
        "created_at": simulation.created_at.isoformat(),
        "finished_at": simulation.finished_at.isoformat() if simulation.finished_at else None,
    }
