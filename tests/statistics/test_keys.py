"""Raters against a key: the worked example to all its digits, scikit-learn's figures, baselines, reasons."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    matthews_corrcoef,
)

from calibration.statistics import Plan, Ratings, Record, Result, ratings_from_records
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.keys import KeyRow, KeyTable, keys_of

PLAN = Plan(resamples=200)


def named(row: KeyRow) -> dict[str, Result]:
    """Return a row's figures by name."""
    return {result.name: result for result in (*row.figures, *([row.difference] if row.difference else []))}


def table(ratings: Ratings, **options: object) -> KeyTable:
    """Return the table of the only key."""
    (found,) = keys_of(ratings, plan=PLAN, **options)  # type: ignore[arg-type]
    return found


def example() -> Ratings:
    """Ten items: the key says A six times, B three times, C once; a rater is right on five, two and none."""
    key, rater = "AAAAAABBBC", "AAAAABBBAA"
    records = [Record(f"i{n}", "key", value, kind="key") for n, value in enumerate(key)]
    records += [Record(f"i{n}", "gpt", value, kind="judge") for n, value in enumerate(rater)]
    return ratings_from_records(records, level="nominal", values=["A", "B", "C"])


def test_the_worked_example() -> None:
    found = table(example())
    (row,) = found.rows
    figures = named(row)
    assert (row.n, row.missing, found.values) == (10, 0, ("A", "B", "C"))
    assert row.matrix == ((5, 1, 0), (1, 2, 0), (1, 0, 0))
    exact = pytest.approx
    assert figures["accuracy"].value == exact(0.7, abs=1e-15)
    assert figures["balanced_accuracy"].value == exact((5 / 6 + 2 / 3 + 0) / 3, abs=1e-15)
    assert figures["kappa"].value == exact((0.70 - 0.51) / 0.49, abs=1e-15)
    assert figures["mcc"].value == exact(19 / (42 * 54) ** 0.5, abs=1e-15)
    assert figures["difference_from_baseline"].value == exact(0.1, abs=1e-15)
    assert (row.best, row.best_accuracy) == ("majority", 0.6)
    majority, random = found.baselines
    assert majority.rater == "majority: A"
    of = named(majority)
    assert of["accuracy"].value == 0.6
    assert (of["kappa"].value, "constant_rater" in of["kappa"].flags) == (0.0, True)
    assert (of["mcc"].status, of["mcc"].reason) == (
        "undefined",
        "the baseline majority gave one value throughout",
    )
    assert named(random)["accuracy"].value == exact(1 / 3, abs=1e-15)
    assert named(random)["accuracy"].low is None


def test_the_figures_are_scikit_learn_s() -> None:
    rng = np.random.default_rng(0)
    key = rng.choice(4, 300, p=[0.5, 0.3, 0.15, 0.05])
    rater = np.where(rng.random(300) < 0.7, key, rng.integers(0, 4, 300)).astype(float)
    rater[:20] = np.nan
    ratings = Ratings.from_matrix(
        np.column_stack([key, rater]),
        level="nominal",
        scale=range(4),
        clusters=np.arange(300) // 5,
        raters=["key", "gpt"],
        kinds=["key", "judge"],
    )
    (row,) = table(ratings).rows
    both = key[20:], rater[20:].astype(int)
    figures = named(row)
    assert (row.n, row.missing) == (280, 20)
    for name, theirs in (
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("kappa", cohen_kappa_score),
        ("mcc", matthews_corrcoef),
    ):
        assert figures[name].value == pytest.approx(theirs(*both), abs=1e-12)
    assert row.matrix == tuple(map(tuple, confusion_matrix(*both).tolist()))


def test_the_difference_is_resampled_with_the_majority_of_all_items() -> None:
    rng = np.random.default_rng(2)
    key = (rng.random(240) < 0.45).astype(float)
    rater = np.where(rng.random(240) < 0.8, key, 1 - key)
    clusters = np.arange(240) // 4
    ratings = Ratings.from_matrix(
        np.column_stack([key, rater]),
        level="binary",
        scale=(0, 1),
        clusters=clusters,
        raters=["key", "gpt"],
        kinds=["key", "judge"],
    )
    (row,) = table(ratings).rows
    weights = np.concatenate(list(resampling_of(ratings, PLAN).chunks()))[:, clusters]
    drawn = (weights * ((key == rater) * 1.0 - (key == 0))).sum(axis=1) / weights.sum(axis=1)
    difference = named(row)["difference_from_baseline"]
    assert [difference.low, difference.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-12)


def test_a_fake_rater_of_known_accuracy_is_found_to_have_it() -> None:
    rng = np.random.default_rng(5)
    n = 4000
    key = rng.integers(0, 3, n)
    rater = np.where(rng.random(n) < 0.8, key, (key + rng.integers(1, 3, n)) % 3)
    ratings = Ratings.from_matrix(
        np.column_stack([key, rater]), level="nominal", scale=range(3), raters=["key", "x"], kinds=["key", ""]
    )
    (row,) = table(ratings).rows
    assert abs((named(row)["accuracy"].value or 0) - 0.8) <= 3 * (0.8 * 0.2 / n) ** 0.5


def test_the_majority_of_dev_is_scored_where_it_was_not_learned() -> None:
    dev = ratings_from_records(
        [Record(f"d{n}", "key", "BBBA"[n], kind="key") for n in range(4)],
        level="nominal",
        values=["A", "B", "C"],
    )
    found = table(example(), dev=dev)
    assert [row.rater for row in found.baselines] == ["majority: A", "random", "majority of dev: B"]
    assert named(found.baselines[-1])["accuracy"].value == 0.3
    assert found.rows[0].best == "majority"


def test_raters_without_a_shared_item_or_on_another_scale() -> None:
    block = np.array([[1.0, np.nan, 0.3], [0, np.nan, 0.2], [np.nan, 1, 0.5]])
    ratings = Ratings.from_matrix(
        block, level="binary", scale=(0, 1), raters=["key", "gpt", "bleu"], kinds=["key", "judge", "metric"]
    )
    found = table(ratings)
    (row,) = found.rows  # a metric on a scale of its own has no answers that could be right
    assert (row.n, row.missing) == (0, 2)
    for result in named(row).values():
        assert (result.status, result.reason) == ("insufficient", "no item was answered by both gpt and key")
    assert found.baselines[0].n == 0


@pytest.mark.parametrize(
    ("block", "level", "why"),
    [
        ([[0.1, 0.2], [0.3, 0.1]], "interval", "lists no values"),
        ([[np.nan, 1], [np.nan, 0]], "binary", "key answers none of these items"),
    ],
)
def test_a_question_without_values_or_answers_has_a_reason(
    block: list[list[float]], level: str, why: str
) -> None:
    ratings = Ratings.from_matrix(block, level=level, raters=["key", "gpt"], kinds=["key", "judge"])  # type: ignore[arg-type]
    found = table(ratings)
    assert why in found.reason
    assert found.rows == found.baselines == ()


def test_a_constant_rater_and_a_constant_key_are_told_apart() -> None:
    for key, rater, kappa, mcc in (
        ([0, 1] * 30, [0] * 60, "ok", "gpt gave one value throughout"),
        ([0] * 60, [0, 1] * 30, "ok", "the key has one value throughout: 0"),
        ([0] * 60, [0] * 60, "undefined", "the key has one value throughout: 0"),
    ):
        ratings = Ratings.from_matrix(
            np.column_stack([key, rater]),
            level="binary",
            scale=(0, 1),
            raters=["key", "gpt"],
            kinds=["key", "judge"],
        )
        figures = named(table(ratings).rows[0])
        assert figures["kappa"].status == kappa
        assert figures["mcc"].reason == mcc
