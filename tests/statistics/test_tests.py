"""Tests of a difference refuse unsuitable data, and describe their method."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.analysis import paired_difference
from calibration.statistics.planning import clusters_for_alt_test
from calibration.statistics.replacement import alternative_annotator_test, by_rejected

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
    assert "share 25 items" in (
        alternative_annotator_test(ratings, 3, (0, 1, 2), min_items=25).winning_rate.reason
    )
    asked = Plan(resamples=50, interval="bca")
    found = alternative_annotator_test(ratings, 3, (0, 1, 2), min_items=10, plan=asked)
    assert "percentile" in found.advantage.method
    assert "BCa" not in found.advantage.method
    outside = Ratings.from_matrix(block + 1, level="binary", scale=(0, 1))
    assert alternative_annotator_test(outside, 3, (0, 1, 2)).winning_rate.status == "rejected"


def test_differences_and_gaps_take_the_interval_that_was_asked_for() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 150)
    block = np.where(rng.random((150, 4)) < [0.95, 0.9, 0.85, 0.7], truth[:, None], 1 - truth[:, None])
    kinds = ("human", "human", "human", "judge")
    ratings = Ratings.from_matrix(block, level="binary", kinds=kinds)
    asked = Plan(resamples=400, interval="bca")
    gap = analyse(ratings, statistics=["cohen_kappa"], plan=asked).find("gap_cohen_kappa")
    assert gap is not None
    plain = analyse(ratings, statistics=["cohen_kappa"], plan=Plan(resamples=400)).find("gap_cohen_kappa")
    assert plain is not None
    pairs = ("r1", "r2"), ("r1", "r4")
    found = paired_difference(ratings, "cohen_kappa", *pairs, asked)
    for result in (gap.result, found):
        assert "BCa" in result.method
        assert result.low < result.value < result.high
    assert gap.result.value == plain.result.value
    assert gap.result.low != plain.result.low


def test_a_difference_carries_the_flags_of_both_its_sides() -> None:
    block = np.column_stack([np.tile([0, 1], 40), np.tile([0, 1, 1, 0], 20), np.ones(80)])
    ratings = Ratings.from_matrix(block, level="binary")
    found = paired_difference(ratings, "cohen_kappa", ("r1", "r2"), ("r1", "r3"), PLAN)
    assert "constant_rater" in found.flags


def test_what_is_no_test_does_not_count_among_the_tests() -> None:
    p = np.array([[0.02, np.nan, 0.5], [0.02, 0.9, 0.5], [np.nan, np.nan, np.nan]])
    assert by_rejected(p, 0.05).tolist() == [[False] * 3] * 3
    assert by_rejected(np.array([[0.03, np.nan]]), 0.05).tolist() == [[True, False]]
    assert by_rejected(np.array([[0.03, 0.9]]), 0.05).tolist() == [[False, False]]


def _rare(people: int, rated: tuple[int, ...] = ()) -> Ratings:
    """Return people who tag 1 in 20 items, each the first `rated` of them, and a judge that says no."""
    rng = np.random.default_rng(3)
    block = (rng.random((200, people + 1)) < 0.05).astype(float)
    block[:, -1] = 0
    for person, n in enumerate(rated):
        block[n:, person] = np.nan
    names = [*(f"p{n}" for n in range(people)), "never"]
    return Ratings.from_matrix(
        block,
        level="binary",
        raters=names,
        kinds=["human"] * people + ["judge"],
        clusters=np.arange(200) // 2,
    )


def test_a_judge_that_says_no_throughout_never_passes() -> None:
    found = alternative_annotator_test(_rare(3), 3, (0, 1, 2), plan=PLAN)
    assert (found.winning_rate.status, found.winning_rate.value) == ("undefined", None)
    assert "never gave one value throughout" in found.winning_rate.reason
    assert found.won == ()
    assert found.advantage.value is not None
    assert found.advantage.value > 0.9
    assert "constant_rater" in found.advantage.flags
    with pytest.raises(ValueError, match="never gave one value throughout"):
        clusters_for_alt_test(_rare(3), "never", ["p0", "p1", "p2"], plan=PLAN)


def test_how_many_people_were_tested_is_said_with_the_true_reason_for_the_rest() -> None:
    ratings = _rare(5, (200, 200, 200, 20, 10))
    varied = ratings.values.copy()
    varied[:8, -1] = 1
    found = alternative_annotator_test(ratings.with_values(varied), 5, (0, 1, 2, 3, 4), plan=PLAN)
    assert found.left_out == ("p3", "p4")
    assert "3 of 5 people tested, those with 30 items or more" in found.winning_rate.method
    assert "few_items" in found.winning_rate.flags
    assert "dropped_raters" not in found.winning_rate.flags
