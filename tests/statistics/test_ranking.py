"""Ranking accuracy against counting every pair by hand: ties, thresholds, many values, resamples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from calibration.statistics import STATISTICS, Plan, Ratings, analyse
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.correlation import MOST_FOR_THRESHOLD, threshold_of

from .helpers import compute, pair

METRIC = ["human", "metric"]


def by_hand(people: np.ndarray, metric: np.ndarray, threshold: float = 0.0) -> float:
    """The share of pairs that are right, one pair after another."""
    right = 0
    pairs = list(combinations(range(len(people)), 2))
    for i, j in pairs:
        d = metric[i] - metric[j]
        right += (0 if abs(d) <= threshold else np.sign(d)) == np.sign(people[i] - people[j])
    return right / len(pairs)


def sample_of(ratings: Ratings) -> Sample:
    return Sample(ratings, (0, 1), resampling_of(ratings, Plan(resamples=0)))


def noisy(n: int = 40, values: int = 4, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.integers(0, values, n).astype(float)
    return people, people + rng.normal(size=n)


def test_on_a_shared_scale_the_same_value_is_a_tie() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 6, (2, 50)).astype(float)
    ratings = pair(x, y, "ordinal", scale=(1, 2, 3, 4, 5))
    assert compute(ratings, "ranking_accuracy").value == pytest.approx(by_hand(x, y), abs=1e-12)
    assert threshold_of(sample_of(ratings)) == 0.0


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 5))]
)
def test_a_metrics_threshold_is_the_best_there_is_and_is_named(seed: int) -> None:
    people, metric = noisy(seed=seed)
    ratings = pair(people, metric, "ordinal", kinds=METRIC)
    found, threshold = compute(ratings, "ranking_accuracy"), threshold_of(sample_of(ratings))
    tried = [0.0, *np.abs(np.subtract.outer(metric, metric)).ravel()]
    assert found.value == pytest.approx(max(by_hand(people, metric, t) for t in tried), abs=1e-12)
    assert found.value == pytest.approx(by_hand(people, metric, threshold), abs=1e-12)
    assert f"differences of up to {threshold:g} count as ties" in found.method


def test_four_items_of_which_two_are_turned_around() -> None:
    found = compute(pair([1, 1, 2, 3], [0.10, 0.12, 0.40, 0.35], "ordinal", kinds=METRIC), "ranking_accuracy")
    assert found.value == pytest.approx(5 / 6)


def test_without_ties_it_is_kendalls_tau_as_a_share() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 300))
    tau = stats.kendalltau(x, y).statistic
    assert compute(pair(x, y), "ranking_accuracy").value == pytest.approx((1 + tau) / 2, abs=1e-12)


@pytest.mark.parametrize(("values", "n"), [(4, 60), (60, 90), (400, 250)])
def test_a_resample_has_the_accuracy_of_the_items_that_it_draws(values: int, n: int) -> None:
    people, metric = noisy(n, values)
    clusters = np.arange(n) // 3
    ratings = pair(people, metric, "ratio", kinds=METRIC, clusters=clusters)
    resampling = resampling_of(ratings, Plan(resamples=6))
    sample = Sample(ratings, (0, 1), resampling)
    replicates = estimates(sample, [STATISTICS["ranking_accuracy"]], resampling)[0].replicates
    for weights, value in zip(np.concatenate(list(resampling.chunks())), replicates, strict=True):
        times = weights[clusters].astype(int)
        drawn = by_hand(np.repeat(people, times), np.repeat(metric, times), threshold_of(sample))
        assert value == pytest.approx(drawn, abs=1e-12)


def test_many_items_have_a_threshold_from_some_and_an_accuracy_over_all() -> None:
    people, metric = noisy(MOST_FOR_THRESHOLD + 500)
    ratings = pair(people, metric, "ordinal", kinds=METRIC)
    threshold = threshold_of(sample_of(ratings))
    ordered = np.sign(np.subtract.outer(people, people))
    apart = np.subtract.outer(metric, metric)
    said = np.where(np.abs(apart) <= threshold, 0, np.sign(apart))
    upper = np.triu_indices(len(people), 1)
    wanted = (said == ordered)[upper].mean()
    assert compute(ratings, "ranking_accuracy").value == pytest.approx(wanted, abs=1e-12)


def test_a_metric_meets_the_mean_of_the_people_by_it() -> None:
    people, metric = noisy()
    block = np.column_stack([people, np.roll(people, 1), metric])
    ratings = Ratings.from_matrix(block, level="ordinal", kinds=["human", "human", "metric"])
    found = analyse(ratings, statistics=["ranking_accuracy"], plan=Plan(resamples=50)).pairs
    assert found[-1].raters[0] == "mean(kind:human)"
    assert found[-1].result.low <= found[-1].result.value <= found[-1].result.high


def test_one_value_throughout_ranks_nothing() -> None:
    found = compute(pair([1, 2, 3], [5.0, 5.0, 5.0], "ordinal", kinds=METRIC), "ranking_accuracy")
    assert (found.status, found.value) == ("undefined", None)
    assert compute(pair([1], [1], "ordinal"), "ranking_accuracy").status == "insufficient"
