"""Steps of a benchmark: the order, its source conversations, the runs, and the new corpus."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation import records
from annotation.corpora.import_file import import_path
from annotation.corpora.rows import turn_record
from annotation.formats import ImportProblem
from annotation.models import Continuation, Turn
from annotation.models.corpora import Corpus, Dialogue
from annotation.records import HUMAN, SELF
from annotation.records import Continuation as ContinuationRecord
from annotation.records import Dialogue as DialogueRecord
from jobs.endpoints import parameters
from jobs.endpoints.parameters import Parameter
from jobs.models import Run
from judges.runs.material import dialogue_record
from suites.continuation.benchmarks import instances
from suites.continuation.benchmarks.instances import (
    HISTORY,
    LEAST,
    Cleaned,
    Instance,
    Offer,
    Quota,
    assembled,
    choose,
    line,
    removed,
    spoken_turns,
)
from suites.continuation.benchmarks.metadata import PART_TOKENS
from suites.continuation.benchmarks.summary import spoken
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, WrongSettings
from suites.continuation.models import Benchmark, BenchmarkRun
from suites.continuation.productions.dialogues import Dialogues, of_rows
from suites.continuation.productions.plans import Generation, Plan
from suites.continuation.productions.production_actions import Read, start_each
from suites.continuation.productions.steps import Came, Need, Place, Stuck, came, named_alone

# The order of a benchmark, checked without reading corpora.

METADATA, CUT, SUMMARY, CLEANING = "metadata", "cut", "summary", "cleaning"
STEPS = (METADATA, CUT, SUMMARY)
GENERATOR = {step: f"cocoeval_{step}" for step in (CLEANING, METADATA, SUMMARY)}
MOST = 100_000
NUMBERS = {
    number.name: number
    for number in (
        Parameter("per_source", "whole", "Instances per source", "For evaluation.", 0, MOST),
        Parameter(
            "train",
            "whole",
            "Instances for training",
            "In all, of conversations that evaluation does not use.",
            0,
            MOST,
        ),
        Parameter(
            "per_conversation",
            "whole",
            "Most instances of one conversation",
            "They start at least 60 turns apart and are one cluster.",
            1,
            MOST,
        ),
        Parameter("seed", "whole", "Seed of the cuts", "The same seed makes the same cuts.", 0, 2**63 - 1),
    )
}
"""Numbers of an order, for the form, the API and `Order.checked`."""


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a benchmark.

    `steps` are some of STEPS, including the cut. With `clean` the sources named in `verbatim` are cleaned
    first, or all sources where `verbatim` is empty. `exclude` leaves out conversations by people's answers,
    as of the start. `part_tokens` is the generator's setting, `parameters` are the sampling parameters.
    """

    per_source: int
    train: int = 0
    train_sources: tuple[str, ...] = ()
    per_conversation: int = 1
    seed: int = 0
    steps: tuple[str, ...] = STEPS
    clean: bool = False
    verbatim: tuple[str, ...] = ()
    part_tokens: int = int(PART_TOKENS.default)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    allow_fewer: bool = False
    exclude: str = ""

    def checked(self) -> Order:
        """Return the order with its steps sorted; raise SystemsError for invalid values."""
        for name, number in NUMBERS.items():
            assert number.least is not None
            assert number.most is not None
            if not number.least <= getattr(self, name) <= number.most:
                raise SystemsError(f"{_option(name)}: must be between {number.least} and {number.most:,}.")
        if not self.per_source + self.train:
            raise SystemsError("per-source and train are both 0: there is nothing to make.")
        if unknown := [step for step in self.steps if step not in STEPS]:
            raise SystemsError(f"steps: there is no step {unknown[0]!r}; there are {', '.join(STEPS)}.")
        if CUT not in self.steps:
            raise SystemsError("steps: without the cut there is no benchmark; name it, too.")
        if self.verbatim and not self.clean:
            raise SystemsError("verbatim: names what is cleaned, so clean has to be given, too.")
        if self.train_sources and not self.train:
            raise SystemsError("train-from: says where training comes from, so train has to be given, too.")
        try:
            GENERATORS[GENERATOR[METADATA]].resolved(self.settings(METADATA))
        except WrongSettings as error:
            raise SystemsError(str(error)) from None
        values = asdict(self) | {
            "steps": tuple(step for step in STEPS if step in self.steps),
            "parameters": parameters.checked(self.parameters),
            "verbatim": tuple(sorted(set(self.verbatim))),
            "train_sources": tuple(sorted(set(self.train_sources))),
        }
        return Order(**values)

    @property
    def asks(self) -> bool:
        """Whether any step calls a model."""
        return self.clean or METADATA in self.steps or SUMMARY in self.steps

    @property
    def quota(self) -> Quota:
        """The numbers of instances."""
        return Quota(self.per_source, self.train, self.train_sources, self.per_conversation, self.allow_fewer)

    def cleans(self, source: str) -> bool:
        """Whether conversations of a source are cleaned."""
        return self.clean and (not self.verbatim or source in self.verbatim)

    def settings(self, step: str) -> dict[str, Any]:
        """Return the ordered settings of a step's generator."""
        return {"part_tokens": self.part_tokens} if step == METADATA else {}

    def as_json(self) -> dict[str, Any]:
        """Return the order as plain data."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Order:
        """Return an order from the data of `as_json`."""
        field_names = {item.name for item in fields(cls)}
        values: dict[str, Any] = {name: value for name, value in payload.items() if name in field_names}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**(values | lists))


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Describe how two orders differ, '' if they do not. `allow_fewer` may change."""
    names = sorted((set(first) | set(second)) - {"allow_fewer"})
    return "; ".join(
        f"{_option(name)} was {_format_value(first.get(name))} and is {_format_value(second.get(name))}"
        for name in names
        if first.get(name) != second.get(name)
    )


def _option(name: str) -> str:
    return "train-from" if name == "train_sources" else name.replace("_", "-")


def _format_value(value: Any) -> str:
    return ", ".join(map(str, value)) or "not given" if isinstance(value, Sequence | Mapping) else str(value)


# Source conversations of a benchmark, as stored in the corpora.

Key = tuple[str, str]
"""Source and id of a conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a source: its place, and its number of turns with text, raw and cleaned."""

    corpus: int
    dialogue: int
    source: str
    key: str
    cluster: str
    raw: int
    turns: int
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def offer(self) -> Offer:
        """The conversation as an offer to cut instances from."""
        return Offer(self.source, self.key, self.cluster, self.turns)


def corpora_of(benchmark: Benchmark) -> dict[int, tuple[Corpus, str]]:
    """Return the source corpora by id, each with the name of its source.

    Raises SystemsError where a corpus was deleted.
    """
    ids = [source["corpus"] for source in benchmark.sources]
    corpora = Corpus.objects.in_bulk(ids)
    if gone := [name for pk, name in zip(ids, benchmark.made_from, strict=True) if pk not in corpora]:
        raise SystemsError(f"The corpus {gone[0]!r} was deleted; a benchmark cannot be made of it any more.")
    return {source["corpus"]: (corpora[source["corpus"]], source["name"]) for source in benchmark.sources}


def source_conversations(
    corpora: Mapping[int, tuple[Corpus, str]],
    cleaned: Mapping[int, Cleaned],
    excluded: Collection[int] = (),
) -> list[Conversation]:
    """Return all conversations of some corpora, by source and id; `cleaned` is keyed by dialogue.

    `excluded` are the ids of dialogues that are left out.

    Where corpora have clusters of the same name under different sources, the source's name is the prefix.
    Raises SystemsError where two conversations have the same source and id.
    """
    conversations: dict[Key, Conversation] = {}
    for pk, (corpus, name) in corpora.items():
        for row, record in Dialogues(corpus).read():
            if row.pk in excluded:
                continue
            conversation = _conversation(pk, row, record, name, cleaned.get(row.pk))
            if (conversation.source, conversation.key) in conversations:
                raise SystemsError(
                    f"The source {conversation.source!r} has the conversation {conversation.key[:80]!r} "
                    "twice: give the corpora sources of different names."
                )
            conversations[conversation.source, conversation.key] = conversation
    return [conversations[key] for key in sorted(conversations)]


def _conversation(
    corpus: int, row: Dialogue, record: records.Dialogue, name: str, cleaned: Cleaned | None
) -> Conversation:
    source = record.metadata.get("source")
    source_name = source.strip() if isinstance(source, str) and source.strip() else name
    before = [turn for turn in record.turns if spoken(turn)]
    after = spoken_turns(record, cleaned)
    words = removed(before, after) if cleaned is not None else {}
    return Conversation(
        corpus,
        row.pk,
        source_name,
        record.id,
        record.cluster or record.id,
        len(before),
        len(after),
        {name: words[name] for name in ("words_before", "words_after") if name in words},
    )


def clusters(conversations: Collection[Conversation]) -> dict[Key, str]:
    """Return the cluster of each conversation in the benchmark.

    It keeps its name, prefixed with the source's name where another source has a cluster of that name.
    """
    sources: dict[str, set[str]] = {}
    for conversation in conversations:
        sources.setdefault(conversation.cluster, set()).add(conversation.source)
    return {
        (conversation.source, conversation.key): f"{conversation.source}-{conversation.cluster}"
        if len(sources[conversation.cluster]) > 1
        else conversation.cluster
        for conversation in conversations
    }


def read(dialogues: Collection[int]) -> Iterator[tuple[Dialogue, records.Dialogue]]:
    """Yield dialogues with their records, by id, in batches of 100."""
    ids = sorted(dialogues)
    for begin in range(0, len(ids), 100):
        rows = list(Dialogue.objects.filter(pk__in=ids[begin : begin + 100]).order_by("pk"))
        records_by_id = of_rows(rows)
        yield from ((row, records_by_id[row.pk]) for row in rows)


# Advancing a benchmark: each step's runs are started where they are needed, and the corpus is written once
# nothing is missing.
#
# All answers are stored in productions, so the state read here is the same after any interruption, and the
# same replies lead to the same corpus.

# One step of a benchmark: the productions it needs, their results, and the runs for the missing ones.


def plan_of(
    benchmark: Benchmark, step: str, condition: Mapping[str, Any] | None = None, **settings: Any
) -> Plan:
    """Return the plan of a step, under a writer's name that is unique to its settings."""
    order = Order.of(benchmark.order)
    assert benchmark.endpoint is not None
    generation = Generation(
        GENERATOR[step],
        benchmark.endpoint,
        {**order.settings(step), **settings},
        order.parameters,
        "unnamed",
        condition or {},
    )
    return named_alone(generation.plan(), GENERATOR[step])


def begin(
    benchmark: Benchmark,
    step: str,
    needs: Sequence[Need],
    material: Mapping[Place, Read],
    corpora: Mapping[int, Corpus],
) -> list[Run]:
    """Start and return the runs for the missing productions, one per source corpus."""
    started: list[Run] = []
    for pk, corpus in corpora.items():
        own = sorted((need for need in needs if need.corpus == pk), key=lambda need: need.place)
        if not own:
            continue
        plans = {need.plan.digest: need.plan for need in own}
        planned = [
            (plan, [material[need.place] for need in own if need.plan.digest == key])
            for key, plan in sorted(plans.items())
        ]
        places = json.dumps([need.place for need in own])
        scope = {
            "corpus": pk,
            "step": step,
            "benchmark": benchmark.pk,
            "places": hashlib.sha256(places.encode()).hexdigest(),
        }
        run = start_each(by=benchmark.created_by, corpus=corpus, planned=planned, scope=scope)
        started.append(run)
    link(benchmark, step, {run.pk for run in started})
    return started


def link(benchmark: Benchmark, step: str, run_ids: Collection[int]) -> None:
    """Record the runs of a step: those started for it, and others that already do its work."""
    links = [BenchmarkRun(benchmark=benchmark, step=step, run_id=pk) for pk in sorted(run_ids)]
    BenchmarkRun.objects.bulk_create(links, ignore_conflicts=True)


def text_digest(turns: Sequence[records.Turn]) -> str:
    """Return the key of a text to summarise: the first 12 digits of a hash of speakers and texts."""
    text = json.dumps([[turn.speaker, turn.text] for turn in turns], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class BenchmarkContents:
    """The contents of a benchmark: its dialogues, the conversations examined, and what was left out."""

    dialogues: list[records.Dialogue]
    conversations: list[Conversation]
    left_out: list[dict[str, str]]


class Making:
    """One pass over an unfinished benchmark. `step` is the step that it has reached."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.order = Order.of(benchmark.order)
        self.corpora = corpora_of(benchmark)
        self.step = ""
        self.left_out: list[dict[str, str]] = []
        self._cleaned: dict[int, Cleaned] = {}
        self._turns_by_dialogue: dict[int, tuple[records.Turn, ...]] = {}
        self._records: dict[int, tuple[Dialogue, records.Dialogue]] = {}
        self._metadata: dict[Key, Any] = {}
        self._summaries: dict[Instance, str] = {}

    def go_on(self) -> BenchmarkContents | None:
        """Do everything possible now; return the benchmark's contents, None while runs are open.

        Raises Shortage where there are fewer instances than ordered, Stuck where a step failed.
        """
        excluded = {pk for source in self.benchmark.sources for pk in source.get("left_out", ())}
        raw = source_conversations(self.corpora, {}, excluded)
        failed = self._clean(raw)
        if failed is None:
            return None
        conversations = source_conversations(self.corpora, self._cleaned, excluded) if self._cleaned else raw
        sources = {conversation.source for conversation in conversations}
        while True:
            offered = {
                (conversation.source, conversation.key): conversation
                for conversation in conversations
                if (conversation.source, conversation.key) not in failed
            }
            self.step = "cut"
            offers = [conversation.offer for conversation in offered.values()]
            instances = choose(offers, self.order.quota, self.order.seed, sources)
            more = self._tell(instances, offered)
            if more is None:
                return None
            if not more:
                return BenchmarkContents(
                    self._assembled(instances, offered, conversations), conversations, self.left_out
                )
            failed |= more

    def _clean(self, raw: Sequence[Conversation]) -> set[Key] | None:
        """Have verbatim conversations cleaned; return the failed ones, None while runs are open."""
        selected = {
            conversation.dialogue: conversation
            for conversation in raw
            if self.order.cleans(conversation.source) and conversation.raw >= LEAST
        }
        if not selected:
            return set()
        self.step = CLEANING
        plan = plan_of(self.benchmark, CLEANING)
        needs = [Need(conversation.corpus, conversation.dialogue, plan) for conversation in selected.values()]
        outcome = self._came(needs, {})
        if outcome is None:
            return None
        self._cleaned = {place[0]: Cleaned.of(result) for place, result in outcome.results.items()}
        return self._without({place: selected[place[0]] for place in outcome.failed}, outcome)

    def _tell(self, instances: Sequence[Instance], offered: Mapping[Key, Conversation]) -> set[Key] | None:
        """Have metadata and summaries written.

        Returns the conversations that failed, None while runs are open.
        """
        selected = {
            (instance.source, instance.conversation): offered[instance.source, instance.conversation]
            for instance in instances
        }
        self._read([conversation.dialogue for conversation in selected.values()])
        failed = self._describe(selected) if METADATA in self.order.steps else set()
        if failed or failed is None or SUMMARY not in self.order.steps:
            return failed
        return self._sum_up(instances, selected)

    def _describe(self, selected: Mapping[Key, Conversation]) -> set[Key] | None:
        self.step = METADATA
        plan = plan_of(self.benchmark, METADATA)
        places = {(conversation.dialogue, plan.digest): conversation for conversation in selected.values()}
        needs = [Need(conversation.corpus, conversation.dialogue, plan) for conversation in selected.values()]
        outcome = self._came(needs, {})
        if outcome is None:
            return None
        self._metadata = {
            (places[place].source, places[place].key): result for place, result in outcome.results.items()
        }
        return self._without({place: places[place] for place in outcome.failed}, outcome)

    def _sum_up(self, instances: Sequence[Instance], selected: Mapping[Key, Conversation]) -> set[Key] | None:
        self.step = SUMMARY
        instance_by_place: dict[Place, Instance] = {}
        needs: list[Need] = []
        cut: dict[Place, tuple[Dialogue, records.Dialogue]] = {}
        for instance in instances:
            if instance.start == HISTORY:
                continue
            conversation = selected[instance.source, instance.conversation]
            row, record = self._records[conversation.dialogue]
            turns = self._turns(conversation.dialogue)[: instance.start - HISTORY]
            condition = {"text": text_digest(turns)}
            plan = plan_of(self.benchmark, SUMMARY, condition, until=len(turns))
            need = Need(conversation.corpus, conversation.dialogue, plan)
            needs.append(need)
            instance_by_place[need.place] = instance
            cut[need.place] = row, replace(record, turns=turns)
        outcome = self._came(needs, cut)
        if outcome is None:
            return None
        self._summaries = {instance_by_place[place]: str(result) for place, result in outcome.results.items()}
        failed = {place: instance_by_place[place] for place in outcome.failed}
        return self._without(
            {place: selected[instance.source, instance.conversation] for place, instance in failed.items()},
            outcome,
        )

    def _came(self, needs: Sequence[Need], material: Mapping[Place, Read]) -> Came | None:
        """Return the results of a step, None while runs are open.

        Missing productions are started with their `material`, or else with the conversation as it is.
        """
        outcome = came(needs)
        if outcome.missing:
            if not material:
                records_by_dialogue = self._read([need.dialogue for need in outcome.missing])
                material = {need.place: records_by_dialogue[need.dialogue] for need in outcome.missing}
            corpora = {pk: corpus for pk, (corpus, _) in self.corpora.items()}
            begin(self.benchmark, self.step, outcome.missing, material, corpora)
            outcome = came(needs)  # productions that need no call are done already
        link(self.benchmark, self.step, outcome.running)
        return None if outcome.running else outcome

    def _without(self, failed: Mapping[Place, Conversation], outcome: Came) -> set[Key]:
        """Return the failed conversations where they may be left out; raise Stuck otherwise."""
        if not failed:
            return set()
        told_of = [
            {
                "source": conversation.source,
                "conversation": conversation.key,
                "step": self.step,
                "error": outcome.failed[place],
            }
            for place, conversation in sorted(failed.items(), key=lambda pair: (pair[1].source, pair[1].key))
        ]
        if not self.benchmark.leave_out_failed:
            first = told_of[0]
            raise Stuck(
                f"The step {self.step} failed for {len(failed)} of {len(failed) + len(outcome.results)}, "
                f"first {first['source']} {first['conversation'][:80]!r}: {first['error'][:300]}. Try again "
                "what failed, or go on without it."
            )
        self.left_out += told_of
        return {(conversation.source, conversation.key) for conversation in failed.values()}

    def _read(self, dialogues: Sequence[int]) -> dict[int, tuple[Dialogue, records.Dialogue]]:
        """Return dialogues with their records; each is read once."""
        new = [pk for pk in dialogues if pk not in self._records]
        self._records |= {row.pk: (row, record) for row, record in read(new)}
        return self._records

    def _turns(self, dialogue: int) -> tuple[records.Turn, ...]:
        """Return the turns with text of a conversation, after cleaning."""
        if dialogue not in self._turns_by_dialogue:
            self._turns_by_dialogue[dialogue] = spoken_turns(
                self._records[dialogue][1], self._cleaned.get(dialogue)
            )
        return self._turns_by_dialogue[dialogue]

    def _assembled(
        self,
        instances: Sequence[Instance],
        offered: Mapping[Key, Conversation],
        conversations: Sequence[Conversation],
    ) -> list[records.Dialogue]:
        """Return the dialogues of the benchmark, by id."""
        self.step = "writing"
        names = clusters(conversations)
        dialogues = []
        for instance in instances:
            key = instance.source, instance.conversation
            conversation = offered[key]
            record = self._records[conversation.dialogue][1]
            dialogues.append(
                assembled(
                    instance,
                    record,
                    self._turns(conversation.dialogue),
                    cluster=names[key],
                    metadata=self._metadata.get(key),
                    summary=self._summaries.get(instance, ""),
                )
            )
        return sorted(dialogues, key=lambda dialogue: dialogue.id)


# Writing a benchmark: its dialogues become a new corpus in one import, and its figures are counted.

FORMAT, EXTENSION = "jsonl", "jsonl"


def write(benchmark: Benchmark, contents: BenchmarkContents) -> None:
    """Create the corpus of a benchmark, in the current transaction; the caller saves the benchmark."""
    text = "".join(f"{line(dialogue)}\n" for dialogue in contents.dialogues).encode()
    corpora = list(
        Corpus.objects.filter(pk__in=[source["corpus"] for source in benchmark.sources]).order_by("name")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"benchmark.{EXTENSION}"
        path.write_bytes(text)
        try:
            import_path(
                path=path,
                name=f"{benchmark.name}.{EXTENSION}",
                format=FORMAT,
                corpus=benchmark.name,
                into=False,
                by=benchmark.created_by,
                source=f"A benchmark made of {', '.join(benchmark.made_from)}",
                licence="; ".join(sorted({corpus.licence for corpus in corpora if corpus.licence}))[:200],
            )
        except ImportProblem as problem:
            raise Stuck(f"The corpus cannot be written: {problem}") from None
    benchmark.corpus = Corpus.objects.get(name=benchmark.name)
    benchmark.sha256 = hashlib.sha256(text).hexdigest()
    benchmark.figures = figures(contents)
    benchmark.state, benchmark.step, benchmark.error = Benchmark.State.DONE, "", ""
    benchmark.finished_at = timezone.now()


def figures(contents: BenchmarkContents) -> dict[str, Any]:
    """Return the figures for the benchmark's page.

    They are given by source and in total, with the words removed by cleaning and the conversations left out.
    """
    cleaned = [conversation for conversation in contents.conversations if conversation.words]
    sources = sorted({conversation.source for conversation in cleaned})
    parts = Counter(str(dialogue.metadata["part"]) for dialogue in contents.dialogues)
    return {
        "tokenizer": instances.tokenizer(),
        "by_source": [
            {"source": source, **row} for source, row in instances.by_source(contents.dialogues).items()
        ],
        "cleaning": [
            {
                "source": source,
                **instances.share_of(
                    conversation.words for conversation in cleaned if conversation.source == source
                ),
            }
            for source in sources
        ],
        "instances": len(contents.dialogues),
        "evaluation": parts["evaluation"],
        "train": parts["train"],
        "clusters": len({dialogue.cluster for dialogue in contents.dialogues}),
        "left_out": contents.left_out,
    }


def export(corpus: Corpus) -> Iterator[str]:
    """Yield a benchmark's dialogues as JSON lines, by id, with people's continuations only.

    These are the bytes from which the benchmark was imported.
    """
    rows = Dialogue.objects.filter(corpus=corpus).order_by("pk").values_list("key", "pk")
    ids = [pk for _, pk in sorted(rows)]
    for begin in range(0, len(ids), 100):
        dialogues = Dialogue.objects.in_bulk(ids[begin : begin + 100])
        turns_by_dialogue = _turns_by_continuation(list(dialogues))
        for pk in ids[begin : begin + 100]:
            yield f"{line(_record(dialogues[pk], turns_by_dialogue.get(pk, {})))}\n"


def _turns_by_continuation(dialogues: list[int]) -> dict[int, dict[str, tuple[Any, ...]]]:
    """Return the turns of the dialogues and people's continuations, by dialogue and continuation key."""
    own = {row.pk: row for row in Continuation.objects.filter(dialogue__in=dialogues, key__in=[SELF, HUMAN])}
    turns_by_dialogue: dict[int, dict[str, tuple[Any, ...]]] = {}
    for turn in Turn.objects.filter(continuation__in=own).order_by("continuation_id", "position"):
        row = own[turn.continuation_id]
        record = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        by_key = turns_by_dialogue.setdefault(row.dialogue_id, {})
        by_key[row.key] = (*by_key.get(row.key, ()), record)
    return turns_by_dialogue


def _record(row: Dialogue, turns: dict[str, tuple[Any, ...]]) -> DialogueRecord:
    people = (ContinuationRecord(HUMAN, HUMAN, turns[HUMAN]),) if HUMAN in turns else ()
    return dialogue_record(row, turns.get(SELF, ()), people, HUMAN)
