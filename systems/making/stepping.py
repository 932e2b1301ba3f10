"""One step of a benchmark: which productions it needs, what came of them, and the runs that make the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotation import records
from annotation.models import Corpus
from jobs.models import Run
from systems.making.orders import GENERATOR, Order
from systems.models import Benchmark, BenchmarkRun
from systems.producing.actions import Read, start_each
from systems.producing.needs import Need, Place, named_alone
from systems.producing.plans import Generation, Plan


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
