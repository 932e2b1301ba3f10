"""Baselines that answer without a model: their answers are continuations like a model's."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation import records
from annotation.answers import actions as answers
from annotation.corpora import continuing
from annotation.models import Continuation, Corpus, Dialogue, System
from config.models import Event
from systems.errors import SystemsError
from systems.long_dialogue.baselines import BASELINES, played, settings_of
from systems.models import Simulation, Writer
from systems.producing.plans import continuation_id, differences, digest
from systems.producing.scripts import LOADER
from systems.simulating.orders import Order

GENERATOR = "dialsim_baseline"
VERSION = 1
IRRELEVANT = ("memory", "retriever", "k", "order", "format", "remember", "limit", "context")
"""Settings that a baseline does not read: what it answers is the same whatever they are."""


def play(simulation: Simulation, order: Order) -> int:
    """Let a baseline answer every question of every trial; return how many continuations are new."""
    writer = _writer(simulation.corpus, order, simulation.created_by)
    assert writer.system is not None
    asked = simulation.question_set.uses.values("question__dialogue")
    made: list[int] = []
    for row in Dialogue.objects.filter(pk__in=asked, script__isnull=False).order_by("key"):
        made += _in_script(row, writer.system, order)
    if made:
        answers.write(simulation.corpus, made)
    return len(made)


def _in_script(row: Dialogue, system: System, order: Order) -> list[int]:
    """Let a baseline answer in one script, in every trial that is not there; return the new continuations."""
    settings = settings_of(order.settings)
    condition = {name: value for name, value in settings.items() if name not in IRRELEVANT}
    condition |= dict(order.condition)
    there = set(Continuation.objects.filter(dialogue=row, system=system).values_list("key", flat=True))
    material = LOADER.load(row.pk, settings, None)
    made: list[int] = []
    for trial in range(order.trials):
        key = continuation_id(system.name, digest(condition), trial)
        if key in there:
            continue
        turns = played(BASELINES[order.baseline], material, settings, trial)
        if not turns:
            continue
        continuation = records.Continuation(
            key, system.name, turns, mode="static", trial=trial, condition=condition
        )
        added = continuing.add(dialogue=row, system=system, made=continuation, keyed=False)
        made.append(added.pk)
    return made


def _writer(corpus: Corpus, order: Order, by: User | None) -> Writer:
    """Return the writer of a baseline, made where there is none; raise SystemsError for another's name."""
    name = order.name or order.baseline
    spec = {"generator": GENERATOR, "version": VERSION, "agent": order.baseline}
    held = Writer.objects.select_for_update().filter(corpus=corpus, name=name).first()
    if held is not None:
        if held.fingerprint != digest(spec):
            raise SystemsError(
                f"The corpus has a system {name!r} already, and it is another one: "
                f"{differences(held.spec, spec)}."
            )
        return held
    system, made = System.objects.get_or_create(corpus=corpus, name=name)
    if not made:
        raise SystemsError(f"The corpus has a system {name!r} whose continuations were imported.")
    Event.objects.create(by=by, verb="add system", subject=f"system {name}"[:300], detail=spec)
    return Writer.objects.create(
        corpus=corpus, name=name, spec=spec, fingerprint=digest(spec), system=system, created_by=by
    )
