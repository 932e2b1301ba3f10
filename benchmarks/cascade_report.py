"""Cascade report of 36 scenarios, 8 trials and 5 systems: seconds from the request to its tables.

The scenarios, scripted here, have the shape of the public set (twelve families of three, twelve turns, four
people and the agent). At every point each of five systems decides as the key does with a given probability,
and otherwise as an agent that always speaks. All is imported into the benchmark's own PostgreSQL. The timed
part is the whole report: reading, the cascade at every point, the baselines, all tables with 2,000 resamples
of families, and the JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import _home

GOAL_SECONDS = 10.0
FAMILIES, VARIANTS, TRIALS = 12, 3, 8
SYSTEMS = {"careful": 0.95, "steady": 0.85, "quick": 0.7, "loud": 0.5, "lost": 0.3}
"""Systems, and the probability that each decides as the key does."""
EXCHANGES = 4
PEOPLE = (("ana", "Ana"), ("bo", "Bo"), ("cy", "Cy"), ("dee", "Dee"))
SPEAK = {"attend": 1, "speak": {"message": 1}, "addressed": ["kit"], "ground": ["answer"]}


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks cascade_report", description=__doc__)
    parser.add_argument("--families", type=int, default=FAMILIES, help="families of three scenarios (12)")
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials of each system (8)")
    parser.add_argument("--resamples", type=int, default=2000, help="resamples of families (2,000)")
    options = parser.parse_args(list(argv))
    with _home.home() as folder:
        _imported(folder, options.families, options.trials)
        found = _timed(options.resamples)
    return {
        "scenarios": options.families * VARIANTS,
        "systems": len(SYSTEMS),
        "trials": options.trials,
        **found,
        "headline": {
            "name": "seconds from asking to the report",
            "value": found["report_seconds"],
            "goal": GOAL_SECONDS,
            "better": "lower",
        },
    }


def _imported(folder: Path, families: int, trials: int) -> None:
    from annotation.corpora.import_file import import_path

    path = folder / "scenarios.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for raw in _scripts(families):
            file.write(json.dumps(raw | {"continuations": list(_played(raw, trials))}) + "\n")
    import_path(path=path, format="jsonl", corpus="Benchmark", into=False, by=None)


def _timed(resamples: int) -> dict[str, Any]:
    from annotation.models import Corpus, Item
    from suites.group_chat.cascade.renderings import as_json
    from suites.group_chat.cascade.report import compute
    from suites.group_chat.cascade.score_figures import read

    corpus = Corpus.objects.get(name="Benchmark")
    began, worked = time.perf_counter(), time.process_time()
    made = compute(query=read({"resamples": resamples}, corpus), by=None)
    written = as_json(made)
    seconds = time.perf_counter() - began
    return {
        "decisions": Item.objects.filter(kind="decision").count(),
        "tables": len(made.tables),
        "json_bytes": len(written),
        "report_seconds": round(seconds, 2),
        "processor_seconds": round(time.process_time() - worked, 2),
    }


def _scripts(families: int) -> Iterator[dict[str, Any]]:
    """Yield three scenarios per family: side talk with overheard exchanges, and calls on the agent."""
    for family in range(families):
        for variant in range(VARIANTS):
            yield _script(family, variant)


def _script(family: int, variant: int) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    probes: list[dict[str, Any]] = []
    for exchange in range(EXCHANGES):
        one, other = random.Random(f"{family}/{variant}/{exchange}").sample(PEOPLE, 2)
        first = len(turns)
        turns.append(_turn(one, f"{other[1]}, is part {exchange} done?", other[0]))
        turns.append(_turn(other, f"{one[1]}, nearly, tomorrow.", one[0]))
        turns.append(_turn(one, f"Kit, when is meeting {exchange}? {other[1]}, bring the list.", "kit"))
        silence = {"attend": 0, "speak": {"silence": 1}}
        talk = {"id": f"o{exchange}", "kind": "overheard", "trigger": first}
        probes.append({**talk, "points": [first, first + 1], "key": silence})
        asked = {"id": f"m{exchange}", "kind": "buried_mention", "trigger": first + 2, "control": True}
        probes.append({**asked, "points": [first + 2], "key": {**SPEAK, "target": [one[0]]}})
    people = [{"id": key, "name": name} for key, name in PEOPLE]
    return {
        "id": f"family{family}-{variant}",
        "cluster": f"family{family}",
        "kind": "scenario",
        "participants": [*people, {"id": "kit", "name": "Kit", "agent": True}],
        "turns": turns,
        "probes": probes,
    }


def _turn(speaker: tuple[str, str], text: str, to: str) -> dict[str, Any]:
    return {"speaker": speaker[0], "text": text, "addressees": [to]}


def _played(raw: dict[str, Any], trials: int) -> Iterator[dict[str, Any]]:
    """Yield the systems' decisions: the oracle's, or those of an agent that always speaks."""
    from annotation.formats.jsonl import dialogue
    from suites.group_chat.scenarios.agents import AGENTS, decide

    script = dialogue(raw)
    right, loud = (decide(AGENTS[key], script) for key in ("oracle", "always_speak"))
    for system, share in SYSTEMS.items():
        for trial in range(trials):
            source = random.Random(f"{system}/{script.id}/{trial}")
            chosen = [
                one if source.random() < share else other for one, other in zip(right, loud, strict=True)
            ]
            yield {
                "id": f"{system}-{trial}",
                "system": system,
                "mode": "static",
                "trial": trial,
                "condition": {"mode": "explicit"},
                "turns": list(map(_decided, chosen)),
            }


def _decided(decision: Any) -> dict[str, Any]:
    declared = {"mode": "explicit", "attend": decision.attend, "ground": decision.ground}
    return {
        "at": decision.point + 1,
        "speaker": "kit",
        "text": decision.text,
        "act": decision.act,
        "addressees": list(decision.targets or ()),
        "extra": {"decision": declared | {"addressed": list(decision.addressed or ())}},
    }
