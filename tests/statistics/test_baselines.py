"""Baselines and panels: against scikit-learn's dummies and by hand; no item teaches its own answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

from calibration.statistics import Plan, Ratings
from calibration.statistics.baselines import (
    ERROR,
    MAJORITY,
    MEAN,
    MEDIAN,
    RANDOM,
    SHARE,
    BesidePeople,
    Row,
    baselines,
)
from calibration.statistics.panels import Rule, panel_of

PLAN = Plan(resamples=50)
EVERYTHING = ("percent_agreement", "cohen_kappa", "cohen_kappa_quadratic", "mcc", "spearman", "pearson")
RNG = np.random.default_rng(5)


def ratings(
    values: Any,
    level: Any,
    *,
    clusters: Any = None,
    kinds: Any = None,
    scale: Any = None,
    raters: Any = None,
) -> Ratings:
    matrix = np.array(values, np.float64)
    kinds = kinds or ["human"] * matrix.shape[1]
    return Ratings.from_matrix(
        matrix, level=level, clusters=clusters, kinds=kinds, scale=scale, raters=raters
    )


def floor(shown: Ratings, learn: Ratings | None = None) -> dict[str, Row]:
    beside = BesidePeople(shown, EVERYTHING, PLAN)
    return {row.name: row for row in baselines(beside, learn=learn)}


def value(row: Row, name: str) -> float:
    found = row.figures[name].value
    assert found is not None
    return found


@pytest.mark.parametrize("level", ["binary", "nominal", "ordinal", "ratio"])
def test_learned_on_dev_they_are_scikit_learn_s_dummies(level: str) -> None:
    k = 2 if level == "binary" else 4
    dev, test = RNG.integers(0, k, (30, 1)), RNG.integers(0, k, (40, 1))
    scale = None if level == "ratio" else list(range(k))
    found = floor(ratings(test, level, scale=scale), ratings(dev, level, scale=scale))
    X, y, truth = np.zeros((30, 1)), dev.ravel(), test.ravel()
    if level in ("binary", "nominal"):
        most = DummyClassifier(strategy="most_frequent").fit(X, y)
        assert value(found[MAJORITY], SHARE) == pytest.approx(most.score(np.zeros((40, 1)), truth), abs=1e-12)
        prior = DummyClassifier(strategy="prior").fit(X, y)
        chance = prior.predict_proba(np.zeros((40, 1)))[np.arange(40), np.searchsorted(prior.classes_, truth)]
        assert value(found[RANDOM], SHARE) == pytest.approx(chance.mean(), abs=1e-12)
        return
    name, strategy = (MEDIAN, "median") if level == "ordinal" else (MEAN, "mean")
    dummy = DummyRegressor(strategy=strategy).fit(X, y)
    wanted = mean_absolute_error(truth, dummy.predict(np.zeros((40, 1))))
    assert value(found[name], ERROR) == pytest.approx(wanted, abs=1e-12)


def test_a_random_answer_s_expectation_is_the_mean_of_many_draws() -> None:
    dev, test = RNG.integers(0, 3, (50, 1)), RNG.integers(0, 3, (60, 1))
    row = floor(ratings(test, "ordinal", scale=[0, 1, 2]), ratings(dev, "ordinal", scale=[0, 1, 2]))[RANDOM]
    draws = RNG.choice(dev.ravel(), (4000, 60))
    shares = (draws == test.ravel()).mean(axis=1)
    errors = np.abs(draws - test.ravel()).mean(axis=1)
    for name, drawn in ((SHARE, shares), (ERROR, errors)):
        assert value(row, name) == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(4000))
    assert value(row, "cohen_kappa") == value(row, "spearman") == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["binary", "nominal", "ordinal", "interval"]))
def test_without_dev_no_item_s_own_cluster_is_learned_from(seed: int, level: str) -> None:
    rng = np.random.default_rng(seed)
    k = 2 if level == "binary" else 5
    people = rng.integers(0, k, (24, 2)).astype(float)
    people[rng.random((24, 2)) < 0.2] = np.nan
    clusters = np.repeat(np.arange(6), 4)
    scale = None if level == "interval" else list(range(k))
    name = {"ordinal": MEDIAN, "interval": MEAN}.get(level, MAJORITY)
    row = floor(ratings(people, level, clusters=clusters, scale=scale))[name]
    total, n, off = 0.0, 0, 0.0
    for cluster in range(6):
        others = people[clusters != cluster]
        others = others[~np.isnan(others)]
        own = people[clusters == cluster]
        own = own[~np.isnan(own)]
        if level in ("binary", "nominal"):
            constant = np.bincount(others.astype(int), minlength=k).argmax()
        else:
            constant = np.median(others) if level == "ordinal" else others.mean()
        total, n, off = total + (own == constant).sum(), n + own.size, off + np.abs(own - constant).sum()
    if level != "interval":
        assert value(row, SHARE) == pytest.approx(total / n, abs=1e-12)
    if level in ("ordinal", "interval"):
        assert value(row, ERROR) == pytest.approx(off / n, abs=1e-12)


def test_one_value_throughout_has_kappa_0_flagged_and_neither_mcc_nor_a_correlation() -> None:
    clusters = np.repeat(np.arange(10), 4)
    marks = floor(ratings(np.tile([[1], [0], [0], [0]], (10, 1)), "binary", clusters=clusters))[MAJORITY]
    kappa = marks.figures["cohen_kappa"]
    assert (kappa.value, "constant_rater" in kappa.flags, marks.told) == (0.0, True, "0")
    assert marks.figures["mcc"].status == marks.figures["spearman"].status == "undefined"
    scores = floor(ratings(RNG.normal(size=(40, 1)), "interval", clusters=clusters))[MEAN]
    assert scores.figures["spearman"].status == "undefined"
    assert scores.figures[ERROR].ok
    same = floor(ratings(np.ones((40, 1)), "binary", clusters=clusters))[MAJORITY]
    assert same.figures["cohen_kappa"].status == "undefined"
    alone = floor(ratings(RNG.integers(0, 2, (8, 1)), "binary", clusters=np.zeros(8, int)))[MAJORITY]
    assert alone.reason == "all ratings lie in one cluster, and a baseline learns from other clusters"


def test_a_judge_s_figures_are_those_of_the_libraries() -> None:
    people, judge = RNG.integers(1, 6, (50, 2)).astype(float), RNG.integers(1, 6, 50).astype(float)
    shown = ratings(
        np.column_stack([people, judge]), "ordinal", scale=[1, 2, 3, 4, 5], kinds=["human"] * 2 + ["judge"]
    )
    beside = BesidePeople(shown, EVERYTHING, PLAN)
    found = beside.on_scale("j", judge) | beside.correlated("j", judge) | {ERROR: beside.error("j", judge)}
    x, y = people.T.ravel(), np.tile(judge, 2)
    assert found["cohen_kappa_quadratic"].value == pytest.approx(
        cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5]), abs=1e-12
    )
    assert found[SHARE].value == pytest.approx((x == y).mean(), abs=1e-12)
    assert found["spearman"].value == pytest.approx(spearmanr(people.mean(axis=1), judge)[0], abs=1e-12)
    assert found[ERROR].value == pytest.approx(np.abs(x - y).mean(), abs=1e-12)
    assert (found[SHARE].n_items, found[SHARE].n_clusters, found[SHARE].n_raters) == (50, 50, 3)
    assert found[SHARE].low is not None


def test_length_is_a_rank_and_no_answer() -> None:
    shown = ratings(np.arange(12).reshape(-1, 1) % 5, "ordinal", scale=[0, 1, 2, 3, 4])
    beside = BesidePeople(shown, EVERYTHING, PLAN)
    lengths = {item: (10 * (int(item) % 5), 1) for item in shown.items}
    rows = {row.name: row for row in baselines(beside, lengths=lengths)}
    assert value(rows["length in characters"], "spearman") == pytest.approx(1)
    assert rows["length in words"].figures["spearman"].status == "undefined"
    assert SHARE not in rows["length in characters"].figures


N = np.nan
JUDGES = ratings(
    [[1, 1, 2], [1, 2, 2], [1, 2, 3], [3, N, 3], [N, N, 2], [1, 2, N]], "ordinal", scale=[1, 2, 3],
    kinds=["judge"] * 3, raters=["a", "b", "c"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "least", "wanted", "ties", "short"),
    [
        ("mean", 0, [4 / 3, 5 / 3, 2, 3, N, 1.5], 0, 1),
        ("median", 0, [1, 2, 2, 3, N, 1.5], 0, 1),
        ("majority", 0, [1, 2, N, 3, N, N], 2, 1),
        ("majority", 1, [1, 2, N, 3, 2, N], 2, 0),
        ("mean", 3, [4 / 3, 5 / 3, 2, N, N, N], 0, 3),
    ],
)
def test_a_panel_s_rule_on_six_items(
    rule: Rule, least: int, wanted: list[float], ties: int, short: int
) -> None:
    found = panel_of(JUDGES, ["a", "b", "c"], rule, least=least)
    assert np.allclose(found.values, wanted, equal_nan=True)
    assert (found.n_ties, found.n_short) == (ties, short)
    assert found.n_answered == np.sum(~np.isnan(wanted))


def test_weights_are_the_agreement_with_people_on_dev_alone() -> None:
    truth = RNG.integers(0, 2, 60)
    wrong = np.where(np.arange(60) % 4 == 0, 1 - truth, truth)
    dev = ratings(
        np.column_stack([truth, truth, wrong, 1 - truth]), "binary",
        kinds=["human", "judge", "judge", "judge"], raters=["p", "good", "fair", "bad"],
    )  # fmt: skip
    shown = ratings(
        [[1, 0, 0], [0, 1, 1], [N, 0, 1], [N, N, 1]],
        "binary",
        kinds=["judge"] * 3,
        raters=["good", "fair", "bad"],
    )
    found = panel_of(shown, ["good", "fair", "bad"], "weighted", least=1, learn=dev)
    weights = {member.name: member.weight for member in found.members}
    assert weights == pytest.approx({"good": 1.0, "fair": cohen_kappa_score(truth, wrong), "bad": 0.0})
    assert np.allclose(found.values, [1, 0, 0, N], equal_nan=True)
    assert panel_of(shown, ["good", "fair"], "weighted").reason.startswith("weights are learned on dev")


def test_a_panel_says_why_it_has_no_answer() -> None:
    marks = ratings([[0, 1], [1, 1]], "binary", kinds=["judge"] * 2, raters=["a", "b"])
    assert panel_of(marks, ["a", "b"], "mean").reason == "categories have no mean"
    assert panel_of(marks, ["a", "gone"], "majority").reason.startswith("1 of its members answered")
    assert panel_of(marks, ["a", "b"], "majority", least=3).reason.endswith("it needs 3")
