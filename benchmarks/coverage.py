"""Coverage of the 95% intervals, with simulated raters and dialogue effects.

A behaviour has a mean prevalence; each dialogue has its own, from a beta distribution with a correlation of
.15 within dialogues. Raters see a turn's truth and err with a rate that also varies by dialogue. The truth of
each statistic is its value in the model itself. Ordered ratings come from a latent quality with a dialogue
effect, cut at fixed points.

Drawn labels: people answer all items that the judge flagged and a share of the rest, drawn at random; each
item counts by 1 / its probability. Joint draws: two campaigns draw so, each by its own judge, and an item
counts by 1 / the probability that either draws it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.campaigns import allocation
from calibration.statistics import STATISTICS, Plan, Ratings, Result
from calibration.statistics.core.engine import Estimate, estimates, result_of
from calibration.statistics.core.resampling import bounds_of, resampling_of
from calibration.statistics.core.samples import Draw, Sample, averaged_weights
from calibration.statistics.describe import average
from calibration.statistics.pairwise import disagreement_weights, kappa_of, mcc_of
from calibration.statistics.prevalence import Labelled, prediction_powered, rogan_gladen_estimated

PREVALENCES = (0.02, 0.05, 0.1, 0.2, 0.5)
DIALOGUES = (30, 50, 150, 500)
TURNS = 20
WITHIN = 0.15
SENSITIVITY, SPECIFICITY = 0.75, 0.95
BINARY_PAIR = ("percent_agreement", "cohen_kappa", "scott_pi", "mcc", "precision", "recall", "f1", "pabak")
BINARY_PANEL = ("krippendorff_alpha", "gwet_ac1", "fleiss_kappa", "brennan_prediger")
ORDINAL_PAIR = ("cohen_kappa_linear", "cohen_kappa_quadratic", "spearman", "kendall_tau_b", "pearson")
FAMILIES = ("binary", "ordered", "prevalence", "people", "equal", "rare", "drawn", "joint")
PEOPLE, PEOPLE_PREVALENCE, PEOPLE_TURNS, PEOPLE_DIALOGUES = (1, 3), 0.02, (5, 20), (20, 50, 150)
PEOPLE_MARK = (0.8, 0.004)
"""Probability that one of several people marks an item with the behaviour, and an item without."""
RARE_PREVALENCES, RARE_TURNS, RARE_DIALOGUES = (0.01, 0.02, 0.05, 0.1, 0.2), (1, 5, 20), (20, 50, 150, 400)
RARE_PAIR, RARE_PANEL = ("cohen_kappa", "mcc", "precision", "recall", "f1"), ("krippendorff_alpha",)
DRAWN_SHARES, DRAWN_PREVALENCES, DRAWN_DIALOGUES = (0.05, 0.2, 1.0), (0.05, 0.1, 0.2), (200, 600)
JOINT_SHARES, JOINT_PREVALENCES, JOINT_DIALOGUES = ((0.05, 0.1), (0.2, 0.4), (0.1, None)), (0.1,), (200, 600)
"""Shares of the rest that two campaigns draw; None: as many as the first, allocated by its answers."""
DRAWN_FIGURES = ("prevalence", "cohen_kappa", "mcc")
TRUTHS: dict[float | None, dict[str, float]] = {}
ORDINAL_PANEL = ("krippendorff_alpha", "gwet_ac2_quadratic", "icc_1_1", "icc_2_1", "icc_3_1")


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies per cell (1000)")
    parser.add_argument("--resamples", type=int, default=1000, help="resamples per study (1000)")
    parser.add_argument("--interval", choices=("percentile", "bca"), default="percentile")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="cells computed at a time")
    parser.add_argument("--first", type=int, default=0, help="number of the first study: others are fresh")
    parser.add_argument(
        "--only", default="", help="prevalence:dialogues of the cells to simulate, as in 0.02:150,0.5:500"
    )
    parser.add_argument("--families", default=",".join(FAMILIES), help=f"of {', '.join(FAMILIES)}")
    options = parser.parse_args(list(argv))
    started = time.perf_counter()
    studies = range(options.first, options.first + options.studies)
    own = (studies, Plan(options.resamples, interval=options.interval))
    wanted = [tuple(map(float, cell.split(":"))) for cell in options.only.split(",") if cell]
    sizes = sorted(DIALOGUES, reverse=True)  # longest first, so that no process ends alone
    families = options.families.split(",")
    rates = [(p, n) for n in sizes for p in PREVALENCES if not wanted or (p, n) in wanted]
    with ProcessPoolExecutor(options.processes) as pool:
        parts: list[Future[list[Cell]]] = [
            *(pool.submit(binary_cells, p, n, *own) for p, n in rates if "binary" in families),
            *(pool.submit(ordinal_cells, n, *own) for n in sizes if "ordered" in families and not wanted),
            *(pool.submit(prevalence_cells, p, n, *own) for p, n in rates if "prevalence" in families),
        ]
        shares = [
            pool.submit(prevalence_cells, PEOPLE_PREVALENCE, n, *own, turns=turns, people=people)
            for n in sorted(PEOPLE_DIALOGUES, reverse=True)
            for turns in PEOPLE_TURNS
            for people in PEOPLE
            if "people" in families and not wanted
        ]
        rare = [
            pool.submit(rare_cells, p, turns, n, *own)
            for n in sorted(RARE_DIALOGUES, reverse=True)
            for turns in RARE_TURNS
            for p in RARE_PREVALENCES
            if "rare" in families and (not wanted or (p, n) in wanted)
        ]
        of_draws = [
            pool.submit(drawn_cells, p, share, n, *own)
            for n in sorted(DRAWN_DIALOGUES, reverse=True)
            for p in DRAWN_PREVALENCES
            for share in DRAWN_SHARES
            if "drawn" in families and (not wanted or (p, n) in wanted)
        ]
        of_joint_draws = [
            pool.submit(joint_cells, p, share, n, *own)
            for n in sorted(JOINT_DIALOGUES, reverse=True)
            for p in JOINT_PREVALENCES
            for share in JOINT_SHARES
            if "joint" in families and (not wanted or (p, n) in wanted)
        ]
        equal = [pool.submit(equal_judges, 0.2, n, *own) for n in DIALOGUES if "equal" in families]
        cells = [cell for part in parts for cell in part.result()]
        called = [part.result() for part in equal]
    reached = [c for c in cells if c.n_dialogues >= 150 and c.expected_positives >= 30]
    good = _share(sum(0.93 <= (c.coverage or 0) <= 0.97 for c in reached), len(reached))
    return {
        "headline": {
            "name": "share of cells with 150 dialogues and 30 expected positives where coverage is 93-97%",
            "value": good if good is None else round(good, 3),
            "goal": 0.9,
            "better": "higher",
        },
        "cells": [c.as_dict() for c in cells],
        "people": [c.as_dict() for part in shares for c in part.result()],
        "rare": [c.as_dict() for part in rare for c in part.result()],
        "drawn": [cell for part in of_draws for cell in part.result()],
        "joint": [cell for part in of_joint_draws for cell in part.result()],
        "equal_judges_called_different": called,
        "studies": options.studies,
        "first": options.first,
        "resamples": options.resamples,
        "seconds": round(time.perf_counter() - started, 1),
    }


@dataclass(frozen=True)
class Cell:
    """Coverage of one statistic in one cell."""

    statistic: str
    prevalence: float | None
    n_dialogues: int
    coverage: float | None
    without_interval: float
    undefined: float
    bias: float
    expected_positives: float
    turns: int = TURNS
    people: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, rounded."""
        return {k: round(v, 4) if isinstance(v, float) else v for k, v in self.__dict__.items()}


def behaviour(rng: np.random.Generator, prevalence: float, dialogues: int, turns: int = TURNS) -> np.ndarray:
    """Return truth (dialogues x turns) with beta-distributed prevalence per dialogue."""
    strength = (1 - WITHIN) / WITHIN
    own = rng.beta(prevalence * strength, (1 - prevalence) * strength, dialogues)
    return (rng.random((dialogues, turns)) < own[:, None]).astype(float)


def rated(rng: np.random.Generator, truth: np.ndarray, raters: int) -> np.ndarray:
    """Return marks (items x raters); sensitivity and specificity vary by dialogue and rater."""
    out = []
    for _ in range(raters):
        hit = rng.beta(SENSITIVITY * 20, (1 - SENSITIVITY) * 20, len(truth))[:, None]
        right = rng.beta(SPECIFICITY * 20, (1 - SPECIFICITY) * 20, len(truth))[:, None]
        chance = np.where(truth == 1, hit, 1 - right)
        out.append((rng.random(truth.shape) < chance).astype(float).ravel())
    return np.column_stack(out)


def graded(rng: np.random.Generator, dialogues: int, raters: int = 3) -> np.ndarray:
    """Return grades 1 to 5 (items x raters) of a latent quality with a dialogue effect."""
    quality = (rng.normal(size=(dialogues, 1)) * 0.6 + rng.normal(size=(dialogues, TURNS))).ravel()
    severity = np.array([-0.3, 0.0, 0.3])[:raters]
    seen = quality[:, None] + rng.normal(scale=0.8, size=(len(quality), raters)) + severity
    return np.digitize(seen, [-1.2, -0.4, 0.4, 1.2]) + 1.0


def ratings_of(block: np.ndarray, level: str, turns: int = TURNS) -> Ratings:
    """Return ratings with the dialogues as clusters."""
    scale = (0, 1) if level == "binary" else (1, 2, 3, 4, 5)
    return Ratings.from_matrix(block, level=level, scale=scale, clusters=np.arange(len(block)) // turns)


def evaluated(
    ratings: Ratings, pair: Sequence[str], panel: Sequence[str], plan: Plan
) -> dict[str, tuple[Estimate, Any]]:
    """Return estimates and results of pair and panel statistics."""
    resampling = resampling_of(ratings, plan)
    out = {}
    for keys, columns in ((pair, (0, 1)), (panel, tuple(range(len(ratings.raters))))):
        sample = Sample(ratings, columns, resampling)
        for estimate in estimates(sample, [STATISTICS[k] for k in keys], resampling):
            out[estimate.statistic.key] = (estimate, result_of(estimate, sample, plan))
    return out


def binary_cells(prevalence: float, dialogues: int, studies: range, plan: Plan) -> list[Cell]:
    """Return the coverage of the binary statistics at a prevalence and number of dialogues."""

    def draw(rng: np.random.Generator, n: int) -> Ratings:
        return ratings_of(rated(rng, behaviour(rng, prevalence, n), 3), "binary")

    return covered(draw, BINARY_PAIR, BINARY_PANEL, prevalence, dialogues, studies, plan)


def rare_cells(prevalence: float, turns: int, dialogues: int, studies: range, plan: Plan) -> list[Cell]:
    """Return the coverage for rare answers in short dialogues: two raters, `turns` turns per dialogue."""

    def draw(rng: np.random.Generator, n: int) -> Ratings:
        return ratings_of(rated(rng, behaviour(rng, prevalence, n, turns), 2), "binary", turns)

    cells = covered(draw, RARE_PAIR, RARE_PANEL, prevalence, dialogues, studies, plan)
    return [replace(cell, turns=turns, expected_positives=prevalence * dialogues * turns) for cell in cells]


def drawn_ratings(rng: np.random.Generator, prevalence: float, share: float, dialogues: int) -> Ratings:
    """Return a person who marks the truth of the drawn items, and a judge who marked all, with weights.

    All items that the judge flagged are drawn, and a simple random sample of `share` of the others.
    """
    truth = behaviour(rng, prevalence, dialogues)
    judge = rated(rng, truth, 1)[:, 0]
    rest = np.flatnonzero(judge == 0)
    n = round(len(rest) * share)
    weights = np.where(judge == 1, 1.0, np.nan)
    weights[rng.choice(rest, n, replace=False)] = len(rest) / n
    person = np.where(np.isnan(weights), np.nan, truth.ravel())
    return replace(ratings_of(np.column_stack([person, judge]), "binary"), weights=weights)


def drawn_cells(
    prevalence: float, share: float, dialogues: int, studies: range, plan: Plan
) -> list[dict[str, Any]]:
    """Return the coverage of weighted figures of people's labels, and the bias of the plain ones."""
    truths = drawn_truths(prevalence)
    outcomes: dict[str, list[tuple[float, float, bool | None]]] = {key: [] for key in DRAWN_FIGURES}
    missed = []
    for study in studies:
        rng = np.random.default_rng([study, dialogues, 11])
        ratings = drawn_ratings(rng, prevalence, share, dialogues)
        own = Plan(plan.resamples, study, interval=plan.interval)
        plain = drawn_results(replace(ratings, weights=None), Plan(resamples=0))
        missed.append(int(((ratings.values[:, 0] == 1) & (ratings.values[:, 1] == 0)).sum()))
        for key, result in drawn_results(ratings, own).items():
            covers = None if result.low is None else result.low <= truths[key] <= (result.high or 0.0)
            outcomes[key].append(((result.value or 0.0) - truths[key], plain[key].value or 0.0, covers))
    return [
        {
            "statistic": key,
            "prevalence": prevalence,
            "share": share,
            "n_dialogues": dialogues,
            "truth": round(truths[key], 4),
            "coverage": round(
                _share(sum(c is True for *_, c in rows), sum(c is not None for *_, c in rows)) or 0, 4
            ),
            "without_interval": round(sum(c is None for *_, c in rows) / len(rows), 4),
            "bias": round(float(np.mean([off for off, *_ in rows])), 4),
            "plain_mean": round(float(np.mean([value for _, value, _ in rows])), 4),
            "missed_items_drawn": round(float(np.mean(missed)), 1),
        }
        for key, rows in outcomes.items()
    ]


def joint_ratings(
    study: int, prevalence: float, shares: tuple[float, float | None], dialogues: int
) -> tuple[Ratings, np.ndarray]:
    """Return a person's and a judge's answers weighted by the union of two draws, and the averaged weights.

    The first campaign draws all items that one judge flagged and a share of the rest, the second by another
    judge: a share of the rest again, or as many items as the first in Neyman's allocation, for which the
    standard deviations are those of the first campaign's answers.
    """
    rng = np.random.default_rng([study, dialogues, 13])
    truth = behaviour(rng, prevalence, dialogues)
    judges = rated(rng, truth, 2)
    keys = {item: f"{study}/{item}" for item in range(len(judges))}
    weights: list[dict[int, float]] = []
    draws: list[tuple[int, allocation.Inclusion]] = []
    for seed, (share, judge) in enumerate(zip(shares, judges.T, strict=True)):
        strata = {
            name: {item: keys[item] for item in np.flatnonzero(judge == flag).tolist()}
            for name, flag in (("flagged", 1), ("rest", 0))
        }
        of_strata = [{"rule": "flagged"}, {"rule": "rest"}]
        how: dict[str, Any] = {"total": len(weights[0]) if weights else None, "allocation": allocation.NEYMAN}
        if share is not None:
            of_strata, how = [{"rule": "flagged", "share": 1}, {"rule": "rest", "share": share}], {}
        queue = allocation.parse({"judges": ["judge"], "question": "tag", "strata": of_strata} | how)
        pilot = [
            ("flagged" if judge[item] else "rest", [[judge[item]]], [truth.ravel()[item]])
            for item in (weights[0] if weights else ())
        ]
        sizes = allocation.sizes(
            queue,
            {name: len(items) for name, items in strata.items()},
            lambda queue=queue, pilot=pilot: allocation.deviations(queue, pilot, "binary"),
        )
        probability = {size.name: size.probability for size in sizes}
        draws.append((seed, {i: (probability[name], name) for name, own in strata.items() for i in own}))
        sampled = [(s.name, i) for s in sizes for i in allocation.draw(strata[s.name], s.sample, seed)]
        weights.append({item: 1 / probability[name] for name, item in sampled})
    joint = allocation.joint_probabilities(draws)
    assert joint is not None
    average, union = averaged_weights(weights), np.full(len(judges), np.nan)
    both = np.array(sorted(average))
    union[both] = [1 / joint[item] for item in both.tolist()]
    person = np.where(np.isnan(union), np.nan, truth.ravel())
    ratings = ratings_of(np.column_stack([person, judges[:, 0]]), "binary")
    averages = np.array([average.get(item, np.nan) for item in range(len(judges))])
    return replace(ratings, weights=union), averages


def joint_cells(
    prevalence: float, shares: tuple[float, float | None], dialogues: int, studies: range, plan: Plan
) -> list[dict[str, Any]]:
    """Return the coverage of figures weighted by the union of two draws, and their gain over averages.

    `spread` is the standard deviation of a figure over the studies, and `spread_averaged` that of the same
    labels with the campaigns averaged.
    """
    truths = drawn_truths(prevalence)
    errors: dict[str, list[tuple[float, float, bool | None]]] = {key: [] for key in DRAWN_FIGURES}
    for study in studies:
        ratings, averages = joint_ratings(study, prevalence, shares, dialogues)
        averaged = drawn_results(replace(ratings, weights=averages), Plan(resamples=0))
        own = Plan(plan.resamples, study, interval=plan.interval)
        for key, result in drawn_results(ratings, own).items():
            covers = None if result.low is None else result.low <= truths[key] <= (result.high or 0.0)
            errors[key].append(
                ((result.value or 0.0) - truths[key], (averaged[key].value or 0.0) - truths[key], covers)
            )
    return [
        {
            "statistic": key,
            "prevalence": prevalence,
            "shares": shares,
            "n_dialogues": dialogues,
            "truth": round(truths[key], 4),
            "coverage": round(
                _share(sum(c is True for *_, c in rows), sum(c is not None for *_, c in rows)) or 0, 4
            ),
            "bias": round(float(np.mean([off for off, *_ in rows])), 4),
            "bias_error": round(float(np.std([off for off, *_ in rows]) / len(rows) ** 0.5), 4),
            "spread": round(float(np.std([off for off, *_ in rows])), 4),
            "spread_averaged": round(float(np.std([off for _, off, _ in rows])), 4),
        }
        for key, rows in errors.items()
    ]


def drawn_truths(prevalence: float) -> dict[str, float]:
    """Return the model's own values of the figures of drawn labels."""
    yes, no = np.array([1 - SENSITIVITY, SENSITIVITY]), np.array([SPECIFICITY, 1 - SPECIFICITY])
    table = np.array([(1 - prevalence) * no, prevalence * yes])[None]
    return {
        "prevalence": prevalence,
        "cohen_kappa": float(kappa_of(table, disagreement_weights(2, "unweighted"))[0]),
        "mcc": float(mcc_of(table)[0]),
    }


def drawn_results(ratings: Ratings, plan: Plan) -> dict[str, Result]:
    """Return people's share, and the agreement of the judge with the person."""
    resampling = resampling_of(ratings, plan)
    sample = Sample(ratings, (0, 1), resampling)
    computed = estimates(sample, [STATISTICS["cohen_kappa"], STATISTICS["mcc"]], resampling)
    results = {e.statistic.key: result_of(e, sample, plan) for e in computed}
    return {"prevalence": average(ratings.values, 0, resampling, ratings.weights), **results}


def ordinal_cells(dialogues: int, studies: range, plan: Plan) -> list[Cell]:
    """Return the coverage of the statistics of ordered ratings."""

    def draw(rng: np.random.Generator, n: int) -> Ratings:
        return ratings_of(graded(rng, n), "ordinal")

    return covered(draw, ORDINAL_PAIR, ORDINAL_PANEL, None, dialogues, studies, plan)


def covered(
    draw: Callable[[np.random.Generator, int], Ratings],
    pair: Sequence[str],
    panel: Sequence[str],
    prevalence: float | None,
    dialogues: int,
    studies: range,
    plan: Plan,
) -> list[Cell]:
    """Return one cell per statistic from simulated studies."""
    truths = TRUTHS.setdefault(prevalence, {})
    if not {*pair, *panel} <= set(truths):
        truths |= true_values(draw, pair, panel, prevalence)
    truths = {key: truths[key] for key in (*pair, *panel)}
    counts = {key: np.zeros(3) for key in truths}
    errors: dict[str, list[float]] = {key: [] for key in truths}
    for study in studies:
        rng = np.random.default_rng([study, dialogues])
        own = Plan(plan.resamples, study, interval=plan.interval)
        for key, (estimate, result) in evaluated(draw(rng, dialogues), pair, panel, own).items():
            truth = truths[key]
            if result.low is None:
                counts[key][1] += 1
            else:
                counts[key][0] += result.low <= truth <= result.high
            if result.value is not None:
                errors[key].append(result.value - truth)
                counts[key][2] += np.isnan(estimate.replicates).mean()
    expected = (1.0 if prevalence is None else prevalence) * dialogues * TURNS
    return [
        Cell(
            key,
            prevalence,
            dialogues,
            _share(hits, len(studies) - none),
            float(none / len(studies)),
            float(undefined / len(studies)),
            float(np.mean(errors[key])) if errors[key] else float("nan"),
            expected,
        )
        for key, (hits, none, undefined) in counts.items()
    ]


def true_values(
    draw: Callable[[np.random.Generator, int], Ratings],
    pair: Sequence[str],
    panel: Sequence[str],
    prevalence: float | None,
) -> dict[str, float]:
    """Return the statistics of the model itself: exact for marks, from 40,000 dialogues for grades.

    Raters of marks are alike and independent given the truth, so the joint table of any two determines them
    all.
    """
    if prevalence is None:
        large = evaluated(draw(np.random.default_rng(999), 40_000), pair, panel, Plan(resamples=0))
        return {key: estimate.point for key, (estimate, _) in large.items()}
    yes, no = np.array([1 - SENSITIVITY, SENSITIVITY]), np.array([SPECIFICITY, 1 - SPECIFICITY])
    table = prevalence * np.outer(yes, yes) + (1 - prevalence) * np.outer(no, no)
    four = Ratings.from_matrix([[0, 0], [0, 1], [1, 0], [1, 1]], level="binary", scale=(0, 1))
    sample = Sample(four, (0, 1), resampling_of(four, Plan()))
    whole = Draw(sample, table.reshape(1, 4) * 1e12)
    return {key: float(STATISTICS[key].compute(whole)[0]) for key in (*pair, *panel)}


def prevalence_cells(
    prevalence: float, dialogues: int, studies: range, plan: Plan, *, turns: int = TURNS, people: int = 1
) -> list[Cell]:
    """Return coverage and bias of the prevalence estimates, with half the dialogues labelled by people.

    A single person marks the truth; several people each make errors, and the estimand is the share of them
    who mark.
    """
    tried: dict[str, list[tuple[float, bool | None]]] = {"prediction_powered": []}
    if people == 1:
        tried["rogan_gladen"] = []  # defined for binary answers only
    for study in studies:
        rng = np.random.default_rng([study, dialogues, 7])
        truth = behaviour(rng, prevalence, dialogues, turns)
        judge = rated(rng, truth, 1)[:, 0]
        share = truth.ravel() if people == 1 else marked(rng, truth.ravel(), people).mean(axis=1)
        cluster = np.arange(truth.size) // turns
        known = cluster < dialogues // 2
        labelled = Labelled.of(share[known], judge[known], cluster[known])
        results = {"prediction_powered": prediction_powered(labelled, judge[~known], cluster[~known])}
        if people == 1:
            own = Plan(plan.resamples, study)
            results["rogan_gladen"] = rogan_gladen_estimated(labelled, judge[~known], cluster[~known], own)
        target = prevalence if people == 1 else float(np.dot(PEOPLE_MARK, (prevalence, 1 - prevalence)))
        for name, r in results.items():
            if r.value is not None:
                held = None if r.low is None else bool(r.low <= target <= (r.high or 0.0))
                tried[name].append((r.value - target, held))
    positives = prevalence * (dialogues // 2) * turns
    return [
        _prevalence_cell(name, (prevalence, dialogues, turns, people), len(studies), positives, results)
        for name, results in tried.items()
    ]


def marked(rng: np.random.Generator, truth: np.ndarray, people: int) -> np.ndarray:
    """Return marks (items x people) of several people who each make errors."""
    often, seldom = PEOPLE_MARK
    return (rng.random((truth.size, people)) < np.where(truth == 1, often, seldom)[:, None]).astype(float)


def _share(hits: float, of: float) -> float | None:
    return float(hits / of) if of else None


def _prevalence_cell(
    name: str,
    place: tuple[float, int, int, int],
    studies: int,
    positives: float,
    results: list[tuple[float, bool | None]],
) -> Cell:
    prevalence, dialogues, turns, people = place
    held = [h for _, h in results if h is not None]
    bias = float(np.mean([e for e, _ in results])) if results else float("nan")
    none, coverage = 1 - len(held) / studies, _share(sum(held), len(held))
    return Cell(name, prevalence, dialogues, coverage, none, 0.0, bias, positives, turns, people)


def equal_judges(prevalence: float, dialogues: int, studies: range, plan: Plan) -> dict[str, Any]:
    """Return how often two judges of equal quality get significantly different kappas with a person."""
    called = decided = 0
    for study in studies:
        rng = np.random.default_rng([study, dialogues, 11])
        ratings = ratings_of(rated(rng, behaviour(rng, prevalence, dialogues), 3), "binary")
        own = Plan(plan.resamples, study)
        resampling = resampling_of(ratings, own)
        one, other = (
            estimates(Sample(ratings, (0, judge), resampling), [STATISTICS["cohen_kappa"]], resampling)[0]
            for judge in (1, 2)
        )
        bounds = bounds_of(one.point - other.point, one.replicates - other.replicates, own)
        if bounds.low is not None and bounds.high is not None:
            decided += 1
            called += not bounds.low <= 0 <= bounds.high
    return {
        "n_dialogues": dialogues,
        "share": round(called / max(decided, 1), 4),
        "without_interval": len(studies) - decided,
    }
