"""CPU seconds of the metrics on MPCEval's 40 meetings and 100 chats, their growth and their memory.

Cold: from the start of the process, with nothing embedded and the model not loaded. Warm: all texts embedded.
MPCEval's published code needs 226, 225 and 234 CPU seconds for its three global commands on the same
meetings; the goal is a tenth of all three.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.records import Dialogue
from benchmarks import _metrics_memory
from benchmarks._metrics_made import Hashed, made
from benchmarks._metrics_memory import apart
from judges.metrics import Embedder, Scene, Tools, instrument_for
from judges.runs.scoring import lines, members, read

INPUTS = Path(__file__).resolve().parent.parent.parent / "shared/data/mpceval_parity/inputs"
SIX = ("pd", "hmp", "nse", "sc_gini", "gscc_dc_avg", "gscc_dc_max")
PUBLISHED = 226 + 225 + 234
SIZES = (100, 300, 1000, 3000)


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark; `--quick` skips the whole suite and measures growth up to 1,000 turns."""
    parser = argparse.ArgumentParser(prog="benchmarks metrics", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the six global metrics, growth to 1,000")
    began = time.monotonic()
    options = parser.parse_args(list(argv))
    if not INPUTS.is_dir():
        raise SystemExit(f"this benchmark reads MPCEval's inputs in {INPUTS}, which is absent")
    tools = Tools(embed=Embedder())
    six, cold = six_global(tools)
    suites = {} if options.quick else {name: suite(name, tools) for name in ("qmsum40", "deli100")}
    return {
        "headline": {
            "name": "CPU seconds of PD, HMP, NSE, SC-Gini and both GSCC, cold, on the 40 meetings",
            "value": round(cold, 2),
            "goal": PUBLISHED / 10,
            "better": "lower",
        },
        "published_cpu_seconds": PUBLISHED,
        "six_global": six,
        "suites": suites,
        "growth": growth(SIZES[:3] if options.quick else SIZES),
        "memory": {} if options.quick else memory(),
        "cpu_seconds": round(time.process_time() + _children()),
        "wall_seconds": round(time.monotonic() - began),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def six_global(tools: Tools) -> tuple[dict[str, Any], float]:
    """Return the CPU seconds of the six, embedding and the rest apart, and those since the process began."""
    meetings = list(read(INPUTS / "qmsum40_global"))
    start = time.process_time()
    tools.embed.prepare(turn.text for one in meetings for turn in one.continuations[0].turns)
    embedding = time.process_time() - start
    scored = {key: _seconds([key], meetings, tools) for key in SIX}
    cold = time.process_time()
    several = [f"gscc_dc_{form}_multi@reference" for form in ("avg", "max")]
    found = {
        "start_and_read": start,
        "embedding": embedding,
        "warm_by_metric": scored,
        "warm": sum(scored.values()),
        "several_centroids_as_published": _seconds(several, meetings, tools),
    }
    return _rounded(found), cold


def suite(name: str, tools: Tools) -> dict[str, Any]:
    """Return the CPU seconds of every local and global metric on a data set, cold and warm.

    `warm` runs all metrics of a group together, so that they share intermediate results; `by_metric` runs
    each alone.
    """
    found: dict[str, Any] = {}
    for group, path in (("global", f"{name}_global"), ("local", f"{name}_pairs_full.jsonl")):
        dialogues = list(read(INPUTS / path))
        fresh = Tools(embed=Embedder())
        fresh.embed._model = tools.embed._loaded()
        start = time.process_time()
        fitted = [instrument_for(key).fit(dialogues, fresh) for key in members(group)]
        fitting = time.process_time() - start
        start = time.process_time()
        fresh.embed.prepare(
            text
            for one in dialogues
            for instrument in fitted
            for text in instrument.texts(Scene(one, one.continuations[0]))
        )
        embedding = time.process_time() - start
        warm = _seconds(fitted, dialogues, fresh)
        found[group] = {
            "dialogues": len(dialogues),
            "texts_embedded": fresh.embed.computed,
            "embedding": embedding,
            "fitting": fitting,
            "warm": warm,
            "cold": embedding + fitting + warm,
            "by_metric": {one.metric.key: _seconds([one], dialogues, fresh) for one in fitted},
        }
    return _rounded(found)


def _children() -> float:
    """Return the CPU seconds of this process's children."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _seconds(keys: Sequence[Any], dialogues: Sequence[Dialogue], tools: Tools) -> float:
    instruments = [instrument_for(key) if isinstance(key, str) else key for key in keys]
    start = time.process_time()
    for _ in lines(dialogues, instruments, tools):
        pass
    return time.process_time() - start


def growth(sizes: Sequence[int]) -> dict[str, Any]:
    """Return, by metric, the CPU seconds for all items of a conversation of each size, and the exponent.

    The exponent is the slope between the last two sizes on a log-log scale, None below a millisecond.
    """
    found: dict[str, Any] = {}
    for key in [*members("global"), *members("local"), "sc_gini@reference", "gscc_dc_avg_multi@reference"]:
        seconds = {size: _grown(key, size) for size in sizes}
        before, last = seconds[sizes[-2]], seconds[sizes[-1]]
        steep = math.log(last / before) / math.log(sizes[-1] / sizes[-2]) if before > 0.001 else None
        found[key] = {"seconds": seconds, "exponent": steep}
    return _rounded(found)


def memory() -> dict[str, Any]:
    """Return memory per metric on a long conversation, and over many short ones, each in its own process."""
    turns, marks = str(_metrics_memory.TURNS), map(str, _metrics_memory.CONVERSATIONS)
    return {
        f"peak_of_{turns}_turns": {key: apart("long", key, turns) for key in _metrics_memory.FAMILIES},
        "many_short_conversations": apart("many", _metrics_memory.STREAMED, *marks),
    }


def _grown(key: str, size: int) -> float:
    """Return the CPU seconds of all of a metric's scores of one conversation with its texts embedded."""
    dialogue = made(size)
    tools = Tools(embed=Hashed("hashed"))
    instrument = instrument_for(key).fit([dialogue, made(100, "other")], tools)
    tools.embed.prepare(instrument.texts(Scene(dialogue, dialogue.continuations[0])))
    return _seconds([instrument], [dialogue], tools)


def _rounded(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _rounded(value) for key, value in found.items()}
    return round(found, 4) if isinstance(found, float) else found
