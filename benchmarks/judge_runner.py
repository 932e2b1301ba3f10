"""Judge runner against the plain client: calls per second at 64 connections to a 200 ms endpoint.

The plain client only sends and receives. The runner also claims calls, renders prompts, parses replies and
writes six labels, the call and their links for each call in durable transactions. The same run with four
times as many connections must be no slower. CPU is that of the runner's process, without the database's.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import _home, _slow_llm

GOAL = 0.9
TURNS = 20


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks judge_runner", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="calls of one measurement (2000)")
    parser.add_argument("--connections", type=int, default=64, help="requests at once (64)")
    parser.add_argument("--wide", type=int, default=256, help="requests at once in the wider run (256)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds the endpoint takes (0.2)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each, taken in turns (3)")
    options = parser.parse_args(list(argv))
    with _home.home(), _slow_llm.running(options.delay) as url:
        prompts = prepare(url, options.calls, options.connections)
        bare, ours, wide = [], [], []
        for number in range(options.rounds):
            bare.append(_bare(url, prompts, options.connections))
            ours.append(_ours(2 * number, options.connections))
            wide.append(_ours(2 * number + 1, options.wide))
    share = statistics.median(own[0] / other for own, other in zip(ours, bare, strict=True))
    broad = statistics.median(own[0] / other[0] for own, other in zip(wide, ours, strict=True))
    return {
        "headline": {
            "name": "share of the bare client",
            "value": round(share, 3),
            "goal": GOAL,
            "better": "higher",
        },
        "calls_a_second": [round(rate, 1) for rate, _ in ours],
        "cpu_ms_a_call": [round(cpu, 2) for _, cpu in ours],
        "bare_calls_a_second": [round(rate, 1) for rate in bare],
        f"calls_a_second_at_{options.wide}": [round(rate, 1) for rate, _ in wide],
        f"at_{options.wide}_of_those_at_{options.connections}": round(broad, 3),
        "ideal_calls_a_second": options.connections / options.delay,
        "calls": options.calls,
        "connections": options.connections,
        "delay_s": options.delay,
    }


def prepare(url: str, calls: int, connections: int) -> list[list[dict[str, str]]]:
    """Create a corpus with `calls` turns and an endpoint; return the prompts that its judge sends."""
    from annotation.models import Continuation, Corpus, Dialogue, Item, System, Turn
    from jobs.models import Endpoint
    from judges.protocols import PROTOCOLS, Case
    from judges.runs.material import load

    corpus = Corpus.objects.create(name="bench")
    system = System.objects.create(corpus=corpus, name="human")
    for number in range(-(-calls // TURNS)):
        dialogue = Dialogue.objects.create(corpus=corpus, key=f"d{number}", cluster=f"d{number}")
        made = Continuation.objects.create(dialogue=dialogue, key="self", system=system)
        size = min(TURNS, calls - number * TURNS)
        turns = Turn.objects.bulk_create(
            Turn(
                continuation=made, position=i, speaker="AB"[i % 2], text=f"This is what was said in turn {i}."
            )
            for i in range(size)
        )
        Item.objects.bulk_create(
            Item(corpus=corpus, kind="turn", continuation=made, turn=turn) for turn in turns
        )
    Endpoint.objects.create(
        name="slow", base_url=url, model="slow", concurrency=connections, timeout_s=30, allow_private=True
    )
    protocol, prompts = PROTOCOLS["cpdscore_simple"], []
    for found in load(list(Continuation.objects.values_list("pk", flat=True))).values():
        for turn in range(len(found.continuation.turns)):
            case = Case(found.dialogue, found.continuation, turn)
            prompts.append(protocol.prompt(case, "without_reference").messages())  # type: ignore[attr-defined]
    return prompts


def _bare(url: str, prompts: list[list[dict[str, str]]], connections: int) -> float:
    """Return the calls per second of the openai client alone."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async def ask_all() -> None:
        client = AsyncOpenAI(api_key="x", base_url=url, max_retries=0, http_client=DefaultAioHttpClient())
        left = iter(prompts)

        async def ask() -> None:
            for messages in left:
                await client.chat.completions.create(model="slow", messages=messages)  # type: ignore[arg-type]

        await asyncio.gather(*(ask() for _ in range(connections)))
        await client.close()

    begun = time.perf_counter()
    asyncio.run(ask_all())
    return len(prompts) / (time.perf_counter() - begun)


def _ours(number: int, connections: int) -> tuple[float, float]:
    """Return calls per second of a whole run, from first claim to last label, and CPU ms per call."""
    from annotation.models import Corpus
    from jobs.calls.queue import work_slice as work
    from jobs.models import Endpoint, Run
    from jobs.queue.worker import Heartbeat
    from judges.runs import run_actions
    from judges.runs.plans import Judge
    from judges.runs.selection import Selection

    Endpoint.objects.update(concurrency=connections)
    judge = Judge("cpdscore_simple", endpoint=Endpoint.objects.get(), parameters={"seed": number})
    run = run_actions.start(by=None, plan=judge.plan(), selection=Selection(Corpus.objects.get()))
    begun, used = time.perf_counter(), time.process_time()
    with Heartbeat("calls") as heartbeat:
        counts = work("calls", seconds=600, heartbeat=heartbeat)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    run.refresh_from_db()
    if run.state != Run.State.DONE:
        raise RuntimeError(f"the run is {run.state}: {run.error}")
    return counts.done / seconds, 1000 * cpu / counts.done
