"""Verdicts on judges of known quality, in simulated studies: how often does each kind get each state?

Tags: a behaviour has a mean prevalence; each dialogue has its own, from a beta distribution with a
correlation of .15 within dialogues. People mark turns with a sensitivity and a rate of false marks of their
own, spread around .8 and a fifth of the prevalence. Scores: a turn's quality has a part of its dialogue;
people rate it from 1 to 5 with a severity and a noise of their own. Eight people and fewer rate everything;
of thirty, three rate each dialogue.

The judges: a coin at the prevalence (or noise), a constant one, one that says the opposite, one that agrees
with people by .2 less than they agree with each other, one that is drawn like one more person, and one as
good as people: without a habit of its own.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any, get_args

import numpy as np
from scipy.stats import spearmanr

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.core.ratings import Floats
from calibration.statistics.replacement import JUDGE_TESTS, StandIn
from calibration.statistics.verdicts import TITLES, AlternativeTest, VerdictRule, decide, evidence_of

DIALOGUES, PREVALENCES, PEOPLE = (10, 20, 50, 150), (0.02, 0.2, 0.5), (2, 3, 8, 30)
JUDGES = ("coin", "constant", "inverted", "worse", "one more", "as good")
SCORES = 0.0
"""Stands for ratings from 1 to 5 in place of a prevalence."""
TURNS, WITHIN, OF_DIALOGUE = 20, 0.15, 3
SENSITIVITY, FALSE, SPREAD = 0.8, 0.2, 0.3
SEVERITY, NOISE = 0.3, 0.7
WORSE = 0.2
MANY = 200_000

Generator = np.random.Generator


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulation; the default options give the table in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks verdicts", description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="simulated studies per cell (200)")
    parser.add_argument("--resamples", type=int, default=400, help="resamples per study (400)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="cells computed at a time")
    parser.add_argument("--gap", type=float, default=VerdictRule().gap, help="largest acceptable gap")
    parser.add_argument("--dialogues", type=int, nargs="*", default=DIALOGUES, help="numbers of dialogues")
    parser.add_argument("--judges", nargs="*", default=JUDGES, choices=JUDGES, help="kinds of judges")
    parser.add_argument(
        "--alternative-test",
        choices=get_args(AlternativeTest),
        default="ignored",
        help="what passing the alternative annotator test is",
    )
    options = parser.parse_args(list(argv))
    rule = VerdictRule(gap=options.gap, alternative_test=options.alternative_test)
    cells = [
        (p, n, people, judge, options.studies, options.resamples, rule)
        for n, p, people, judge in itertools.product(
            sorted(options.dialogues, reverse=True), (*PREVALENCES, SCORES), PEOPLE, options.judges
        )
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        rows = list(pool.map(_cell, cells))
    return {
        "headline": _headline(rows),
        "studies": options.studies,
        "gap": rule.gap,
        "summary": summary(rows),
        "rows": rows,
    }


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, per kind of judge and number of dialogues, the least and the largest share of each state."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["judge"], row["dialogues"]), []).append(row)
    return [
        {"judge": judge, "dialogues": n}
        | {state: [min(c[state] for c in cells), max(c[state] for c in cells)] for state in TITLES}
        for (judge, n), cells in sorted(groups.items(), key=lambda g: (JUDGES.index(g[0][0]), g[0][1]))
    ]


def _headline(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the largest share of wrong verdicts over the cells with a promise."""
    wrong = []
    for row in rows:
        if row["judge"] in ("coin", "constant", "inverted", "worse"):
            wrong.append(row["trust"])
        if row["judge"] == "one more":
            wrong.append(row["do_not_trust"])
    return {"name": "largest share of wrong verdicts", "value": max(wrong), "goal": 0.05, "better": "lower"}


def _cell(cell: tuple[float, int, int, str, int, int, VerdictRule]) -> dict[str, Any]:
    """Simulate the studies of a cell and return the share of each state."""
    p, n, people, judge, studies, resamples, rule = cell
    states: Counter[str] = Counter()
    for seed in range(studies):
        rng = np.random.default_rng([round(p * 100), n, people, JUDGES.index(judge), seed])
        ratings = study(rng, p, n, people, judge)
        plan = Plan(resamples, seed)
        (evidence,) = evidence_of(ratings, plan=plan, stand_ins=_stand_ins(ratings, plan, rule))
        states[decide(evidence, rule).state] += 1
    shares: dict[str, Any] = {state: states[state] / studies for state in TITLES}
    return {"prevalence": p or None, "dialogues": n, "people": people, "judge": judge, **shares}


def _stand_ins(ratings: Ratings, plan: Plan, rule: VerdictRule) -> tuple[StandIn, ...]:
    """Return the outcome of the alternative annotator test, if the rule considers it."""
    if rule.alternative_test == "ignored":
        return ()
    return analyse(ratings, statistics=["cohen_kappa", *JUDGE_TESTS], plan=plan).stand_ins


def study(rng: Generator, p: float, n: int, people: int, judge: str) -> Ratings:
    """Return the ratings of a simulated study: people's columns and the judge's."""
    truth = _truth(rng, p, n)
    habits = [_habit(rng, p) for _ in range(people)]
    values = np.column_stack([_answers(rng, p, truth, habit) for habit in habits])
    clusters = np.repeat(np.arange(n), TURNS)
    if people > OF_DIALOGUE * 5:
        for dialogue in range(n):
            idle = rng.permutation(people)[OF_DIALOGUE:]
            values[np.ix_(clusters == dialogue, idle)] = np.nan
    others = (OF_DIALOGUE if people > OF_DIALOGUE * 5 else people) - 1
    return Ratings.from_matrix(
        np.column_stack([values, _judge(rng, p, truth, judge, others)]),
        level="binary" if p else "interval",
        scale=(0.0, 1.0) if p else None,
        clusters=clusters,
        raters=[*(f"person {j}" for j in range(people)), "judge"],
        kinds=["human"] * people + ["judge"],
    )


def _truth(rng: Generator, p: float, n: int) -> Floats:
    """Return whether a turn has the behaviour, or its quality."""
    if not p:
        dialogue = rng.normal(size=n) * np.sqrt(WITHIN)
        return np.repeat(dialogue, TURNS) + rng.normal(size=n * TURNS) * np.sqrt(1 - WITHIN)
    strength = 1 / WITHIN - 1
    shares = rng.beta(p * strength, (1 - p) * strength, n)
    return (rng.random(n * TURNS) < np.repeat(shares, TURNS)).astype(np.float64)


def _habit(rng: Generator, p: float) -> tuple[float, float]:
    """Return a person's sensitivity and rate of false marks, or severity and noise."""
    first, second = rng.normal(size=2)
    if not p:
        return SEVERITY * first, NOISE * float(np.exp(0.2 * second))
    return _shifted(SENSITIVITY, SPREAD * first), _shifted(p * FALSE, SPREAD * second)


def _shifted(share: float, logits: float) -> float:
    return 1 / (1 + (1 - share) / share * float(np.exp(-logits)))


def _middle(p: float) -> tuple[float, float]:
    return (SENSITIVITY, p * FALSE) if p else (0.0, NOISE)


def _answers(rng: Generator, p: float, truth: Floats, habit: tuple[float, float]) -> Floats:
    first, second = habit
    if not p:
        return np.clip(np.round(3 + first + truth + second * rng.normal(size=len(truth))), 1, 5)
    return (rng.random(len(truth)) < np.where(truth > 0, first, second)).astype(np.float64)


def _judge(rng: Generator, p: float, truth: Floats, judge: str, others: int) -> Floats:
    """Return a judge's answers; `others` is the number of people whose mean it is compared with."""
    if judge == "constant":
        return np.full(len(truth), 3.0 if not p else 0.0)
    if judge == "coin":
        chance = rng.permutation(_answers(rng, p, _truth(rng, p, len(truth) // TURNS), _middle(p)))
        return np.asarray(chance)
    if judge == "inverted":
        answers = _answers(rng, p, truth, _habit(rng, p))
        return 1 - answers if p else 6 - answers
    if judge == "one more":
        return _answers(rng, p, truth, _habit(rng, p))
    answers = _answers(rng, p, truth, _middle(p))
    if judge == "worse":
        noisy = rng.random(len(truth)) < _noise(p, others)
        answers[noisy] = rng.permutation(answers)[noisy]
    return answers


@cache
def _noise(p: float, others: int) -> float:
    """Return the share of answers at random with which a judge agrees by .2 less than people do."""
    rng = np.random.default_rng(7)
    truth = _truth(rng, p, MANY // TURNS)
    people = np.column_stack([_answers(rng, p, truth, _habit(rng, p)) for _ in range(40)])
    middle = _answers(rng, p, truth, _middle(p))
    if p:
        own = [_kappa(people[:, j], people[:, j + 1]) for j in range(0, 40, 2)]
        best = [_kappa(people[:, j], middle) for j in range(40)]
    else:
        means = [people[:, np.arange(j - others, j)].sum(axis=1) for j in range(40)]
        own = [_rho(people[:, j], mean) for j, mean in enumerate(means)]
        best = [_rho(middle, mean) for mean in means]
    return 1 - (float(np.mean(own)) - WORSE) / float(np.mean(best))


def _kappa(x: Floats, y: Floats) -> float:
    equal, chance = float((x == y).mean()), float(x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean()))
    return (equal - chance) / (1 - chance)


def _rho(x: Floats, y: Floats) -> float:
    return float(spearmanr(x[:20_000], y[:20_000]).statistic)
