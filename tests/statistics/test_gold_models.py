"""Rules that model raters: planted error rates and severities are recovered, and libraries agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import MACE as LibraryMACE
from crowdkit.aggregation import DawidSkene as LibraryDawidSkene
from scipy.stats import kendalltau, trim_mean
from sklearn.metrics import cohen_kappa_score

from calibration.statistics import Ratings, Record, ratings_from_records
from calibration.statistics.gold import (
    adjudicated_first,
    comparable,
    dawid_skene,
    learned,
    mace,
    majority,
    mean,
    severities,
    severity_adjusted,
    trimmed_mean,
    weighted,
)

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


def expectation_maximisation(answers: dict[int, dict[str, float]], rounds: int) -> tuple:
    """Dawid and Skene's estimate answer by answer, in exact steps: shares, log-likelihood, probabilities."""
    values = sorted({value for given in answers.values() for value in given.values()})
    raters = sorted({rater for given in answers.values() for rater in given})
    belief = {
        item: {v: sum(g == v for g in given.values()) / len(given) for v in values}
        for item, given in answers.items()
    }
    likelihoods = []
    for _ in range(rounds):
        shares = {v: sum(belief[item][v] for item in answers) / len(answers) for v in values}
        error = {}
        for rater in raters:
            for true in values:
                mine = [
                    (belief[item][true], given[rater]) for item, given in answers.items() if rater in given
                ]
                total = sum(weight for weight, _ in mine)
                for said in values:
                    of = sum(weight for weight, value in mine if value == said)
                    error[rater, true, said] = of / total if total else 0.0
        likelihood = 0.0
        for item, given in answers.items():
            joint = {
                v: shares[v] * float(np.prod([error[rater, v, said] for rater, said in given.items()]))
                for v in values
            }
            whole = sum(joint.values())
            likelihood += float(np.log(whole))
            belief[item] = {v: joint[v] / whole for v in values}
        likelihoods.append(likelihood)
    return likelihoods, belief


def uneven(*, items: int, seed: int) -> tuple[Ratings, dict[int, dict[str, float]]]:
    """Return answers of four raters, two or three of them an item, on a scale of five that some misuse."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, items, p=[0.1, 0.2, 0.2, 0.2, 0.3])
    shift = np.array([0, 0, 1, -1])
    block = np.clip(truth[:, None] + shift + rng.integers(-1, 2, (items, 4)), 0, 4).astype(float)
    block[np.arange(items), rng.integers(0, 4, items)] = NAN
    ratings = Ratings.from_matrix(block, level="ordinal", scale=range(5))
    answers = {
        row: {name: float(v) for name, v in zip(ratings.raters, block[row], strict=True) if not np.isnan(v)}
        for row in range(items)
    }
    return ratings, answers


@pytest.mark.parametrize("seed", [0, 1])
def test_dawid_skene_is_an_expectation_maximisation_written_answer_by_answer(seed: int) -> None:
    ratings, answers = uneven(items=60, seed=seed)
    ours = dawid_skene(ratings)
    assert ours.gold.estimation is not None
    assert ours.gold.estimation.converged
    rounds = ours.gold.estimation.rounds
    likelihoods, belief = expectation_maximisation(answers, rounds)
    assert ours.gold.estimation.log_likelihood == pytest.approx(likelihoods[-1], abs=1e-7)
    assert (np.diff(likelihoods) > -1e-9).all()
    theirs = np.array([[belief[row][value] for value in ours.grid] for row in range(60)])
    np.testing.assert_allclose(ours.posterior, theirs, rtol=0, atol=1e-6)


def test_dawid_skene_goes_on_where_crowd_kit_stops(shared_data: Path) -> None:
    """crowd-kit takes a small or negative gain of its loss for the end; the likelihood still rises."""
    frame = pd.read_csv(shared_data.parent / "cases/figures/ds_usr_persona.csv")
    table = frame[frame.question == "Overall"].pivot(index="item", columns="rater", values="value")
    ratings = Ratings.from_matrix(table.to_numpy(float), level="ordinal", scale=range(1, 6))
    theirs = LibraryDawidSkene(n_iter=500, tol=1e-10).fit(answers_of(ratings))
    assert len(theirs.loss_history_) == 4
    gold = dawid_skene(ratings).gold
    assert gold.estimation is not None
    assert gold.estimation.converged
    assert gold.estimation.rounds > 100
    assert gold.estimation.log_likelihood == pytest.approx(-1007.44, abs=0.001)
    assert (gold.values != theirs.labels_.sort_index().to_numpy()).sum() == 56


def test_rounds_that_do_not_suffice_are_not_called_converged() -> None:
    ratings, _ = uneven(items=60, seed=0)
    estimation = dawid_skene(ratings, rounds=3).gold.estimation
    assert estimation is not None
    assert (estimation.rounds, estimation.converged) == (3, False)


def test_dawid_skene_agrees_with_crowd_kit_where_that_converges() -> None:
    _, ratings = noisy(items=120)
    theirs = LibraryDawidSkene(n_iter=500, tol=1e-10).fit(answers_of(ratings))
    ours = dawid_skene(ratings)
    np.testing.assert_array_equal(ours.gold.values, theirs.labels_.sort_index().to_numpy())


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


@pytest.mark.exhaustive
def test_mace_ends_where_crowd_kit_s_rounds_lead() -> None:
    _, ratings = noisy(items=60)
    coded = answers_of(ratings).apply(lambda column: pd.factorize(column)[0])
    theirs = LibraryMACE(n_restarts=1, n_iter=100, random_state=7).fit(coded).probas_.sort_index()
    ours = mace(ratings, restarts=3)
    np.testing.assert_allclose(ours.confidence, theirs.to_numpy().max(axis=1), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mace_converges_on_one_bound_from_any_seed(seed: int) -> None:
    _, ratings = noisy(items=80)
    fits = [mace(ratings, seed=given).estimation for given in (seed, seed + 10)]
    assert all(fit is not None and fit.converged for fit in fits)
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood, abs=1e-6)  # type: ignore[union-attr]
    short = mace(ratings, seed=seed, rounds=2).estimation
    assert short is not None
    assert not short.converged
    assert short.log_likelihood < fits[0].log_likelihood  # type: ignore[union-attr]


def test_mace_does_not_hang_on_the_order_of_items_and_raters() -> None:
    _, ratings = noisy(items=80)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(80), rng.permutation(5)
    turned = replace(
        ratings.take(columns),
        values=ratings.values[np.ix_(rows, columns)],
        items=tuple(ratings.items[row] for row in rows),
    )
    one, other = (mace(given, restarts=2) for given in (ratings, turned))
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
