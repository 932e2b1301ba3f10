"""ICC never exceeds 1, in any resample, however few cells there are."""

import numpy as np

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.analysis import f_interval


def test_an_interval_of_icc_stays_below_one_with_missing_cells() -> None:
    ratings = Ratings.from_matrix(
        [[1, 1, 1], [2, 3, 2], [5, 4, 5], [3, 3, 4], [np.nan, 2, 1]],
        level="ordinal",
        scale=(1, 2, 3, 4, 5),
        clusters=[0, 0, 1, 1, 2],
    )
    found = analyse(ratings, statistics=("icc_1_k", "icc_2_k", "icc_3_k"), plan=Plan(resamples=500)).panel
    highs = [entry.result.high for entry in found if entry.result.high is not None]
    assert all(high <= 1 for high in highs)


def test_an_f_interval_holds_its_value_or_is_not_given() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(2, 9)), int(rng.integers(2, 6))
        block = rng.normal(size=(n, 1)) * rng.choice([0, 1, 3]) + rng.normal(size=(n, k)) + rng.normal(size=k)
        ratings = Ratings.from_matrix(block, level="interval")
        for form in (1, 2, 3):
            for average in (False, True):
                found = f_interval(ratings, form, average)
                if found.low is None:
                    assert not found.ok or found.reason
                else:
                    assert found.low <= found.value <= found.high <= 1


def test_an_f_interval_of_the_mean_is_mcgraw_and_wongs() -> None:
    shrout = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = f_interval(Ratings.from_matrix(shrout, level="interval"), 2, average=True)
    assert (round(found.low, 2), round(found.high, 2)) == (0.07, 0.93)
