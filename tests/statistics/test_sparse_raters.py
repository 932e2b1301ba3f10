"""A small case of the simulation of one more person; the full table is a benchmark."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.sparse_raters import by_means, cell, study
from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.gaps import beyond_one_more, direction

PLAN = Plan(resamples=150)


@pytest.mark.parametrize("people", [3, 20, 60])
def test_a_judge_that_is_one_more_person_is_seldom_said_to_agree_more_or_less(people: int) -> None:
    for kind in ("marks", "grades"):
        found = cell(kind, 0.5, people, 30, PLAN)
        assert found["more"] + found["less"] <= 0.1  # three of thirty; one and a half are meant
        assert abs(found["mean_gap"]) < 0.06


def test_means_over_pairs_put_nobody_above_a_sparse_crowd() -> None:
    assert by_means(40, 3, PLAN)["above_0"] == 0.0, "no two people share enough items: there is no such mean"


def _with_judge(hit: float) -> Ratings:
    """Three people who are right nine times in ten, and a judge who is right less often."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 600)
    block = np.where(rng.random((600, 4)) < [0.9, 0.9, 0.9, hit], truth[:, None], 1 - truth[:, None])
    kinds = ["human"] * 3 + ["judge"]
    return Ratings.from_matrix(block, level="binary", clusters=np.arange(600) // 3, kinds=kinds)


def test_a_judge_that_is_clearly_worse_is_still_said_to_agree_less() -> None:
    found = analyse(_with_judge(0.6), statistics=["cohen_kappa"], plan=PLAN)
    gap, margin = (found.find(f"{name}_cohen_kappa").result for name in ("gap", "margin"))
    assert direction(gap.value, gap.low, gap.high) == "less"
    assert beyond_one_more(gap.value, margin.value)


def test_two_people_do_not_show_how_far_people_differ() -> None:
    ratings = _with_judge(0.6).take([0, 1, 3])
    margin = analyse(ratings, statistics=["cohen_kappa"], plan=PLAN).find("margin_cohen_kappa").result
    assert (margin.status, margin.value) == ("insufficient", None)
    assert margin.reason == "two raters are too few to tell how far raters differ: three are needed"


def test_people_who_differ_widen_the_margin() -> None:
    alike, apart = (
        np.mean([cell("marks", differ, 5, 8, PLAN)["median_margin"] for _ in range(1)])
        for differ in (0.0, 1.0)
    )
    assert apart > 1.5 * alike


@pytest.mark.parametrize(
    ("gap", "low", "high", "said"),
    [(0.2, 0.1, 0.3, "more"), (-0.2, -0.3, -0.1, "less"), (0.2, -0.1, 0.3, None), (0.2, None, None, None)],
)
def test_more_or_less_needs_an_interval_without_0(
    gap: float, low: float | None, high: float | None, said: str | None
) -> None:
    assert direction(gap, low, high) == said


def test_a_gap_is_beyond_one_more_person_above_the_margin_alone() -> None:
    assert [beyond_one_more(-0.2, margin) for margin in (0.15, 0.25, None)] == [True, False, False]


def test_a_simulated_study_has_three_people_an_item_and_a_judge_on_all() -> None:
    ratings = study(np.random.default_rng(0), "marks", 20, 0.0)
    assert ((~np.isnan(ratings.values[:, :-1])).sum(axis=1) == 3).all()
    assert not np.isnan(ratings.values[:, -1]).any()
