"""Calibrated scores and maps between scales."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from calibration.statistics import Plan
from calibration.statistics.score_calibration import (
    METHODS,
    calibration_of,
    cross_fitted,
    direction,
    folds_of,
    isotonic,
    oriented,
    platt,
)
from calibration.statistics.scores import Rescaling, by_rank, constant, linear, ordinal

PLAN = Plan(resamples=100)


def _scored(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    score = rng.integers(1, 6, n).astype(float)
    truth = (rng.random(n) < (score - 1) / 5).astype(float)
    return score, truth, np.arange(n) // 8


def test_platt_is_logistic_regression_without_penalty_on_many_items() -> None:
    score, truth, _ = _scored(20_000)
    model = LogisticRegression(C=1e12).fit(score[:, None], truth)
    assert platt(score, truth)([1, 3, 5]) == pytest.approx(
        model.predict_proba([[1], [3], [5]])[:, 1], abs=1e-3
    )


@pytest.mark.parametrize("method", METHODS)
def test_cross_fitting_calibrates_without_seeing_the_own_dialogue(method: str) -> None:
    score, truth, dialogues = _scored()
    fit = METHODS[method]
    calibrated = cross_fitted(score, truth, dialogues, fit=fit)
    assert brier_score_loss(truth, calibrated) < brier_score_loss(truth, (score - 1) / 4)
    changed = truth.copy()
    changed[dialogues == 3] = 1 - changed[dialogues == 3]
    again = cross_fitted(score, changed, dialogues, fit=fit)
    assert again[dialogues == 3] == pytest.approx(calibrated[dialogues == 3])


def test_folds_are_of_whole_dialogues_and_there_are_as_many_dialogues() -> None:
    dialogues = np.repeat(np.arange(23), 4)
    folds = folds_of(dialogues, len(dialogues))
    assert all(len(set(folds[dialogues == d])) == 1 for d in range(23))
    assert sorted(set(folds)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="5 folds"):
        cross_fitted([1, 2, 3], [0, 1, 1], ["a", "a", "b"], fit=isotonic)


def test_scores_that_fall_with_the_truth_are_turned_round() -> None:
    score, truth, _ = _scored()
    assert (direction(score, truth), direction(-score, truth), direction(score * 0, truth)) == (1, -1, 1)
    rising, falling = oriented(isotonic)(score, truth), oriented(isotonic)(-score, truth)
    assert rising([1, 3, 5]) == pytest.approx(falling([-1, -3, -5]))


def test_the_parts_of_brier_add_up() -> None:
    score, truth, dialogues = _scored()
    p = score / 6
    for bins in (None, 3, 10):
        found = calibration_of(p, truth, dialogues, bins=bins, plan=PLAN)
        assert found.brier.value == pytest.approx(brier_score_loss(truth, p), abs=1e-12)
        parts = found.parts
        total = (
            parts.reliability.value - parts.resolution.value + parts.uncertainty.value + parts.within.value
        )
        assert total == pytest.approx(found.brier.value, abs=1e-12)
        assert parts.uncertainty.value == pytest.approx(truth.var(), abs=1e-12)
    assert calibration_of(p, truth, bins=None, plan=PLAN).parts.within.value == 0


def test_calibration_error_is_the_mean_gap_of_the_curve_and_states_its_bins() -> None:
    score, truth, dialogues = _scored()
    p = score / 6
    found = calibration_of(p, truth, dialogues, bins=5, plan=PLAN)
    error = found.expected_calibration_error
    wanted = sum(b.n * abs(b.predicted - b.observed.value) for b in found.curve) / len(p)
    assert error.value == pytest.approx(wanted, abs=1e-12)
    assert "5 bins of equal width" in error.method
    assert error.low < error.high


@pytest.mark.parametrize("rule", ["equal_width", "equal_count"])
def test_the_curve_keeps_every_item_whatever_the_bins_and_is_pandas_mean(rule: str) -> None:
    score, truth, dialogues = _scored()
    curve = calibration_of(score / 5.5, truth, dialogues, rule=rule, plan=PLAN).curve
    assert sum(b.n for b in curve) == len(score)
    for own in curve:
        inside = (score / 5.5 >= own.low) & (score / 5.5 < own.high)
        if rule == "equal_width":
            assert own.observed.value == pytest.approx(pd.Series(truth[inside]).mean(), abs=1e-12)
            if 0 < own.observed.value < 1:
                assert own.observed.low <= own.observed.value <= own.observed.high


def test_what_is_not_a_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration_of([1.2], [1])
    with pytest.raises(ValueError, match="truth is 0 or 1"):
        calibration_of([0.2], [3])
    with pytest.raises(ValueError, match="no items"):
        calibration_of([], [])


def test_a_constant_map_is_the_mean_of_the_targets() -> None:
    assert constant([1, 2, np.nan, 6])([-5, 100]).tolist() == [3, 3]


def test_a_linear_map_takes_end_to_end_and_says_so() -> None:
    to_people = linear((1, 5), (0, 4))
    assert to_people([1, 3, 5, np.nan])[:3].tolist() == [0, 2, 4]
    assert to_people.method == "linear, 1-5 to 0-4"


def test_a_rank_map_gives_the_targets_distribution() -> None:
    rng = np.random.default_rng(1)
    source, target = rng.integers(1, 6, 500), rng.integers(0, 5, 500)
    assert by_rank(source, target)(source).mean() == pytest.approx(target.mean(), abs=0.15)
    assert by_rank(source, source)([1, 2, 3]) == pytest.approx([1, 2, 3])


def test_an_ordinal_map_never_falls_and_lands_on_the_scale() -> None:
    fitted = ordinal([1, 2, 3, 4, 5, 5], [0, 2, 1, 3, 4, 4], scale=range(5))
    assert list(fitted.targets) == sorted(fitted.targets)
    assert set(fitted.targets) <= {0, 1, 2, 3, 4}


def test_a_map_that_is_not_one_is_refused() -> None:
    with pytest.raises(ValueError, match="must rise"):
        Rescaling((2, 1), (0, 1), "bad")


def test_a_probability_on_an_edge_belongs_to_the_bin_above() -> None:
    tenths = [n / 10 for n in range(1, 10)]
    curve = calibration_of(tenths, [0] * 9, plan=PLAN).curve
    assert [(b.low, b.n) for b in curve] == [(tenth, 1) for tenth in tenths]


def test_a_map_is_not_fitted_on_items_without_a_score_or_a_truth() -> None:
    for scores, truth in (([1, np.nan, 3], [0, 1, 1]), ([1, 2], [0, np.nan]), ([], []), ([1, 2], [1])):
        for fit in (isotonic, platt):
            with pytest.raises(ValueError, match=r"leave the others out|one length"):
                fit(scores, truth)
