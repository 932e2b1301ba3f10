"""Processing of records: missing values, direction of a scale, and scales without a mean."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, Record, analyse, ratings_from_records
from calibration.statistics.core.ratings import RatingError
from calibration.statistics.describe import shares
from calibration.statistics.level_scores import aggregate

from .helpers import compute

PLAN = Plan(resamples=0)


@pytest.mark.parametrize("empty", [None, "", "  ", float("nan"), np.nan])
def test_nothing_and_not_a_number_are_missing_and_no_category(empty: object) -> None:
    records = [
        Record("a", "x", "yes"),
        Record("a", "y", "no"),
        Record("b", "x", "no"),
        Record("b", "y", empty),
    ]
    ratings = ratings_from_records(records, level="nominal")
    assert ratings.names == ("no", "yes")
    assert np.isnan(ratings.values).sum() == 1


def _named(positive: str | None) -> Ratings:
    records = []
    for i, (mark, score) in enumerate([("accept", 3), ("reject", 1), ("accept", 4), ("reject", 2)]):
        records += [Record(f"i{i}", "ann", mark, kind="human"), Record(f"i{i}", "bleu", score, kind="metric")]
    return ratings_from_records(records, level="binary", positive=positive)


def test_a_metric_correlates_with_the_positive_class_whatever_its_name() -> None:
    for positive, sign in (("accept", 1), ("reject", -1)):
        found = analyse(_named(positive), statistics=["spearman"], plan=PLAN).find("spearman")
        assert found is not None
        assert np.sign(found.result.value) == sign
    assert analyse(_named(None), statistics=["spearman"], plan=PLAN).find("spearman") is None


def test_categories_have_no_mean_over_a_system() -> None:
    records = [Record(f"i{i}", "x", "abc"[i % 3], system=f"s{i % 2}") for i in range(6)]
    with pytest.raises(ValueError, match="categories have no mean"):
        aggregate(ratings_from_records(records, level="nominal"), "system")


def test_a_metric_beside_named_categories_has_its_own_values() -> None:
    records = [Record("a", "x", "low"), Record("a", "bleu", 37.2, kind="metric"), Record("b", "x", "high")]
    ratings = ratings_from_records(records, level="ordinal", values=("low", "high"))
    assert [shares(ratings, j) for j in (0, 1)] == [{"low": 0.5, "high": 0.5}, {"37.2": 1.0}]


def test_a_thousand_categories_fit_in_memory() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 1000, 1500)
    block = np.where(rng.random((1500, 2)) < 0.7, truth[:, None], rng.integers(0, 1000, (1500, 2)))
    ratings = Ratings.from_matrix(block, level="nominal", scale=range(1000), clusters=np.arange(1500) // 10)
    alpha = compute(ratings, "krippendorff_alpha", plan=Plan(resamples=50))
    assert alpha.low < alpha.value < alpha.high


@pytest.mark.parametrize("sample", [-1, 2**31, 10**30])
def test_a_sample_number_that_no_run_has_is_refused(sample: int) -> None:
    with pytest.raises(RatingError, match="expected a whole number below") as caught:
        ratings_from_records([Record("a", "x", 1), Record("a", "y", 1, sample=sample)], level="ordinal")
    assert (caught.value.index, caught.value.field) == (1, "sample")


def test_items_of_a_cluster_may_differ_in_system() -> None:
    records = [Record(f"i{i}", r, 1, cluster="c", system=f"s{i % 2}") for i in range(4) for r in "xy"]
    ratings = ratings_from_records(records, level="ordinal")
    assert ratings.systems is not None
    assert (ratings.clusters.tolist(), ratings.systems.tolist()) == ([0, 0, 0, 0], [0, 1, 0, 1])
