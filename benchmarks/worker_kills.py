"""Killing the call worker of a judge's run repeatedly: requests paid twice, and the extra time of the run.

The worker is a process of `make up`, restarted as the supervisor does, killed with SIGKILL at random moments
once it sends requests. All requests whose replies are not stored are lost with it: as many as run
concurrently, and the replies of the last moments that were about to be stored.

With `--mode batch` the run uses batches of the fake model, which counts what it was paid for; there the
worker restarts at once, so that kills fall into creating, submitting and collecting batches.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _batching_llm, _home, _slow_llm
from benchmarks.judge_runner import prepare
from config.embedded.supervisor import SETTLED as SETTLED_SECONDS
from config.embedded.supervisor import Child

GOAL = 1.1
PAUSES = {"at_once": (1.0, 5.0), "batch": (0.1, 2.0)}
"""Seconds from a worker's first request to its kill."""
SETTLED = SETTLED_SECONDS + 0.5
"""A worker that ended sooner would be restarted by the supervisor only after a delay."""
LOOK_EVERY = 0.1


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks worker_kills", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="calls of a run (2000)")
    parser.add_argument("--kills", type=int, default=10, help="kills in the second run (10)")
    parser.add_argument("--connections", type=int, default=16, help="requests at once (16)")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds the endpoint takes (1.0)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    parser.add_argument(
        "--mode", choices=["at_once", "batch"], default="at_once", help="of the run (at_once)"
    )
    options = parser.parse_args(list(argv))
    chance = random.Random(options.seed)
    moments = [chance.uniform(*PAUSES[options.mode]) for _ in range(options.kills)]
    server = _batching_llm if options.mode == "batch" else _slow_llm
    with _home.home() as home, server.running(options.delay) as url:
        prepare(url, options.calls, options.connections)
        if options.mode == "batch":
            _batching_llm.declare()
        undisturbed, asked = _run(home, url, 0.0, [], server)
        seconds, total_calls = _run(home, url, 0.1, moments, server)
    repeated = total_calls - options.calls
    return {
        "headline": _headline(
            repeated, 0 if options.mode == "batch" else options.kills * options.connections
        ),
        "paid_twice": repeated,
        "paid_twice_without_kills": asked - options.calls,
        "seconds": round(seconds, 1),
        "seconds_without_kills": round(undisturbed, 1),
        "times_as_long": round(seconds / undisturbed, 2),
        **{
            name: getattr(options, name)
            for name in ("calls", "kills", "connections", "delay", "seed", "mode")
        },
    }


def _headline(repeated: int, under_way: int) -> dict[str, Any]:
    """Return the requests paid twice as a share of those in flight at the kills; with batches none may be."""
    if not under_way:
        return {"name": "requests paid twice", "value": repeated, "goal": 0, "better": "lower"}
    name = f"requests paid twice, of the {under_way} that ran at once at a kill"
    return {"name": name, "value": round(repeated / under_way, 3), "goal": GOAL, "better": "lower"}


def _run(home: Path, url: str, temperature: float, pauses: list[float], server: Any) -> tuple[float, int]:
    """Run the judge, with a kill after each pause; return the seconds and the requests paid."""
    from annotation.models import Corpus
    from config.embedded import supervisor
    from config.embedded.layout import layout
    from jobs.models import Endpoint
    from judges.runs import run_actions
    from judges.runs.plans import Judge
    from judges.runs.selection import RunSettings, Selection

    judge = Judge("cpdscore_simple", endpoint=Endpoint.objects.get(), parameters={"temperature": temperature})
    found = supervisor.worker_programs(_home.PROJECT, broker=False, run=home)
    worker = Child(next(one for one in found if one.makes_calls), layout(home), _home.PROJECT)
    before = server.paid(url)
    begun = time.perf_counter()
    how = RunSettings(mode="batch" if server is _batching_llm else None)
    whole = Selection(Corpus.objects.get())
    started = run_actions.start(by=None, plan=judge.plan(), selection=whole, settings=how)
    worker.start()
    try:
        _watch(started.pk, worker, url, pauses, server)
    finally:
        worker.ask_to_stop()
        worker.stop(time.monotonic() + 10)
    return time.perf_counter() - begun, server.paid(url) - before


def _watch(pk: int, worker: Child, url: str, pauses: list[float], server: Any) -> None:
    """Return when the run is done; raise RuntimeError if it ends otherwise or before the last kill."""
    from jobs.models import Run

    left, due, asked = list(pauses), 0.0, server.requests(url)
    while (state := Run.objects.values_list("state", flat=True).get(pk=pk)) in {"queued", "running"}:
        now = time.monotonic()
        if left and not due and server.requests(url) > asked:
            due = now + left[0] if server is _batching_llm else max(now + left[0], worker.started + SETTLED)
        if left and due and now > due and worker.process is not None:
            worker.process.kill()
            worker.process.wait()
            left.pop(0)
            due, asked = 0.0, server.requests(url)
        worker.look()
        if server is _batching_llm:
            worker.due = worker.pause = 0.0
        time.sleep(LOOK_EVERY)
    run = Run.objects.get(pk=pk)
    lost = run.calls.exclude(state="done").count()
    if state != Run.State.DONE or lost or left:
        raise RuntimeError(f"the run is {state} ({run.error}), {lost} calls not done, {len(left)} kills left")
