"""Going on with a benchmark: each step's runs are started where they are needed, and the corpus is written
once nothing is missing.

Everything that was answered stands in productions, so what is looked up here is the same after any
interruption, and the same replies lead to the same corpus.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation import records
from annotation.models import Corpus, Dialogue
from jobs.models import Run
from systems.benchmarks.assembling import Cleaned, assembled, told
from systems.benchmarks.choosing import Instance, choose
from systems.benchmarks.cutting import HISTORY, LEAST
from systems.making import material as source_material
from systems.making.material import Conversation, Key
from systems.making.orders import CLEANING, GENERATOR, METADATA, SUMMARY, Order
from systems.models import BenchmarkRun
from systems.models.benchmark import Benchmark
from systems.producing.actions import Read, start_each
from systems.producing.plans import Generation, Plan
from systems.producing.steps import Came, Need, Place, Stuck, came, named_alone

# One step of a benchmark: which productions it needs, what came of them, and the runs that make the rest.


def plan_of(
    benchmark: Benchmark, step: str, condition: Mapping[str, Any] | None = None, **settings: Any
) -> Plan:
    """Return who does a step, under the name of a writer that no other settings have."""
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
    """Start the runs of what is missing, one for each source corpus, and return them."""
    started: list[Run] = []
    for pk, corpus in corpora.items():
        own = sorted((one for one in needs if one.corpus == pk), key=lambda one: one.place)
        if not own:
            continue
        plans = {one.plan.digest: one.plan for one in own}
        planned = [
            (plan, [material[one.place] for one in own if one.plan.digest == key])
            for key, plan in sorted(plans.items())
        ]
        places = json.dumps([one.place for one in own])
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


def link(benchmark: Benchmark, step: str, found: Collection[int]) -> None:
    """Keep which runs a step is made by: those that were started for it, and others that do it already."""
    made = [BenchmarkRun(benchmark=benchmark, step=step, run_id=pk) for pk in sorted(found)]
    BenchmarkRun.objects.bulk_create(made, ignore_conflicts=True)


def text_digest(turns: Sequence[records.Turn]) -> str:
    """Return what tells texts apart that are summed up: the first 12 digits of a hash of who says what."""
    said = json.dumps([[turn.speaker, turn.text] for turn in turns], ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Made:
    """What a benchmark is made of: dialogues, conversations that were looked at, and what was left out."""

    dialogues: list[records.Dialogue]
    conversations: list[Conversation]
    left_out: list[dict[str, str]]


class Making:
    """One look at a benchmark in the making. `step` is where it is."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.order = Order.of(benchmark.order)
        self.corpora = source_material.corpora_of(benchmark)
        self.step = ""
        self.left_out: list[dict[str, str]] = []
        self._cleaned: dict[int, Cleaned] = {}
        self._told: dict[int, tuple[records.Turn, ...]] = {}
        self._records: dict[int, tuple[Dialogue, records.Dialogue]] = {}
        self._metadata: dict[Key, Any] = {}
        self._summaries: dict[Instance, str] = {}

    def go_on(self) -> Made | None:
        """Do what can be done now; return what the benchmark is made of, None where runs are under way.

        Raises Shortage where there are fewer instances than asked for, Stuck where a step failed.
        """
        raw = source_material.conversations(self.corpora, {})
        failed = self._clean(raw)
        if failed is None:
            return None
        found = source_material.conversations(self.corpora, self._cleaned) if self._cleaned else raw
        sources = {one.source for one in found}
        while True:
            offered = {(one.source, one.key): one for one in found if (one.source, one.key) not in failed}
            self.step = "cut"
            offers = [one.offer for one in offered.values()]
            instances = choose(offers, self.order.wanted, self.order.seed, sources)
            more = self._tell(instances, offered)
            if more is None:
                return None
            if not more:
                return Made(self._assembled(instances, offered, found), found, self.left_out)
            failed |= more

    def _clean(self, raw: Sequence[Conversation]) -> set[Key] | None:
        """Have verbatim conversations cleaned; return those that failed, None where runs are under way."""
        chosen = {one.dialogue: one for one in raw if self.order.cleans(one.source) and one.raw >= LEAST}
        if not chosen:
            return set()
        self.step = CLEANING
        plan = plan_of(self.benchmark, CLEANING)
        needs = [Need(one.corpus, one.dialogue, plan) for one in chosen.values()]
        found = self._came(needs, {})
        if found is None:
            return None
        self._cleaned = {place[0]: Cleaned.of(result) for place, result in found.results.items()}
        return self._without({place: chosen[place[0]] for place in found.failed}, found)

    def _tell(self, instances: Sequence[Instance], offered: Mapping[Key, Conversation]) -> set[Key] | None:
        """Have metadata and summaries written; return conversations that failed, None where runs are under
        way."""
        chosen = {(one.source, one.conversation): offered[one.source, one.conversation] for one in instances}
        self._read([one.dialogue for one in chosen.values()])
        failed = self._describe(chosen) if METADATA in self.order.steps else set()
        if failed or failed is None or SUMMARY not in self.order.steps:
            return failed
        return self._sum_up(instances, chosen)

    def _describe(self, chosen: Mapping[Key, Conversation]) -> set[Key] | None:
        self.step = METADATA
        plan = plan_of(self.benchmark, METADATA)
        places = {(one.dialogue, plan.digest): one for one in chosen.values()}
        needs = [Need(one.corpus, one.dialogue, plan) for one in chosen.values()]
        found = self._came(needs, {})
        if found is None:
            return None
        self._metadata = {
            (places[place].source, places[place].key): result for place, result in found.results.items()
        }
        return self._without({place: places[place] for place in found.failed}, found)

    def _sum_up(self, instances: Sequence[Instance], chosen: Mapping[Key, Conversation]) -> set[Key] | None:
        self.step = SUMMARY
        wanted: dict[Place, Instance] = {}
        needs: list[Need] = []
        cut: dict[Place, tuple[Dialogue, records.Dialogue]] = {}
        for one in instances:
            if one.start == HISTORY:
                continue
            conversation = chosen[one.source, one.conversation]
            row, record = self._records[conversation.dialogue]
            turns = self._turns(conversation.dialogue)[: one.start - HISTORY]
            condition = {"text": text_digest(turns)}
            plan = plan_of(self.benchmark, SUMMARY, condition, until=len(turns))
            need = Need(conversation.corpus, conversation.dialogue, plan)
            needs.append(need)
            wanted[need.place] = one
            cut[need.place] = row, replace(record, turns=turns)
        found = self._came(needs, cut)
        if found is None:
            return None
        self._summaries = {wanted[place]: str(result) for place, result in found.results.items()}
        failed = {place: wanted[place] for place in found.failed}
        return self._without(
            {place: chosen[one.source, one.conversation] for place, one in failed.items()}, found
        )

    def _came(self, needs: Sequence[Need], given: Mapping[Place, Read]) -> Came | None:
        """Return what came of a step, None where runs are under way.

        What is missing is begun, with what is given for it, else with the conversation as it is.
        """
        found = came(needs)
        if found.missing:
            if not given:
                known = self._read([need.dialogue for need in found.missing])
                given = {need.place: known[need.dialogue] for need in found.missing}
            corpora = {pk: corpus for pk, (corpus, _) in self.corpora.items()}
            begin(self.benchmark, self.step, found.missing, given, corpora)
            found = came(needs)  # what had nothing to be asked is done already
        link(self.benchmark, self.step, found.running)
        return None if found.running else found

    def _without(self, failed: Mapping[Place, Conversation], found: Came) -> set[Key]:
        """Return the conversations that failed, where they are to be left out; raise Stuck where not."""
        if not failed:
            return set()
        told_of = [
            {"source": one.source, "conversation": one.key, "step": self.step, "error": found.failed[place]}
            for place, one in sorted(failed.items(), key=lambda pair: (pair[1].source, pair[1].key))
        ]
        if not self.benchmark.leave_out_failed:
            first = told_of[0]
            raise Stuck(
                f"The step {self.step} failed for {len(failed)} of {len(failed) + len(found.results)}, first "
                f"{first['source']} {first['conversation'][:80]!r}: {first['error'][:300]}. Try again what "
                "failed, or go on without it."
            )
        self.left_out += told_of
        return {(one.source, one.key) for one in failed.values()}

    def _read(self, dialogues: Sequence[int]) -> dict[int, tuple[Dialogue, records.Dialogue]]:
        """Return dialogues with their records, read once."""
        new = [pk for pk in dialogues if pk not in self._records]
        self._records |= {row.pk: (row, record) for row, record in source_material.read(new)}
        return self._records

    def _turns(self, dialogue: int) -> tuple[records.Turn, ...]:
        """Return the turns with text of a conversation, after cleaning."""
        if dialogue not in self._told:
            self._told[dialogue] = told(self._records[dialogue][1], self._cleaned.get(dialogue))
        return self._told[dialogue]

    def _assembled(
        self,
        instances: Sequence[Instance],
        offered: Mapping[Key, Conversation],
        found: Sequence[Conversation],
    ) -> list[records.Dialogue]:
        """Return the dialogues of the benchmark in the order of their ids."""
        self.step = "writing"
        names = source_material.clusters(found)
        made = []
        for one in instances:
            key = one.source, one.conversation
            conversation = offered[key]
            record = self._records[conversation.dialogue][1]
            made.append(
                assembled(
                    one,
                    record,
                    self._turns(conversation.dialogue),
                    cluster=names[key],
                    metadata=self._metadata.get(key),
                    summary=self._summaries.get(one, ""),
                )
            )
        return sorted(made, key=lambda dialogue: dialogue.id)
