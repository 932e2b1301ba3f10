"""Baselines that answer without a model: their answers are continuations like a model's."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation import records
from annotation.corpora import continuing
from annotation.models import Continuation, Corpus, Dialogue, System
from annotation.script_editing import answer_labels
from annotation.scripts.answers import TEMPLATE, UNKNOWN_TEXT
from annotation.scripts.records import LETTERS
from config.models import Event
from systems.errors import SystemsError
from systems.generators import GENERATORS, Done, Reply
from systems.long_dialogue.agent import BASELINES, DialsimAgent
from systems.long_dialogue.trial import Trials
from systems.long_dialogue.trial_settings import FORMAT, SEED
from systems.models import Simulation, Writer
from systems.producing.plans import checked_name, condition_of, continuation_id, differences, digest
from systems.producing.scripts import LOADER
from systems.simulating.orders import AGENT, UNREAD, Order

GENERATOR = "dialsim_baseline"
VERSION = 1


def play(simulation: Simulation, order: Order) -> int:
    """Let a baseline answer every question of every trial; return how many continuations are new."""
    system = writer(simulation.corpus, order, simulation.created_by).system
    assert system is not None
    asked = simulation.question_set.uses.values("question__dialogue")
    made: list[int] = []
    for row in Dialogue.objects.filter(pk__in=asked, script__isnull=False).order_by("key"):
        made += _in_script(row, system, order)
    if made:
        answer_labels.write(simulation.corpus, made)
    return len(made)


def name(order: Order) -> str:
    """Return what a baseline's system is called."""
    return order.name or order.baseline


def condition(order: Order) -> dict[str, Any]:
    """Return the condition of a baseline: what it is asked, and under which names; raise SystemsError."""
    told = condition_of(GENERATORS[AGENT], order.settings, order.baseline, order.condition)
    return {key: value for key, value in told.items() if key not in UNREAD}


def _in_script(row: Dialogue, system: System, order: Order) -> list[int]:
    told = condition(order)
    there = set(Continuation.objects.filter(dialogue=row, system=system).values_list("key", flat=True))
    trials = Trials(LOADER.load(row.pk, order.settings, None))
    made: list[int] = []
    for trial in range(order.trials):
        key = continuation_id(system.name, digest(told), trial)
        turns = () if key in there else _turns(row, trials, order, trial)
        if turns:
            whole = records.Continuation(key, system.name, turns, mode="static", trial=trial, condition=told)
            made.append(continuing.add(dialogue=row, system=system, made=whole, keyed=False).pk)
    return made


def _turns(row: Dialogue, trials: Trials, order: Order, trial: int) -> tuple[records.Turn, ...]:
    """Return the questions of a trial with a baseline's answers: a letter, or what stands at it."""
    agent = DialsimAgent(trials)
    state = agent.begin_trial(trials.material.dialogue, order.settings, trial)
    for number, ask in enumerate(trials.asks(state)):
        letter = BASELINES[order.baseline].chooses(int(order.settings[SEED]), row.key, trial, ask)
        options = dict(zip(LETTERS, (*trials.question(state, number).put.choices, UNKNOWN_TEXT), strict=True))
        listed = order.settings[FORMAT] == TEMPLATE
        state = agent.receive(state, [Reply(f"({letter})" if listed else options[letter])])
    done = agent.request(state)
    assert isinstance(done, Done)
    return done.turns


def writer(corpus: Corpus, order: Order, by: User | None) -> Writer:
    """Return the writer of a baseline, made where there is none; raise SystemsError for another's name."""
    called = checked_name(name(order))
    spec = {"generator": GENERATOR, "version": VERSION, "agent": order.baseline}
    held = Writer.objects.select_for_update().filter(corpus=corpus, name=called).first()
    if held is not None:
        if held.fingerprint != digest(spec):
            raise SystemsError(
                f"The corpus has a system {called!r} already, and it is another one: "
                f"{differences(held.spec, spec)}."
            )
        return held
    system, made = System.objects.get_or_create(corpus=corpus, name=called)
    if not made:
        raise SystemsError(f"The corpus has a system {called!r} whose continuations were imported.")
    Event.objects.create(by=by, verb="add system", subject=f"system {called}"[:300], detail=spec)
    return Writer.objects.create(
        corpus=corpus, name=called, spec=spec, fingerprint=digest(spec), system=system, created_by=by
    )
