"""Memory of a call worker in one long run, after 2,000 calls and after 50,000.

The worker is a process of `make up`. Sizes are resident memory in MB (10^6 bytes), from /proc.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _home, _slow_llm
from benchmarks.judge_runner import prepare
from config.embedded.supervisor import Child

GOAL = 1.15
LOOK_EVERY = 0.25


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks judge_memory", description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000, help="calls of the run (50000)")
    parser.add_argument("--early", type=int, default=2000, help="calls before the first look (2000)")
    parser.add_argument("--connections", type=int, default=64, help="requests at once (64)")
    options = parser.parse_args(list(argv))
    with _home.home() as home, _slow_llm.running(0.0) as url:
        prepare(url, options.calls, options.connections)
        sizes, seconds = _run(home, options.early)
    early = next(size for done, size in sizes if done >= options.early)
    latest = sizes[-1][1]
    return {
        "headline": {
            "name": f"resident at the end, of that after {options.early:,} calls",
            "value": round(latest / early, 3),
            "goal": GOAL,
            "better": "lower",
        },
        "mb_early": early,
        "mb_at_the_end": latest,
        "mb_at_most": max(size for _, size in sizes),
        "calls_a_second": round(options.calls / seconds, 1),
        "calls": options.calls,
        "connections": options.connections,
    }


def _run(home: Path, early: int) -> tuple[list[tuple[int, float]], float]:
    """Run the judge; return (calls done, MB) over time, and the seconds of the run."""
    from annotation.models import Corpus
    from config.embedded import supervisor
    from config.embedded.layout import layout
    from jobs.models import Endpoint, Run
    from judges.runs import run_actions
    from judges.runs.plans import Judge
    from judges.runs.selection import Selection

    judge = Judge("cpdscore_simple", endpoint=Endpoint.objects.get())
    found = supervisor.worker_programs(_home.PROJECT, broker=False, run=home)
    worker = Child(next(one for one in found if one.makes_calls), layout(home), _home.PROJECT)
    started = run_actions.start(by=None, plan=judge.plan(), selection=Selection(Corpus.objects.get()))
    begun, sizes = time.perf_counter(), list[tuple[int, float]]()
    worker.start()
    try:
        while Run.objects.get(pk=started.pk).state in {Run.State.QUEUED, Run.State.RUNNING}:
            assert worker.process is not None
            done = started.calls.filter(state="done").count()
            if done >= early:
                sizes.append((done, _resident(worker.process.pid)))
            time.sleep(LOOK_EVERY)
    finally:
        worker.ask_to_stop()
        worker.stop(time.monotonic() + 10)
    run = Run.objects.get(pk=started.pk)
    if run.state != Run.State.DONE:
        raise RuntimeError(f"the run is {run.state}: {run.error}")
    return sizes, time.perf_counter() - begun


def _resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    rows = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return round(next(int(row[1]) * 1024 / 1e6 for row in rows if row[0] == "VmRSS:"), 1)
