"""Simulations: start, estimate, background steps, cancellation, and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Continuation, Corpus
from annotation.models.corpora import Dialogue
from annotation.models.records import QuestionSet
from annotation.script_records import script_record
from jobs import fake_models, runs
from jobs.endpoints.costs import BY_CHARACTERS, counter
from jobs.endpoints.ownership import require_use
from jobs.errors import JobError
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.models.endpoint import Endpoint
from jobs.models.run import Run
from jobs.progress import progress
from jobs.runs import OPEN
from judges.runs.lookup import endpoint_named
from judges.runs.selection import RunSettings
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Failed, State
from suites.continuation.models import Production
from suites.continuation.productions import pipelines
from suites.continuation.productions.dialogues import of_rows
from suites.continuation.productions.pipelines import (
    StepsEstimate,
    advance_in_job,
    lock,
    log,
    refuse_unless_stopped,
    retry_failed,
    runs_of,
    set_going,
    stop,
    usage_totals,
)
from suites.continuation.productions.plans import Generation, digest
from suites.continuation.productions.steps import came
from suites.long_dialogue.agent.agent import DialsimAgent, Trials
from suites.long_dialogue.agent.memory import SUMMARY, Material, NoSummary, TooLong
from suites.long_dialogue.agent.trial_settings import EMBEDDER, MEMORY, NAMES, REMEMBER
from suites.long_dialogue.agent.walking import NoMaterial
from suites.long_dialogue.editing.question_records import find_question_set
from suites.long_dialogue.models import Simulation, SimulationRun
from suites.long_dialogue.scripts.names import names_of
from suites.long_dialogue.simulations import material as scripts
from suites.long_dialogue.simulations import steps as simulation_steps
from suites.long_dialogue.simulations.material import LOADER
from suites.long_dialogue.simulations.steps import (
    AGENT,
    ANSWERS,
    SUMMARIES,
    VECTORS,
    Next,
    Order,
    answered,
    asking,
    generation,
    go_on_with,
    prepare,
    scripts_of,
    trials_of,
)

# Simulations: started, resumed, and cancelled. Every action is logged with its user.

KIND = "simulation"
TROUBLE = (JobError, Failed, NoMaterial, NoSummary, TooLong)
"""Errors that need a person's attention."""


def question_set(corpus: Corpus, name: str) -> QuestionSet:
    """Return the question set NAME, in its last version, or NAME:VERSION; raise SystemsError."""
    matching_set = find_question_set(corpus, name)
    if matching_set is None:
        names = ", ".join(sorted(set(corpus.question_sets.values_list("name", flat=True)))) or "none"
        raise SystemsError(f"{corpus.name} has no question set {name[:80]!r}; it has {names}.")
    return matching_set


@transaction.atomic
def start(
    *,
    by: User | None,
    question_set: QuestionSet,
    order: Order,
    endpoint: Endpoint | None,
    settings: RunSettings | None = None,
) -> Simulation:
    """Start a simulation over all scripts of a corpus, or resume the same one; return it.

    This freezes the question set. `settings` define the calls to the model and the limits of each run. Raises
    SystemsError for an invalid order.
    """
    locked_set = QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    order = checked(locked_set, order, endpoint)
    embedder = str(order.settings[EMBEDDER])
    require_use(by, endpoint, endpoint_named(embedder) if embedder else None)
    order_data = order.as_json()
    identity = {"set": locked_set.pk, "endpoint": endpoint.pk if endpoint else None, **order_data}
    simulation, is_new = Simulation.objects.select_for_update(of=("self",)).get_or_create(
        corpus=locked_set.corpus,
        digest=digest(identity),
        defaults={"question_set": locked_set, "endpoint": endpoint, "order": order_data, "created_by": by},
    )
    if settings is not None:
        simulation.order = simulation.order | {"asking": settings.as_json()}
    if locked_set.used_at is None:
        QuestionSet.objects.filter(pk=locked_set.pk).update(used_at=timezone.now())
    if is_new:
        _reserve_name(simulation, order, by)
        log(by, "simulate", simulation, {"set": str(locked_set), **order_data})
    simulation.save()
    if simulation.state != Simulation.State.DONE:
        _resume(simulation)
    if simulation.state == Simulation.State.CANCELLED:
        return go_on(by=by, simulation=simulation)
    if simulation.state != Simulation.State.DONE:
        set_going(simulation, by)
    return simulation


def checked(question_set: QuestionSet, order: Order, endpoint: Endpoint | None) -> Order:
    """Return an order with all its defaults resolved; raise SystemsError for an invalid one."""
    order = order.checked(question_set)
    if (endpoint is None) != bool(order.baseline):
        raise SystemsError("endpoint: name one, or a baseline agent that needs none; not both.")
    rows = scripts_of(question_set)
    if not rows:
        raise SystemsError(f"set: the question set {question_set.name!r} asks nothing: make it again.")
    try:
        if embedder := str(order.settings[EMBEDDER]):
            endpoint_named(embedder)
        return replace(order, settings={**order.settings, NAMES: _names(rows, str(order.settings[NAMES]))})
    except ValueError as error:
        raise SystemsError(str(error)) from None


def _names(rows: Sequence[Dialogue], names: str) -> str:
    """Return the names setting for the condition: with the version, if all scripts share it.

    Raises ValueError for names that a script does not have.
    """
    maps = [names_of(script, names) for row in rows if (script := script_record(row.script))]
    versions = {name_map.version for name_map in maps if name_map is not None}
    kind = names.partition(":")[0]
    return f"{kind}:{versions.pop()}" if len(versions) == 1 else names


def _reserve_name(simulation: Simulation, order: Order, by: User | None) -> None:
    """Reserve the system's name; raise SystemsError if another system has it."""
    if order.baseline:
        simulation_steps.condition(order)
        simulation_steps.writer(simulation.corpus, order, by)
    else:
        generation(simulation, order).plan().writer(simulation.corpus, by)


def _resume(simulation: Simulation) -> None:
    """Apply the current limits to unfinished runs, and reopen paused ones."""
    linked = Run.objects.filter(simulations__simulation=simulation).exclude(state=Run.State.DONE).distinct()
    for pk in linked.values_list("pk", flat=True):
        run = Run.objects.select_for_update(of=("self",)).get(pk=pk)
        asking(simulation).put(run)
        run.save()
        if run.state == Run.State.PAUSED:
            runs.reopen(run)


def advance(simulation: int) -> Simulation:
    """Do everything that is possible for a simulation now: start runs, prepare vectors, or finish it.

    Safe to call at any time, even concurrently.
    """
    current, to_embed = _step(simulation, embedded=False)
    if not to_embed:
        return current
    try:
        prepare(current)
    except TROUBLE as error:
        making = Simulation.objects.filter(pk=current.pk, state=Simulation.State.MAKING)
        making.update(state=Simulation.State.STUCK, error=str(error))
        return Simulation.objects.get(pk=current.pk)
    return _step(simulation, embedded=True)[0]


def _step(simulation: int, *, embedded: bool) -> tuple[Simulation, bool]:
    """Do one transaction's work; return the simulation, and whether texts must be embedded next."""
    comes_next: Next = "wait"
    with transaction.atomic():
        locked = Simulation.objects.select_for_update(of=("self",)).get(pk=simulation)
        if locked.state != Simulation.State.MAKING:
            return locked, False
        try:
            with transaction.atomic():
                comes_next = go_on_with(locked, embedded=embedded)
        except TROUBLE as error:
            locked.state, locked.error = Simulation.State.STUCK, str(error)
        else:
            if comes_next == "done":
                locked.state, locked.step, locked.finished_at = Simulation.State.DONE, "", timezone.now()
                log(locked.created_by, "simulation done", locked, {})
        locked.save()
    return locked, comes_next == "embed"


@transaction.atomic
def go_on(*, by: User | None, simulation: Simulation) -> Simulation:
    """Resume a stuck or cancelled simulation; its failed calls are retried."""
    simulation = lock(simulation)
    refuse_unless_stopped(simulation)
    retry_failed(simulation, by)
    log(by, "go on with simulation", simulation, {})
    set_going(simulation, by)
    return simulation


@transaction.atomic
def cancel(*, by: User | None, simulation: Simulation) -> Simulation:
    """Stop a simulation and its runs; existing answers are kept. A finished one stays finished.

    A run that another simulation waits for continues.
    """
    others = SimulationRun.objects.filter(simulation__state=Simulation.State.MAKING).exclude(
        simulation=simulation
    )
    return stop(simulation, by, shared=others.values("run"))


def system_of(simulation: Simulation) -> tuple[str, dict[str, Any]]:
    """Return the name of the answering system, and its condition."""
    order = Order.of(simulation.order)
    if order.baseline:
        return simulation_steps.name(order), simulation_steps.condition(order)
    plan = generation(simulation, order).plan()
    return plan.name, dict(plan.condition)


def continuations(simulation: Simulation) -> QuerySet[Continuation]:
    """Return the continuations of a simulation so far: one per script and trial."""
    order = Order.of(simulation.order)
    if not order.baseline:
        return Continuation.objects.filter(pk__in=trials_of(simulation, order).values("continuation"))
    name, condition = system_of(simulation)
    rows = Continuation.objects.filter(dialogue__corpus=simulation.corpus, system__name=name)
    return rows.filter(condition=condition, trial__lt=order.trials)


# Estimate of a simulation before any call: summaries and answers, and the part that exists already.

SAMPLED = 20
"""Sample size, in questions or sessions; the others are extrapolated from it."""
PRETENDED = "They talked about who lives where. " * 15


@dataclass(frozen=True, slots=True)
class Step:
    """Cost of a step: all its calls, the finished ones, and the tokens of the remaining ones."""

    step: str
    all: int
    done: int
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def calls(self) -> int:
        """Remaining calls."""
        return self.all - self.done

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in self.__slots__} | {"calls": self.calls}


@dataclass(frozen=True, slots=True)
class Estimate(StepsEstimate):
    """A simulation before it starts.

    `productions` are its trials, one per script each, of which `done` are finished; `left_out` counts scripts
    without trials, by reason. `endpoint` is None for a baseline.
    """

    UNASKED = Decimal(0)

    productions: int
    done: int
    questions: int
    steps: tuple[Step, ...]
    left_out: Mapping[str, int]
    endpoint: Endpoint | None
    counted_by: str = BY_CHARACTERS

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("productions", "done", "questions", "calls", "tokens_in", "tokens_out", "counted_by")
        data = {name: getattr(self, name) for name in names}
        data |= {"cost": None if self.cost is None else float(self.cost), "left_out": dict(self.left_out)}
        return data | {"steps": [step.as_json() for step in self.steps]}

    def sentence(self) -> str:
        """Return the estimate as one line for people."""
        done_note = f" ({self.done:,} are there)" if self.done else ""
        summary = f"{self.questions:,} questions in {self.productions:,} trials{done_note}"
        if self.endpoint is None:
            return f"{summary}; no model is asked."
        parts = ", ".join(f"{step.calls:,} for {step.step}" for step in self.steps)
        return (
            f"{summary}: {self.calls:,} calls ({parts}), about {self.tokens_in:,} tokens to read and "
            f"{self.tokens_out:,} to write ({self.counted_by}), cost {self.price}; the text goes to "
            f"{self.destination}."
        )


def estimate(question_set: QuestionSet, order: Order, endpoint: Endpoint | None) -> Estimate:
    """Return a simulation's estimate; nothing is sent or saved. Raise SystemsError for an invalid order."""
    order = checked(question_set, order, endpoint)
    rows = scripts_of(question_set)
    steps: list[Step] = []
    if endpoint and order.settings[MEMORY] == SUMMARY:
        steps.append(_summaries(rows, order, endpoint))
    trials, left_out = _trials(rows, order, endpoint)
    if not trials:
        raise SystemsError(f"Nothing can be asked: {'; '.join(left_out)}.")
    done = sum(state is None for _, state, _ in trials)
    if endpoint:
        steps.append(_answers(trials))
    questions = sum(number for _, _, number in trials)
    counted_by = counter(endpoint)[1] if endpoint else BY_CHARACTERS
    return Estimate(len(trials), done, questions, tuple(steps), left_out, endpoint, counted_by)


Trial = tuple[Trials, State | None, int]
"""A script's trials, the state of one of them (None: done), and its number of questions."""


def _trials(
    rows: Sequence[Dialogue], order: Order, endpoint: Endpoint | None
) -> tuple[list[Trial], dict[str, int]]:
    begun = _begun_trials(rows, order, endpoint)
    trials: list[Trial] = []
    left_out: dict[str, int] = {}
    for row in rows:
        walks = Trials(_pretended(LOADER.load(row.pk, order.settings, endpoint), order)).rough()
        agent = DialsimAgent(walks)
        if why := agent.why_not(walks.material.dialogue, order.settings):
            left_out[why] = left_out.get(why, 0) + 1
            continue
        for trial in range(order.trials):
            first = agent.begin_trial(walks.material.dialogue, order.settings, trial)
            trials.append((walks, begun.get((row.pk, trial), first), len(walks.asks(first))))
    return trials, left_out


def _begun_trials(
    rows: Sequence[Dialogue], order: Order, endpoint: Endpoint | None
) -> dict[tuple[int, int], State | None]:
    """Return the states of trials started before, by script and trial; None for finished ones."""
    if endpoint is None:
        return {}
    plan = Generation(AGENT, endpoint, order.settings, order.parameters, order.name, order.condition).plan()
    productions = Production.objects.filter(
        writer__name=plan.name, condition_hash=plan.digest, dialogue__in=rows
    )
    values = productions.values_list("dialogue", "trial", "status", "memory")
    return {
        (dialogue, trial): None if status == Production.Status.DONE else state
        for dialogue, trial, status, state in values
    }


def _pretended(material: Material, order: Order) -> Material:
    """Return material in which missing session summaries are replaced by one of usual length."""
    if order.settings[MEMORY] != SUMMARY:
        return material
    texts = simulation_steps.digests(material.dialogue, str(order.settings[NAMES]))
    return replace(material, summaries=dict.fromkeys(texts, PRETENDED) | dict(material.summaries))


def _answers(trials: Sequence[Trial]) -> Step:
    """Estimate the cost of the questions by extrapolation from a sample of those left."""
    everything = sum(number for _, _, number in trials)
    remaining = [
        (walks, state, number)
        for walks, state, asks in trials
        if state is not None
        for number in range(len(state["answers"]), asks)
    ]
    tokens_in = tokens_out = 0
    sample = _some(remaining)
    for walks, state, number in sample:
        count = walks.material.count_tokens
        reply = DialsimAgent(walks).pretend(state)[0]
        so_far = answered(state, number, reply) if state["settings"][REMEMBER] else state
        prompt = walks.question(so_far, number).prompt
        tokens_in += count(prompt.system) + count(prompt.user)
        tokens_out += count(reply)
    each = len(remaining) / max(1, len(sample))
    return Step(
        ANSWERS, everything, everything - len(remaining), round(tokens_in * each), round(tokens_out * each)
    )


def _summaries(rows: Sequence[Dialogue], order: Order, endpoint: Endpoint) -> Step:
    """Estimate the cost of the missing summaries."""
    records_by_pk = of_rows(rows)
    needed = [
        (need, read)
        for row in rows
        for need, read in simulation_steps.needs(
            row, records_by_pk[row.pk], str(order.settings[NAMES]), endpoint
        )
    ]
    state = came([need for need, _ in needed], ())
    remaining = [(need, read) for need, read in needed if need.place not in state.results]
    count, _ = counter(endpoint)
    generator = GENERATORS[simulation_steps.SUMMARY_GENERATOR]
    tokens_in = tokens_out = 0
    sample = _some(remaining)
    for need, (_, record) in sample:
        first = generator.begin(record, need.plan.settings)
        prompts = generator.request(first)
        assert isinstance(prompts, Sequence)
        tokens_in += count(prompts[0].system) + count(prompts[0].user)
        tokens_out += count(generator.pretend(first)[0])
    each = len(remaining) / max(1, len(sample))
    return Step(
        SUMMARIES,
        len(needed),
        len(needed) - len(remaining),
        round(tokens_in * each),
        round(tokens_out * each),
    )


def _some(places: Sequence[Any]) -> Sequence[Any]:
    return places[:: max(1, -(-len(places) // SAMPLED))]


# A simulation in words and figures, for pages, commands and programs alike.

TITLES = {
    SUMMARIES: "Summing up sessions",
    VECTORS: "Embedding what is searched",
    ANSWERS: "Asking questions",
}
DISPLAYED_SETTINGS = ("memory", "retriever", "embedder", "k")
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
"""Default settings; a setting is described only where it differs."""


def counts(simulation: Simulation) -> dict[str, Any]:
    """Return the results of a simulation: trials, flags of trials, and the usage of its runs."""
    order = Order.of(simulation.order)
    runs = Run.objects.filter(simulations__simulation=simulation).distinct()
    totals = _of_baseline(simulation) if order.baseline else _of_model(simulation, order)
    return totals | usage_totals(runs)


def _of_model(simulation: Simulation, order: Order) -> dict[str, Any]:
    rows = list(trials_of(simulation, order).values_list("status", "flags"))
    states = Counter(status for status, _ in rows)
    flags = Counter(flag for _, row_flags in rows for flag in {flag.partition(":")[0] for flag in row_flags})
    return {
        "productions": len(rows),
        "done": states[Production.Status.DONE],
        "failed": states[Production.Status.FAILED],
        "flags": dict(sorted(flags.items())),
    }


def _of_baseline(simulation: Simulation) -> dict[str, Any]:
    count = continuations(simulation).count()
    return {"productions": count, "done": count, "failed": 0, "flags": {}}


def steps_of(simulation: Simulation) -> list[dict[str, Any]]:
    """Return the runs of a simulation by step, with their calls: total, done and failed."""
    steps = []
    for link in simulation.links.select_related("run__endpoint").order_by("id"):
        state = progress(link.run)
        steps.append(
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
    return steps


def paused(simulation: Simulation) -> Run | None:
    """Return a paused run if all open runs are paused, else None."""
    open_runs = list(runs_of(simulation, OPEN))
    stopped = [run for run in open_runs if run.state == Run.State.PAUSED]
    return stopped[0] if stopped and len(stopped) == len(open_runs) else None


def fakes(simulation: Simulation) -> dict[str, bool]:
    """Return whether a fake model answers, and whether a fake model embeds."""
    answering = simulation.endpoint.answering_model if simulation.endpoint else ""
    embedding = scripts.model_of(str(Order.of(simulation.order).settings[EMBEDDER]))
    return {
        "fake_model": fake_models.is_fake(answering),
        "fake_embedder": fake_models.is_fake(embedding),
    }


def describe_condition(simulation: Simulation) -> list[tuple[str, Any]]:
    """Describe a condition by its main settings, then the others that differ from the defaults."""
    _, condition = system_of(simulation)
    parts = [
        (name, condition[name])
        for name in DISPLAYED_SETTINGS
        if condition.get(name) not in (None, "", "none", 0)
    ]
    parts += [(name, condition[name]) for name, usual in USUAL.items() if condition.get(name, usual) != usual]
    covered = {*DISPLAYED_SETTINGS, *USUAL, "set", "model"}
    return parts + [(name, value) for name, value in condition.items() if name not in covered]


def as_json(simulation: Simulation) -> dict[str, Any]:
    """Return everything about a simulation as plain data."""
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


# Background steps of a simulation: a short job whenever its runs have ended.


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the runs that a simulation needs next, or finish it."""
    simulation = advance_in_job(Simulation, job, advance)
    return {"simulation": simulation.pk, "state": simulation.state, "step": simulation.step}


def sweep() -> int:
    """Advance every simulation whose runs have ended; return their number."""
    return pipelines.sweep(Simulation)


JOB = JobKind(KIND, "Simulation", run)
