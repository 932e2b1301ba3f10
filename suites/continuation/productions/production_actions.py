"""Starting or resuming generation; `jobs.runs` has the later actions."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction

from annotation import records
from annotation.corpora import exclusion, splits
from annotation.models import Dialogue, Split
from annotation.models.corpora import Corpus
from jobs import job_actions as jobs
from jobs import runs
from jobs.endpoints.costs import BY_CHARACTERS, Count, cost, counter
from jobs.endpoints.ownership import require_use
from jobs.endpoints.parameters import Parameter
from jobs.endpoints.wire import literal
from jobs.errors import JobError, JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Call, Endpoint, Job
from jobs.models.run import Run
from jobs.prompt import Prompt, about_tokens
from judges.runs import estimates
from judges.runs.selection import RunSettings, settings_from
from suites.continuation.errors import SystemsError
from suites.continuation.generators import Done, Failed, Generator, Reply, State
from suites.continuation.models import Production, ProductionCall, Writer
from suites.continuation.productions import steps
from suites.continuation.productions.dialogues import LIMITS, Dialogues
from suites.continuation.productions.material import LOADERS
from suites.continuation.productions.plans import Generation, Plan, digest

# Estimates of generation before it starts: calls, tokens, cost, and the finished part.
#
# Calls are counted by simulating a production with made-up replies of usual length (`Generator.pretend`), for
# every dialogue of a small selection and for a sample of a large one; tokens are those of five dialogues.

COUNTED = 300
"""Dialogues whose calls are counted individually; larger selections use the mean of these."""
SAMPLED = 5
MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated generation. `productions` includes the `done` ones; `calls` are the remaining calls.

    `left_out` counts the dialogues that cannot be written for, by reason. `cost` is in `currency`, None where
    the endpoint has no prices. `tokens_new` is the part of `tokens_out` that does not repeat the prompt.
    `about` is True where calls were counted on a sample, `counted_by` names the method of counting tokens.
    """

    productions: int
    done: int
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_new: int
    cost: Decimal | None
    currency: str
    endpoint: str
    model: str
    host: str
    is_here: bool
    left_out: dict[str, int]
    name: str
    about: bool = False
    counted_by: str = BY_CHARACTERS

    @property
    def price(self) -> str:
        """The cost in words."""
        return estimates.cost_in_words(self.cost, self.currency, calls=self.calls)

    @property
    def to_write(self) -> int:
        """Number of productions that are still to be written."""
        return self.productions - self.done

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"cost": None if self.cost is None else float(self.cost)}

    def sentence(self) -> str:
        """Return the estimate as one line for people."""
        about = "about " if self.about else ""
        done = f" ({self.done:,} are there)" if self.done else ""
        where = f"{self.host}, on this machine" if self.is_here else self.host
        anew = f", {self.tokens_new:,} of them anew" if self.tokens_new < self.tokens_out else ""
        omissions = "".join(f" Left out: {n:,} ({why})." for why, n in self.left_out.items())
        return (
            f"{self.productions:,} to write by {self.name}{done}: {about}{self.calls:,} calls, about "
            f"{self.tokens_in:,} tokens to read and {self.tokens_out:,} to write{anew} ({self.counted_by}), "
            f"cost {self.price}; the text goes to {where} (endpoint {self.endpoint}, model "
            f"{self.model}).{omissions}"
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of productions: tokens read, tokens written, and the new ones among the latter."""

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_new: int


def estimate(plan: Plan, dialogues: Dialogues, trials: int = 1) -> Estimate:
    """Estimate a generation without storing anything. Raises SystemsError for invalid requests."""
    excluded = dialogues.left_out()
    left_out = {f"left out by {dialogues.exclude}": len(excluded.ids)} if excluded and excluded.ids else {}
    begun: list[Begun] = []
    eligible = 0
    for row, record in dialogues.read():
        generator, why = plan.at(row.pk, record)
        if why:
            left_out[why] = left_out.get(why, 0) + 1
            continue
        eligible += 1
        if len(begun) < COUNTED:
            begun.append((row.pk, generator.rough(), _first_states(plan, generator, record, trials)))
    existing = _existing_productions(plan, dialogues, trials)
    done = sum(status == Production.Status.DONE for status, _ in existing.values())
    count, counted_by = counter(plan.endpoint)
    usage = _remaining_usage(plan, begun, existing, eligible, trials, count)
    host = urlsplit(plan.endpoint.base_url).hostname or ""
    return Estimate(
        productions=eligible * trials,
        done=done,
        calls=usage.calls,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_new=usage.tokens_new,
        cost=cost(plan.endpoint, usage.tokens_in, usage.tokens_out),
        currency=plan.endpoint.currency,
        endpoint=plan.endpoint.name,
        model=plan.endpoint.answering_model,
        host=host,
        is_here=literal(host) in {"127.0.0.1", "::1"},
        left_out=left_out,
        name=plan.name,
        about=eligible > len(begun),
        counted_by=counted_by,
    )


Begun = tuple[int, Generator, tuple[State, ...]]
"""A dialogue's id, its generator (bound to its material), and the first state of each trial."""
Place = tuple[int, int]
"""The id of a dialogue, and a trial."""


def _first_states(
    plan: Plan, generator: Generator, record: records.Dialogue, trials: int
) -> tuple[State, ...]:
    if not generator.needs:
        return (generator.begin(record, plan.settings),) * trials
    return tuple(generator.begin_trial(record, plan.settings, trial) for trial in range(trials))


def _existing_productions(plan: Plan, dialogues: Dialogues, trials: int) -> dict[Place, tuple[str, State]]:
    """Return the status and the state of the existing productions."""
    writer = Writer.objects.filter(corpus=dialogues.corpus, name=plan.name).first()
    if writer is None:
        return {}
    rows = Production.objects.filter(writer=writer, condition_hash=plan.digest, trial__lt=trials)
    selected = rows.filter(dialogue__in=list(dialogues.rows().values_list("pk", flat=True)))
    return {
        (dialogue, trial): (status, memory)
        for dialogue, trial, status, memory in selected.values_list("dialogue", "trial", "status", "memory")
    }


def _remaining_usage(
    plan: Plan,
    begun: Sequence[Begun],
    existing: dict[Place, tuple[str, State]],
    eligible: int,
    trials: int,
    count: Count,
) -> Usage:
    """Estimate the remaining calls and tokens."""
    width = plan.generator.together(plan.settings)
    states = [
        (generator, existing.get((pk, trial), ("", first[trial]))[1])
        for trial in range(trials)
        for pk, generator, first in begun
        if existing.get((pk, trial), ("", {}))[0] != Production.Status.DONE
    ]
    if not states:
        return Usage(0, 0, 0, 0)
    if width > 1:
        alone = [state for _, state in states]
        groups = [alone[at : at + width] for at in range(0, len(alone), width)]
        usages = [_shared_usage(plan.generator, group, count) for group in groups]
        scale = eligible / len(begun)
        return Usage(
            calls=math.ceil(sum(usage.calls for usage in usages) * scale),
            tokens_in=round(sum(usage.tokens_in for usage in usages) * scale),
            tokens_out=round(sum(usage.tokens_out for usage in usages) * scale),
            tokens_new=round(sum(usage.tokens_new for usage in usages) * scale),
        )
    step = max(1, len(states) // SAMPLED)
    some = [usage_of(generator, state, count) for generator, state in states[::step][:SAMPLED]]
    scale = eligible / len(begun)
    each_takes = None if existing else plan.generator.calls(plan.settings)
    counted = (
        each_takes if each_takes is not None else calls_of(generator, state) for generator, state in states
    )
    calls = round(sum(counted) * scale)
    each = sum(usage.calls for usage in some) or 1
    return Usage(
        calls=calls,
        tokens_in=round(calls * sum(usage.tokens_in for usage in some) / each),
        tokens_out=round(calls * sum(usage.tokens_out for usage in some) / each),
        tokens_new=round(calls * sum(usage.tokens_new for usage in some) / each),
    )


def usage_of(generator: Generator, state: State, count: Count = about_tokens) -> Usage:
    """Estimate the usage of a production from a state on, with made-up replies."""
    calls = prompt_tokens = reply_tokens = new = 0
    for prompts, replies in _steps(generator, state):
        calls += len(prompts)
        prompt_tokens += sum(count(prompt.system) + count(prompt.user) for prompt in prompts)
        reply_tokens += sum(map(count, replies))
        new += sum(count(generator.anew(reply)) for reply in replies)
    return Usage(calls, prompt_tokens, reply_tokens, new)


def calls_of(generator: Generator, state: State) -> int:
    """Return the number of calls of a production from a state on, with made-up replies."""
    remaining = generator.calls_left(state)
    return (
        remaining if remaining is not None else sum(len(prompts) for prompts, _ in _steps(generator, state))
    )


def _steps(generator: Generator, state: State) -> Iterator[tuple[Sequence[Prompt], Sequence[str]]]:
    """Yield the prompts of each step with made-up replies, until the end or until a limit is exceeded."""
    for _ in range(MOST_STEPS):
        request = generator.request(state)
        if isinstance(request, Done):
            return
        replies = generator.pretend(state)
        yield request, replies
        try:
            state = generator.receive(state, [Reply(reply, seconds=0.0) for reply in replies])
        except Failed:
            return
    raise AssertionError(f"{generator.key} does not come to an end")


def _shared_usage(generator: Generator, states: Sequence[State], count: Count) -> Usage:
    prompt = generator.shared(states)
    replies = [reply for state in states for reply in generator.pretend(state)]
    prompt_tokens = count(prompt.system) + count(prompt.user)
    new = sum(count(generator.anew(reply)) for reply in replies)
    return Usage(1, prompt_tokens, sum(map(count, replies)), new)


KIND = "generate"
MOST_TRIALS = 50
TRIALS = Parameter(
    "trials",
    "whole",
    "Trials",
    "How often each dialogue is written for. Trial 1 is sent the seed, trial 2 the next.",
    1,
    MOST_TRIALS,
)
_BATCH = 200
COPIES = "trials_are_copies"
"""Flag for several trials at temperature 0, which may all be identical."""
Progress = Callable[[int, int], None]
Read = tuple[Dialogue, records.Dialogue]
"""A dialogue's row, and its record as a generator reads it."""


@transaction.atomic
def start(
    *,
    by: User | None,
    generation: Generation,
    dialogues: Dialogues,
    trials: int = 1,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
) -> Run:
    """Start generation, or resume the run of the same writer, condition and selection; return the run.

    Existing productions are never begun again; unfinished ones of the writer's other runs are taken over.
    `settings` are the run's settings and limits; `progress` is called with the number of dialogues examined
    so far, as both of its arguments. Raises SystemsError where nothing can be written, or for values that do
    not fit together.
    """
    plan = generation.plan()
    if not 1 <= trials <= MOST_TRIALS:
        raise SystemsError(f"The number of trials must be between 1 and {MOST_TRIALS}.")
    if dialogues.split is not None:
        splits.fix(split=dialogues.split, by=by)
    scope = dialogues.as_json() | {"condition": dict(plan.condition), "trials": trials}
    excluded = exclusion.described(
        dialogues.corpus, dialogues.exclude, training=dialogues.part == splits.TRAINING
    )
    planned = [(plan, dialogues.read())]
    how = settings or RunSettings()
    return _start(by, dialogues.corpus, planned, scope, trials, how, progress, excluded)


@transaction.atomic
def start_each(
    *,
    by: User | None,
    corpus: Corpus,
    planned: Sequence[tuple[Plan, Sequence[Read]]],
    scope: Mapping[str, Any],
    settings: RunSettings | None = None,
) -> Run:
    """Start, or resume, one run in which each condition has its own dialogues; return the run.

    `planned` has plans of the same writer with different conditions, each with its dialogues and their
    records for the generator; `scope` identifies the run. Raises SystemsError as `start` does.
    """
    return _start(by, corpus, planned, scope, 1, settings or RunSettings(), None)


def _start(
    by: User | None,
    corpus: Corpus,
    planned: Sequence[tuple[Plan, Iterable[Read]]],
    scope: Mapping[str, Any],
    trials: int,
    settings: RunSettings,
    progress: Progress | None,
    excluded: Mapping[str, Any] | None = None,
) -> Run:
    """Start or resume a run; `excluded` describes the dialogues left out and does not identify the run."""
    plan = planned[0][0]
    require_use(by, plan.endpoint)
    writer = plan.writer(corpus, by)
    scope = {**scope, "writer": writer.pk}
    run, created = Run.objects.get_or_create(
        kind=KIND,
        scope_hash=hashlib.sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest(),
        rater=None,
        endpoint=plan.endpoint,
        defaults={
            "title": writer.name,
            "spec": writer.spec,
            "corpus": corpus,
            "queue": Run.Queue.CALLS,
            "scope": scope | ({"excluded": excluded} if excluded else {}),
            "samples": trials,
            "created_by": by,
            "reasks": plan.generator.reasks(plan.settings),
        },
    )
    run = Run.objects.select_for_update().get(pk=run.pk)
    settings.put(run)
    production_ids: set[int] = set()
    left_out: Counter[str] = Counter()
    for each, rows in planned:
        begun = ProductionStarter(run, writer, each, trials)
        for row, record in rows:
            begun.look_at(row.pk, record)
            if progress:
                progress(begun.seen, begun.seen)
        begun.open()
        run.expected = (run.expected or 0) + begun.expected
        production_ids |= begun.production_ids
        left_out.update(begun.left_out)
    if not production_ids:
        raise SystemsError(_nothing(left_out))
    _mark_used(planned[0][0], production_ids)
    run.save(update_fields=["expected"])
    _take_over(run, production_ids)
    run.reused = Production.objects.filter(pk__in=production_ids).exclude(run=run).count()
    runs.log(by, "start run" if created else "resume run", run)
    runs.reopen(run)
    return run


class ProductionStarter:
    """Begins the productions of a run, some dialogues at a time."""

    def __init__(self, run: Run, writer: Writer, plan: Plan, trials: int) -> None:
        self.run, self.writer, self.plan, self.trials = run, writer, plan, trials
        self.seen = self.expected = 0
        self.production_ids: set[int] = set()
        self.left_out: dict[str, int] = {}
        self._new: list[Production] = []
        self._each = plan.generator.calls(plan.settings)
        rows = Production.objects.filter(writer=writer, condition_hash=plan.digest, trial__lt=trials)
        self._existing = {
            (dialogue, trial): pk for pk, dialogue, trial in rows.values_list("pk", "dialogue", "trial")
        }
        temperature = plan.spec["parameters"].get("temperature")
        self._flags = [COPIES] if trials > 1 and temperature == 0 else []

    def look_at(self, dialogue: int, record: Any) -> None:
        """Begin the missing productions of a dialogue, or count the reason why there are none."""
        self.seen += 1
        generator, why = self.plan.at(dialogue, record)
        if why:
            self.left_out[why] = self.left_out.get(why, 0) + 1
            return
        state = None
        for trial in range(self.trials):
            if pk := self._existing.get((dialogue, trial)):
                self.production_ids.add(pk)
                continue
            if state is None or generator.needs:  # a bound generator may begin each trial differently
                state = generator.begin_trial(record, self.plan.settings, trial)
                calls = self._each if self._each is not None else calls_of(generator, state)
            self.expected += calls
            self._new.append(self._production(dialogue, trial, state))

    def open(self) -> None:
        """Save the new productions, and create the calls of their first step."""
        width = self.plan.generator.together(self.plan.settings)
        if width > 1:
            self.expected = -(-len(self._new) // width)
        self._new.sort(key=lambda production: production.trial)
        size = max(1, _BATCH // width) * width
        for at in range(0, len(self._new), size):
            productions = Production.objects.bulk_create(self._new[at : at + size])
            rows = Production.objects.select_related("writer__system", "dialogue", "run")
            steps.open_steps(
                list(rows.filter(pk__in=[production.pk for production in productions]).order_by("pk"))
            )
            self.production_ids |= {production.pk for production in productions}

    def _production(self, dialogue: int, trial: int, state: dict[str, Any]) -> Production:
        return Production(
            run=self.run,
            writer=self.writer,
            dialogue_id=dialogue,
            generator=self.plan.generator.key,
            condition=dict(self.plan.condition),
            condition_hash=self.plan.digest,
            trial=trial,
            memory=state,
            flags=list(self._flags),
        )


def _mark_used(plan: Plan, production_ids: Collection[int]) -> None:
    """Mark the generator's material as used, so that it stays as it is."""
    if plan.generator.needs:
        first = Production.objects.filter(pk__in=production_ids).values_list("dialogue", flat=True)[0]
        LOADERS[plan.generator.needs].mark_used(first, plan.settings)


def _take_over(run: Run, production_ids: Collection[int]) -> None:
    """Move unfinished productions of other runs to this one, and reopen its own cancelled calls."""
    unfinished = Production.objects.filter(pk__in=production_ids).exclude(status=Production.Status.DONE)
    others = unfinished.exclude(run=run)
    run_ids = set(others.values_list("run", flat=True))
    moved_ids = list(others.values_list("pk", flat=True))
    idle = [Call.State.PENDING, Call.State.CANCELLED, Call.State.FAILED]
    theirs = ProductionCall.objects.filter(production__in=moved_ids)
    Call.objects.filter(pk__in=theirs.values("call"), state__in=idle).update(run=run, **runs.AFRESH)
    Production.objects.filter(pk__in=moved_ids).update(run=run)
    run.calls.filter(state=Call.State.CANCELLED).update(**runs.AFRESH)
    for pk in run_ids:
        runs.settle(pk)


def _nothing(left_out: Mapping[str, int]) -> str:
    if not left_out:
        return "There is no dialogue in this selection."
    reasons = "; ".join(f"{why} ({n})" for why, n in left_out.items())
    return f"Nothing can be written for these dialogues: {reasons}."


# Starting generation for many dialogues as a job, so that no request waits for it.

JOB_KIND = "writing"
AT_ONCE = 500
"""Generation for at most this many dialogues starts within the request, in a few seconds."""


def start_job(
    *,
    by: User | None,
    generation: Generation,
    dialogues: Dialogues,
    trials: int = 1,
    settings: RunSettings | None = None,
) -> Run | Job:
    """Start generation and return its run; for many dialogues, return a job whose result names the run.

    Raises JobError for values that do not fit together, before any job is started.
    """
    plan = generation.plan()
    if dialogues.rows().count() <= AT_ONCE:
        return start(by=by, generation=generation, dialogues=dialogues, trials=trials, settings=settings)
    payload = {
        "generator": generation.generator,
        "endpoint": generation.endpoint.pk,
        "settings": dict(generation.settings),
        "parameters": dict(generation.parameters),
        "name": generation.name,
        "condition": dict(generation.condition),
    }
    how = (settings or RunSettings()).as_json()
    params = {"generation": payload, "dialogues": dialogues.as_json(), "trials": trials, "settings": how}
    subject = f"{plan.name[:180]} for {dialogues.corpus.name}, {digest(params)[:8]}"
    return jobs.start(kind=JOB_KIND, subject=subject, params=params, by=by)


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Start the generation of a job, in one transaction; its result is {run: id}."""
    params = job.params
    try:
        started = start(
            by=job.created_by,
            generation=_generation(params["generation"]),
            dialogues=dialogues_from(params["dialogues"]),
            trials=params["trials"],
            settings=settings_from(params["settings"]),
            progress=progress,
        )
    except JobRefused:
        raise
    except JobError as error:
        raise JobRefused(str(error)) from error
    return {"run": started.pk}


def _generation(payload: Mapping[str, Any]) -> Generation:
    endpoint = Endpoint.objects.filter(pk=payload["endpoint"], active=True).first()
    if endpoint is None:
        raise JobRefused("its endpoint was taken away")
    return Generation(**{**payload, "endpoint": endpoint})


def dialogues_from(payload: Mapping[str, Any]) -> Dialogues:
    """Return the selection of `Dialogues.as_json`; raise JobRefused where its corpus or split was deleted."""
    corpus = Corpus.objects.filter(pk=payload["corpus"]).first()
    split = Split.objects.filter(pk=payload["split"] or 0).first()
    if corpus is None or (payload["split"] and split is None):
        raise JobRefused("what it was to go over was deleted")
    least, most, first = (payload[name] for name in LIMITS)
    return Dialogues(corpus, split, payload["part"], least, most, first, payload.get("exclude", ""))


JOB = JobKind(JOB_KIND, "Start of generation", run)
