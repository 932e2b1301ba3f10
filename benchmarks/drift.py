"""Drift in simulated judges: how often is an unchanged one said to have changed, and a changed one found?

Monitoring: streams of clusters, a baseline, and 500 further clusters, read after each. A changed stream
changes right after the baseline, or 200 clusters later.

Rechecks: three questions from 1 to 5 about three turns a dialogue, two people with noise, and a judge. Each
item has the judge's usual answer (the truth, or one off); with a chance `wobble` a call answers one off from
that, half of these dialogue by dialogue. A judge that moved answers higher by 1 for a share of the first
question's answers, or answers a share of them at random.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binomtest

from calibration.statistics import Plan, Ratings
from calibration.statistics.core.ratings import Floats
from calibration.statistics.monitoring import ALPHA, monitored
from calibration.statistics.rechecks import MOVED, STABLE, RunPair, compare_runs

Generator = np.random.Generator
LATER, LATE = 500, 200
"""Clusters after the baseline, and those of them before a late change."""
DIALOGUES, TURNS, QUESTIONS, PEOPLE = (40, 100), 3, 3, 2
SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)


def interval(n: int, total: int) -> tuple[float, float]:
    """Return the exact 95% interval of a share (Clopper and Pearson 1934)."""
    ends = binomtest(n, total).proportion_ci(0.95, "exact")
    return float(ends.low), float(ends.high)


# Monitoring.


@dataclass(frozen=True)
class Stream:
    """A stream of clusters: shares of positives (of `answers` a cluster), or scores from 0 to 1."""

    kind: str
    mean: float
    changed_to: float | None = None
    baseline: int = 100
    late: int = 0

    def draw(self, rng: Generator) -> Floats:
        """Return the baseline and the later clusters."""
        before = self.baseline + self.late
        later = self.mean if self.changed_to is None else self.changed_to
        parts = ((self.mean, before), (later, self.baseline + LATER - before))
        return np.concatenate([_OBSERVATIONS[self.kind](rng, mean, n) for mean, n in parts])


_OBSERVATIONS: dict[str, Callable[[Generator, float, int], Floats]] = {
    "share": lambda rng, mean, n: (rng.random(n) < mean).astype(np.float64),
    "five answers": lambda rng, mean, n: rng.binomial(5, rng.beta(5 * mean, 5 * (1 - mean), n)) / 5,
    "scores": lambda rng, mean, n: rng.beta(5 * mean, 5 * (1 - mean), n),
}
"""Kinds of clusters: one answer, five alike answers (correlation 1/6), or a mean of scores."""
UNCHANGED_STREAMS = (
    Stream("share", 0.05),
    Stream("share", 0.3),
    Stream("share", 0.5),
    Stream("share", 0.3, baseline=50),
    Stream("five answers", 0.3),
    Stream("scores", 0.6),
)
CHANGED_STREAMS = tuple(
    Stream(kind, mean, changed_to, baseline, late)
    for kind, mean, changed_to in (
        ("share", 0.05, 0.2),
        ("share", 0.3, 0.4),
        ("share", 0.3, 0.5),
        ("share", 0.3, 0.6),
        ("share", 0.3, 0.1),
        ("scores", 0.6, 0.5),
        ("scores", 0.6, 0.7),
    )
    for baseline, late in ((100, 0), (200, 0), (200, LATE))
)


def monitored_streams(stream: Stream, n: int) -> dict[str, Any]:
    """Monitor `n` such streams; return the share with an alarm and, of a change, the clusters until it.

    An alarm before a late change is a false one: `early` counts these.
    """
    rng = np.random.default_rng([round(100 * stream.mean), stream.baseline, stream.late, n])
    alarms = [monitored(stream.draw(rng), stream.baseline).alarm for _ in range(n)]
    after = [alarm - stream.late for alarm in alarms if alarm is not None and alarm > stream.late]
    low, high = interval(len(after), n)
    return {
        **asdict(stream),
        "streams": n,
        "alarms": len(after),
        "early": sum(alarm is not None for alarm in alarms) - len(after),
        "share": len(after) / n,
        "low": low,
        "high": high,
        "median": float(np.median(after)) if after else None,
    }


# Rechecks.


@dataclass(frozen=True)
class Judge:
    """A judge asked again: its wobble, samples, and how a share of its later answers changed."""

    dialogues: int
    samples: int
    wobble: float
    change: str = ""
    share: float = 0.0


UNCHANGED_JUDGES = tuple(
    Judge(n, samples, wobble) for n in DIALOGUES for samples in (1, 2) for wobble in (0.0, 0.1, 0.4)
)
MOVED_JUDGES = tuple(
    Judge(DIALOGUES[0], samples, 0.1, change, share)
    for samples in (1, 2)
    for change in ("higher", "random")
    for share in (0.1, 0.2, 0.4)
)


def rechecks(judge: Judge, n: int, resamples: int) -> dict[str, Any]:
    """Ask `n` such judges again; return the share of each state with the interval of `moved`."""
    key = [
        judge.dialogues,
        judge.samples,
        round(10 * judge.wobble),
        len(judge.change),
        round(10 * judge.share),
    ]
    states: Counter[str] = Counter()
    for seed in range(n):
        pairs = _pairs(np.random.default_rng([*key, seed]), judge)
        rows = compare_runs(pairs, plan=Plan(resamples, seed), permutations=resamples)
        each = {row.state for row in rows}
        states[MOVED if MOVED in each else STABLE if each == {STABLE} else "cannot say"] += 1
    low, high = interval(states[MOVED], n)
    shares = {state: states[state] / n for state in (MOVED, STABLE, "cannot say")}
    return {**asdict(judge), "studies": n, **shares, "low": low, "high": high}


def _pairs(rng: Generator, judge: Judge) -> list[RunPair]:
    items = judge.dialogues * TURNS
    clusters = np.repeat(np.arange(judge.dialogues), TURNS)
    pairs = []
    for question in range(QUESTIONS):
        truth = rng.integers(1, 6, items).astype(np.float64)
        people = np.column_stack([_off(rng, truth, rng.random(items) < 0.3) for _ in range(PEOPLE)])
        usual = _off(rng, truth, rng.random(items) < 0.3)
        runs = [
            np.column_stack([_answers(rng, usual, clusters, judge.wobble) for _ in range(judge.samples)])
            for _ in range(2)
        ]
        if judge.change and question == 0:
            changed = rng.random(items) < judge.share
            at_random = rng.integers(1, 6, runs[1].shape).astype(np.float64)
            later = np.minimum(runs[1] + 1, 5) if judge.change == "higher" else at_random
            runs[1] = np.where(changed[:, None], later, runs[1])
        kinds = ["human"] * PEOPLE
        reference = Ratings.from_matrix(people, level="ordinal", scale=SCALE, clusters=clusters, kinds=kinds)
        pairs.append(RunPair(runs[0], runs[1], reference))
    return pairs


def _answers(rng: Generator, usual: Floats, clusters: Floats, wobble: float) -> Floats:
    """Return the answers of one sample: half of the wobble comes dialogue by dialogue."""
    of_dialogue = rng.random(int(clusters.max()) + 1) < wobble / 2
    return _off(rng, usual, of_dialogue[clusters] | (rng.random(len(usual)) < wobble / 2))


def _off(rng: Generator, values: Floats, where: Floats) -> Floats:
    """Move the values at these places by 1 up or down, within the scale."""
    steps = rng.choice([-1.0, 1.0], len(values))
    moved: Floats = np.where(where, np.clip(values + steps, 1, 5), values)
    return moved


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the simulations; the default options give the tables in the docs."""
    parser = argparse.ArgumentParser(prog="benchmarks drift", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="streams per kind (1,000)")
    parser.add_argument("--studies", type=int, default=400, help="rechecks of unchanged judges each (400)")
    parser.add_argument(
        "--moved", type=int, default=100, help="streams, and rechecks, of a change each (100)"
    )
    parser.add_argument("--resamples", type=int, default=400, help="resamples and permutations (400)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="cells computed at a time")
    options = parser.parse_args(list(argv))
    again = partial(rechecks, resamples=options.resamples)
    with ProcessPoolExecutor(options.processes) as pool:

        def shares(work: Callable[..., Any], cells: Sequence[Any], n: int) -> list[dict[str, Any]]:
            return list(pool.map(work, cells, [n] * len(cells)))

        figures = {
            "unchanged_streams": shares(monitored_streams, UNCHANGED_STREAMS, options.streams),
            "changed_streams": shares(monitored_streams, CHANGED_STREAMS, options.moved),
            "unchanged_judges": shares(again, UNCHANGED_JUDGES, options.studies),
            "moved_judges": shares(again, MOVED_JUDGES, options.moved),
        }
    worst = max(row["share"] for row in figures["unchanged_streams"])
    worst = max(worst, *(row[MOVED] for row in figures["unchanged_judges"]))
    headline = {"name": "largest share of false alarms", "value": worst, "goal": ALPHA, "better": "lower"}
    return {"headline": headline, **figures}
