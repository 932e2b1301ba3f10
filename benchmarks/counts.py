"""Behaviour counts by system: how often intervals, corrected and uncorrected, contain the truth.

Simulated corpora shaped like CoCoEval's: six sources of 50 dialogues, each continued by seven systems (people
are the first) in 30 turns. Behaviours have planted rates per continuation; a dialogue's own rate of a
behaviour varies between dialogues and is shared by the systems that continue it. A judge finds a share of the
marked turns and marks some of the others. People rate a random sample of each system's continuations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration.statistics import Plan, Result
from calibration.statistics.counts import Counted, Rated, Table, columns_of, counts_of, rated_of, table

SOURCES, DIALOGUES, SYSTEMS, TURNS = 6, 50, 7, 30
SENSITIVITY, SPECIFICITY = 0.8, 0.97
RATES = ((2.0, 1.0), (0.2, 1.0), (6.0, 1.0), (0.5, 0.2), (1.0, 3.0), (3.0, 0.5), (4.0, 2.0))
"""Planted turns per continuation: one row per system, people first, one number per behaviour."""
SPREAD = 4.0
"""Shape of the gamma distribution of a dialogue's own rate: the smaller, the more dialogues differ."""
Errors = list[tuple[float, bool | None]]
"""Errors of one kind in a study, each with whether its interval contained the truth; None without an
interval.
"""


@dataclass(frozen=True)
class Study:
    """Simulated study: the judge's counts, each continuation's row, people's ratings and planted rates."""

    counted: Counted
    rows: np.ndarray
    rated: Rated
    rates: np.ndarray


def study(
    seed: int,
    *,
    rates: Sequence[Sequence[float]] = RATES,
    sources: int = SOURCES,
    dialogues: int = DIALOGUES,
    sensitivity: float = SENSITIVITY,
    specificity: float = SPECIFICITY,
    rated: int = 60,
) -> Study:
    """Return a study whose planted ``rates`` are turns per continuation (systems x behaviours).

    People rate ``rated`` continuations of each system, drawn at random within sources.
    """
    rng = np.random.default_rng([seed, 41])
    planted = np.asarray(rates, np.float64)
    systems, behaviours = planted.shape
    n = sources * dialogues * systems
    dialogue, system = (
        np.repeat(np.arange(sources * dialogues), systems),
        np.tile(np.arange(systems), sources * dialogues),
    )
    own = rng.gamma(SPREAD, 1 / SPREAD, (sources * dialogues, behaviours))
    chance = np.minimum(planted[system] * own[dialogue] / TURNS, 1.0)
    truth = rng.random((n, TURNS, behaviours)) < chance[:, None, :]
    seen = rng.random(truth.shape) < np.where(truth, sensitivity, 1 - specificity)
    keys = [f"b{number}" for number in range(behaviours)]
    columns = columns_of(dict.fromkeys(keys, "all"))
    continuation = np.repeat(np.arange(n), TURNS)
    judge = seen.reshape(-1, behaviours).astype(np.float64)
    people = np.where(
        _sampled(rng, dialogue // dialogues, system, rated)[continuation][:, None],
        truth.reshape(-1, behaviours),
        np.nan,
    )
    values, lowest, highest = counts_of([judge], continuation, n, columns)
    counted = Counted(
        columns,
        dialogue.astype(str),
        dialogue.astype(str),
        (dialogue // dialogues).astype(str),
        np.full(n, float(TURNS)),
        values,
        lowest,
        highest,
    )
    return Study(counted, system, rated_of([judge], [people], continuation, n, columns), planted)


def _sampled(rng: np.random.Generator, source: np.ndarray, system: np.ndarray, rated: int) -> np.ndarray:
    """Sample the continuations that people rate: the same number per system and source."""
    chosen = np.zeros(len(source), dtype=bool)
    each = rated // len(np.unique(source))
    for one in np.unique(source):
        for other in np.unique(system):
            of = np.flatnonzero((source == one) & (system == other))
            chosen[rng.choice(of, size=each, replace=False)] = True
    return chosen


def seen_rate(rate: float | np.ndarray, sensitivity: float, specificity: float) -> float | np.ndarray:
    """Return the expected number of turns that a judge marks, given the turns that show the behaviour."""
    return rate * sensitivity + (TURNS - rate) * (1 - specificity)


def figures(made: Table, one: Study) -> dict[str, Errors]:
    """Return errors and whether intervals contained the truth, by estimate.

    A rate is capped where every turn would show the behaviour, which hardly ever happens at these rates.
    """
    found: dict[str, Errors] = {
        "cell": [],
        "prediction_powered": [],
        "difference": [],
    }
    for row in made.rows:
        for at in range(one.rates.shape[1]):
            cell, rate = row.cells[at], float(one.rates[row.code, at])
            seen = float(seen_rate(rate, SENSITIVITY, SPECIFICITY))
            found["cell"].append(_error(cell.result, seen))
            if cell.corrected is not None:
                found["prediction_powered"].append(_error(cell.corrected, rate))
            if cell.difference is not None:
                theirs = float(seen_rate(one.rates[0, at], SENSITIVITY, SPECIFICITY))
                found["difference"].append(_error(cell.difference.result, seen - theirs))
    return found


def _error(result: Result, truth: float) -> tuple[float, bool | None]:
    if result.value is None:
        return float("nan"), None
    held = None if result.low is None or result.high is None else result.low <= truth <= result.high
    return result.value - truth, held


def simulated(studies: range, plan: Plan, **shape: Any) -> dict[str, list[Errors]]:
    """Return figures of many studies, corrected by both estimators: by name, a list with one per study."""
    found: dict[str, list[Errors]] = {}
    for seed in studies:
        one = study(seed, **shape)
        own = Plan(plan.resamples, seed)
        for name, kept in figures(
            table(one.counted, one.rows, human=0, rated=one.rated, plan=own), one
        ).items():
            found.setdefault(name, []).append(kept)
        other = table(one.counted, one.rows, rated=one.rated, plan=own, correction="rogan_gladen")
        found.setdefault("rogan_gladen", []).append(figures(other, one)["prediction_powered"])
    return found


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks counts", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies (1000)")
    parser.add_argument("--resamples", type=int, default=1000, help="resamples per study (1000)")
    parser.add_argument("--rated", type=int, default=60, help="continuations a system that people rate (60)")
    options = parser.parse_args(list(argv))
    started = time.perf_counter()
    found = simulated(range(options.studies), Plan(options.resamples), rated=options.rated)
    rows = {name: _summary(kept) for name, kept in found.items()}
    return {
        "headline": {
            "name": "coverage of the cells' 95% intervals",
            "value": rows["cell"]["coverage"],
            "goal": 0.93,
            "better": "higher",
        },
        "estimates": rows,
        "studies": options.studies,
        "resamples": options.resamples,
        "rated": options.rated,
        "seconds": round(time.perf_counter() - started, 1),
    }


def bias(kept: list[Errors]) -> tuple[float, float]:
    """Return the mean error and its standard error over studies; errors within a study are correlated."""
    means = np.array([np.nanmean([error for error, _ in one]) for one in kept])
    return float(means.mean()), float(means.std(ddof=1) / len(means) ** 0.5)


def coverage(kept: list[Errors]) -> float:
    """Return the share of available intervals that contain the truth."""
    return float(np.mean([held for one in kept for _, held in one if held is not None]))


def _summary(kept: list[Errors]) -> dict[str, Any]:
    error, spread = bias(kept)
    held = [one is not None for several in kept for _, one in several]
    return {
        "coverage": round(coverage(kept), 4),
        "bias": round(error, 5),
        "standard_error_of_bias": round(spread, 5),
        "without_interval": round(1 - float(np.mean(held)), 4),
        "estimates": len(held),
    }
