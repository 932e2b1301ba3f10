"""Statistics against loops over the libraries on the same resamples, at ComperDial's size.

10,395 rated items in 1,485 clusters (and in 15 dialogues by 99 systems), 2 and 6 raters, with and without 20%
missing, 2,000 resamples. The loops are timed on `--loops` of the same resamples and scaled to all of them; on
those, values must equal the libraries' to 1e-12.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calibration.statistics import STATISTICS, Plan, Ratings, analyse
from calibration.statistics.cocoeval import table
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample

ITEMS, TURNS, DIALOGUES, SYSTEMS = 10_395, 7, 15, 99
RESAMPLES = 2000
GOAL = 50.0
CATEGORICAL = (
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "mcc",
    "precision",
    "recall",
    "f1",
)
GOALS = {
    "categorical": 0.2,
    "alpha_six": 0.25,
    "cocoeval": 0.5,
    "spearman": 1.5,
    "all_pairs": 10.0,
    "crowd": 5.0,
    "crowd_mb": 500,
}


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark; `--quick` skips the growth table and uses fewer loops."""
    parser = argparse.ArgumentParser(prog="benchmarks statistics", description=__doc__)
    parser.add_argument(
        "--loops", type=int, default=40, help="resamples on which the libraries are timed (40)"
    )
    parser.add_argument("--quick", action="store_true", help="no growth table, 10 loops")
    options = parser.parse_args(list(argv))
    loops = 10 if options.quick else options.loops
    warnings.simplefilter("ignore")
    faster, worst = against_libraries(loops)
    seconds = goals() | crowd()
    categorical = [entry["times"] for name, entry in faster.items() if name.split("/")[0] in CATEGORICAL]
    return {
        "headline": {
            "name": "times faster than loops over the libraries, least of the categorical statistics",
            "value": round(min(categorical), 1),
            "goal": GOAL,
            "better": "higher",
        },
        "against_libraries": faster,
        "largest_difference": worst,
        "seconds": seconds,
        "goals": GOALS,
        "shapes": shapes(),
        "growth": [] if options.quick else growth(),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "resamples": RESAMPLES,
        "loops_timed": loops,
    }


def made(
    raters: int = 2,
    missing: float = 0.0,
    level: str = "ordinal",
    clusters: int = ITEMS // TURNS,
    items: int = ITEMS,
) -> Ratings:
    """Return simulated ratings of one shape; 1 to 5, or 0 and 1 where binary."""
    rng = np.random.default_rng(0)
    values = 2 if level == "binary" else 5
    cluster_of = np.arange(items) * clusters // items
    truth = np.clip(
        np.round(rng.normal(size=clusters)[cluster_of] + rng.normal(size=items) + (values - 1) / 2),
        0,
        values - 1,
    )
    noise = rng.normal(scale=0.7, size=(items, raters))
    block = np.clip(np.round(truth[:, None] + noise), 0, values - 1) + (level != "binary")
    block[rng.random(block.shape) < missing] = np.nan
    scale = (0, 1) if level == "binary" else (1, 2, 3, 4, 5)
    systems = np.arange(items) % SYSTEMS
    return Ratings.from_matrix(block, level=level, scale=scale, clusters=cluster_of, systems=systems)


def timed(work: Callable[[], Any], times: int = 3) -> float:
    """Return the shortest of a few runs, in seconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent)


def replicates(
    ratings: Ratings, keys: Sequence[str], columns: Sequence[int], plan: Plan | None = None
) -> list[np.ndarray]:
    """Return the resampled values of statistics, drawing the weights anew."""
    resampling = resampling_of(ratings, plan or Plan(RESAMPLES))
    sample = Sample(ratings, columns, resampling)
    return [e.replicates for e in estimates(sample, [STATISTICS[k] for k in keys], resampling)]


def seconds_of(
    ratings: Ratings, keys: Sequence[str], columns: Sequence[int], plan: Plan | None = None
) -> float:
    """Return the seconds of resampling statistics, weights included."""
    return round(timed(lambda: replicates(ratings, keys, columns, plan)), 4)


def libraries() -> dict[str, tuple[str, int, Callable[[np.ndarray], float]]]:
    """Return per statistic its level, number of raters, and the library's function of a block of ratings."""
    import krippendorff
    from scipy import stats
    from sklearn import metrics
    from statsmodels.stats.inter_rater import fleiss_kappa

    def kappa(weights: str | None) -> Callable[[np.ndarray], float]:
        return lambda b: metrics.cohen_kappa_score(b[:, 0], b[:, 1], labels=[1, 2, 3, 4, 5], weights=weights)

    return {
        "cohen_kappa": ("ordinal", 2, kappa(None)),
        "cohen_kappa_linear": ("ordinal", 2, kappa("linear")),
        "cohen_kappa_quadratic": ("ordinal", 2, kappa("quadratic")),
        "mcc": ("binary", 2, lambda b: metrics.matthews_corrcoef(b[:, 0], b[:, 1])),
        "precision": ("binary", 2, lambda b: metrics.precision_score(b[:, 0], b[:, 1])),
        "recall": ("binary", 2, lambda b: metrics.recall_score(b[:, 0], b[:, 1])),
        "f1": ("binary", 2, lambda b: metrics.f1_score(b[:, 0], b[:, 1])),
        "spearman": ("ordinal", 2, lambda b: stats.spearmanr(b[:, 0], b[:, 1])[0]),
        "kendall_tau_b": ("ordinal", 2, lambda b: stats.kendalltau(b[:, 0], b[:, 1])[0]),
        "fleiss_kappa": (
            "ordinal",
            6,
            lambda b: fleiss_kappa((b[:, :, None] == np.arange(1, 6)).sum(axis=1)),
        ),
        "krippendorff_alpha": (
            "ordinal",
            6,
            lambda b: krippendorff.alpha(b.T, level_of_measurement="ordinal"),
        ),
    }


def against_libraries(loops: int) -> tuple[dict[str, dict[str, float]], float]:
    """Return seconds of both sides and their ratio per statistic and share missing; largest difference."""
    out: dict[str, dict[str, float]] = {}
    worst = 0.0
    for key, (level, raters, library) in libraries().items():
        for missing in (0.0,) if key == "fleiss_kappa" else (0.0, 0.2):
            ratings = made(raters, missing, level)
            columns = tuple(range(raters))
            ours = seconds_of(ratings, [key], columns)
            found = replicates(ratings, [key], columns)[0]
            theirs, values = looped(ratings, library, raters, loops)
            worst = max(worst, float(np.abs(values - found[:loops]).max()))
            name = f"{key}/{int(missing * 100)}% missing"
            scaled = theirs * RESAMPLES / loops
            out[name] = {
                "seconds": round(ours, 4),
                "loop_seconds": round(scaled, 2),
                "times": round(scaled / ours, 1),
            }
    return out, worst


def looped(
    ratings: Ratings, library: Callable[[np.ndarray], float], raters: int, loops: int
) -> tuple[float, np.ndarray]:
    """Return the seconds and values of the library on the first of Concord's resamples."""
    weights = np.concatenate(list(resampling_of(ratings, Plan(RESAMPLES)).chunks()))[:loops]
    members = np.argsort(ratings.clusters, kind="stable")
    start = time.perf_counter()
    values = []
    for row in weights:
        block = ratings.values[np.repeat(members, row[ratings.clusters[members]].astype(int))]
        values.append(library(block[~np.isnan(block).any(axis=1)] if raters == 2 else block))
    return time.perf_counter() - start, np.array(values)


def goals() -> dict[str, float]:
    """Return the seconds of the jobs with goals, resampling included."""
    ordinal, six = made(2), made(6, 0.2)
    rng = np.random.default_rng(1)
    metric = np.nan_to_num(ordinal.values[:, 0]) + rng.normal(size=ITEMS)
    with_metric = ordinal.take([0]).with_column("metric", metric, kind="metric")
    marks = [rng.random((ITEMS, 10)) < 0.05 for _ in range(3)]
    many = made(18, 0.2)
    four = ("percent_agreement", "cohen_kappa", "cohen_kappa_quadratic", "spearman")
    return {
        "categorical": round(timed(lambda: replicates(ordinal, CATEGORICAL[:3], (0, 1))), 3),
        "alpha_six": round(timed(lambda: replicates(six, ["krippendorff_alpha"], range(6))), 3),
        "cocoeval": round(timed(lambda: table(marks[0], marks[1:], list("abcdefghij"), ordinal.clusters)), 3),
        "spearman": round(timed(lambda: replicates(with_metric, ["spearman"], (0, 1))), 3),
        "all_pairs": round(timed(lambda: analyse(many, statistics=four), 1), 3),
    }


def crowd() -> dict[str, float]:
    """Return the seconds and megabytes of `agree` on 13,000 ratings by 262 people, five of each item."""
    rng = np.random.default_rng(0)
    quality, severity = rng.normal(size=2600), 0.3 * rng.normal(size=262)
    eager = 1 / np.sqrt(np.arange(1, 263))
    lines = ["item,rater,value,kind"]
    for item, own in enumerate(quality):
        for rater in rng.choice(262, 5, replace=False, p=eager / eager.sum()):
            value = int(np.clip(np.round(3 + own + severity[rater] + 0.8 * rng.normal()), 1, 5))
            lines.append(f"i{item},w{rater},{value},human")
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("\n".join(lines))
        file.flush()
        start = time.perf_counter()
        command = [sys.executable, "manage.py", "agree", file.name, "--scale", "ordinal", "--json"]
        quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        pid = os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet)
        _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError("agree failed on the crowd")
    return {"crowd": round(time.perf_counter() - start, 1), "crowd_mb": round(used.ru_maxrss / 1024)}


def shapes() -> list[dict[str, Any]]:
    """Return the seconds by shape, raters and share missing."""
    out = []
    for clusters in (DIALOGUES, ITEMS // TURNS):
        for raters in (2, 6):
            for missing in (0.0, 0.2):
                ratings = made(raters, missing, clusters=clusters)
                key = "cohen_kappa" if raters == 2 else "krippendorff_alpha"
                spent = seconds_of(ratings, [key], range(raters))
                out.append(
                    {
                        "clusters": clusters,
                        "raters": raters,
                        "missing": missing,
                        "statistic": key,
                        "seconds": spent,
                    }
                )
    crossed = made(2, clusters=DIALOGUES)
    plan = Plan(RESAMPLES, scheme="crossed")
    spent = seconds_of(crossed, ["cohen_kappa"], (0, 1), plan)
    out.append(
        {
            "clusters": "15 x 99",
            "raters": 2,
            "missing": 0.0,
            "statistic": "cohen_kappa",
            "seconds": spent,
        }
    )
    return out


def growth() -> list[dict[str, Any]]:
    """Return the seconds as items, raters and resamples grow, one at a time."""
    out = []
    for items in (ITEMS // 4, ITEMS, ITEMS * 4):
        ratings = made(2, items=items, clusters=items // TURNS)
        out.append({"items": items, "seconds": seconds_of(ratings, ["cohen_kappa"], (0, 1))})
    for raters in (2, 6, 12):
        ratings = made(raters)
        spent = seconds_of(ratings, ["krippendorff_alpha"], range(raters))
        out.append({"raters": raters, "seconds": spent})
    for resamples in (500, 2000, 8000):
        ratings = made(2)
        plan = Plan(resamples)
        spent = seconds_of(ratings, ["cohen_kappa"], (0, 1), plan)
        out.append({"resamples": resamples, "seconds": spent})
    return out
