"""Starting, estimating, resuming, reviewing and describing benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from annotation import records
from annotation.corpora import exclusion
from annotation.corpora.import_file import NAME
from annotation.errors import ExclusionRefused
from annotation.models import Label, Occasion
from annotation.models.corpora import Corpus
from annotation.records import HUMAN
from jobs import fake_models
from jobs.endpoints.ownership import require_use
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.models.endpoint import Endpoint
from suites.continuation.benchmarks.instances import HISTORY, LEAST, Shortage, choose, wilson
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS
from suites.continuation.models import Benchmark, Production
from suites.continuation.productions import benchmark_steps, pipelines
from suites.continuation.productions.benchmark_steps import (
    CLEANING,
    CUT,
    GENERATOR,
    METADATA,
    SUMMARY,
    Making,
    Order,
    differences,
    write,
)
from suites.continuation.productions.pipelines import (
    StepsEstimate,
    advance_in_job,
    lock,
    log,
    refuse_unless_stopped,
    retry_failed,
    set_going,
    stop,
    wake,
)
from suites.continuation.productions.production_actions import usage_of
from suites.continuation.schemes import SCHEME

# Starting, resuming, cancelling and checking benchmarks. Every action is logged with its user.

KIND = "benchmark"
Source = tuple[Corpus, str]
"""A source corpus, and the source name for conversations that do not name their source."""


@transaction.atomic
def start(
    *,
    by: User | None,
    name: str,
    sources: Sequence[Source],
    order: Order,
    endpoint: Endpoint | None,
    leave_out_failed: bool = False,
) -> Benchmark:
    """Start a benchmark, or resume the one of this name with the same request; return it.

    Raises SystemsError for an invalid request: a name that is taken, an order that differs from the first,
    sources with too few conversations.
    """
    require_use(by, endpoint)
    order = _with_exclusion(sources, order.checked())
    existing = Benchmark.objects.select_for_update().filter(name=name).first()
    if existing is not None:
        _alike(existing, sources, order, endpoint)
        return _reopened(by, existing, order, leave_out_failed)
    _refuse_name(name)
    if not sources:
        raise SystemsError("from: at least one source corpus is needed.")
    if len({corpus.pk for corpus, _ in sources}) < len(sources):
        raise SystemsError("from: a corpus is named twice.")
    if order.asks and endpoint is None:
        raise SystemsError("endpoint: a model is asked, so an endpoint is needed.")
    excluded = {corpus.pk: exclusion.excluded_ids(corpus, order.exclude) for corpus, _ in sources}
    _refuse_shortage(sources, order, excluded)
    benchmark = Benchmark.objects.create(
        name=name,
        endpoint=endpoint if order.asks else None,
        sources=[
            {"corpus": corpus.pk, "name": source_name}
            | (
                {"left_out": excluded[corpus.pk], "excluded": exclusion.described(corpus, order.exclude)}
                if order.exclude
                else {}
            )
            for corpus, source_name in sources
        ],
        made_from=[corpus.name for corpus, _ in sources],
        order=order.as_json(),
        leave_out_failed=leave_out_failed,
        created_by=by,
    )
    log(by, "make benchmark", benchmark, {"sources": benchmark.made_from, **benchmark.order})
    wake(benchmark, by)
    return benchmark


def advance(benchmark: int) -> Benchmark:
    """Advance a benchmark as far as possible now: start runs, or write its corpus.

    May be called at any time, also concurrently.
    """
    with transaction.atomic():
        locked = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark)
        if locked.state != Benchmark.State.MAKING:
            return locked
        contents = None
        making: Making | None = None
        try:
            with transaction.atomic():
                making = Making(locked)
                contents = making.go_on()
                if contents is not None:
                    write(locked, contents)
        except (SystemsError, Shortage) as error:
            locked.state, locked.error, locked.corpus = Benchmark.State.STUCK, str(error), None
        if not locked.is_done:
            locked.step = making.step if making else locked.step
        locked.save()
        if locked.is_done:
            log(locked.created_by, "benchmark made", locked, {"sha256": locked.sha256})
        return locked


@transaction.atomic
def go_on(*, by: User | None, benchmark: Benchmark, leave_out_failed: bool = False) -> Benchmark:
    """Resume a stuck or cancelled benchmark: retry the failed productions, or leave them out."""
    benchmark = lock(benchmark)
    refuse_unless_stopped(benchmark)
    if leave_out_failed:
        benchmark.leave_out_failed = True
    else:
        retry_failed(benchmark, by)
    log(by, "go on with benchmark", benchmark, {"leave_out_failed": leave_out_failed})
    set_going(benchmark, by)
    return benchmark


@transaction.atomic
def cancel(*, by: User | None, benchmark: Benchmark) -> Benchmark:
    """Cancel a benchmark and its runs; answers are kept. A finished benchmark stays finished."""
    return stop(benchmark, by)


@transaction.atomic
def mark_checked(*, by: User | None, benchmark: Benchmark) -> Benchmark:
    """Record that somebody read a benchmark and found no offensive content, or dealt with it."""
    benchmark = lock(benchmark)
    if not benchmark.is_done:
        raise SystemsError("The benchmark is not made yet: there is nothing to be checked.")
    benchmark.checked_by, benchmark.checked_at = by, timezone.now()
    benchmark.checked_by_name = by.get_username() if by else "a command"
    benchmark.save()
    log(by, "check benchmark for offensive content", benchmark, {})
    return benchmark


def _refuse_name(name: str) -> None:
    if not NAME.fullmatch(name) or name != name.strip() or name in (".", ".."):
        raise SystemsError("into: the name of a corpus has 1 to 100 characters, and no slash.")
    if Corpus.objects.filter(name=name).exists():
        raise SystemsError(f"into: the corpus {name!r} exists already; a benchmark is a new one.")


def _with_exclusion(sources: Sequence[Source], order: Order) -> Order:
    """Return an order with its exclusion without spaces; refuse one that a source cannot answer."""
    for corpus, _ in sources:
        try:
            order = replace(order, exclude=exclusion.check(corpus, order.exclude))
        except ExclusionRefused as error:
            raise SystemsError(f"exclude: {error}.") from None
    return order


def _refuse_shortage(sources: Sequence[Source], order: Order, excluded: Mapping[int, Sequence[int]]) -> None:
    """Refuse unknown sources, and sources whose raw conversations already give too few instances."""
    conversations = benchmark_steps.source_conversations(
        {corpus.pk: (corpus, name) for corpus, name in sources}, {}, {*chain(*excluded.values())}
    )
    source_names = {conversation.source for conversation in conversations}
    for option, names in (("verbatim", order.verbatim), ("train-from", order.train_sources)):
        if unknown := [name for name in names if name not in source_names]:
            available = ", ".join(sorted(source_names)) or "none"
            raise SystemsError(f"{option}: there is no source {unknown[0]!r}; there are {available}.")
    try:
        choose([conversation.offer for conversation in conversations], order.quota, order.seed, source_names)
    except Shortage as error:
        raise SystemsError(str(error)) from None


def _alike(benchmark: Benchmark, sources: Sequence[Source], order: Order, endpoint: Endpoint | None) -> None:
    """Refuse to resume a benchmark whose request was different."""
    mismatches: list[str] = []
    first = [(source["corpus"], source["name"]) for source in benchmark.sources]
    if first != [(corpus.pk, name) for corpus, name in sources]:
        mismatches.append(f"it was made of {', '.join(benchmark.made_from)}")
    mismatches += filter(None, [differences(benchmark.order, order.as_json())])
    if order.asks and benchmark.endpoint_id != (endpoint.pk if endpoint else None):
        mismatches.append(f"it asked the endpoint {benchmark.endpoint}")
    if mismatches:
        raise SystemsError(
            f"There is a benchmark {benchmark.name!r} already, and it is another one: "
            f"{'; '.join(mismatches)}. Choose another name."
        )


def _reopened(by: User | None, benchmark: Benchmark, order: Order, leave_out: bool) -> Benchmark:
    """Resume a benchmark with the options that may change meanwhile, and return it."""
    if benchmark.is_done:
        return benchmark
    benchmark.order = benchmark.order | {"allow_fewer": order.allow_fewer}
    benchmark.leave_out_failed = benchmark.leave_out_failed or leave_out
    if benchmark.state == Benchmark.State.CANCELLED:
        benchmark.save()
        return go_on(by=by, benchmark=benchmark)
    set_going(benchmark, by)
    return benchmark


# Estimated cost of a benchmark, before any call.

SAMPLED = 5
"""Productions of a step that are simulated; the others cost as much per token read."""


@dataclass(frozen=True, slots=True)
class Step:
    """Approximate cost of a step: productions, calls, tokens read and written."""

    step: str
    productions: int
    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class MakingEstimate(StepsEstimate):
    """Estimated cost of a benchmark. Replies that already exist are not deducted."""

    instances: int
    conversations: int
    steps: tuple[Step, ...]
    endpoint: Endpoint | None

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        return {
            "instances": self.instances,
            "conversations": self.conversations,
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": None if self.cost is None else float(self.cost),
            "steps": [{name: getattr(step, name) for name in step.__slots__} for step in self.steps],
        }

    def sentence(self) -> str:
        """Return the estimate as one line for people."""
        size = f"{self.instances:,} instances of {self.conversations:,} conversations"
        if self.endpoint is None:
            return f"{size}; no model is asked."
        return (
            f"{size}: about {self.calls:,} calls, {self.tokens_in:,} tokens to read and {self.tokens_out:,} "
            f"to write (four characters to a token), cost {self.price}; the conversations go to "
            f"{self.destination}."
        )


def estimate(sources: Sequence[Source], order: Order, endpoint: Endpoint | None) -> MakingEstimate:
    """Return the estimated cost of a benchmark; raise SystemsError for an invalid request."""
    order = _with_exclusion(sources, order.checked())
    excluded = {pk for corpus, _ in sources for pk in exclusion.excluded_ids(corpus, order.exclude)}
    conversations = benchmark_steps.source_conversations(
        {corpus.pk: (corpus, name) for corpus, name in sources}, {}, excluded
    )
    try:
        instances = choose(
            [conversation.offer for conversation in conversations],
            order.quota,
            order.seed,
            {conversation.source for conversation in conversations},
        )
    except Shortage as error:
        raise SystemsError(str(error)) from None
    by_key = {
        (conversation.source, conversation.key): conversation.dialogue for conversation in conversations
    }
    dialogue_ids = sorted({by_key[instance.source, instance.conversation] for instance in instances})
    cleaned = [
        conversation.dialogue
        for conversation in conversations
        if order.cleans(conversation.source) and conversation.raw >= LEAST
    ]
    cuts = [
        (by_key[instance.source, instance.conversation], instance.start - HISTORY) for instance in instances
    ]
    places_by_step = {
        CLEANING: [(pk, 0) for pk in cleaned],
        METADATA: [(pk, 0) for pk in dialogue_ids] if METADATA in order.steps else [],
        SUMMARY: [cut for cut in cuts if cut[1]] if SUMMARY in order.steps else [],
    }
    steps = tuple(_step(step, places, order) for step, places in places_by_step.items() if places)
    return MakingEstimate(len(instances), len(dialogue_ids), steps, endpoint if order.asks else None)


def _step(step: str, places: Sequence[tuple[int, int]], order: Order) -> Step:
    """Return a step's cost, extrapolated from a few of its productions to all of them."""
    generator = GENERATORS[GENERATOR[step]]
    sample = list(places[:: max(1, len(places) // SAMPLED)])[:SAMPLED]
    usages = []
    for until, record in _read(sample):
        settings = order.settings(step) | ({"until": until} if step == SUMMARY else {})
        usages.append(usage_of(generator, generator.begin(record, generator.resolved(settings))))
    each = len(places) / len(usages)
    return Step(
        step,
        len(places),
        round(sum(usage.calls for usage in usages) * each),
        round(sum(usage.tokens_in for usage in usages) * each),
        round(sum(usage.tokens_out for usage in usages) * each),
    )


def _read(sample: Sequence[tuple[int, int]]) -> Iterator[tuple[int, records.Dialogue]]:
    records_by_id = {row.pk: record for row, record in benchmark_steps.read({pk for pk, _ in sample})}
    for pk, until in sample:
        yield until, replace(records_by_id[pk])


# A benchmark in words and figures, for pages, commands and programs alike.

# Results of people's review of a benchmark: shares of the scheme `benchmark_review`.

QUESTIONS = tuple(question for question in SCHEME.questions if question.values)


def shares(corpus: Corpus) -> list[dict[str, Any]]:
    """Return each question's share of yes over the reviewed instances, with n and interval.

    An instance that several people reviewed counts with the mean of their answers. Imported and main answers
    about people's continuations count. `share`, `low` and `high` are None where nobody answered.
    """
    rows = Label.objects.filter(
        item__corpus=corpus,
        item__continuation__key=HUMAN,
        question__version__scheme__key=SCHEME.key,
        question__key__in=[question.key for question in QUESTIONS],
        rater__kind="human",
        occasion__in=[Occasion.MAIN, Occasion.IMPORTED],
        superseded_at=None,
        number__isnull=False,
    ).values_list("question__key", "item", "number", "item__continuation__dialogue__metadata")
    answers: dict[str, dict[int, list[float]]] = {question.key: {} for question in QUESTIONS}
    sources: dict[int, str] = {}
    for key, item, number, metadata in rows:
        answers[key].setdefault(item, []).append(float(number or 0.0))
        sources[item] = str(metadata.get("source", ""))
    return [_share(question.key, question.wording, answers[question.key], sources) for question in QUESTIONS]


def _share(
    key: str, wording: str, answers: dict[int, list[float]], sources: dict[int, str]
) -> dict[str, Any]:
    by_item = {item: fmean(numbers) for item, numbers in answers.items()}
    parts = sorted({sources[item] for item in by_item})
    return {
        "question": key,
        "wording": wording,
        **_of(list(by_item.values())),
        "answers": sum(map(len, answers.values())),
        "by_source": [
            {"source": part, **_of([value for item, value in by_item.items() if sources[item] == part])}
            for part in parts
        ],
    }


def _of(values: Sequence[float]) -> dict[str, Any]:
    if not values:
        return {"share": None, "low": None, "high": None, "n": 0}
    low, high = wilson(sum(values), len(values))
    return {"share": fmean(values), "low": low, "high": high, "n": len(values)}


TITLES = {
    CLEANING: "Cleaning",
    METADATA: "Metadata",
    CUT: "Cut",
    SUMMARY: "Summaries",
    "writing": "Writing the corpus",
}


def steps_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return the model-calling steps in order, with their runs and numbers of done and failed productions.

    A production shared with another benchmark counts where it was first requested.
    """
    order = Order.of(benchmark.order)
    steps = [
        *([CLEANING] if order.clean else []),
        *(optional for optional in (METADATA, SUMMARY) if optional in order.steps),
    ]
    links = list(benchmark.links.select_related("run").order_by("id"))
    rows = []
    for step in steps:
        runs = {link.run_id: link.run for link in links if link.step == step}
        counted = Production.objects.filter(run__in=runs).aggregate(
            productions=Count("pk"),
            done=Count("pk", filter=Q(status=Production.Status.DONE)),
            failed=Count("pk", filter=Q(status=Production.Status.FAILED)),
        )
        run_rows = [{"run": run.pk, "state": run.state, "name": run.name} for run in runs.values()]
        rows.append({"step": step, "title": TITLES[step], "runs": run_rows, **counted})
    return rows


def excluded(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return what the order's exclusion left out of each source, as plain data."""
    return [source["excluded"] for source in benchmark.sources if source.get("excluded")]


def is_fake(benchmark: Benchmark) -> bool:
    """Whether its texts come from a fake model."""
    return benchmark.endpoint is not None and fake_models.is_fake(benchmark.endpoint.answering_model)


def as_json(benchmark: Benchmark) -> dict[str, Any]:
    """Return a full description of a benchmark as plain data."""
    return {
        "id": benchmark.pk,
        "benchmark": benchmark.name,
        "state": benchmark.state,
        "step": benchmark.step,
        "error": benchmark.error,
        "corpus": benchmark.corpus.name if benchmark.corpus else None,
        "made_from": benchmark.made_from,
        "endpoint": benchmark.endpoint.name if benchmark.endpoint else None,
        "order": benchmark.order,
        "excluded": excluded(benchmark),
        "leave_out_failed": benchmark.leave_out_failed,
        "steps": steps_of(benchmark),
        "figures": benchmark.figures,
        "fake_model": is_fake(benchmark),
        "sha256": benchmark.sha256,
        "review": shares(benchmark.corpus) if benchmark.corpus else [],
        "checked_for_offensive_content": (
            None
            if benchmark.checked_at is None
            else {"by": benchmark.checked_by_name, "at": benchmark.checked_at.isoformat()}
        ),
        "created_by": benchmark.created_by.get_username() if benchmark.created_by else None,
        "created_at": benchmark.created_at.isoformat(),
        "finished_at": benchmark.finished_at.isoformat() if benchmark.finished_at else None,
    }


# Advancing benchmarks in the background: a short job whenever their runs have ended.


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Start the next runs of a benchmark, or write its corpus."""
    benchmark = advance_in_job(Benchmark, job, advance)
    return {"benchmark": benchmark.name, "state": benchmark.state, "step": benchmark.step}


def sweep() -> int:
    """Wake every benchmark whose runs have ended; return their number."""
    return pipelines.sweep(Benchmark)


JOB = JobKind(KIND, "Making of a benchmark", run)
