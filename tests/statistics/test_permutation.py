"""Permuted rows give the same results as one order at a time, and resamples as repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibration.statistics import STATISTICS, Plan, Ratings
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Draw, Sample
from calibration.statistics.correlation import concordance, kendall_by_item, kendall_by_unit, pays
from calibration.statistics.permutation import Orders, correlated, extreme, permuted

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}


def _grids(rows: int, columns: int, steps: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    effect = rng.normal(size=(rows, 1)) * 0.3
    x, y = (np.round((rng.normal(size=(rows, columns)) + effect) * steps) / steps for _ in range(2))
    return x, y


def _by_rows(orders: Orders, columns: int) -> Orders:
    """Return the orders of whole rows as orders of all their values."""
    places = orders.rows[:, :, None] * columns + np.arange(columns)
    return Orders(places.reshape(len(orders.rows), -1), orders.is_exact)


def _one_by_one(x: np.ndarray, y: np.ndarray, orders: np.ndarray, correlation: str) -> int:
    observed = abs(SCIPY[correlation](x.ravel(), y.ravel())[0])
    shuffled = [abs(SCIPY[correlation](x.ravel(), y.ravel()[order])[0]) for order in orders]
    return sum(value >= observed - 1e-12 for value in shuffled)


@pytest.mark.parametrize("correlation", SCIPY)
@pytest.mark.parametrize("shape", [(12, 5, 3), (15, 1, 1000), (30, 20, 1000), (5, 3, 2), (60, 90, 4)])
def test_extreme_orders_are_those_found_one_by_one(correlation: str, shape: tuple[int, int, int]) -> None:
    x, y = _grids(*shape)
    orders = _by_rows(Orders.of(len(x), 60, 0), x.shape[1])
    found = permuted(x.ravel(), y.ravel(), correlation, orders)  # type: ignore[arg-type]
    assert found.extreme == _one_by_one(x, y, orders.rows, correlation)
    assert found.p == (found.extreme + 1) / 61


@pytest.mark.parametrize("correlation", ["pearson", "kendall_tau_b"])
def test_cells_without_a_value_do_not_count(correlation: str) -> None:
    x, y = _grids(12, 40, 2)
    rng = np.random.default_rng(1)
    x[rng.random(x.shape) < 0.1], y[rng.random(y.shape) < 0.1] = np.nan, np.nan
    orders = _by_rows(Orders.of(12, 80, 0), 40)

    def value(order: np.ndarray) -> float:
        one, other = x.ravel(), y.ravel()[order]
        both = ~np.isnan(one) & ~np.isnan(other)
        if correlation == "pearson":
            return abs(np.corrcoef(one[both], other[both])[0, 1])
        n = int(both.sum())
        return abs(concordance(one[both], other[both])) / (n * (n - 1) / 2)

    observed = value(np.arange(480))
    expected = sum(value(order) >= observed - 1e-12 for order in orders.rows)
    assert permuted(x.ravel(), y.ravel(), correlation, orders).extreme == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("correlation", SCIPY)
def test_places_may_be_met_several_times(correlation: str) -> None:
    x, y = (side.ravel() for side in _grids(12, 5, 3))
    partners = np.random.default_rng(2).integers(0, 60, (80, 60))
    found = extreme(x, y, correlation, partners, is_bijective=False)  # type: ignore[arg-type]

    def value(places: np.ndarray) -> float:
        if correlation == "kendall_tau_b":
            return abs(concordance(x, y[places]))
        one, other = (stats.rankdata(side) if correlation == "spearman" else side for side in (x, y))
        return abs(np.corrcoef(one, other[places])[0, 1])

    observed = value(np.arange(60))
    assert found == sum(value(places) >= observed - 1e-12 for places in partners)


def test_all_orders_of_few_rows_are_tried() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    found = permuted(x, x, "spearman", Orders.of(4, 2000, 0))
    assert (found.tried, found.extreme, found.p) == (24, 2, 2 / 24)
    assert found.description == "all 24 permutations"
    with pytest.raises(ValueError, match="needs three"):
        Orders.of(2, 2000, 0)


@pytest.mark.parametrize("steps", [1, 1000])
def test_concordance_is_the_numerator_of_tau(steps: int) -> None:
    x, y = (side.ravel() for side in _grids(30, 4, steps))
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    assert concordance(x, y) == signs.sum() / 2


@pytest.mark.parametrize("steps", [2, 1000])
def test_tau_from_pairs_of_units_has_the_digits_of_tau_by_item(steps: int) -> None:
    x, y = _grids(40, 6, steps)
    units = np.repeat(np.arange(40), 6)
    ratings = Ratings.from_matrix(
        np.column_stack([x.ravel(), y.ravel()]), level="interval", clusters=units, kinds=("metric", "metric")
    )
    resampling = resampling_of(ratings, Plan(resamples=50))
    draw = Draw(Sample(ratings, (0, 1), resampling), next(iter(resampling.chunks())))
    few = Draw(draw.sample, draw.weights[:10])
    assert (pays(draw), pays(few)) == (True, False)
    assert list(kendall_by_unit(draw)[:10]) == list(kendall_by_item(few))
    repeated = np.repeat(np.arange(240), draw.weights[0][units].astype(int))
    expected = stats.kendalltau(x.ravel()[repeated], y.ravel()[repeated])[0]
    assert kendall_by_unit(draw)[0] == pytest.approx(expected, abs=1e-12)
    assert STATISTICS["kendall_tau_b"].compute(draw)[0] == pytest.approx(expected, abs=1e-12)


def test_weighted_rows_are_as_repeated_values() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, (20, 15)).astype(float), rng.normal(size=(20, 15))
    weights = rng.integers(0, 4, (20, 15)).astype(float)
    x[3, 4], y[5, 6], x[7] = np.nan, np.nan, 2.0
    found = correlated(x, y, weights, ("pearson", "spearman", "kendall_tau_b"))
    for row in range(20):
        if row == 7:
            assert np.isnan(found[row]).all()
            continue
        there = ~np.isnan(x[row]) & ~np.isnan(y[row])
        times = np.where(there, weights[row], 0).astype(int)
        one, other = np.repeat(x[row], times), np.repeat(y[row], times)
        expected = [function(one, other)[0] for function in SCIPY.values()]
        assert list(found[row]) == pytest.approx(expected, abs=1e-12)
