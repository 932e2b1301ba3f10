"""Calibrated scores and maps between scales."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from calibration.statistics import Plan
from calibration.statistics.rescaling import Rescaling, by_rank, linear, ordinal
from calibration.statistics.score_calibration import (
    brier,
    brier_parts,
    cross_fitted,
    expected_calibration_error,
    isotonic,
    platt,
    reliability_curve,
)

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


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_cross_fitting_calibrates_without_seeing_the_own_dialogue(method: str) -> None:
    score, truth, dialogues = _scored()
    calibrated = cross_fitted(score, truth, dialogues, method=method)
    raw = (score - 1) / 4
    assert brier(calibrated, truth, dialogues, PLAN).value < brier(raw, truth, dialogues, PLAN).value
    changed = truth.copy()
    changed[dialogues == 3] = 1 - changed[dialogues == 3]
    again = cross_fitted(score, changed, dialogues, method=method)
    assert again[dialogues == 3] == pytest.approx(calibrated[dialogues == 3])


def test_cross_fitting_needs_as_many_dialogues_as_folds() -> None:
    with pytest.raises(ValueError, match="5 folds"):
        cross_fitted([1, 2, 3], [0, 1, 1], ["a", "a", "b"])


def test_the_parts_of_brier_add_up() -> None:
    score, truth, _ = _scored()
    p = score / 6
    parts = brier_parts(p, truth)
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(
        brier_score_loss(truth, p)
    )
    binned = brier_parts(p, truth, bins=3)
    total = binned.reliability - binned.resolution + binned.uncertainty + binned.within
    assert total == pytest.approx(brier_score_loss(truth, p))


def test_calibration_error_is_the_mean_gap_of_the_curve_and_states_its_bins() -> None:
    score, truth, dialogues = _scored()
    p = score / 6
    curve = reliability_curve(p, truth, bins=5)
    wanted = sum(b.n * abs(b.predicted - b.observed) for b in curve) / len(p)
    result = expected_calibration_error(p, truth, dialogues, bins=5, plan=PLAN)
    assert result.value == pytest.approx(wanted)
    assert "5 bins of equal width" in result.method
    assert result.low < result.high


def test_the_curve_keeps_every_item_whatever_the_bins() -> None:
    score, truth, _ = _scored()
    for rule in ("equal_width", "equal_count"):
        assert sum(b.n for b in reliability_curve(score / 5, truth, rule=rule)) == len(score)


def test_what_is_not_a_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier([1.2], [1])
    with pytest.raises(ValueError, match="truth is 0 or 1"):
        brier([0.2], [3])


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
    curve = reliability_curve(tenths, [0] * 9)
    assert [(b.low, b.n) for b in curve] == [(tenth, 1) for tenth in tenths]


def test_a_map_is_not_fitted_on_items_without_a_score_or_a_truth() -> None:
    for scores, truth in (([1, np.nan, 3], [0, 1, 1]), ([1, 2], [0, np.nan]), ([], []), ([1, 2], [1])):
        for fit in (isotonic, platt):
            with pytest.raises(ValueError, match=r"leave the others out|one length"):
                fit(scores, truth)
