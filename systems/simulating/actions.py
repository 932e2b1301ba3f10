"""Simulations: asked for, gone on with, and left. Every act is logged with who did it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Corpus, QuestionSet
from config.models import Event
from jobs import actions as jobs
from jobs import runs
from jobs.models import Endpoint, Run
from judges.rating.settings import RunSettings
from systems.errors import SystemsError
from systems.models import Simulation
from systems.producing.plans import digest
from systems.simulating.going_on import Next, go_on_with, prepare
from systems.simulating.orders import Order

KIND = "simulation"


def question_set(corpus: Corpus, name: str) -> QuestionSet:
    """Return the question set called NAME, in its last version, or NAME:VERSION; raise SystemsError."""
    wanted, _, version = name.strip().rpartition(":")
    rows = corpus.question_sets.order_by("-version")
    if wanted and version.isdecimal():
        held = rows.filter(name=wanted, version=int(version)).first()
    else:
        held = rows.filter(name=name.strip()).first()
    if held is None:
        listed = ", ".join(sorted(set(corpus.question_sets.values_list("name", flat=True)))) or "none"
        raise SystemsError(f"{corpus.name} has no question set {name.strip()!r}; it has {listed}.")
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

    The question set is fixed by it. `settings` say how the model is asked and what it may take. Raises
    SystemsError for what cannot be.
    """
    asked = QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    order = order.checked(asked)
    if (endpoint is None) != bool(order.baseline):
        raise SystemsError("endpoint: name one, or a baseline agent that needs none; not both.")
    if not asked.uses.exists():
        raise SystemsError(f"set: the question set {asked.name!r} asks nothing: make it anew.")
    told = order.as_json()
    known = {"set": asked.pk, "endpoint": endpoint.pk if endpoint else None, **told}
    made, is_new = Simulation.objects.get_or_create(
        corpus=asked.corpus,
        digest=digest(known),
        defaults={"question_set": asked, "endpoint": endpoint, "order": told, "created_by": by},
    )
    if settings is not None:
        made.order = made.order | {"asking": settings.as_json()}
    if asked.used_at is None:
        QuestionSet.objects.filter(pk=asked.pk).update(used_at=timezone.now())
    if made.state != Simulation.State.DONE:
        made.state, made.error = Simulation.State.MAKING, ""
    made.save()
    if is_new:
        _log(by, "simulate", made, {"set": str(asked), **told})
    if made.state == Simulation.State.MAKING:
        _wake(made, by)
    return made


def advance(simulation: int) -> Simulation:
    """Do what can be done for a simulation now: start runs, prepare vectors, or see that it is done.

    It may be called at any time, by several at once."""
    held, to_embed = _step(simulation, embedded=False)
    if to_embed:
        prepare(held)
        held, _ = _step(simulation, embedded=True)
    return held


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
        except SystemsError as error:
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
    """Stop a simulation and its runs; what was answered is kept. One that is done stays so."""
    held = Simulation.objects.select_for_update(of=("self",)).get(pk=simulation.pk)
    if held.state in (Simulation.State.DONE, Simulation.State.CANCELLED):
        return held
    for run in Run.objects.filter(simulations__simulation=held, state__in=runs.OPEN).distinct():
        runs.cancel(by=by, run=run)
    held.state, held.error = Simulation.State.CANCELLED, ""
    held.save()
    _log(by, "cancel simulation", held, {})
    return held


def subject(simulation: Simulation) -> str:
    """Return what the jobs of a simulation are about."""
    return f"simulation {simulation.pk}"


def _wake(simulation: Simulation, by: User | None) -> None:
    jobs.start(kind=KIND, subject=subject(simulation), by=by, params={"simulation": simulation.pk})


def _log(by: User | None, verb: str, simulation: Simulation, detail: dict[str, Any]) -> None:
    about = f"{subject(simulation)} of {simulation.corpus.name}"
    Event.objects.create(by=by, verb=verb, subject=about[:300], detail=detail)
