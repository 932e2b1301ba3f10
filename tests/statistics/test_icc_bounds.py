"""ICC never exceeds 1, in no resample, however few cells there are."""

import numpy as np

from calibration.statistics import Plan, Ratings, analyse


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
