"""Tests of figures of items drawn with unequal probabilities: each item counts by its weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import (
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from benchmarks.coverage import drawn_cells
from calibration.statistics import STATISTICS, Plan, Ratings, analyse
from calibration.statistics.core.engine import FLAGS, second_opinions
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Draw, Sample
from calibration.statistics.pairwise import counts_of

from .helpers import QUICK, compute
from .test_conformance import SETS, _level

UNWEIGHTABLE = sorted(key for key, statistic in STATISTICS.items() if not statistic.weighted)
WEIGHTABLE = sorted(set(STATISTICS) - set(UNWEIGHTABLE))


def rated(key: str, seed: int = 5, n: int = 60) -> Ratings:
    """Return ratings of two or three raters, in 12 clusters, at a level that the statistic reads."""
    rng = np.random.default_rng(seed)
    level, raters = _level(key), 3 if STATISTICS[key].raters == "panel" else 2
    values = 2 if level == "binary" else 4
    truth = rng.integers(0, values, n)
    block = np.column_stack(
        [np.where(rng.random(n) < 0.7, truth, rng.integers(0, values, n)) for _ in range(raters)]
    ).astype(float)
    if raters == 3:
        block[rng.random(n) < 0.2, 2] = np.nan
    ratings = Ratings.from_matrix(
        block,
        level=level,
        scale=range(values),
        clusters=np.sort(rng.integers(0, 12, n)),
        raters="abc"[:raters],
    )
    return replace(ratings, sets=SETS) if STATISTICS[key].of_sets else ratings


@pytest.mark.parametrize("key", sorted(STATISTICS))
def test_items_that_all_weigh_alike_count_as_they_do_without_weights(key: str) -> None:
    plain = rated(key)
    assert compute(replace(plain, weights=np.full(60, 7.3)), key, plan=QUICK) == compute(
        plain, key, plan=QUICK
    )


@pytest.mark.parametrize("key", WEIGHTABLE)
def test_a_whole_weight_is_the_item_repeated_in_its_cluster(key: str) -> None:
    plain = rated(key)
    times = np.random.default_rng(1).integers(1, 5, 60)
    weighted = compute(replace(plain, weights=times.astype(float)), key, plan=QUICK)
    again = np.repeat(np.arange(60), times)
    repeated = replace(
        plain, values=plain.values[again], clusters=plain.clusters[again], items=tuple(map(str, again))
    )
    expected = compute(repeated, key, plan=QUICK)
    assert weighted.n_items <= 60 < expected.n_items
    if key.startswith("krippendorff"):  # its n - 1 counts the values rated, not those they stand for
        present = ~np.isnan(plain.values)
        used = present.sum(axis=1) >= 2
        scale = times[used].mean()
        n = (present.sum(axis=1) * times)[used].sum()
        assert 1 - weighted.value == pytest.approx((1 - expected.value) * (n - scale) / (n - 1), abs=1e-12)
        return
    for side in ("value", "low", "high"):
        assert getattr(weighted, side) == pytest.approx(getattr(expected, side), abs=1e-9)


@pytest.mark.parametrize("key", UNWEIGHTABLE)
def test_a_figure_without_a_weighted_form_is_refused_with_its_reason(key: str) -> None:
    weights = np.random.default_rng(2).random(60) + 0.5
    result = compute(replace(rated(key), weights=weights), key, plan=QUICK)
    assert result.status == "rejected"
    assert result.reason == "not defined for items drawn with unequal probabilities"


def test_agreement_is_that_of_scikit_learn_with_sample_weights() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        ratings, w = rated("mcc", int(rng.integers(1e6))), rng.random(60) * 20 + 1
        ratings = replace(ratings, weights=w, level="binary", values=(ratings.values > 1).astype(float))
        ratings = replace(ratings, scale=(0.0, 1.0), names=None)
        x, y = ratings.values.T
        theirs = {
            "cohen_kappa": cohen_kappa_score(x, y, sample_weight=w),
            "mcc": matthews_corrcoef(x, y, sample_weight=w),
            "precision": precision_score(x, y, sample_weight=w),
            "recall": recall_score(x, y, sample_weight=w),
            "f1": f1_score(x, y, sample_weight=w),
            "percent_agreement": np.average(x == y, weights=w),
        }
        with second_opinions() as counted:
            ours = {key: compute(ratings, key).value for key in theirs}
        assert counted.n_requested == 2
        assert ours == pytest.approx(theirs, abs=1e-12)
        resampling = resampling_of(ratings, QUICK)
        draw = Draw(Sample(ratings, (0, 1), resampling), np.ones((1, resampling.n_units)))
        tn, fp, fn, tp = confusion_matrix(x, y, sample_weight=w / w.mean()).ravel()
        assert np.ravel(counts_of(draw)) == pytest.approx([tp, fp, fn, tn])


def test_correlations_of_many_values_weigh_items_too() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    y, times = x + rng.normal(size=200), rng.integers(1, 4, 200)
    ratings = Ratings.from_matrix(
        np.column_stack([x, y]), level="interval", weights=times, clusters=np.arange(200) // 5
    )
    again = np.repeat(np.arange(200), times)
    for key, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_tau_b", stats.kendalltau),
    ):
        result = compute(ratings, key, plan=QUICK)
        assert result.value == pytest.approx(function(x[again], y[again]).statistic, abs=1e-12)
        assert result.low < result.value < result.high


def test_a_weighted_figure_says_so_with_its_effective_number_of_items() -> None:
    weights = np.array([1.0] * 30 + [20.0] * 30)
    result = compute(replace(rated("cohen_kappa"), weights=weights), "cohen_kappa", plan=QUICK)
    assert "unequal_probabilities" in result.flags
    assert FLAGS["unequal_probabilities"].endswith("weighted to all items")
    assert "weighted by 1 / probability of being drawn, 33 effective items" in result.method
    assert result.n_items == 60
    assert (weights.sum() ** 2) / (weights**2).sum() == pytest.approx(33.0, abs=0.05)


def test_judges_who_rated_every_item_are_compared_on_all_and_people_on_the_items_drawn() -> None:
    rng = np.random.default_rng(6)
    people, first, second = (rng.integers(0, 2, 100).astype(float) for _ in range(3))
    is_drawn = np.arange(100) % 4 == 0
    people[~is_drawn] = np.nan
    weights = np.where(is_drawn, np.where(np.arange(100) < 40, 1.0, 10.0), np.nan)
    plain = Ratings.from_matrix(
        np.column_stack([people, first, second]),
        level="binary",
        scale=(0, 1),
        raters=("p", "j1", "j2"),
        kinds=("human", "judge", "judge"),
        clusters=np.arange(100) // 5,
    )
    ratings = replace(plain, weights=weights)
    analysis, unweighted = (
        analyse(r, plan=Plan(100), statistics=["cohen_kappa", "gwet_ac1"]) for r in (ratings, plain)
    )
    judges = analysis.find("cohen_kappa", ("j1", "j2"))
    assert judges == unweighted.find("cohen_kappa", ("j1", "j2"))
    assert judges.result.n_items == 100
    beside = analysis.find("cohen_kappa", ("p", "j1")).result
    assert beside.n_items == 25
    assert beside.value == pytest.approx(
        cohen_kappa_score(people[is_drawn], first[is_drawn], sample_weight=weights[is_drawn])
    )
    panel = next(e.result for e in analysis.panel if e.raters == ("p", "j1", "j2"))
    assert (panel.name, panel.n_items) == ("gwet_ac1", 25)


def test_a_resample_that_leaves_one_value_is_undefined_and_not_rounding_noise() -> None:
    weights = np.array([0.1, 0.7, 1 / 3, 2.9])
    ratings = Ratings.from_matrix(
        [[0, 0], [0, 1], [1, 0], [1, 1]], level="binary", scale=(0, 1), weights=weights
    )
    resampling = resampling_of(ratings, QUICK)
    sample = Sample(ratings, (0, 1), resampling)
    draw = Draw(sample, np.array([[3.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 2, 1]]))
    assert np.isnan(STATISTICS["mcc"].compute(draw)).all()
    assert np.isnan(STATISTICS["kendall_tau_b"].compute(draw)).all()
    assert np.isnan(STATISTICS["specificity"].compute(draw))[2]


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, np.inf]])
def test_weights_are_numbers_above_zero_for_each_item(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        Ratings.from_matrix([[0, 1], [1, 1]], level="binary", weights=weights)


@pytest.mark.parametrize(("missed", "flagged"), [(9, True), (10, False)])
def test_few_rare_answers_among_the_heavy_items_are_flagged(missed: int, flagged: bool) -> None:
    person = np.r_[np.ones(80), np.zeros(20), np.ones(missed), np.zeros(90)]
    judge = np.r_[np.ones(100), np.zeros(missed + 90)]
    weights = np.where(judge == 1, 1.0, 20.0)
    ratings = pair_of(person, judge, weights)
    assert ("few_heavy_events" in compute(ratings, "cohen_kappa", plan=QUICK).flags) is flagged
    assert "few_heavy_events" not in compute(replace(ratings, weights=None), "cohen_kappa", plan=QUICK).flags


def pair_of(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Ratings:
    return Ratings.from_matrix(np.column_stack([x, y]), level="binary", scale=(0, 1), weights=weights)


@pytest.mark.exhaustive
@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
def test_weighted_intervals_cover_the_truth_and_plain_figures_of_drawn_labels_do_not(share: float) -> None:
    """Of 150 studies with fixed seeds, 90 to 99% hold the truth: two to three standard errors of 95%."""
    cells = drawn_cells(0.1, share, 600, range(150), Plan(300))
    for cell in cells:
        assert 0.9 <= cell["coverage"] <= 0.99, cell
        assert abs(cell["bias"]) < 0.005
        if share < 0.1:
            assert abs(cell["plain_mean"] - cell["truth"]) > 0.1
