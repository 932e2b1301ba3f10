"""Thresholds, probabilities and maps of scores: by brute force, and never learned on the scored data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    mean_absolute_error,
    precision_score,
    recall_score,
    root_mean_squared_error,
)

from calibration.statistics import Plan, Ratings
from calibration.statistics.score_calibration import folds_of
from calibration.statistics.scores import ERRORS, MAPS, MARKS, RULES, TIE, learned, of_scores, truth_of

PLAN = Plan(resamples=100)
QUALITY = {"balanced_accuracy": balanced_accuracy_score, "mcc": matthews_corrcoef}


def _scored(n: int = 240, *, falling: bool = False, seed: int = 0) -> Ratings:
    """Three people say yes or no of turns in dialogues of four, beside a metric's score."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    people = np.where(rng.random((n, 3)) < 0.85, truth[:, None], ~truth[:, None]).astype(float)
    score = np.round(rng.normal(truth * 1.5, 1.0, n) * (-1 if falling else 1), 1)
    return Ratings.from_matrix(
        np.column_stack([people, score]),
        level="binary",
        scale=(0, 1),
        kinds=("human", "human", "human", "metric"),
        raters=("a", "b", "c", "score"),
        clusters=np.arange(n) // 4,
    )


def _graded(n: int = 200) -> Ratings:
    """Two people rate on 0 to 4, a judge on 1 to 5 and leniently."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, n)
    people = np.clip(truth[:, None] + rng.integers(-1, 2, (n, 2)), 0, 4)
    judge = np.clip(truth + 2 + rng.integers(-1, 2, n), 1, 5)
    made = Ratings.from_matrix(
        np.column_stack([people, judge]),
        level="ordinal",
        scale=range(6),
        kinds=("human", "human", "metric"),
        raters=("a", "b", "judge"),
        clusters=np.arange(n) // 4,
    )
    return Ratings(**(vars(made) | {"scale": (0.0, 1.0, 2.0, 3.0, 4.0)}))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("falling", [False, True])
def test_a_threshold_is_the_best_of_all(rule: str, falling: bool) -> None:
    ratings = _scored(60, falling=falling)
    score, truth = ratings.values[:, 3], (ratings.values[:, :3].mean(axis=1) > 0.5).astype(float)
    found = learned(score, truth, rule)
    assert found.rising is not falling
    values = np.unique(score)
    tried = [(a + b) / 2 for a, b in pairwise(values)]
    best = max(QUALITY[rule](truth, (score <= t if falling else score >= t)) for t in tried)
    assert QUALITY[rule](truth, found(score)) == pytest.approx(best, abs=1e-12)


def test_of_equally_good_thresholds_the_one_that_marks_as_many_as_people_do_counts_then_the_lowest() -> None:
    assert learned([1, 2, 3, 4], [0, 1, 0, 1]).value == 1.5
    assert learned([4, 3, 2, 1], [1, 0, 1, 0]) == learned([1, 2, 3, 4], [0, 1, 0, 1])
    truth = [0, 1, 0, 0, 1, 0, 1, 1]  # three mistakes of one kind or the other weigh the same
    quality = {t + 0.5: balanced_accuracy_score(truth, np.arange(8) > t) for t in range(7)}
    best = [t for t, value in quality.items() if value == max(quality.values())]
    marked = {t: abs(sum(np.arange(8) > t) - sum(truth)) for t in best}
    assert learned(range(8), truth).value == min(best, key=lambda t: (marked[t], t))


@pytest.mark.parametrize(
    ("scores", "truth", "reason"),
    [([1, 1], [0, 1], "same throughout"), ([1, 2], [1, 1], "people say yes"), ([1, 2], [0, 2], "0 or 1")],
)
def test_a_threshold_that_cannot_be_learned_says_why(
    scores: list[float], truth: list[float], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        learned(scores, truth)


def test_marks_are_made_by_what_the_other_folds_teach_and_measured_as_libraries_do() -> None:
    ratings = _scored()
    score, truth = ratings.values[:, 3], (ratings.values[:, :3].mean(axis=1) > 0.5).astype(float)
    folds = folds_of(ratings.clusters, ratings.n_items)
    marks = np.empty(len(score))
    for fold in range(5):
        held = folds == fold
        marks[held] = learned(score[~held], truth[~held])(score[held])
    (found,) = [m for m in of_scores(ratings, plan=PLAN).marks if m.rule == "balanced_accuracy"]
    wanted = (
        precision_score(truth, marks),
        recall_score(truth, marks),
        f1_score(truth, marks),
        balanced_accuracy_score(truth, marks),
        cohen_kappa_score(truth, marks),
        matthews_corrcoef(truth, marks),
    )
    assert [r.name for r in found.results] == list(MARKS)
    assert [r.value for r in found.results] == pytest.approx(wanted, abs=1e-12)
    assert all(r.low < r.value < r.high for r in found.results)
    assert found.threshold == learned(score, truth)
    assert found.least <= found.threshold.value <= found.most
    assert "cross-fitted over 5 folds" in found.results[0].method


def test_what_is_learned_on_dev_does_not_change_with_what_people_say_on_test() -> None:
    dev, test = _scored(seed=1), _scored(seed=2)
    turned = test.values.copy()
    turned[:, :3] = 1 - turned[:, :3]
    one, other = of_scores(test, dev, plan=PLAN), of_scores(test.with_values(turned), dev, plan=PLAN)
    assert [m.threshold for m in one.marks] == [m.threshold for m in other.marks]
    assert one.marks[0].results[0].value != other.marks[0].results[0].value
    assert one.held_out
    score, truth = dev.values[:, 3], (dev.values[:, :3].mean(axis=1) > 0.5).astype(float)
    assert one.marks[0].threshold == learned(score, truth)
    assert (one.marks[0].least, one.marks[0].n_learned) == (None, len(truth))


def test_items_on_which_people_tie_are_left_out_and_counted() -> None:
    ratings = _scored().take((0, 1, 3))
    ties = (ratings.values[:, :2].mean(axis=1) == 0.5).sum()
    assert (truth_of(ratings) == TIE).sum() == ties
    found = of_scores(ratings, plan=PLAN).marks[0]
    assert (found.n_ties, found.results[0].n_items) == (ties, ratings.n_items - ties)


def test_probabilities_follow_the_scores_and_are_nearly_calibrated() -> None:
    for found in of_scores(_scored(2000), plan=PLAN).probabilities:
        assert found.calibration.expected_calibration_error.value < 0.06
        assert found.calibration.parts.resolution.value > 0.02


def test_maps_are_measured_against_people_and_a_learned_one_beats_the_mean() -> None:
    ratings = _graded()
    judge, mean = ratings.values[:, 2], ratings.values[:, :2].mean(axis=1)
    found = {m.map: m for m in of_scores(ratings, ends={"judge": (1, 5)}, plan=PLAN).mapped}
    assert list(found) == list(MAPS)
    as_is, end_to_end = found["as_is"].results, found["linear"].results
    assert [r.name for r in as_is] == list(ERRORS)
    assert as_is[0].value == pytest.approx(mean_absolute_error(mean, judge), abs=1e-12)
    assert as_is[1].value == pytest.approx(root_mean_squared_error(mean, judge), abs=1e-12)
    assert end_to_end[2].value == pytest.approx((judge - 1 - mean).mean(), abs=1e-12)
    assert found["ordinal"].results[1].value < found["mean"].results[1].value < as_is[1].value
    assert (found["linear"].n_learned, found["ordinal"].n_learned) == (0, 200)


def test_a_rising_fit_is_scipys() -> None:
    ratings = _graded()
    judge, mean = ratings.values[:, 2], ratings.values[:, :2].mean(axis=1)
    dev = of_scores(ratings, ratings, plan=PLAN)
    (fit,) = [m for m in dev.mapped if m.map == "ordinal"]
    values, counts = np.unique(judge, return_counts=True)
    by_value = [mean[judge == v].mean() for v in values]
    wanted = isotonic_regression(by_value, weights=counts).x[np.searchsorted(values, judge)]
    assert fit.results[1].value == pytest.approx(root_mean_squared_error(mean, wanted), abs=1e-9)


def test_what_cannot_be_learned_is_a_row_with_a_reason() -> None:
    few = Ratings.from_matrix(
        _scored(12).values,
        level="binary",
        scale=(0, 1),
        kinds=("human",) * 3 + ("metric",),
        clusters=[0] * 12,
    )
    found = of_scores(few, plan=PLAN)
    assert {m.reason for m in (*found.marks, *found.probabilities)} == {
        "5 folds need 5 clusters or more; there are 1"
    }
    yes = _scored().values.copy()
    yes[:, :3] = 1
    found = of_scores(_scored().with_values(yes), plan=PLAN)
    assert all("people say yes throughout" in m.reason for m in (*found.marks, *found.probabilities))


def test_raters_on_the_scale_and_people_alone_have_no_scores() -> None:
    assert not of_scores(_scored().take((0, 1, 2)), plan=PLAN)
    assert not of_scores(_scored().take((3,)), plan=PLAN)
