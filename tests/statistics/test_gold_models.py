"""Rules that learn about raters: planted error rates and severities are found again, and libraries agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import MACE as LibraryMACE
from crowdkit.aggregation import DawidSkene as LibraryDawidSkene
from scipy.stats import kendalltau, trim_mean
from sklearn.metrics import cohen_kappa_score

from calibration.statistics import Ratings, Record, ratings_from_records
from calibration.statistics.adjudication import adjudicated_first
from calibration.statistics.dawid_skene import dawid_skene
from calibration.statistics.gold import (
    comparable,
    majority,
    mean,
    severities,
    severity_adjusted,
    trimmed_mean,
)
from calibration.statistics.mace import mace
from calibration.statistics.weighting import learned, weighted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # crowd-kit's use of pandas
NAN = np.nan
RATES = (0.95, 0.9, 0.55, 0.55, 0.55)


def noisy(rates: tuple[float, ...] = RATES, *, items: int = 600, values: int = 3, seed: int = 0) -> tuple:
    """Return planted categories and the ratings of raters who are right at these rates, else guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, values, items)
    wrong = (truth[:, None] + rng.integers(1, values, (items, len(rates)))) % values
    block = np.where(rng.random((items, len(rates))) < np.array(rates), truth[:, None], wrong)
    return truth, Ratings.from_matrix(block, level="ordinal", scale=range(values))


def answers_of(ratings: Ratings) -> pd.DataFrame:
    rows, columns = np.nonzero(~np.isnan(ratings.values))
    return pd.DataFrame(
        {
            "task": rows,
            "worker": [ratings.raters[column] for column in columns],
            "label": ratings.values[rows, columns],
        }
    )


def severe(*, seen: int = 4, seed: int = 0) -> tuple:
    """Return planted qualities and severities, and ratings of a design in which each item has few raters."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, 120)
    severity = np.linspace(-1.5, 1.5, 12)
    block = quality[:, None] + severity[None, :] + rng.normal(0, 0.2, (120, 12))
    for row in block:
        row[rng.permutation(12)[seen:]] = NAN
    return quality, severity, Ratings.from_matrix(block, level="interval")


def test_dawid_skene_beats_the_majority_where_raters_are_unequal() -> None:
    truth, ratings = noisy()
    right = (dawid_skene(ratings).gold.values == truth).mean()
    by_majority = (majority(ratings, ties="lowest").values == truth).mean()
    assert right > by_majority + 0.05


def test_dawid_skene_is_what_crowd_kit_computes() -> None:
    _, ratings = noisy(items=120)
    fit = LibraryDawidSkene(n_iter=500, tol=1e-10).fit(answers_of(ratings))
    ours = dawid_skene(ratings)
    theirs = fit.probas_.sort_index()[list(ours.grid)].to_numpy()
    np.testing.assert_allclose(ours.posterior, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.gold.confidence, theirs.max(axis=1), rtol=0, atol=1e-12)


def test_dawid_skene_finds_each_rater_s_rate_of_right_answers() -> None:
    _, ratings = noisy(items=2000)
    told = dawid_skene(ratings).gold.raters
    assert [told[name]["accuracy"] for name in ratings.raters] == pytest.approx(RATES, abs=0.04)
    assert {row["n"] for row in told.values()} == {2000}


def test_a_tie_of_probabilities_is_listed_or_goes_where_it_is_sent() -> None:
    even = Ratings.from_matrix([[0, 1], [1, 0]], level="binary")
    gold = dawid_skene(even).gold
    assert np.isnan(gold.values).all()
    assert gold.reasons[0] == "tie: 0 and 1 with a probability of 0.5 each"
    assert dawid_skene(even, ties="highest").gold.values.tolist() == [1, 1]


def test_mace_finds_who_guesses_and_beats_the_majority() -> None:
    truth, ratings = noisy((0.95, 0.9, 0.35, 0.35, 0.35))
    gold = mace(ratings)
    assert (gold.values == truth).mean() > (majority(ratings, ties="lowest").values == truth).mean() + 0.1
    competence = [gold.raters[name]["competence"] for name in ratings.raters]
    assert min(competence[:2]) > 0.6 > 0.4 > max(competence[2:])


def test_mace_is_what_crowd_kit_computes_from_the_same_starts() -> None:
    _, ratings = noisy(items=90)
    order = sorted(range(90), key=str)
    answers = answers_of(replace(ratings, values=ratings.values[order]))
    coded = answers.apply(lambda column: pd.factorize(column)[0])
    starts = np.random.RandomState(7)
    theirs = LibraryMACE(n_restarts=3, n_iter=20, random_state=starts).fit(coded).probas_.sort_index()
    np.testing.assert_allclose(
        mace(ratings, seed=7, restarts=3, rounds=20).confidence[order],
        theirs.to_numpy().max(axis=1),
        rtol=0,
        atol=1e-12,
    )


def test_mace_does_not_hang_on_the_order_of_items_and_raters() -> None:
    _, ratings = noisy(items=80)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(80), rng.permutation(5)
    turned = replace(
        ratings.take(columns),
        values=ratings.values[np.ix_(rows, columns)],
        items=tuple(ratings.items[row] for row in rows),
    )
    one, other = (mace(given, restarts=2, rounds=20) for given in (ratings, turned))
    np.testing.assert_array_equal(one.confidence[rows], other.confidence)
    assert one.raters == other.raters


@pytest.mark.parametrize("share", [0, 0.05, 0.1, 0.2, 0.25, 0.3, 0.34, 0.49])
def test_a_trimmed_mean_is_scipy_s(share: float) -> None:
    rng = np.random.default_rng(1)
    block = rng.normal(size=(60, 31))
    block[rng.random(block.shape) < 0.4] = NAN
    block[0] = NAN
    ours = trimmed_mean(Ratings.from_matrix(block, level="interval"), share=share).values
    theirs = [trim_mean(row[~np.isnan(row)], share) for row in block[1:]]
    np.testing.assert_allclose(ours[1:], theirs, rtol=0, atol=1e-12)
    assert np.isnan(ours[0])


def test_a_trimmed_mean_says_where_nothing_was_cut() -> None:
    few = Ratings.from_matrix([[1, 2, 9], [1, 2, NAN]], level="interval")
    gold = trimmed_mean(few, share=0.2)
    assert gold.remarks == ("nothing was cut: no item has the 5 ratings of which a share of 0.2 is one",)
    assert gold.values == pytest.approx(mean(few).values)
    assert trimmed_mean(few, share=0.34).remarks == ()


def test_severity_adjusted_finds_the_planted_order_under_an_incomplete_design() -> None:
    quality, severity, ratings = severe(seen=3)
    adjusted, plain = severity_adjusted(ratings), mean(ratings)
    assert kendalltau(adjusted.values, quality).statistic > kendalltau(plain.values, quality).statistic + 0.1
    told = [adjusted.raters[name]["severity"] for name in ratings.raters]
    assert np.array(told) == pytest.approx(severity, abs=0.15)
    assert np.argsort(told).tolist() == list(range(12))


def test_severity_adjusted_is_the_least_squares_solution() -> None:
    _, _, ratings = severe(seen=4, seed=5)
    rows, columns = np.nonzero(~np.isnan(ratings.values))
    design = np.zeros((len(rows) + 1, 120 + 12))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), 120 + columns] = 1
    design[-1, 120:] = 1  # severities sum to 0
    wanted, *_ = np.linalg.lstsq(design, np.append(ratings.values[rows, columns], 0), rcond=None)
    np.testing.assert_allclose(severity_adjusted(ratings).values, wanted[:120], rtol=0, atol=1e-10)
    np.testing.assert_allclose(severities(ratings.values), wanted[120:], rtol=0, atol=1e-10)


def test_raters_who_share_no_item_with_the_rest_are_not_compared() -> None:
    apart = Ratings.from_matrix(
        [[1, 2, NAN, NAN], [2, 3, NAN, NAN], [NAN, NAN, 4, NAN], [NAN, NAN, NAN, NAN]], level="interval"
    )
    assert comparable(apart.values).tolist() == [True, True, False, False]
    gold = severity_adjusted(apart)
    assert gold.values[:2] == pytest.approx([1.5, 2.5])
    assert np.isnan(gold.values[2:]).all()
    assert set(gold.reasons) == {2}
    assert "share no item" in gold.reasons[2]


def test_weights_are_kappa_with_the_others() -> None:
    _, ratings = noisy((0.9, 0.8, 0.6), items=150)
    nominal = replace(ratings, level="nominal")
    block = ratings.values
    for level, how in ((nominal, None), (ratings, "quadratic")):
        kappas = {
            (i, j): cohen_kappa_score(block[:, i], block[:, j], labels=[0, 1, 2], weights=how)
            for i in range(3)
            for j in range(3)
            if i != j
        }
        wanted = [np.mean([kappas[i, j] for j in range(3) if j != i]) for i in range(3)]
        everything = np.ones(150, dtype=bool)
        np.testing.assert_allclose(learned(level, everything).agreement, wanted, rtol=0, atol=1e-12)


def test_weights_know_nothing_of_other_items_than_those_they_are_learned_on() -> None:
    _, ratings = noisy(items=200)
    dev = np.arange(200) < 100
    changed = ratings.values.copy()
    changed[100:] = np.random.default_rng(9).integers(0, 3, (100, 5))
    changed[150:] = NAN
    before, after = learned(ratings, dev), learned(ratings.with_values(changed), dev)
    np.testing.assert_array_equal(before.weights, after.weights)
    np.testing.assert_array_equal(before.n_items, after.n_items)
    assert weighted(ratings, dev).raters == weighted(ratings.with_values(changed), dev).raters


def test_weighting_beats_the_majority_and_the_mean_where_raters_are_unequal() -> None:
    truth, ratings = noisy((0.95, 0.9, 0.4, 0.35, 0.35))
    dev = np.arange(600) < 300
    votes = weighted(replace(ratings, level="nominal"), dev, ties="lowest")
    plain = majority(ratings, ties="lowest")
    assert (votes.values == truth)[~dev].mean() > (plain.values == truth)[~dev].mean() + 0.1
    away = np.abs(weighted(ratings, dev).values - truth)[~dev].mean()
    assert away < np.abs(mean(ratings).values - truth)[~dev].mean() - 0.1


def test_a_rater_without_a_weight_does_not_count() -> None:
    _, ratings = noisy((0.95, 0.95, 0.9), items=60)
    block = ratings.values.copy()
    block[:59, 2] = NAN
    block[59, :2] = NAN
    gold = weighted(ratings.with_values(block), np.ones(60, dtype=bool))
    assert gold.raters["r3"]["weight"] == 0
    assert np.isnan(gold.values[59])
    assert gold.reasons[59] == "none of its raters has a weight learned on dev"


def test_a_weighted_tie_has_no_label_and_says_so() -> None:
    block = np.array([[0, 0], [1, 1]] * 10 + [[0, 1]], dtype=float)
    gold = weighted(Ratings.from_matrix(block, level="binary"), np.ones(21, dtype=bool))
    assert gold.tied.tolist() == [False] * 20 + [True]
    assert gold.reasons == {20: "tie: 0 and 1 with the same weight"}


def test_what_was_adjudicated_wins_and_the_rest_falls_back() -> None:
    ratings = Ratings.from_matrix(
        [[1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 1, 2]], level="ordinal", scale=(1, 2, 3)
    )
    decisions = ratings.take([0, 1]).with_values(
        np.array([[2, NAN], [NAN, NAN], [1, 3], [NAN, NAN]], dtype=float)
    )
    chosen = majority(ratings)
    gold = adjudicated_first(ratings, decisions, empty={"3"}, fallback=chosen, name="majority")
    assert np.array_equal(gold.values, [2, 1, NAN, NAN], equal_nan=True)
    assert gold.sources == ("adjudication", "majority", "adjudication", "adjudication")
    assert gold.reasons == {
        2: "adjudicators decided differently: 1 and 3",
        3: "adjudicated as having no answer",
    }
    assert gold.confidence[:2] == pytest.approx([1 / 3, 2 / 3])
    assert gold.n_ratings.tolist() == [1, 3, 2, 0]
    alone = adjudicated_first(ratings, decisions, fallback=None, name="none")
    assert alone.reasons[1] == "it was not adjudicated"


def test_categories_are_weighted_by_name() -> None:
    records = [
        Record(f"i{n}", rater, "tea" if n % 2 else "mate")
        for n in range(30)
        for rater in ("ann", "ben", "cem")
    ]
    named = ratings_from_records(records, level="nominal", values=["mate", "tea"])
    gold = weighted(named, np.ones(30, dtype=bool))
    assert [named.label(value) for value in gold.values[:2]] == ["mate", "tea"]
    assert gold.confidence.tolist() == [1] * 30
