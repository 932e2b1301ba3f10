"""Embedding throughput against plain sentence-transformers on the same texts, one thread, batch 32.

The texts are the distinct turns of the 40 meetings, or of the demo corpora where those are absent. The two
sides run in turns, so that a busy machine slows both; rates are texts per CPU second.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judges.metrics import DEFAULT_MODEL, Embedder
from judges.runs.scoring import read

PROJECT = Path(__file__).resolve().parent.parent
MEETINGS = PROJECT.parent / "shared/data/mpceval_parity/inputs/qmsum40_global"
DEMO = PROJECT / "demo/corpora/meetings.jsonl"


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark; `--texts` and `--rounds` set its size."""
    parser = argparse.ArgumentParser(prog="benchmarks embeddings", description=__doc__)
    parser.add_argument("--texts", type=int, default=1000, help="how many distinct texts (1000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side embeds them (3)")
    options = parser.parse_args(list(argv))
    found = texts(options.texts)
    embedder = Embedder()
    embedder(found[:32])
    model = embedder._loaded()
    ours, bare = rates(found, model, options.rounds)
    difference = np.abs(Embedder()(found[:100]) - model.encode(found[:100], batch_size=32)).max()
    return {
        "headline": {
            "name": "embedding rate as a share of bare sentence-transformers",
            "value": round(statistics.median(o / b for o, b in zip(ours, bare, strict=True)), 3),
            "goal": 0.95,
            "better": "higher",
        },
        "texts": len(found),
        "texts_per_cpu_second": round(statistics.median(ours), 1),
        "bare_texts_per_cpu_second": round(statistics.median(bare), 1),
        "largest_difference": float(difference),
        "model": DEFAULT_MODEL,
        "rounds": options.rounds,
    }


def texts(count: int) -> list[str]:
    """Return distinct turns, evenly spaced in the sorted texts, so that every length occurs."""
    path = MEETINGS if MEETINGS.is_dir() else DEMO
    found = sorted(
        {
            turn.text
            for dialogue in read(path)
            for continuation in dialogue.all_continuations()
            for turn in continuation.turns
            if turn.text.strip()
        }
    )
    return found[:: max(1, len(found) // count)][:count]


def rates(found: list[str], model: Any, rounds: int) -> tuple[list[float], list[float]]:
    """Return the rates of both sides per round, in texts per CPU second."""
    import torch

    torch.set_num_threads(1)
    ours, bare = [], []
    for _ in range(rounds):
        fresh = Embedder()
        fresh._model = model
        ours.append(_rate(lambda fresh=fresh: fresh(found), len(found)))
        bare.append(_rate(lambda: model.encode(found, batch_size=32, show_progress_bar=False), len(found)))
    return ours, bare


def _rate(work: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    work()
    return count / (time.process_time() - start)
