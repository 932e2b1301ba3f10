"""Accuracy of comparisons of two judges: simulated studies of two judges with known sensitivities.

Each study has 300 dialogues of five turns. A behaviour is more frequent in some dialogues than in others (a
beta distribution, mean 0.2, correlation 0.15 within dialogues). A person finds it with sensitivity 0.8 and
the judges with the given sensitivities; all have specificity 0.95, err independently, and each errs more in
some dialogues than in others. The truth of kappa and MCC (with the person) and of accuracy (against the key,
which knows the truth) is their value in the model itself.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from calibration.statistics import Plan, Ratings
from calibration.statistics.judges_compared import contenders_of, judges_compared, table_formula

DIALOGUES, TURNS = 300, 5
PREVALENCE, WITHIN, APART = 0.2, 0.15, 20
PERSON, SPECIFICITY = 0.8, 0.95
SENSITIVITIES = (0.85, 0.7)
STATISTICS = ("cohen_kappa", "mcc", "accuracy")
RATERS, KINDS = ("truth", "ann", "a", "b"), ("key", "human", "judge", "judge")


def study(number: int, sensitivities: tuple[float, float]) -> Ratings:
    """Return one simulated study: the truth as key, a person, two judges."""
    rng = np.random.default_rng([number, round(1000 * sensitivities[1])])
    strength = (1 - WITHIN) / WITHIN
    own = rng.beta(PREVALENCE * strength, (1 - PREVALENCE) * strength, DIALOGUES)
    truth = (rng.random((DIALOGUES, TURNS)) < own[:, None]).astype(np.float64)
    columns = [truth.ravel()]
    for sensitivity in (PERSON, *sensitivities):
        hit = rng.beta(sensitivity * APART, (1 - sensitivity) * APART, DIALOGUES)[:, None]
        right = rng.beta(SPECIFICITY * APART, (1 - SPECIFICITY) * APART, DIALOGUES)[:, None]
        chance = np.where(truth == 1, hit, 1 - right)
        columns.append((rng.random(truth.shape) < chance).astype(np.float64).ravel())
    clusters = np.arange(DIALOGUES * TURNS) // TURNS
    return Ratings.from_matrix(
        np.column_stack(columns), level="binary", scale=(0, 1), clusters=clusters, raters=RATERS, kinds=KINDS
    )


def true_value(statistic: str, sensitivity: float) -> float:
    """Return a judge's value in the model: raters are independent given the truth."""
    reference = 1.0 if statistic == "accuracy" else PERSON
    right = 1.0 if statistic == "accuracy" else SPECIFICITY
    marked = PREVALENCE * np.outer([1 - reference, reference], [1 - sensitivity, sensitivity])
    others = (1 - PREVALENCE) * np.outer([right, 1 - right], [SPECIFICITY, 1 - SPECIFICITY])
    return float(table_formula(statistic, 2)((marked + others)[None])[0])


def true_difference(statistic: str, sensitivities: tuple[float, float]) -> float:
    """Return the first judge's value less the second's, in the model."""
    first, second = (true_value(statistic, sensitivity) for sensitivity in sensitivities)
    return first - second


def tried(numbers: Sequence[int], sensitivities: tuple[float, float], draws: int) -> dict[str, list[int]]:
    """Count, per statistic, the studies whose interval contains the truth, and those with p at most 0.05."""
    found = {statistic: [0, 0] for statistic in STATISTICS}
    for number in numbers:
        ratings = study(number, sensitivities)
        pairs = judges_compared(
            ratings,
            contenders_of(ratings, None, {}),
            statistics=STATISTICS,
            plan=Plan(draws, seed=number),
            permutations=draws,
        ).pairs
        for row in pairs:
            low, high = row.difference.low, row.difference.high
            truth = true_difference(row.statistic, sensitivities)
            if low is not None and high is not None:
                found[row.statistic][0] += low <= truth <= high
            found[row.statistic][1] += row.p.value is not None and row.p.value <= 0.05
    return found


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks judges_compared", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies (1000)")
    parser.add_argument("--draws", type=int, default=1000, help="resamples and permutations a study (1000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="studies computed at a time")
    options = parser.parse_args(list(argv))
    started = time.perf_counter()
    equal = (SENSITIVITIES[1], SENSITIVITIES[1])
    parts = [range(n, options.studies, options.processes) for n in range(options.processes)]
    with ProcessPoolExecutor(options.processes) as pool:
        found = {
            name: [pool.submit(tried, part, judges, options.draws) for part in parts]
            for name, judges in (("different", SENSITIVITIES), ("equal", equal))
        }
        totals = {
            name: {s: np.sum([part.result()[s] for part in futures], axis=0) for s in STATISTICS}
            for name, futures in found.items()
        }
    rows = [
        {
            "statistic": statistic,
            "true_difference": round(true_difference(statistic, SENSITIVITIES), 4),
            "coverage": float(totals["different"][statistic][0] / options.studies),
            "found_different": float(totals["different"][statistic][1] / options.studies),
            "equal_coverage": float(totals["equal"][statistic][0] / options.studies),
            "equal_found_different": float(totals["equal"][statistic][1] / options.studies),
        }
        for statistic in STATISTICS
    ]
    return {
        "headline": {
            "name": "least coverage of the interval of a difference between two judges",
            "value": round(float(min(totals["different"][s][0] for s in STATISTICS)) / options.studies, 3),
            "goal": 0.93,
            "better": "higher",
        },
        "rows": rows,
        "studies": options.studies,
        "draws": options.draws,
        "seconds": round(time.perf_counter() - started, 1),
    }
