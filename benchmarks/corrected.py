"""Coverage of corrected systems: 95% intervals of shares, means and differences, with planted truth.

Two systems continue the same dialogues, four turns each. A dialogue has an effect of its own that both
systems share; the judge errs, and is kinder to the first system. People rate whole dialogues drawn at random,
or turns drawn with probabilities by the judge's answer (all that it marked or scored low, a tenth or a fifth
of the rest). The truth is the mean of the model, over all dialogues that could have been drawn.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from calibration.statistics import Plan
from calibration.statistics.core.engine import Result
from calibration.statistics.corrected_systems import JudgedItems, corrected_systems

TURNS, WITHIN = 4, 0.3
"""Turns of a system in a dialogue, and the share of the variance that a dialogue's turns have in common."""
RATES = (0.3, 0.2)
"""Planted shares of yes, by system."""
SHIFTS = (0.3, 0.0)
"""Planted shifts of the systems' quality, in standard deviations."""
CUTS = (-1.2, -0.4, 0.4, 1.2)
"""Qualities between the scores 1 to 5."""
DIALOGUES, SHARES = (100, 400), (0.1, 0.2, 1.0)
KINDS = ("yes or no", "score")
Outcome = dict[str, tuple[float, bool | None]]
"""Error of each figure, and whether its interval held the truth; None without an interval."""


def study(seed: int, kind: str, dialogues: int, share: float, *, weighted: bool) -> JudgedItems:
    """Simulate a study of one question; the systems are 0 and 1, clusters the dialogues."""
    rng = np.random.default_rng([seed, dialogues, int(1000 * share), KINDS.index(kind), int(weighted)])
    n = dialogues * TURNS * 2
    cluster = np.repeat(np.arange(dialogues), TURNS * 2)
    system = np.tile(np.repeat([0, 1], TURNS), dialogues)
    latent = WITHIN**0.5 * rng.normal(size=dialogues)[cluster] + (1 - WITHIN) ** 0.5 * rng.normal(size=n)
    if kind == "score":
        quality = latent + np.array(SHIFTS)[system]
        truth = 1.0 + np.searchsorted(CUTS, quality)
        kinder = 0.3 + 0.3 * (system == 0)
        judge = 1.0 + np.searchsorted(CUTS, quality + kinder + 0.5 * rng.normal(size=n))
        low = judge <= 2
    else:
        truth = (latent < ndtri(np.array(RATES)[system])).astype(np.float64)
        judge = np.where(truth == 1, rng.random(n) < 0.8, rng.random(n) < 0.1).astype(np.float64)
        low = judge == 1
    if weighted:
        chance = np.where(low, 1.0, share)
        rated = rng.random(n) < chance
        weights = np.where(rated, 1 / chance, np.nan)
    else:
        rated = (rng.permutation(dialogues) < share * dialogues)[cluster]
        weights = None
    categories = (0.0, 1.0) if kind != "score" else (1.0, 2.0, 3.0, 4.0, 5.0)
    people = np.where(rated, truth, np.nan)[:, None]
    return JudgedItems(judge, people, system, cluster, categories, weights)


def planted(kind: str) -> tuple[float, float]:
    """Return the true means of both systems."""
    if kind != "score":
        return RATES
    first, second = (5.0 - float(sum(ndtr(cut - shift) for cut in CUTS)) for shift in SHIFTS)
    return first, second


def outcomes(kind: str, dialogues: int, share: float, weighted: bool, studies: range) -> dict[str, Any]:
    """Return coverage and bias of each figure in one cell."""
    truth = planted(kind)
    by_figure: dict[str, list[tuple[float, bool | None]]] = {}
    for seed in studies:
        items = study(seed, kind, dialogues, share, weighted=weighted)
        result = corrected_systems(items, Plan(resamples=200, seed=seed))
        for row in result.systems:
            names = ["judge", "prediction_powered", "people", *(["confusion"] if kind != "score" else [])]
            for name in names:
                by_figure.setdefault(name, []).append(_outcome(row.figures[name], truth[row.system]))
        (pair,) = result.pairs
        for name, figure in (("judge_difference", pair.judge), ("corrected_difference", pair.corrected)):
            by_figure.setdefault(name, []).append(_outcome(figure, truth[0] - truth[1]))
    cell = {"kind": kind, "dialogues": dialogues, "share": share, "weighted": weighted}
    return cell | {"figures": {name: _summary(values) for name, values in by_figure.items()}}


def _outcome(result: Result, truth: float) -> tuple[float, bool | None]:
    if result.value is None:
        return float("nan"), None
    has_interval = result.low is not None and result.high is not None
    return result.value - truth, (result.low <= truth <= result.high) if has_interval else None  # type: ignore[operator]


def _summary(values: Sequence[tuple[float, bool | None]]) -> dict[str, float | None]:
    covered = [holds for _, holds in values if holds is not None]
    return {
        "coverage": round(float(np.mean(covered)), 4) if covered else None,
        "without_interval": round(1 - len(covered) / len(values), 4),
        "bias": round(float(np.nanmean([error for error, _ in values])), 4),
    }


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks corrected", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies per cell (1000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="cells computed at a time")
    options = parser.parse_args(list(argv))
    started = time.perf_counter()
    studies = range(options.studies)
    designs = [
        (share, weighted) for weighted in (False, True) for share in SHARES if not weighted or share < 1
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        futures = [
            pool.submit(outcomes, kind, dialogues, share, weighted, studies)
            for kind in KINDS
            for dialogues in sorted(DIALOGUES, reverse=True)
            for share, weighted in designs
        ]
        cells = [future.result() for future in futures]
    corrected = [
        cell["figures"][name]["coverage"]
        for cell in cells
        for name in ("prediction_powered", "corrected_difference")
        if cell["dialogues"] == max(DIALOGUES)
    ]
    good = sum(0.93 <= (value or 0) <= 0.97 for value in corrected) / len(corrected)
    return {
        "headline": {
            "name": f"share of corrected figures with {max(DIALOGUES)} dialogues where coverage is 93-97%",
            "value": round(good, 3),
            "goal": 0.9,
            "better": "higher",
        },
        "cells": cells,
        "studies": options.studies,
        "seconds": round(time.perf_counter() - started, 1),
    }
