"""Baseline agents as systems: their decisions at the points of a corpus's scenarios, without a model.

Their decisions are continuations like a model's, so that people, judges and reports treat them alike.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from annotation import records
from annotation.corpora import continuing, splits
from annotation.corpora.splits import of_dialogues
from annotation.kinds import DECISION
from annotation.models import Dialogue, System
from annotation.models.corpora import Continuation, Corpus
from annotation.scenario_records import MODE, MODES, PEOPLE, Mode
from config.models import Event
from jobs import job_actions as jobs
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Job
from suites.continuation.errors import SystemsError
from suites.continuation.models import Writer
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues, in_batches, of_rows
from suites.continuation.productions.plans import continuation_id, differences, digest
from suites.continuation.productions.production_actions import MOST_TRIALS, Progress, dialogues_from
from suites.group_chat import answer_keys
from suites.group_chat.cascade.decisions import condition_words
from suites.group_chat.scenarios.agents import AGENTS, Agent, Learnt, decide, learn
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import points_of

# Deciders in a corpus's scenarios: systems and conditions, with the numbers of their decisions.


@dataclass(frozen=True, slots=True)
class Decider:
    """A system under a condition: its numbers of scenarios, trials and decisions."""

    system: str
    condition: dict[str, Any]
    scenarios: int
    trials: int
    decisions: int

    @property
    def condition_text(self) -> str:
        """The condition in words, without the model."""
        return condition_words(self.condition)


def deciders(corpus: Corpus) -> list[Decider]:
    """Return the deciders in a corpus's scenarios outside training, by name and condition.

    People in the agent's place are left out.
    """
    rows = (
        Continuation.objects.filter(
            of_dialogues(prefix="dialogue__"),
            dialogue__corpus=corpus,
            dialogue__scenario__isnull=False,
            mode=Continuation.Mode.STATIC,
        )
        .exclude(system__name=PEOPLE)
        .values("system__name", "condition")
        .annotate(
            scenarios=Count("dialogue", distinct=True),
            trials=Count("trial", distinct=True),
            decisions=Count("items", filter=Q(items__kind=DECISION.key), distinct=True),
        )
        .order_by("system__name", "condition")
    )
    return [
        Decider(row["system__name"], row["condition"], row["scenarios"], row["trials"], row["decisions"])
        for row in rows
    ]


def scenario_count(corpus: Corpus) -> int:
    """Return the number of a corpus's scenarios outside training."""
    return corpus.dialogues.filter(of_dialogues(), scenario__isnull=False).count()


GENERATOR = "group_chat_baseline"
VERSION = 1
DEV = "dev"
READ_FROM = {True: "the keys of dev", False: "the keys of the other families"}
Scenario = tuple[Dialogue, records.Dialogue]
"""A scenario's row and its record."""


TRIALS = replace(
    production_actions.TRIALS,
    help="How often it goes through each scenario. Only random differs from one trial to the next.",
)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A requested baseline: its key, its mode, the number of trials, and the seed of its draws."""

    agent: str
    mode: str = "explicit"
    trials: int = 1
    seed: int = 0

    def checked(self) -> Agent:
        """Return the agent; raise SystemsError for an unknown agent or mode, or a wrong number of trials."""
        if self.agent not in AGENTS:
            raise SystemsError(f"There is no agent {self.agent!r}; there are {', '.join(AGENTS)}.")
        if self.mode not in MODES:
            raise SystemsError(f"There is no mode {self.mode!r}; there are {', '.join(MODES)}.")
        if not 1 <= self.trials <= MOST_TRIALS:
            raise SystemsError(f"The number of trials must be between 1 and {MOST_TRIALS}.")
        return AGENTS[self.agent]


@dataclass(frozen=True, slots=True)
class Played:
    """Result of a baseline: its scenarios, and its new (`made`) and existing (`reused`) continuations.

    `decisions` counts those of the new continuations, `left_out` the dialogues that are not scenarios.
    """

    system: str
    condition: dict[str, Any]
    scenarios: int
    made: int
    reused: int
    decisions: int
    left_out: int

    def sentence(self) -> str:
        """Return the result in words."""
        text = f"{self.system}: {self.decisions:,} decisions in {self.made:,} new continuations"
        return f"{text}, {self.reused:,} were there already." if self.reused else f"{text}."


@transaction.atomic
def play(
    *, by: User | None, baseline: Baseline, dialogues: Dialogues, progress: Progress | None = None
) -> Played:
    """Let a baseline decide at every point of a selection's scenarios; existing decisions are kept.

    Baselines that learn use the keys of dev where the corpus is split, else those of the other families.
    `progress` is called with (scenarios done, total). Raises SystemsError for an unknown agent or mode, for a
    selection without scenarios, and where the corpus has another system of the agent's name.
    """
    agent = baseline.checked()
    if dialogues.split is not None:
        splits.fix(split=dialogues.split, by=by)
    rows, left_out = _scenarios(dialogues)
    lessons = Lessons(dialogues.corpus, agent)
    writer = _writer(dialogues.corpus, agent, lessons, baseline.seed, by)
    assert writer.system is not None
    play_one = _Playing(agent, writer.system, baseline)
    for number, (row, record) in enumerate(rows, start=1):
        play_one.scenario(row, record, lessons.for_family(record.cluster))
        if progress:
            progress(number, len(rows))
    if play_one.continuation_ids:
        answer_keys.write(dialogues.corpus, play_one.continuation_ids)
        Event.objects.create(
            by=by,
            verb="run agent",
            subject=f"{agent.key} in {dialogues.corpus.name}"[:300],
            detail={"made": len(play_one.continuation_ids), MODE: baseline.mode, "trials": baseline.trials},
        )
    return Played(
        system=agent.key,
        condition=play_one.condition,
        scenarios=len(rows),
        made=len(play_one.continuation_ids),
        reused=play_one.reused,
        decisions=play_one.decisions,
        left_out=left_out,
    )


class _Playing:
    """Plays a baseline in its scenarios, one after the other."""

    def __init__(self, agent: Agent, system: System, baseline: Baseline) -> None:
        self.agent, self.system, self.trials, self.seed = agent, system, baseline.trials, baseline.seed
        self.mode: Mode = "implicit" if baseline.mode == "implicit" else "explicit"
        self.condition = {MODE: self.mode}
        self.continuation_ids: list[int] = []
        self.decisions = self.reused = 0

    def scenario(self, row: Dialogue, record: records.Dialogue, learnt: Learnt | None) -> None:
        """Decide at the points of one scenario, in every missing trial."""
        existing_keys = set(
            Continuation.objects.filter(dialogue=row, system=self.system).values_list("key", flat=True)
        )
        for trial in range(self.trials):
            key = continuation_id(self.system.name, digest(self.condition), trial)
            if key in existing_keys:
                self.reused += 1
                continue
            decisions = decide(self.agent, record, mode=self.mode, learnt=learnt, seed=self.seed, trial=trial)
            assert record.scenario is not None
            turns = tuple(
                turn_of(decision, record.scenario.agent, record.turns[decision.point])
                for decision in decisions
            )
            continuation = records.Continuation(
                key, self.system.name, turns, mode="static", trial=trial, condition=self.condition
            )
            added = continuing.add(dialogue=row, system=self.system, record=continuation, keyed=False)
            self.continuation_ids.append(added.pk)
            self.decisions += len(turns)


class Lessons:
    """Scenarios whose keys a learning baseline uses: dev of the corpus's split, else all other families."""

    def __init__(self, corpus: Corpus, agent: Agent) -> None:
        self.learns = agent.learns
        self.split = splits.lock_of(corpus) if agent.learns else None
        self._dialogues: list[records.Dialogue] = []
        self._of: dict[str, Learnt] = {}
        if agent.learns:
            selection = Dialogues(corpus, self.split, DEV if self.split else "")
            self._dialogues = [record for _, record in _scenarios(selection)[0]]

    @property
    def source(self) -> str:
        """Origin of the keys in words, '' where none are used."""
        return READ_FROM[self.split is not None] if self.learns else ""

    def for_family(self, family: str) -> Learnt | None:
        """Return the lessons for a family's scenarios, None where the baseline does not learn."""
        if not self.learns:
            return None
        name = "" if self.split is not None else family
        if name not in self._of:
            self._of[name] = learn(
                record for record in self._dialogues if self.split is not None or record.cluster != name
            )
        return self._of[name]


def _scenarios(dialogues: Dialogues) -> tuple[list[Scenario], int]:
    """Return the scenarios of a selection that have points, and the number of its other dialogues."""
    scenarios: list[Scenario] = []
    others = 0
    for rows in in_batches(dialogues.rows()):
        by_id = of_rows(rows)
        with_points = [(row, by_id[row.pk]) for row in rows if _has_points(by_id[row.pk])]
        scenarios += with_points
        others += len(rows) - len(with_points)
    if not scenarios:
        raise SystemsError(
            "There is no scenario with points in this selection: an agent decides in dialogues of kind "
            "scenario."
        )
    return scenarios, others


def _has_points(record: records.Dialogue) -> bool:
    return record.scenario is not None and bool(points_of(record))


def _writer(corpus: Corpus, agent: Agent, lessons: Lessons, seed: int, by: User | None) -> Writer:
    spec: dict[str, Any] = {"generator": GENERATOR, "version": VERSION, "agent": agent.key, "seed": seed}
    if lessons.source:
        spec["learns from"] = lessons.source
    existing = Writer.objects.select_for_update().filter(corpus=corpus, name=agent.key).first()
    if existing is not None:
        if existing.fingerprint != digest(spec):
            raise SystemsError(
                f"The corpus has a system {agent.key!r} already, and it is another one: "
                f"{differences(existing.spec, spec)}."
            )
        return existing
    system, is_new = System.objects.get_or_create(corpus=corpus, name=agent.key)
    if not is_new:
        raise SystemsError(
            f"The corpus has a system {agent.key!r} whose continuations were imported: what is imported "
            "under a baseline's name stands for it."
        )
    Event.objects.create(by=by, verb="add system", subject=f"system {agent.key}", detail=spec)
    return Writer.objects.create(
        corpus=corpus, name=agent.key, spec=spec, fingerprint=digest(spec), system=system, created_by=by
    )


# Baselines in many scenarios: a job, so that no request waits for them.

KIND = "baseline"
AT_ONCE = 100
"""At most this many continuations are made within a request, in two or three seconds."""


def start(*, by: User | None, baseline: Baseline, dialogues: Dialogues) -> Played | Job:
    """Let a baseline decide as `play` does; start a job for many scenarios and trials.

    Raises SystemsError for invalid requests, and where no job is needed also as `play` does.
    """
    baseline.checked()
    if dialogues.rows().count() * baseline.trials <= AT_ONCE:
        return play(by=by, baseline=baseline, dialogues=dialogues)
    params = {"baseline": asdict(baseline), "dialogues": dialogues.as_json()}
    subject = f"{baseline.agent} in {dialogues.corpus.name[:180]}, {digest(params)[:8]}"
    return jobs.start(kind=KIND, subject=subject, params=params, by=by)


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Let the baseline of a job decide, in one transaction; the job's result is the baseline's."""
    params = job.params
    try:
        played = play(
            by=job.created_by,
            baseline=Baseline(**params["baseline"]),
            dialogues=dialogues_from(params["dialogues"]),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return asdict(played)


JOB = JobKind(KIND, "Baseline agent", run)
