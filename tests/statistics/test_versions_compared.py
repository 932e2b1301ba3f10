"""Versions against a selected one, corrected over all tried; and the optimism of choosing the best."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from statsmodels.api import OLS, add_constant

from calibration.statistics import Plan, Ratings
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.judge_biases import family_preference, turn_drift
from calibration.statistics.judges_compared import (
    Contender,
    best_of,
    compared_with,
    contenders_of,
    each_alone,
    judges_compared,
    references_of,
)

PLAN = Plan(resamples=200)


def tags(judges: int, hit: float = 0.8, *, clusters: int = 60, seed: int = 0) -> Ratings:
    """Binary ratings of two people and judges that are right with a chance of `hit`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 4 * clusters)
    columns = [np.where(rng.random(truth.size) < hit, truth, 1 - truth) for _ in range(2 + judges)]
    return Ratings.from_matrix(
        np.column_stack(columns),
        level="binary",
        scale=(0, 1),
        clusters=np.arange(truth.size) // 4,
        raters=["p0", "p1", *(f"j{i}" for i in range(judges))],
        kinds=["human"] * 2 + ["judge"] * judges,
    )


def test_a_judge_alone_has_the_mean_kappa_with_the_people_by_scikit_learn() -> None:
    ratings = tags(1)
    ratings.values[:7, 2] = np.nan
    (one,) = contenders_of(ratings, None, {})
    ((_, against, found),) = each_alone(ratings, [one], statistics=["cohen_kappa"], plan=PLAN)
    people, judge = ratings.values[7:, :2], ratings.values[7:, 2]
    wanted = np.mean([cohen_kappa_score(person, judge) for person in people.T])
    assert found.value == pytest.approx(wanted, abs=1e-12)
    assert (against, found.n_missing, found.n_items) == ("people", 7, 233)
    assert found.low is not None
    assert found.low < wanted < (found.high or 0)


def test_with_a_chosen_one_the_figures_are_those_of_all_pairs() -> None:
    ratings = tags(3)
    every = contenders_of(ratings, None, {})
    pairs = {
        tuple(one.name for one in row.contenders): row
        for row in judges_compared(ratings, every, statistics=["cohen_kappa"], plan=PLAN).pairs
    }
    found = compared_with(ratings, every[:2], every[2], statistics=["cohen_kappa"], plan=PLAN).pairs
    for row in found:
        other = pairs[tuple(one.name for one in row.contenders)]
        assert (row.difference, row.p.value) == (other.difference, other.p.value)


def test_those_tried_before_count_in_the_correction_and_it_is_never_smaller_than_the_whole_one() -> None:
    ratings = tags(6)
    *some, chosen = contenders_of(ratings, None, {})
    whole = compared_with(ratings, some, chosen, statistics=["mcc"], plan=PLAN).pairs
    part = compared_with(ratings, some[:2], chosen, statistics=["mcc"], plan=PLAN, tried=5).pairs
    ps = [row.p.value or 0 for row in part]
    wanted = corrected([*ps, 1.0, 1.0, 1.0], "holm")[:2]
    assert [row.p_holm.value for row in part] == pytest.approx(wanted)
    assert "Holm over 2 pairs of the question and statistic and 3 tried before" in part[0].p_holm.method
    for row, same in zip(part, whole[:2], strict=True):
        assert (row.p_holm.value or 0) >= (same.p_holm.value or 0)


def simulated(studies: int, judges: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per study of equal judges, the best's value and its corrected value less the mean of all."""
    naive, fair = [], []
    for seed in range(studies):
        ratings = tags(judges, seed=seed)
        every = contenders_of(ratings, None, {})
        (reference,) = references_of(ratings, "cohen_kappa")
        found = best_of(ratings, every, "cohen_kappa", reference, Plan(resamples=60, seed=seed))
        assert found is not None
        alone = each_alone(ratings, every, statistics=["cohen_kappa"], plan=Plan(resamples=0))
        middle = np.mean([result.value for _, _, result in alone if result.value is not None])
        naive.append((found.value.value or 0) - middle)
        fair.append((found.corrected.value or 0) - middle)
    return np.array(naive), np.array(fair)


def test_the_correction_takes_away_what_the_best_of_equal_judges_overstates() -> None:
    naive, fair = simulated(studies=60, judges=5)
    error = fair.std(ddof=1) / np.sqrt(len(fair))
    assert abs(fair.mean()) < 3 * error
    assert naive.mean() > 10 * error


def test_where_one_judge_is_far_better_hardly_anything_is_taken_away() -> None:
    weak, strong = tags(3, 0.6), tags(1, 0.95)
    ratings = weak.with_column("best", strong.values[:, 0], kind="judge", on_scale=True)
    values = ratings.values[:, 0].copy()
    every = [
        *contenders_of(weak, None, {}),
        Contender("best", "judge", np.where(np.arange(values.size) % 20 == 0, 1 - values, values), True),
    ]
    (reference,) = references_of(ratings, "cohen_kappa")
    found = best_of(ratings, every, "cohen_kappa", reference, PLAN)
    assert found is not None
    assert (found.best, found.n) == ("best", 4)
    assert found.overstates == pytest.approx(0, abs=0.02)


def test_the_best_on_an_ordered_scale_has_the_same_value_as_in_the_table() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 60)
    near = [np.clip(truth + rng.integers(-1, 2, truth.size), 0, 2).astype(np.float64) for _ in range(5)]
    ratings = Ratings.from_matrix(
        np.column_stack(near),
        level="ordinal",
        scale=(0, 1, 2),
        clusters=np.arange(truth.size) // 2,
        raters=["p0", "p1", "p2", "j0", "j1"],
        kinds=["human"] * 3 + ["judge"] * 2,
    )
    every = contenders_of(ratings, None, {})
    (reference,) = references_of(ratings, "spearman")
    found = best_of(ratings, every, "spearman", reference, PLAN)
    table = each_alone(ratings, every, statistics=["spearman"], plan=PLAN)
    values = {one.name: result.value for one, _, result in table if result.value is not None}
    assert found is not None
    assert found.value.value == pytest.approx(values[found.best], abs=1e-12)
    assert values[found.best] == max(values.values())
    assert found.corrected.value is not None


def test_few_clusters_say_why_there_is_no_correction() -> None:
    ratings = tags(2, clusters=5)
    (reference,) = references_of(ratings, "cohen_kappa")
    found = best_of(ratings, contenders_of(ratings, None, {}), "cohen_kappa", reference, PLAN)
    assert found is not None
    assert (found.corrected.status, found.overstates) == ("insufficient", None)
    assert found.corrected.reason == "5 clusters are too few: it takes 10"


def test_judges_are_chosen_by_the_people_beside_whom_all_of_them_have_a_value() -> None:
    ratings = tags(2, 0.7)
    half = ratings.n_items // 2
    ratings.values[:half, 1], ratings.values[half:, 0] = np.nan, np.nan
    weak, silent = contenders_of(ratings, None, {})
    values = np.where(np.arange(ratings.n_items) < half, ratings.values[:, 0], 0.0)
    says_no_to_the_second = Contender("half", "judge", values, True)
    (reference,) = references_of(ratings, "mcc")
    found = best_of(ratings, [weak, silent, says_no_to_the_second], "mcc", reference, PLAN)
    assert found is not None
    assert (found.best, found.value.value) == ("half", 1.0)
    assert found.value.n_items == half
    always_no = Contender("no", "judge", np.zeros(ratings.n_items), True)
    with_no = best_of(ratings, [weak, silent, always_no], "mcc", reference, PLAN)
    without = best_of(ratings, [weak, silent], "mcc", reference, PLAN)
    assert with_no is not None
    assert without is not None
    assert (with_no.value, with_no.corrected) == (without.value, without.corrected)
    assert best_of(ratings, [always_no, always_no], "mcc", reference, PLAN) is None


def biased(n: int = 400) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    people = rng.normal(3, 1, n)
    length = 0.5 * people + rng.normal(0, 1, n)
    judge = people + 0.4 * length + rng.normal(0, 1, n)
    judge[:5] = np.nan
    return {"people": people, "length": length, "judge": judge}


def test_the_slope_over_turns_is_that_of_least_squares() -> None:
    of = biased()
    position = np.tile(np.arange(4.0), 100)
    gap = of["judge"] - of["people"] + 0.3 * position
    found = turn_drift(of["people"] + gap, of["people"], position, np.arange(400) // 4, PLAN)
    fitted = OLS(gap[5:], add_constant(position[5:])).fit()
    assert found.value == pytest.approx(10 * fitted.params[1], rel=1e-10)
    assert found.n_missing == 5


def test_family_preference_is_the_difference_of_two_means() -> None:
    of = biased()
    own = np.arange(400) % 8 < 4
    gap = of["judge"] - of["people"]
    found = family_preference(of["judge"], of["people"], own, np.arange(400) // 4, PLAN)
    assert found.value == pytest.approx(np.nanmean(gap[own]) - np.nanmean(gap[~own]), abs=1e-12)


@pytest.mark.parametrize("what", ["family", "turns"])
def test_what_cannot_be_told_is_undefined_with_a_reason(what: str) -> None:
    flat, people = np.ones(20), np.arange(20.0)
    clusters = np.arange(20) // 2
    found = {
        "family": lambda: family_preference(people, people, flat > 0, clusters, PLAN),
        "turns": lambda: turn_drift(people, people, flat, clusters, PLAN),
    }[what]()
    assert (found.value, found.status) == (None, "undefined")
    assert found.reason
    nothing = turn_drift(flat * np.nan, people, flat, clusters, PLAN)
    assert (nothing.status, nothing.n_missing) == ("insufficient", 20)
