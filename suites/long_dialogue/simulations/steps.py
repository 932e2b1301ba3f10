"""Steps of a simulation: the order, then summaries, vectors and answers."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation import records, scheme_store
from annotation.corpora import continuing
from annotation.kinds import ANSWER
from annotation.models import Continuation, Corpus, Item, Label, Occasion, Rater, System
from annotation.models.corpora import Dialogue
from annotation.models.records import QuestionSet
from annotation.script_records import LETTERS, ORIGINAL
from annotation.work import labels
from annotation.work.labels import Answer, record
from config.models import Event
from jobs.endpoints import parameters
from jobs.models.endpoint import Endpoint
from jobs.runs import OPEN
from judges.runs.selection import RunSettings, settings_from
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Done, Reply, Settings, State, WrongSettings
from suites.continuation.models import Production, Writer
from suites.continuation.productions import production_actions as producing
from suites.continuation.productions.dialogues import Dialogues, of_rows
from suites.continuation.productions.plans import (
    Generation,
    checked_name,
    condition_of,
    continuation_id,
    differences,
    digest,
)
from suites.continuation.productions.production_actions import MOST_TRIALS, Read
from suites.continuation.productions.steps import Need, Place, Stuck, came, named_alone
from suites.long_dialogue.agent.agent import BASELINES, DialsimAgent, Trials
from suites.long_dialogue.agent.agent import SUMMARY_TEXT as TEXT
from suites.long_dialogue.agent.memory import NO_MEMORY, Heard, Material, Vectors, text_digest
from suites.long_dialogue.agent.trial_settings import (
    CONTEXT,
    EMBEDDER,
    FORMAT,
    LIMIT,
    MEMORY,
    ORDER,
    REMEMBER,
    RETRIEVER,
    SEED,
    SET,
    SETTINGS,
    K,
)
from suites.long_dialogue.editing.question_records import versioned_name
from suites.long_dialogue.models import Simulation, SimulationRun
from suites.long_dialogue.schemes import ANSWERS as SCHEME
from suites.long_dialogue.scripts.answers import (
    KEY,
    LENIENT,
    OBSERVED,
    STRICT,
    TEMPLATE,
    UNKNOWN_TEXT,
    Answered,
    labels_of,
)
from suites.long_dialogue.scripts.names import names_of
from suites.long_dialogue.scripts.replacing import mapped
from suites.long_dialogue.scripts.sessions import script_of
from suites.long_dialogue.simulations import material as scripts
from suites.long_dialogue.simulations.material import LOADER

# Labels of answers: the key, the observation and both scores, each by its own rater.

CONTENT = "answer"
"""Key of the answer in a turn's `extra`."""
SCORED = ("outcome", "format", "key")
"""Text fields that an answer needs before it can be scored."""
RULE_VERSION = 1
"""Increment with every change to the reading or scoring of replies; the labels then come from new raters."""
BATCH = 2_000


@transaction.atomic
def write(corpus: Corpus, continuations: Iterable[int] | None = None) -> int:
    """Write the labels of answers; return the number of new ones.

    `continuations` None stands for all unlabelled answers of the corpus. Existing labels stay as they are, so
    repeated calls are safe. Turns without the data of an answer, such as imported ones, get none.
    """
    if continuations is None and not corpus.dialogues.filter(script__isnull=False).exists():
        return 0
    items = Item.objects.filter(corpus=corpus, kind=ANSWER.key)
    if continuations is not None:
        items = items.filter(continuation__in=list(continuations))
    else:
        scored = Label.objects.filter(item=OuterRef("pk"), rater=rater_of(corpus, STRICT))
        items = items.filter(~Exists(scored))
    if not items.exists():
        return 0
    questions = {question.key: question for question in scheme_store.store(definition=SCHEME).questions.all()}
    label_count = 0
    by: dict[str, list[Answer]] = defaultdict(list)
    for item, rating in _answer_ratings(items):
        by[rating.rater].append(Answer(item, questions[rating.question], rating.value, rating.missing))
    for name, answers in by.items():
        rater = rater_of(corpus, name)
        for begin in range(0, len(answers), BATCH):
            part = answers[begin : begin + BATCH]
            label_count += len(record(rater=rater, answers=part, occasion=Occasion.MAIN))
    return label_count


def rater_of(corpus: Corpus, name: str) -> Rater:
    """Return the rater called `observed`, `key`, `score:strict` or `score:lenient`, created on first use."""
    if name == KEY:
        return labels.imported_rater(corpus=corpus, kind=Rater.Kind.KEY, name=f"key:{corpus.name}")
    if name not in (OBSERVED, STRICT, LENIENT):
        raise ValueError(f"{name!r} is no rater of answers")
    spec = {"rule": name, "of": SCHEME.key, "version": RULE_VERSION}
    return labels.machine_rater(kind=Rater.Kind.METRIC, name=name, spec=spec)


def _answer_ratings(items: QuerySet[Item]) -> Iterator[tuple[int, Answered]]:
    """Yield each rating of each answer with the id of its item."""
    rows = items.order_by("pk").values_list("pk", "turn__text", "turn__extra")
    for item, reply, extra in rows.iterator(BATCH):
        content = _content(extra)
        for rating in labels_of(content, reply) if content else ():
            yield item, rating


def _content(extra: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the data of an answer, {} if a file has too little of it for a score."""
    content = ((extra or {}).get("extra") or {}).get(CONTENT)
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in SCORED):
        return {}
    return content


# Order of a simulation: the settings for a system's answers to a set, validated without any script.

AGENT = "dialsim_agent"
SAMPLING: Mapping[str, Any] = {"temperature": 0.2, "top_p": 0.1}
"""As in DialSim (Kim et al. 2024), section 5.1."""
SETTING_NAMES = tuple(setting.name for setting in SETTINGS if setting.name != SET)
UNREAD = (MEMORY, RETRIEVER, EMBEDDER, K, ORDER, REMEMBER, LIMIT, CONTEXT)
"""Settings that a baseline ignores: its answers are the same whatever they are."""


TRIALS = parameters.Parameter(
    "trials",
    "whole",
    "Trials",
    "How often it goes through each script. A trial asks every system the same questions.",
    1,
    MOST_TRIALS,
)


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a simulation. `baseline` is the key of an agent without a model, '' for an endpoint.

    `settings` are the agent's settings that are given, without the question set. `name` is the system's name,
    if given; `condition` has the researcher's own keys.
    """

    baseline: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 3
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(SAMPLING))
    name: str = ""
    condition: Mapping[str, Any] = field(default_factory=dict)

    def checked(self, question_set: QuestionSet) -> Order:
        """Return the order with a value for every setting; raise SystemsError for an invalid one."""
        if self.baseline and self.baseline not in BASELINES:
            raise SystemsError(f"There is no agent {self.baseline!r}; there are {', '.join(BASELINES)}.")
        if not 1 <= self.trials <= MOST_TRIALS:
            raise SystemsError(f"The number of trials must be between 1 and {MOST_TRIALS}.")
        if SET in self.settings:
            raise SystemsError("set: the question set is named by itself.")
        values = {name: value for name, value in self.settings.items() if not self._leaves(name)}
        values |= {SET: versioned_name(question_set)} | ({MEMORY: NO_MEMORY} if self.baseline else {})
        try:
            settings = GENERATORS[AGENT].resolved(values)
        except WrongSettings as error:
            raise SystemsError(str(error)) from None
        sampling = {} if self.baseline else parameters.checked(self.parameters)
        return Order(self.baseline, settings, self.trials, sampling, self.name.strip(), dict(self.condition))

    def _leaves(self, setting: str) -> bool:
        return bool(self.baseline) and setting in UNREAD

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Order:
        """Parse an order from the form of `as_json`."""
        return cls(
            **{attribute.name: data[attribute.name] for attribute in fields(cls) if attribute.name in data}
        )


# Baselines that answer without a model: their answers are continuations like a model's.

BASELINE_GENERATOR = "dialsim_baseline"
VERSION = 1


def play(simulation: Simulation, order: Order) -> int:
    """Let a baseline answer every question of every trial; return the number of new continuations."""
    system = writer(simulation.corpus, order, simulation.created_by).system
    assert system is not None
    dialogue_ids = simulation.question_set.uses.values("question__dialogue")
    continuation_ids: list[int] = []
    for row in Dialogue.objects.filter(pk__in=dialogue_ids, script__isnull=False).order_by("key"):
        continuation_ids += _in_script(row, system, order)
    if continuation_ids:
        write(simulation.corpus, continuation_ids)
    return len(continuation_ids)


def name(order: Order) -> str:
    """Return the name of a baseline's system."""
    return order.name or order.baseline


def condition(order: Order) -> dict[str, Any]:
    """Return the condition of a baseline: its questions, and the names; raise SystemsError."""
    full_condition = condition_of(GENERATORS[AGENT], order.settings, order.baseline, order.condition)
    return {key: value for key, value in full_condition.items() if key not in UNREAD}


def _in_script(row: Dialogue, system: System, order: Order) -> list[int]:
    baseline_condition = condition(order)
    existing_keys = set(
        Continuation.objects.filter(dialogue=row, system=system).values_list("key", flat=True)
    )
    trials = Trials(LOADER.load(row.pk, order.settings, None))
    added_ids: list[int] = []
    for trial in range(order.trials):
        key = continuation_id(system.name, digest(baseline_condition), trial)
        turns = () if key in existing_keys else _turns(row, trials, order, trial)
        if turns:
            continuation = records.Continuation(
                key, system.name, turns, mode="static", trial=trial, condition=baseline_condition
            )
            added_ids.append(continuing.add(dialogue=row, system=system, record=continuation, keyed=False).pk)
    return added_ids


def _turns(row: Dialogue, trials: Trials, order: Order, trial: int) -> tuple[records.Turn, ...]:
    """Return the questions of a trial with a baseline's answers: a letter, or the text of its option."""
    agent = DialsimAgent(trials)
    state = agent.begin_trial(trials.material.dialogue, order.settings, trial)
    for number, ask in enumerate(trials.asks(state)):
        letter = BASELINES[order.baseline].chooses(int(order.settings[SEED]), row.key, trial, ask)
        options = dict(zip(LETTERS, (*trials.question(state, number).put.choices, UNKNOWN_TEXT), strict=True))
        lists_options = order.settings[FORMAT] == TEMPLATE
        state = agent.receive(state, [Reply(f"({letter})" if lists_options else options[letter])])
    done = agent.request(state)
    assert isinstance(done, Done)
    return done.turns


def writer(corpus: Corpus, order: Order, by: User | None) -> Writer:
    """Return the writer of a baseline, created if missing; raise SystemsError if the name is taken."""
    called = checked_name(name(order))
    spec = {"generator": BASELINE_GENERATOR, "version": VERSION, "agent": order.baseline}
    existing = Writer.objects.select_for_update().filter(corpus=corpus, name=called).first()
    if existing is not None:
        if existing.fingerprint != digest(spec):
            raise SystemsError(
                f"The corpus has a system {called!r} already, and it is another one: "
                f"{differences(existing.spec, spec)}."
            )
        return existing
    system, is_new = System.objects.get_or_create(corpus=corpus, name=called)
    if not is_new:
        raise SystemsError(f"The corpus has a system {called!r} whose continuations were imported.")
    Event.objects.create(by=by, verb="add system", subject=f"system {called}"[:300], detail=spec)
    return Writer.objects.create(
        corpus=corpus, name=called, spec=spec, fingerprint=digest(spec), system=system, created_by=by
    )


# Session summaries, before the agents that remember them: one call per session, whoever needs it.
#
# A summary is identified by the text heard, the model and the version of its prompt. So each session is
# summarised once for all trials, retrievers and simulations; under other names it is another text.

SUMMARY_GENERATOR = "dialsim_session_summary"


def needs(
    row: Dialogue, record: records.Dialogue, names: str, endpoint: Endpoint
) -> Iterator[tuple[Need, Read]]:
    """Yield the needed summaries of a script under some names, each with the session alone as its input.

    Raises ValueError for a name map that the script does not have.
    """
    named_record = _under(record, names)
    for text_key, number in digests(named_record).items():
        generation = Generation(SUMMARY_GENERATOR, endpoint, {TEXT: text_key}, name="unnamed")
        plan = named_alone(generation.plan(), SUMMARY_GENERATOR)
        yield Need(row.corpus_id, row.pk, plan), (row, _alone(named_record, number))


def digests(record: records.Dialogue, names: str = ORIGINAL) -> dict[str, int]:
    """Return digests of the texts heard in sessions, each with the number of its first session.

    Raises ValueError for a name map that the script does not have.
    """
    heard = Heard(_under(record, names))
    texts = ((number, heard.text(number)) for number in heard.numbers)
    sessions: dict[str, int] = {}
    for number, text in texts:
        if text:
            sessions.setdefault(text_digest(text), number)
    return sessions


def _under(record: records.Dialogue, names: str) -> records.Dialogue:
    others = names_of(script_of(record), names)
    return record if others is None else mapped(record, others)


def _alone(record: records.Dialogue, number: int) -> records.Dialogue:
    """Return a script reduced to one of its sessions."""
    script = script_of(record)
    session = script.sessions[number - 1]
    turns = tuple(turn for turn in record.turns if turn.session == session.id)
    return replace(record, turns=turns, script=replace(script, sessions=(session,)), facts=(), questions=())


# Vectors that a simulation looks up: all indexed and query texts, embedded before it begins.
#
# A worker that calls a model must not wait for an embedder, so a dry run through all questions with zero
# vectors collects the texts, which are then embedded into the store in one go.


class _Noting:
    """Stands in for an embedder and records the texts, in order."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a zero for each text."""
        self.texts.update(dict.fromkeys(texts))
        return np.zeros((len(texts), 1), dtype=np.float32)


def texts_of(material: Material, settings: Settings, trials: int) -> list[str]:
    """Return every text that the agent embeds in some trials, whatever its answers."""
    noting = _Noting()
    walks = Trials(replace(material, vectors=noting))
    agent = DialsimAgent(walks)
    for trial in range(trials):
        state = agent.begin_trial(material.dialogue, settings, trial)
        asks = len(walks.asks(state))
        state = answered(state, asks)
        for number in range(asks):
            walks.question(state, number)
    return list(noting.texts)


def answered(state: State, number: int, text: str = "(E)") -> State:
    """Return a state with `number` identical answers."""
    return {**state, "answers": [{"text": text, "seconds": None}] * number}


def prepare_vectors(
    dialogues: Sequence[Dialogue], settings: Settings, trials: int, endpoint: Endpoint
) -> int:
    """Embed the texts that the agent will look up in some scripts; return their number."""
    texts: dict[str, None] = {}
    for row in dialogues:
        material = LOADER.load(row.pk, settings, endpoint)
        texts.update(dict.fromkeys(texts_of(material, settings, trials)))
    scripts.prepare(str(settings[EMBEDDER]), texts)
    return len(texts)


# Progress of a simulation: summaries first for a memory of summaries, then vectors, then the questions.
#
# All progress is stored in productions, so it survives any interruption: nothing that was answered is asked
# again.

SUMMARIES, VECTORS, ANSWERS = "summaries", "vectors", "answers"
Next = Literal["done", "wait", "embed"]


def go_on_with(simulation: Simulation, *, embedded: bool) -> Next:
    """Do everything possible now, in the current transaction; return the next action.

    `embed`: the texts must be embedded first (`prepare`), which takes too long for a transaction; `embedded`
    means that this is done. Raises SystemsError for problems that need a person.
    """
    order = Order.of(simulation.order)
    if order.baseline:
        simulation.step = ANSWERS
        play(simulation, order)
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
    """Embed all texts that the agent will look up; return their number. A repeated call is cheap."""
    order = Order.of(simulation.order)
    assert simulation.endpoint is not None
    return prepare_vectors(
        scripts_of(simulation.question_set), order.settings, order.trials, simulation.endpoint
    )


def scripts_of(questions: QuestionSet) -> list[Dialogue]:
    """Return the scripts with uses in a question set, ordered by id."""
    dialogue_ids = questions.uses.values("question__dialogue")
    return list(Dialogue.objects.filter(pk__in=dialogue_ids, script__isnull=False).order_by("key"))


def _summarised(simulation: Simulation, order: Order) -> bool:
    """Start the missing summaries; return whether all sessions have one."""
    simulation.step = SUMMARIES
    needed: list[Need] = []
    inputs: dict[Place, Read] = {}
    assert simulation.endpoint is not None
    rows = scripts_of(simulation.question_set)
    records_by_pk = of_rows(rows)
    names = str(order.settings["names"])
    for row in rows:
        for need, read in needs(row, records_by_pk[row.pk], names, simulation.endpoint):
            needed.append(need)
            inputs[need.place] = read
    state = came(needed, _own(simulation))
    if state.missing:
        _begin(simulation, state.missing, inputs)
        state = came(needed, _own(simulation))
    _link(simulation, SUMMARIES, state.running)
    if state.failed and not state.running:
        first = next(iter(state.failed.values()))
        raise Stuck(f"{len(state.failed)} summaries failed, first: {first[:300]} Try again what failed.")
    return not state.running


def _begin(simulation: Simulation, missing: Sequence[Need], inputs: dict[Place, Read]) -> None:
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
        planned=[(need.plan, [inputs[need.place]]) for need in sorted(missing, key=lambda need: need.place)],
        scope=scope,
        settings=asking(simulation),
    )
    _link(simulation, SUMMARIES, {run.pk})


def _own(simulation: Simulation) -> set[int]:
    """Return the runs that a simulation started for summaries."""
    return set(simulation.links.filter(step=SUMMARIES).values_list("run", flat=True))


def trials_of(simulation: Simulation, order: Order) -> QuerySet[Production]:
    """Return the productions of a model's simulation: one per script and trial, in any run."""
    plan = generation(simulation, order).plan()
    rows = Production.objects.filter(writer__corpus=simulation.corpus, writer__name=plan.name)
    return rows.filter(condition_hash=plan.digest, trial__lt=order.trials)


def _answered(simulation: Simulation, order: Order) -> Next:
    """Return `done` if all questions are answered; another simulation's run may be answering some."""
    simulation.step = ANSWERS
    unfinished = trials_of(simulation, order).exclude(status=Production.Status.DONE)
    runs = {production.run_id: production.run for production in unfinished.select_related("run")}
    _link(simulation, ANSWERS, set(runs))
    if any(run.state in OPEN for run in runs.values()):
        return "wait"
    for production in unfinished:
        run = runs[production.run_id]
        why = production.error or run.error or f"it is {run.state}"
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
    """Return the generation of the answers, with everything that varies."""
    assert simulation.endpoint is not None
    return Generation(
        AGENT, simulation.endpoint, order.settings, order.parameters, order.name, order.condition
    )


def asking(simulation: Simulation) -> RunSettings:
    """Return the settings and limits of a simulation's runs."""
    settings = simulation.order.get("asking")
    return settings_from(settings) if settings else RunSettings()


def _link(simulation: Simulation, step: str, runs: set[int]) -> None:
    links = [SimulationRun(simulation=simulation, step=step, run_id=pk) for pk in sorted(runs)]
    SimulationRun.objects.bulk_create(links, ignore_conflicts=True)
