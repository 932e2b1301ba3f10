"""The tests of a difference refuse what they cannot test, and say what they did."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings
from calibration.statistics.comparison import permutation_by_cluster, two_sample_permutation, williams
from calibration.statistics.replacement import alternative_annotator_test

PLAN = Plan(resamples=50)


def test_one_dialogue_is_no_evidence_over_clusters() -> None:
    block = np.random.default_rng(0).integers(0, 2, (60, 4))
    ratings = Ratings.from_matrix(block, level="binary", clusters=[0] * 60)
    found = alternative_annotator_test(ratings, 3, (0, 1, 2), clustered=True, plan=PLAN)
    assert found.winning_rate.status == "insufficient"
    assert "two clusters" in found.winning_rate.reason


def test_the_alternative_annotator_test_names_its_own_least_number_and_interval() -> None:
    block = np.random.default_rng(0).integers(0, 2, (20, 4))
    ratings = Ratings.from_matrix(block, level="binary")
    assert "shares 25 items" in (
        alternative_annotator_test(ratings, 3, (0, 1, 2), min_items=25).winning_rate.reason
    )
    asked = Plan(resamples=50, interval="bca")
    found = alternative_annotator_test(ratings, 3, (0, 1, 2), min_items=10, plan=asked)
    assert "percentile" in found.advantage.method
    assert "BCa" not in found.advantage.method
    outside = Ratings.from_matrix(block + 1, level="binary", scale=(0, 1))
    assert alternative_annotator_test(outside, 3, (0, 1, 2)).winning_rate.status == "rejected"


@pytest.mark.parametrize("three", [(0.9, 0.1, 0.9), (1.2, 0.3, 0.2), (0.5, 0.5, 1.0)])
def test_correlations_that_cannot_be_compared_are_refused(three: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"no data have|no difference"):
        williams(*three, n=30)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_permutation_test_does_not_depend_on_the_unit(unit: float) -> None:
    one, other = np.array([3.0, 1, 2, 8, 5]) * unit, np.array([1.0, 2, 1, 2]) * unit
    assert two_sample_permutation(one, other).p == pytest.approx(0.1031746, abs=1e-6)
    found = permutation_by_cluster(one[:4], other, None, lambda a, b: float((a - b).mean()))
    assert found.p == 0.375
