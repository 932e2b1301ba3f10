"""Correlations by level: coverage of intervals, false positives of tests, and computing time.

Studies are simulated (`_levels_made`): 99 systems answer 15 or 150 dialogues of seven turns. The headline is
a ratio: the time of SciPy in a loop over as many resamples and permutations, over the time of a table.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from benchmarks._levels_made import (
    NOTHING_ACROSS_SYSTEMS,
    SOMETHING_ACROSS_SYSTEMS,
    Planted,
    study,
    true_correlations,
)
from calibration.statistics import Plan
from calibration.statistics.level_correlations import COEFFICIENTS, LevelTable, Options, level_table
from calibration.statistics.level_scores import LEVELS, Scored

SYSTEMS = 99
LOOPED = 2  # resamples and permutations of each figure that the loop over SciPy does
FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}
FAST = ("pearson", "spearman")


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the selected parts; the default options give the figures in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks levels", description=__doc__)
    parser.add_argument("--tests", type=int, default=1000, help="studies of 15 dialogues for p-values (1000)")
    parser.add_argument("--small", type=int, default=400, help="studies of 15 dialogues for intervals (400)")
    parser.add_argument("--large", type=int, default=200, help="studies of 150 dialogues for intervals (200)")
    parser.add_argument("--levels", default=",".join(LEVELS), help="levels whose intervals are tried (all)")
    parser.add_argument("--resamples", type=int, default=400, help="resamples of a study (400)")
    parser.add_argument("--rows", type=int, default=20, help="rows of the table that is timed (20)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="studies at a time")
    options = parser.parse_args(list(argv))
    with ProcessPoolExecutor(options.processes, initializer=threadpool_limits, initargs=(1,)) as pool:
        intervals = [
            covered(pool, 15, options.small, options.resamples, COEFFICIENTS, options.levels.split(",")),
            covered(pool, 150, options.large, options.resamples, FAST, options.levels.split(",")),
        ]
        tests = [
            rejected(pool, "no association", NOTHING_ACROSS_SYSTEMS, options.tests),
            rejected(pool, "association", SOMETHING_ACROSS_SYSTEMS, options.tests // 5),
        ]
    speed = timed(options.rows) if options.rows else {"times_faster": None}
    return {
        "headline": {
            "name": "times faster than SciPy in a loop, for 3 levels and 3 coefficients with intervals and p",
            "value": speed["times_faster"],
            "goal": 10,
            "better": "higher",
        },
        "intervals": intervals,
        "tests": tests,
        "speed": speed,
    }


def covered(
    pool: ProcessPoolExecutor,
    dialogues: int,
    studies: int,
    resamples: int,
    wanted: Sequence[str],
    levels: Sequence[str],
) -> dict[str, Any]:
    """Return the share of intervals that contain the model's true correlation, by level and coefficient."""
    started = time.perf_counter()
    one = partial(held, dialogues=dialogues, resamples=resamples, wanted=tuple(wanted), levels=tuple(levels))
    holding: dict[tuple[str, str], list[bool]] = {}
    flags: set[str] = set()
    for found, flagged in pool.map(one, range(studies)):
        flags |= flagged
        for key, holds in found.items():
            holding.setdefault(key, []).append(holds)
    return {
        "dialogues": dialogues,
        "systems": SYSTEMS,
        "studies": studies,
        "resamples": resamples,
        "flags": sorted(flags),
        "coverage": {f"{level} {name}": round(float(np.mean(h)), 3) for (level, name), h in holding.items()},
        "seconds": round(time.perf_counter() - started, 1),
    }


def held(
    seed: int, dialogues: int, resamples: int, wanted: tuple[str, ...], levels: tuple[str, ...]
) -> tuple[dict[tuple[str, str], bool], set[str]]:
    """Return whether each interval of a study contains the truth, by level and coefficient; all flags."""
    truth = true_correlations(Planted(), dialogues)
    scored = study(seed, SYSTEMS, dialogues, Planted())
    table = level_table(
        scored, levels, coefficients=wanted, options=Options(permutations=0), plan=Plan(resamples, seed)
    )
    entries = table.rows[0].entries
    holds = {}
    for entry in entries:
        low, high = entry.result.low, entry.result.high
        key = entry.level, entry.coefficient
        holds[key] = low is not None and high is not None and low <= truth[key] <= high
    return holds, {flag for entry in entries for flag in entry.result.flags}


def rejected(pool: ProcessPoolExecutor, said: str, planted: Planted, studies: int) -> dict[str, Any]:
    """Return the share of studies of 15 dialogues in which each test's p is below 0.05."""
    started = time.perf_counter()
    counts: dict[str, int] = {}
    for found in pool.map(partial(below, planted=planted), range(studies)):
        for key, is_below in found.items():
            counts[key] = counts.get(key, 0) + is_below
    return {
        "planted": said,
        "studies": studies,
        "below_0.05": {key: round(count / studies, 3) for key, count in counts.items()},
        "seconds": round(time.perf_counter() - started, 1),
    }


def below(seed: int, planted: Planted) -> dict[str, bool]:
    """Return whether each p-value of one study is below 0.05, by test, level and coefficient."""
    scored = study(seed, SYSTEMS, 15, planted)
    found = {}
    for test in ("clustered", "item"):
        table = level_table(
            scored, LEVELS, coefficients=FAST, options=Options(p=test), plan=Plan(resamples=0, seed=seed)
        )
        for entry in table.rows[0].entries:
            found[f"{test} {entry.level} {entry.coefficient}"] = bool(entry.p is not None and entry.p < 0.05)
    return found


def timed(rows: int) -> dict[str, Any]:
    """Time a table with 2,000 resamples and permutations, and compare it with a loop over SciPy.

    A tenth of the scores is missing in every other row; correlations range from none to strong.
    """
    whole = study(0, SYSTEMS, 15, Planted(0.6, 0.3, 0.2, 0.2), rows)
    rng = np.random.default_rng(0)
    kept = []
    for at, row in enumerate(whole.rows):
        lost = rng.random(len(row.values)) < 0.1 * (at % 2)
        kept.append(replace(row, values=np.where(lost, np.nan, row.values)))
    scored = replace(whole, rows=tuple(kept))
    started, worked = time.perf_counter(), time.process_time()
    table = level_table(scored, LEVELS)
    seconds, worked = time.perf_counter() - started, time.process_time() - worked
    loop = _looped(scored, table)
    return {
        "rows": rows,
        "items": len(scored.reference.values),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(worked, 1),
        "loop_seconds": round(loop),
        "times_faster": round(loop / seconds, 1),
    }


def _looped(scored: Scored, table: LevelTable) -> float:
    """Estimate the seconds of SciPy over every row's resamples and permutations from a few of one row."""
    rng = np.random.default_rng(0)
    row = scored.rows[0]
    turns = scored.turns
    assert turns is not None
    plan, options = Plan(), table.options
    total = 0.0
    for groups in (np.arange(len(turns)), turns.units, scored.units.systems[turns.units]):
        sizes = np.bincount(groups)
        x, y = (np.bincount(groups, weights=s) / sizes for s in (scored.reference.values, row.values))
        for function in FUNCTIONS.values():
            started = time.perf_counter()
            for _ in range(LOOPED):
                drawn = rng.integers(0, len(x), len(x))
                function(x[drawn], y[drawn])
                function(x, rng.permutation(y))
            total += (time.perf_counter() - started) / LOOPED
    assert plan.resamples == options.permutations
    return total * plan.resamples * len(scored.rows)
