"""Going on with a simulation: summaries first where they are remembered, then vectors, then the questions.

What is looked up here stands in productions, so it is the same after any interruption: what was answered is
never asked again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Literal

from django.db.models import QuerySet

from annotation.models import Dialogue, QuestionSet
from jobs.runs import OPEN
from judges.runs.selection import RunSettings, settings_from
from systems.models import Production, Simulation, SimulationRun
from systems.producing import actions as producing
from systems.producing.actions import Read
from systems.producing.dialogues import Dialogues, of_rows
from systems.producing.plans import Generation
from systems.producing.steps import Need, Place, Stuck, came
from systems.simulating import playing, summaries, vectors
from systems.simulating.orders import AGENT, Order

SUMMARIES, VECTORS, ANSWERS = "summaries", "vectors", "answers"
Next = Literal["done", "wait", "embed"]


def go_on_with(simulation: Simulation, *, embedded: bool) -> Next:
    """Do what can be done now, in the current transaction; return what comes next.

    `embed`: what is searched has to be embedded first (`prepare`), which takes too long for a transaction;
    `embedded` says that this was done. Raises SystemsError for what a person has to look at.
    """
    order = Order.of(simulation.order)
    if order.baseline:
        simulation.step = ANSWERS
        playing.play(simulation, order)
        return "done"
    if order.settings["memory"] == "summary" and not _summarised(simulation, order):
        return "wait"
    if not simulation.links.filter(step=ANSWERS).exists():
        if order.settings["retriever"] == "embedding" and not embedded:
            simulation.step = VECTORS
            return "embed"
        _ask(simulation, order)
    return _answered(simulation, order)


def prepare(simulation: Simulation) -> int:
    """Embed all that the agent will look up; return how many texts those are. Again it costs little."""
    order = Order.of(simulation.order)
    assert simulation.endpoint is not None
    return vectors.prepare(
        scripts_of(simulation.question_set), order.settings, order.trials, simulation.endpoint
    )


def scripts_of(questions: QuestionSet) -> list[Dialogue]:
    """Return the scripts that a question set asks about, in the order of their ids."""
    asked = questions.uses.values("question__dialogue")
    return list(Dialogue.objects.filter(pk__in=asked, script__isnull=False).order_by("key"))


def _summarised(simulation: Simulation, order: Order) -> bool:
    """Have each session summed up that is not yet; return whether all are."""
    simulation.step = SUMMARIES
    needed: list[Need] = []
    given: dict[Place, Read] = {}
    assert simulation.endpoint is not None
    rows = scripts_of(simulation.question_set)
    told = of_rows(rows)
    names = str(order.settings["names"])
    for row in rows:
        for need, read in summaries.needs(row, told[row.pk], names, simulation.endpoint):
            needed.append(need)
            given[need.place] = read
    state = came(needed, _own(simulation))
    if state.missing:
        _begin(simulation, state.missing, given)
        state = came(needed, _own(simulation))
    _link(simulation, SUMMARIES, state.running)
    if state.failed and not state.running:
        first = next(iter(state.failed.values()))
        raise Stuck(f"{len(state.failed)} summaries failed, first: {first[:300]} Try again what failed.")
    return not state.running


def _begin(simulation: Simulation, missing: Sequence[Need], given: dict[Place, Read]) -> None:
    places = sorted(need.place for need in missing)
    scope = {
        "corpus": simulation.corpus_id,
        "step": SUMMARIES,
        "simulation": simulation.pk,
        "places": hashlib.sha256(json.dumps(places).encode()).hexdigest(),
    }
    run = producing.start_each(
        by=simulation.created_by,
        corpus=simulation.corpus,
        planned=[(need.plan, [given[need.place]]) for need in sorted(missing, key=lambda need: need.place)],
        scope=scope,
        settings=asking(simulation),
    )
    _link(simulation, SUMMARIES, {run.pk})


def _own(simulation: Simulation) -> set[int]:
    """Return the runs by which a simulation had sessions summed up."""
    return set(simulation.links.filter(step=SUMMARIES).values_list("run", flat=True))


def trials_of(simulation: Simulation, order: Order) -> QuerySet[Production]:
    """Return the productions of a simulation that asks a model: one a script and trial, in whatever run."""
    plan = generation(simulation, order).plan()
    rows = Production.objects.filter(writer__corpus=simulation.corpus, writer__name=plan.name)
    return rows.filter(condition_hash=plan.digest, trial__lt=order.trials)


def _answered(simulation: Simulation, order: Order) -> Next:
    """Say whether all questions are answered; another simulation's run may be at some of them."""
    simulation.step = ANSWERS
    left = trials_of(simulation, order).exclude(status=Production.Status.DONE)
    runs = {made.run_id: made.run for made in left.select_related("run")}
    _link(simulation, ANSWERS, set(runs))
    if any(run.state in OPEN for run in runs.values()):
        return "wait"
    for made in left:
        run = runs[made.run_id]
        why = made.error or run.error or f"it is {run.state}"
        raise Stuck(f"Run {run.pk} did not come to its end: {why[:300]} Try again what failed.")
    return "done"


def _ask(simulation: Simulation, order: Order) -> None:
    run = producing.start(
        by=simulation.created_by,
        generation=generation(simulation, order),
        dialogues=Dialogues(simulation.corpus),
        trials=order.trials,
        settings=asking(simulation),
    )
    _link(simulation, ANSWERS, {run.pk})


def generation(simulation: Simulation, order: Order) -> Generation:
    """Return who answers, with all that varies."""
    assert simulation.endpoint is not None
    return Generation(
        AGENT, simulation.endpoint, order.settings, order.parameters, order.name, order.condition
    )


def asking(simulation: Simulation) -> RunSettings:
    """Return how its runs are asked, and what each may take."""
    told = simulation.order.get("asking")
    return settings_from(told) if told else RunSettings()


def _link(simulation: Simulation, step: str, runs: set[int]) -> None:
    made = [SimulationRun(simulation=simulation, step=step, run_id=pk) for pk in sorted(runs)]
    SimulationRun.objects.bulk_create(made, ignore_conflicts=True)
