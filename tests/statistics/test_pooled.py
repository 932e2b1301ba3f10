"""Agreement from one table of all pairs of ratings: people with each other, a judge with people, the gap."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, matthews_corrcoef

from calibration.statistics import Plan, Ratings, analyse

POINT = Plan(resamples=0)
PEOPLE = 7


def _sparse(level: str = "ordinal", people: int = PEOPLE, items: int = 60, seed: int = 0) -> Ratings:
    """Ratings by two to four people an item, and by a judge."""
    rng = np.random.default_rng(seed)
    k = 2 if level == "binary" else 4
    truth = rng.integers(0, k, items)
    block = np.where(rng.random((items, people + 1)) < 0.7, truth[:, None], rng.integers(0, k, (items, 1)))
    block = np.where(rng.random(block.shape) < 0.2, rng.integers(0, k, block.shape), block).astype(float)
    for item in range(items):
        block[item, rng.permutation(people)[2 + item % 3 :]] = np.nan
    kinds = ["human"] * people + ["judge"]
    clusters = np.arange(items) // 3
    return Ratings.from_matrix(block, level=level, scale=range(k), clusters=clusters, kinds=kinds)


def _pairs(values: np.ndarray) -> list[tuple[float, float]]:
    return [
        (row[a], row[b])
        for row in values
        for a, b in combinations(range(len(row)), 2)
        if not np.isnan(row[[a, b]]).any()
    ]


def _with_judge(values: np.ndarray) -> tuple[list[float], list[float]]:
    pairs = [(x, row[-1]) for row in values for x in row[:-1] if not np.isnan(x)]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _value(ratings: Ratings, name: str) -> float:
    found = analyse(ratings, plan=POINT).find(name)
    assert found is not None
    assert found.result.value is not None
    return found.result.value


@pytest.mark.parametrize(
    ("name", "weights"),
    [("cohen_kappa", None), ("cohen_kappa_linear", "linear"), ("cohen_kappa_quadratic", "quadratic")],
)
def test_a_judges_kappa_with_people_is_that_of_all_its_pairs_in_one_table(
    name: str, weights: str | None
) -> None:
    ratings = _sparse()
    x, y = _with_judge(ratings.values)
    wanted = cohen_kappa_score(x, y, labels=[0, 1, 2, 3], weights=weights)
    assert _value(ratings, f"judge_{name}") == pytest.approx(wanted, abs=1e-12)


def test_mcc_and_f1_are_those_of_the_table_too() -> None:
    ratings = _sparse("binary")
    x, y = _with_judge(ratings.values)
    assert _value(ratings, "judge_mcc") == pytest.approx(matthews_corrcoef(x, y), abs=1e-12)
    assert _value(ratings, "judge_f1") == pytest.approx(f1_score(x, y), abs=1e-12)
    both = [pair for a, b in _pairs(ratings.values[:, :-1]) for pair in ((a, b), (b, a))]
    x, y = [a for a, _ in both], [b for _, b in both]
    assert _value(ratings, "people_mcc") == pytest.approx(matthews_corrcoef(x, y), abs=1e-12)
    assert _value(ratings, "people_f1") == pytest.approx(f1_score(x, y), abs=1e-12)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_peoples_kappa_is_observed_over_expected_disagreement_of_different_people(power: int) -> None:
    ratings = _sparse()
    values = ratings.values[:, :-1]

    def apart(x: float, y: float) -> float:
        return float(abs(x - y) ** power if power else x != y)

    observed = np.mean([apart(x, y) for x, y in _pairs(values)])
    others = (~np.isnan(values)).sum(axis=1) - 1
    top = bottom = 0.0
    for a, b in permutations(range(PEOPLE), 2):
        for i, j in np.ndindex(len(values), len(values)):
            if not np.isnan(values[i, a] + values[j, b]):
                top += others[i] * others[j] * apart(values[i, a], values[j, b])
                bottom += others[i] * others[j]
    name = ("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")[power]
    assert _value(ratings, f"people_{name}") == pytest.approx(1 - observed / (top / bottom), abs=1e-12)


def test_of_two_people_it_is_their_own_kappa_and_mcc() -> None:
    ratings = _sparse("binary", people=2)
    x, y = ratings.values[:, 0], ratings.values[:, 1]
    assert _value(ratings, "people_cohen_kappa") == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)
    assert _value(ratings, "people_mcc") == pytest.approx(matthews_corrcoef(x, y), abs=1e-12)


def test_the_order_of_raters_does_not_matter() -> None:
    ratings = _sparse()
    turned = ratings.take([*reversed(range(PEOPLE)), PEOPLE])
    others = {entry.result.name: entry.result.value for entry in analyse(turned, plan=POINT).gaps}
    for entry in analyse(ratings, plan=POINT).gaps:
        assert others[entry.result.name] == pytest.approx(entry.result.value, abs=1e-12)


def test_pairs_that_agree_on_one_value_throughout_are_counted() -> None:
    """Of ten people two by two on ten items each, half only ever see the common answer."""
    block = np.full((50, 10), np.nan)
    for pair in range(5):
        block[pair * 10 : pair * 10 + 10, 2 * pair : 2 * pair + 2] = 0
    block[0, :2], block[1, 0] = 1, 1
    ratings = Ratings.from_matrix(block, level="binary", scale=(0, 1), kinds=["human"] * 10)
    found = analyse(ratings, plan=Plan(50))
    pooled, mean = (found.find(f"people_{name}").result for name in ("cohen_kappa", "mean_cohen_kappa"))
    assert (pooled.n_items, pooled.n_raters) == (50, 10)
    assert "dropped_raters" not in pooled.flags
    assert (mean.n_items, mean.n_raters) == (10, 2)
    assert "dropped_raters" in mean.flags


def test_the_mean_over_pairs_stands_beside_it_under_its_own_name() -> None:
    ratings = _sparse("binary")
    names = [e.result.name for e in analyse(ratings, statistics=["cohen_kappa"], plan=POINT).gaps]
    sides = ("people", "judge", "gap")
    assert names == [
        "people_cohen_kappa",
        "people_mean_cohen_kappa",
        *(f"{side}_cohen_kappa" for side in sides),
        "margin_cohen_kappa",
        *(f"{side}_mean_cohen_kappa" for side in sides),
    ]


def test_counts_are_those_of_the_data_and_not_of_the_largest_pair() -> None:
    rng = np.random.default_rng(1)
    block = np.full((360, 5), np.nan)
    block[:180, :2] = rng.integers(0, 2, (180, 2))
    block[180:, 2:4] = rng.integers(0, 2, (180, 2))
    block[:, 4] = rng.integers(0, 2, 360)
    kinds = ["human"] * 4 + ["judge"]
    ratings = Ratings.from_matrix(block, level="binary", clusters=np.arange(360) // 6, kinds=kinds)
    gaps = analyse(ratings, statistics=["cohen_kappa"], plan=Plan(200)).gaps
    for entry in gaps[2:]:
        result = entry.result
        assert (result.n_items, result.n_clusters) == (360, 60), result.name
        assert "few_clusters" not in result.flags, result.name
        judged = 0 if "people" in result.name else 1
        assert result.n_raters == 4 + judged
        assert result.n_missing == 4 * 180


def test_a_flag_of_one_tiny_pair_is_not_one_of_the_figure() -> None:
    rng = np.random.default_rng(2)
    block = np.full((200, 4), np.nan)
    block[:, 0], block[:, 1] = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    block[:3, 2], block[:3, :2] = (1, 1, 0), ((1, 1), (1, 0), (1, 0))
    block[:, 3] = rng.integers(0, 2, 200)
    ratings = Ratings.from_matrix(block, level="binary", kinds=["human"] * 3 + ["judge"])
    found = analyse(ratings, plan=Plan(100))
    assert any("constant_rater" in e.result.flags for e in found.pairs)
    for entry in found.gaps:
        assert not {"constant_rater", "prevalence", "few_events"} & set(entry.result.flags), entry


def test_the_replacement_test_counts_the_items_of_all_its_people() -> None:
    rng = np.random.default_rng(4)
    block = np.full((120, 5), np.nan)
    block[:60, :2], block[60:, 2:4] = rng.integers(0, 2, (60, 2)), rng.integers(0, 2, (60, 2))
    block[:, 4] = rng.integers(0, 2, 120)
    ratings = Ratings.from_matrix(block, level="binary", kinds=["human"] * 4 + ["judge"])
    for entry in analyse(ratings, plan=Plan(50)).replacement:
        assert (entry.result.n_items, entry.result.n_raters) == (120, 5)
