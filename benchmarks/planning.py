"""Planned interval widths from pilots of few dialogues, and how often their range holds the true width.

Two people mark eight turns of each dialogue; the frequency of a behaviour varies by dialogue (beta 1.2, 2.8),
and in three dialogues of ten the second person errs far more often. The true width of the interval of kappa
with 200 dialogues is that of 4,000 studies of 200 dialogues drawn afresh.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibration.statistics import Plan, Ratings
from calibration.statistics.core.ratings import Floats
from calibration.statistics.planning import ROUGH_PILOT, clusters_for_width, planned

PILOTS = (5, 8, 12, 20, 40, 80)
STUDY, TURNS = 200, 8
GOAL = 0.8


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks planning", description=__doc__)
    parser.add_argument("--plans", type=int, default=100, help="pilots of each size (100)")
    parser.add_argument("--resamples", type=int, default=300, help="studies of each size per plan (300)")
    parser.add_argument("--studies", type=int, default=4000, help="studies that give the true width (4000)")
    options = parser.parse_args(list(argv))
    truth = true_width(options.studies)
    rows = [cell(n, truth, options.plans, Plan(options.resamples)) for n in PILOTS]
    worst = min(row["held"] for row in rows if row["pilot"] >= ROUGH_PILOT)
    return {
        "true_width": round(truth, 4),
        "rows": rows,
        "headline": {
            "name": "least share of plans from 20 dialogues or more whose 90% range holds the true width",
            "value": worst,
            "goal": GOAL,
            "better": "higher",
        },
    }


def marks(rng: np.random.Generator, dialogues: int) -> Floats:
    """Return the marks of two people (dialogues x turns x 2)."""
    truth = rng.random((dialogues, TURNS)) < rng.beta(1.2, 2.8, (dialogues, 1))
    careless = np.where(rng.random((dialogues, 1)) < 0.3, 0.35, 0.08)
    first = truth ^ (rng.random(truth.shape) < 0.1)
    second = truth ^ (rng.random(truth.shape) < careless)
    return np.stack([first, second], axis=2).astype(np.float64)


def true_width(studies: int) -> float:
    """Return the width that holds 95% of kappas of fresh studies."""
    rng = np.random.default_rng(0)
    kappas = [_kappa(marks(rng, STUDY)) for _ in range(studies)]
    low, high = np.quantile(kappas, [0.025, 0.975])
    return float(high - low)


def _kappa(pairs: Floats) -> float:
    a, b = pairs[..., 0].ravel(), pairs[..., 1].ravel()
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return float(((a == b).mean() - chance) / (1 - chance))


def cell(pilot: int, truth: float, plans: int, plan: Plan) -> dict[str, Any]:
    """Return how often the range planned from pilots of one size holds the true width, and its errors."""
    widths, held, refused = [], [], 0
    for number in range(plans):
        pairs = marks(np.random.default_rng([pilot, number]), pilot).reshape(-1, 2)
        ratings = Ratings.from_matrix(pairs, level="binary", clusters=np.repeat(np.arange(pilot), TURNS))
        try:
            found = clusters_for_width(planned(ratings, "cohen_kappa"), truth, grid=(STUDY,), plan=plan)
        except ValueError:
            refused += 1
            continue
        row = next(w for w in found.widths if w.n_clusters == STUDY)
        if row.width is None or row.low is None:
            refused += 1
            continue
        widths.append(row.width / truth)
        held.append(row.low <= truth <= (np.inf if row.high is None else row.high))
    return {
        "pilot": pilot,
        "plans": len(held),
        "refused": refused,
        "held": round(float(np.mean(held)), 3),
        "mean": round(float(np.mean(widths)), 3),
        "sd": round(float(np.std(widths)), 3),
    }
