"""One step of a benchmark: which productions it needs, what came of them, and the runs that make the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation import records
from annotation.models import Corpus
from jobs.models import Run
from jobs.runs import OPEN
from systems.errors import SystemsError
from systems.making.orders import GENERATOR, Order
from systems.models import Benchmark, BenchmarkRun, Production
from systems.producing.actions import Read, start_each
from systems.producing.plans import LONGEST_NAME, Generation, Plan, digest

Place = tuple[int, str]
"""The id of a dialogue, and the hash of a condition."""


class Stuck(SystemsError):
    """A step that a person has to look at; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Need:
    """A dialogue that a step is to be done for, under a plan; what it is begun with is read when it is."""

    corpus: int
    dialogue: int
    plan: Plan

    @property
    def place(self) -> Place:
        """What its production is known by."""
        return self.dialogue, self.plan.digest


@dataclass(slots=True)
class Came:
    """What came of the needs of a step so far: results, and why others failed, by place; `missing` were never
    begun; `running` are the runs in which others are under way."""

    results: dict[Place, Any] = field(default_factory=dict)
    failed: dict[Place, str] = field(default_factory=dict)
    missing: list[Need] = field(default_factory=list)
    running: set[int] = field(default_factory=set)


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
    plan = generation.plan()
    mark = digest(plan.spec)[:8]
    name = f"{GENERATOR[step]} {benchmark.endpoint.model}"[: LONGEST_NAME - 9]
    return Plan(plan.generator, plan.endpoint, plan.settings, plan.condition, plan.spec, f"{name} {mark}")


def came(needs: Sequence[Need]) -> Came:
    """Return what came of the productions that are needed; raise Stuck where their run has ended before."""
    found = Came()
    if not needs:
        return found
    rows = Production.objects.filter(
        writer__name__in={one.plan.name for one in needs},
        writer__corpus__in={one.corpus for one in needs},
        dialogue__in={one.dialogue for one in needs},
        trial=0,
    )
    columns = (
        "dialogue_id",
        "condition_hash",
        "status",
        "result",
        "error",
        "run_id",
        "run__state",
        "run__error",
    )
    there = {(row["dialogue_id"], row["condition_hash"]): row for row in rows.values(*columns)}
    for need in needs:
        row = there.get(need.place)
        if row is None:
            found.missing.append(need)
        elif row["status"] == Production.Status.DONE:
            found.results[need.place] = row["result"]
        elif row["status"] == Production.Status.FAILED and row["run__state"] not in OPEN:
            found.failed[need.place] = row["error"]
        elif row["run__state"] in OPEN:
            found.running.add(row["run_id"])
        else:
            why = row["run__error"] or f"it is {row['run__state']}"
            raise Stuck(f"Run {row['run_id']} did not come to its end: {why[:300]} Try again what failed.")
    return found


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
