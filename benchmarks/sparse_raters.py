"""How often a judge that is just one more person is said to agree with people more, or less, than they do.

300 items in clusters of three, three people per item from a crowd of 3 to 60, and a judge drawn from the same
population. Marks: each person has a sensitivity and a specificity. Grades 1 to 5: each person sees a latent
quality with a severity and a noise. `differ` is how much people differ: at 0 they are alike; at 1 two thirds
of them have a sensitivity between .52 and .89 and a severity within half a standard deviation of their noise.
The rule: "more" or "less" in at most 5% of studies, whatever the crowd.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from calibration.statistics import Plan, Ratings, Result, analyse
from calibration.statistics.core.ratings import Level
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.gaps import Comparison, beyond_one_more, direction, pooled_results

ITEMS, EACH, CLUSTER = 300, 3, 3
CROWDS = (3, 5, 10, 20, 40, 60)
DIFFER = (0.0, 0.5, 1.0)
KAPPAS = {"marks": "cohen_kappa", "grades": "cohen_kappa_quadratic"}
GOAL = 0.05


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks sparse_raters", description=__doc__)
    parser.add_argument("--studies", type=int, default=400, help="simulated studies per cell (400)")
    parser.add_argument("--resamples", type=int, default=300, help="resamples per study (300)")
    parser.add_argument("--means", type=int, default=20, help="studies of means over pairs per crowd (20)")
    parser.add_argument("--seed", type=int, default=1, help="which studies are drawn (1; 0 chose the method)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="cells computed at a time")
    options = parser.parse_args(list(argv))
    started = time.perf_counter()
    plan = Plan(options.resamples)
    with ProcessPoolExecutor(options.processes) as pool:
        cells = [
            pool.submit(cell, kind, differ, people, options.studies, plan, options.seed)
            for kind in KAPPAS
            for differ in DIFFER
            for people in CROWDS
        ]
        means = [
            pool.submit(by_means, people, options.means, plan, options.seed)
            for people in CROWDS
            if options.means
        ]
        found, before = [c.result() for c in cells], [m.result() for m in means]
    wrong = sum(c["more"] + c["less"] for c in found) / len(found)
    return {
        "headline": {
            "name": "share of studies in which one more person is said to agree more or less, worst cell",
            "value": max(round(c["more"] + c["less"], 4) for c in found),
            "goal": GOAL,
            "better": "lower",
        },
        "mean_share": round(wrong, 4),
        "cells": found,
        "means_over_pairs": before,
        "studies": options.studies,
        "resamples": options.resamples,
        "seed": options.seed,
        "seconds": round(time.perf_counter() - started, 1),
    }


def study(rng: np.random.Generator, kind: str, people: int, differ: float) -> Ratings:
    """Return ratings of 300 items by three of the people each, and by a judge who is one more of them."""
    n, raters = ITEMS // CLUSTER, people + 1
    cluster = np.arange(ITEMS) // CLUSTER
    if kind == "marks":
        truth = rng.random(ITEMS) < rng.beta(1.7, 4.0, n)[cluster]
        hit, right = (_logistic(np.log(odds) + differ * rng.normal(size=raters)) for odds in (3.0, 11.5))
        block = (rng.random((ITEMS, raters)) < np.where(truth[:, None], hit, 1 - right)).astype(float)
    else:
        quality = 0.6 * rng.normal(size=n)[cluster] + rng.normal(size=ITEMS)
        severity = 0.5 * differ * rng.normal(size=raters)
        noise = 0.8 * np.exp(0.4 * differ * rng.normal(size=raters))
        seen = quality[:, None] + severity + noise * rng.normal(size=(ITEMS, raters))
        block = np.digitize(seen, [-1.2, -0.4, 0.4, 1.2]) + 1.0
    asked = rng.random((ITEMS, people)).argsort(axis=1) < EACH
    block[:, :people][~asked] = np.nan
    level: Level = "binary" if kind == "marks" else "ordinal"
    scale = (0, 1) if kind == "marks" else (1, 2, 3, 4, 5)
    kinds = ["human"] * people + ["judge"]
    return Ratings.from_matrix(block, level=level, scale=scale, clusters=cluster, kinds=kinds)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def compared(ratings: Ratings, kind: str, plan: Plan) -> tuple[Result, Result]:
    """Return the judge's gap and the margin of one more person."""
    judge = len(ratings.raters) - 1
    comparison = Comparison(ratings, ratings, tuple(range(judge)), judge, resampling_of(ratings, plan))
    found = {r.name: r for r in pooled_results(comparison, [KAPPAS[kind]])}
    return found[f"gap_{KAPPAS[kind]}"], found[f"margin_{KAPPAS[kind]}"]


def cell(kind: str, differ: float, people: int, studies: int, plan: Plan, seed: int = 0) -> dict[str, Any]:
    """Return the shares of verdicts, the mean gap and the usual margin over simulated studies."""
    verdicts, gaps, margins, excluded = [], [], [], 0
    for number in range(studies):
        rng = np.random.default_rng([number, people, round(10 * differ), seed])
        gap, margin = compared(study(rng, kind, people, differ), kind, plan)
        beyond = beyond_one_more(gap.value or 0.0, margin.value)
        verdicts.append(direction(gap.value or 0.0, gap.low, gap.high) if beyond else None)
        gaps.append(gap.value or 0.0)
        margins.append(margin.value or 0.0)
        excluded += gap.low is not None and gap.high is not None and not gap.low <= 0 <= gap.high
    return {
        "kind": kind,
        "differ": differ,
        "people": people,
        "more": round(verdicts.count("more") / studies, 4),
        "less": round(verdicts.count("less") / studies, 4),
        "interval_excludes_0": round(excluded / studies, 4),
        "mean_gap": round(float(np.mean(gaps)), 4),
        "median_margin": round(float(np.median(margins)), 3),
    }


def by_means(people: int, studies: int, plan: Plan, seed: int = 0) -> dict[str, Any]:
    """Return how often the gap of means over pairs lies above 0, for marks by people who are alike."""
    above = 0
    for number in range(studies):
        ratings = study(np.random.default_rng([number, people, 0, seed]), "marks", people, 0.0)
        found = analyse(ratings, statistics=["cohen_kappa"], plan=plan).find("gap_mean_cohen_kappa")
        above += found is not None and found.result.low is not None and found.result.low > 0
    return {"people": people, "studies": studies, "above_0": round(above / studies, 4)}
