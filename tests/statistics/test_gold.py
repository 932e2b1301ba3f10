"""Gold labels from several raters."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from calibration.statistics import Ratings, Record, ratings_from_records
from calibration.statistics.gold import (
    dawid_skene,
    majority,
    mean,
    median,
    median_low,
    severity_adjusted,
    trimmed_mean,
)

NAN = np.nan
BLOCK = Ratings.from_matrix(
    [[1, 1, 2], [1, 2, NAN], [3, 3, 3], [NAN, NAN, NAN], [2, 1, 3]], level="ordinal", scale=(1, 2, 3)
)


def test_a_majority_names_its_ties_and_guesses_nothing() -> None:
    gold = majority(BLOCK)
    assert np.array_equal(gold.values, [1, NAN, 3, NAN, NAN], equal_nan=True)
    assert gold.tied.tolist() == [False, True, False, False, True]
    assert np.array_equal(gold.confidence, [2 / 3, 1 / 2, 1, NAN, 1 / 3], equal_nan=True)
    assert gold.n_ratings.tolist() == [3, 2, 3, 0, 3]
    assert gold.n_without == 3


@pytest.mark.parametrize(
    ("ties", "wanted"), [("lowest", [1, 1, 1]), ("highest", [1, 2, 3]), ("first", [1, 1, 2])]
)
def test_ties_follow_the_policy_that_was_asked_for(ties: str, wanted: list[float]) -> None:
    assert majority(BLOCK, ties=ties).values[[0, 1, 4]].tolist() == wanted


def test_mean_and_median_use_the_ratings_there_are() -> None:
    assert mean(BLOCK).values[[0, 1, 2]] == pytest.approx([4 / 3, 1.5, 3])
    assert median(BLOCK).values[[0, 1, 4]].tolist() == [1, 1.5, 2]
    assert np.isnan(mean(BLOCK).values[3])
    assert np.isnan(median(BLOCK).values[3])


def test_the_lower_median_is_that_of_the_standard_library_and_never_between_two_values() -> None:
    rng = np.random.default_rng(3)
    block = rng.integers(1, 6, (60, 5)).astype(float)
    block[rng.random(block.shape) < 0.4] = NAN
    block[0] = NAN
    ratings = Ratings.from_matrix(block, level="ordinal", scale=(1, 2, 3, 4, 5))
    gold = median_low(ratings)
    assert np.isnan(gold.values[0])
    rows = [row[~np.isnan(row)].tolist() for row in block]
    wanted = [statistics.median_low(row) if row else NAN for row in rows]
    assert np.array_equal(gold.values, wanted, equal_nan=True)
    assert np.array_equal(gold.confidence, median(ratings).confidence, equal_nan=True)
    assert gold.n_ratings.tolist() == [len(row) for row in rows]


def test_confidence_falls_from_one_to_nothing_as_ratings_part() -> None:
    apart = Ratings.from_matrix([[1, 1], [1, 3]], level="ordinal", scale=(1, 2, 3))
    assert mean(apart).confidence.tolist() == [1, 0]


def test_a_trimmed_mean_leaves_out_both_ends() -> None:
    wide = Ratings.from_matrix([[1, 2, 2, 3, 9], [1, 2, 2, 3, NAN]], level="interval")
    assert trimmed_mean(wide, share=0.2).values == pytest.approx([7 / 3, 2.0])
    assert trimmed_mean(wide, share=0.25).values == pytest.approx([7 / 3, 2.0])
    with pytest.raises(ValueError, match="trimmed share"):
        trimmed_mean(wide, share=0.5)


def test_severity_is_taken_off_even_where_raters_saw_different_items() -> None:
    quality = np.array([1.0, 2, 3, 4, 5, 6])
    block = np.column_stack([quality - 1, quality, quality + 1])
    block[[0, 1], 0] = block[[2, 3], 1] = block[[4, 5], 2] = NAN
    ratings = Ratings.from_matrix(block, level="interval")
    assert severity_adjusted(ratings).values == pytest.approx(quality)
    assert [told["severity"] for told in severity_adjusted(ratings).raters.values()] == pytest.approx(
        [-1, 0, 1]
    )


def test_a_mean_of_category_names_is_refused() -> None:
    names = ratings_from_records([Record("a", "x", "red"), Record("a", "y", "blue")], level="nominal")
    with pytest.raises(ValueError, match="use the majority"):
        mean(names)


def test_columns_restrict_who_counts() -> None:
    assert mean(BLOCK, columns=(0, 1)).values[0] == 1


def test_dawid_skene_trusts_the_better_rater() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    rates = (0.95, 0.9, 0.55)
    block = np.column_stack([np.where(rng.random(300) < r, truth, 1 - truth) for r in rates])
    fitted = dawid_skene(Ratings.from_matrix(block, level="binary"))
    assert (fitted.gold.values == truth).mean() > 0.9
    quality = [np.trace(fitted.confusion[f"r{j}"]) / 2 for j in (1, 2, 3)]
    assert min(quality[:2]) > quality[2] + 0.2
    for matrix in fitted.confusion.values():
        assert matrix.sum(axis=1) == pytest.approx([1, 1])


def test_dawid_skene_gives_no_label_to_an_item_without_ratings() -> None:
    fitted = dawid_skene(BLOCK)
    assert np.isnan(fitted.gold.values[3])
    assert fitted.gold.n_without == 1


@pytest.mark.exhaustive
def test_one_rater_named_by_two_columns_has_one_confusion_matrix() -> None:
    fitted = dawid_skene(BLOCK, same_rater={"r1": "ann", "r2": "ann", "r3": "bob"})
    assert set(fitted.confusion) == {"ann", "bob"}
