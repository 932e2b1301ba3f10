"""Simulations: asked for, gone on with, and left. Every act is logged with who did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Continuation, Corpus, Dialogue, QuestionSet
from annotation.script_editing.question_records import found
from annotation.scripts.names import names_of
from annotation.scripts.records import script_record
from config.models import Event
from jobs import actions as jobs
from jobs import runs
from jobs.errors import JobError
from jobs.models import Endpoint, Run
from judges.runs.lookup import endpoint_named
from judges.runs.selection import RunSettings
from systems.errors import SystemsError
from systems.generators import Failed
from systems.long_dialogue.memory import NoSummary
from systems.long_dialogue.recalling import TooLong
from systems.long_dialogue.trial_settings import EMBEDDER, NAMES
from systems.long_dialogue.world import NoMaterial
from systems.models import Simulation, SimulationRun
from systems.producing.plans import digest
from systems.simulating import playing
from systems.simulating.going_on import Next, asking, generation, go_on_with, prepare, scripts_of, trials_of
from systems.simulating.orders import Order

KIND = "simulation"
TROUBLE = (JobError, Failed, NoMaterial, NoSummary, TooLong)
"""What a person has to look at."""


def question_set(corpus: Corpus, name: str) -> QuestionSet:
    """Return the question set called NAME, in its last version, or NAME:VERSION; raise SystemsError."""
    held = found(corpus, name)
    if held is None:
        listed = ", ".join(sorted(set(corpus.question_sets.values_list("name", flat=True)))) or "none"
        raise SystemsError(f"{corpus.name} has no question set {name[:80]!r}; it has {listed}.")
    return held


@transaction.atomic
def start(
    *,
    by: User | None,
    question_set: QuestionSet,
    order: Order,
    endpoint: Endpoint | None,
    settings: RunSettings | None = None,
) -> Simulation:
    """Ask for a simulation over all scripts of a corpus, or go on with the same one; return it.

    The question set is fixed by it. `settings` say how the model is asked and what each run may take. Raises
    SystemsError for what cannot be.
    """
    asked = QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    order = checked(asked, order, endpoint)
    told = order.as_json()
    known = {"set": asked.pk, "endpoint": endpoint.pk if endpoint else None, **told}
    made, is_new = Simulation.objects.select_for_update(of=("self",)).get_or_create(
        corpus=asked.corpus,
        digest=digest(known),
        defaults={"question_set": asked, "endpoint": endpoint, "order": told, "created_by": by},
    )
    if settings is not None:
        made.order = made.order | {"asking": settings.as_json()}
    if asked.used_at is None:
        QuestionSet.objects.filter(pk=asked.pk).update(used_at=timezone.now())
    if is_new:
        _reserve_name(made, order, by)
        _log(by, "simulate", made, {"set": str(asked), **told})
    made.save()
    if made.state != Simulation.State.DONE:
        _resume(made)
    if made.state == Simulation.State.CANCELLED:
        return go_on(by=by, simulation=made)
    if made.state != Simulation.State.DONE:
        made.state, made.error = Simulation.State.MAKING, ""
        made.save()
        _wake(made, by)
    return made


def checked(asked: QuestionSet, order: Order, endpoint: Endpoint | None) -> Order:
    """Return an order with a value for all that it leaves open; raise SystemsError for what cannot be."""
    order = order.checked(asked)
    if (endpoint is None) != bool(order.baseline):
        raise SystemsError("endpoint: name one, or a baseline agent that needs none; not both.")
    rows = scripts_of(asked)
    if not rows:
        raise SystemsError(f"set: the question set {asked.name!r} asks nothing: make it anew.")
    try:
        if embedder := str(order.settings[EMBEDDER]):
            endpoint_named(embedder)
        return replace(order, settings={**order.settings, NAMES: _names(rows, str(order.settings[NAMES]))})
    except ValueError as error:
        raise SystemsError(str(error)) from None


def _names(rows: Sequence[Dialogue], told: str) -> str:
    """Return what a condition calls the names: with their version, where that of all scripts is the same.

    Raises ValueError for names that a script does not have.
    """
    maps = [names_of(script, told) for row in rows if (script := script_record(row.script))]
    versions = {made.version for made in maps if made is not None}
    kind = told.partition(":")[0]
    return f"{kind}:{versions.pop()}" if len(versions) == 1 else told


def _reserve_name(simulation: Simulation, order: Order, by: User | None) -> None:
    """Have the system of this name be this one; raise SystemsError where it is another's."""
    if order.baseline:
        playing.condition(order)
        playing.writer(simulation.corpus, order, by)
    else:
        generation(simulation, order).plan().writer(simulation.corpus, by)


def _resume(simulation: Simulation) -> None:
    """Let the runs that are not done take what each may take now; those that wait for a person go on."""
    linked = Run.objects.filter(simulations__simulation=simulation).exclude(state=Run.State.DONE).distinct()
    for pk in linked.values_list("pk", flat=True):
        run = Run.objects.select_for_update(of=("self",)).get(pk=pk)
        asking(simulation).put(run)
        run.save()
        if run.state == Run.State.PAUSED:
            runs.reopen(run)


def advance(simulation: int) -> Simulation:
    """Do what can be done for a simulation now: start runs, prepare vectors, or see that it is done.

    It may be called at any time, by several at once."""
    held, to_embed = _step(simulation, embedded=False)
    if not to_embed:
        return held
    try:
        prepare(held)
    except TROUBLE as error:
        making = Simulation.objects.filter(pk=held.pk, state=Simulation.State.MAKING)
        making.update(state=Simulation.State.STUCK, error=str(error))
        return Simulation.objects.get(pk=held.pk)
    return _step(simulation, embedded=True)[0]


def _step(simulation: int, *, embedded: bool) -> tuple[Simulation, bool]:
    """Do what one transaction can; return the simulation, and whether something has to be embedded next."""
    comes_next: Next = "wait"
    with transaction.atomic():
        held = Simulation.objects.select_for_update(of=("self",)).get(pk=simulation)
        if held.state != Simulation.State.MAKING:
            return held, False
        try:
            with transaction.atomic():
                comes_next = go_on_with(held, embedded=embedded)
        except TROUBLE as error:
            held.state, held.error = Simulation.State.STUCK, str(error)
        else:
            if comes_next == "done":
                held.state, held.step, held.finished_at = Simulation.State.DONE, "", timezone.now()
                _log(held.created_by, "simulation done", held, {})
        held.save()
    return held, comes_next == "embed"


@transaction.atomic
def go_on(*, by: User | None, simulation: Simulation) -> Simulation:
    """Go on with a simulation that is stuck or was cancelled: what failed is tried again."""
    held = Simulation.objects.select_for_update(of=("self",)).get(pk=simulation.pk)
    if held.state not in (Simulation.State.STUCK, Simulation.State.CANCELLED):
        raise SystemsError(f"The simulation is {held.state}: there is nothing to go on with.")
    ended = [Run.State.FAILED, Run.State.CANCELLED]
    for run in Run.objects.filter(simulations__simulation=held, state__in=ended).distinct():
        runs.retry_failed(by=by, run=run)
    held.state, held.error = Simulation.State.MAKING, ""
    held.save()
    _log(by, "go on with simulation", held, {})
    _wake(held, by)
    return held


@transaction.atomic
def cancel(*, by: User | None, simulation: Simulation) -> Simulation:
    """Stop a simulation and its runs; what was answered is kept. One that is done stays so.

    A run that another simulation waits for goes on.
    """
    held = Simulation.objects.select_for_update(of=("self",)).get(pk=simulation.pk)
    if held.state in (Simulation.State.DONE, Simulation.State.CANCELLED):
        return held
    others = SimulationRun.objects.filter(simulation__state=Simulation.State.MAKING).exclude(simulation=held)
    own = Run.objects.filter(simulations__simulation=held, state__in=runs.OPEN).distinct()
    for run in own.exclude(pk__in=others.values("run")):
        runs.cancel(by=by, run=run)
    held.state, held.error = Simulation.State.CANCELLED, ""
    held.save()
    _log(by, "cancel simulation", held, {})
    return held


def system_of(simulation: Simulation) -> tuple[str, dict[str, Any]]:
    """Return the system that answers, and its condition."""
    order = Order.of(simulation.order)
    if order.baseline:
        return playing.name(order), playing.condition(order)
    plan = generation(simulation, order).plan()
    return plan.name, dict(plan.condition)


def continuations(simulation: Simulation) -> QuerySet[Continuation]:
    """Return what a simulation came to so far: a continuation a script and trial."""
    order = Order.of(simulation.order)
    if not order.baseline:
        return Continuation.objects.filter(pk__in=trials_of(simulation, order).values("continuation"))
    name, condition = system_of(simulation)
    rows = Continuation.objects.filter(dialogue__corpus=simulation.corpus, system__name=name)
    return rows.filter(condition=condition, trial__lt=order.trials)


def subject(simulation: Simulation) -> str:
    """Return what the jobs of a simulation are about."""
    return f"simulation {simulation.pk}"


def _wake(simulation: Simulation, by: User | None) -> None:
    jobs.start(kind=KIND, subject=subject(simulation), by=by, params={"simulation": simulation.pk})


def _log(by: User | None, verb: str, simulation: Simulation, detail: dict[str, Any]) -> None:
    about = f"{subject(simulation)} of {simulation.corpus.name}"
    Event.objects.create(by=by, verb=verb, subject=about[:300], detail=detail)
