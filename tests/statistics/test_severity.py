"""The additive model of items and raters against statsmodels, numpy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from calibration.statistics import Plan, Ratings, rater_panel
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.rater_panel import RaterEffect, groups_of, rater_effects

PLAN = Plan(resamples=200)


def sparse_crowd(items: int = 60, raters: int = 8, per_item: int = 3, seed: int = 0) -> np.ndarray:
    """Items rated by a few raters each, of whom some rate lower."""
    rng = np.random.default_rng(seed)
    worth, off = rng.normal(3, 1, items), np.linspace(-1, 1, raters)
    block = np.full((items, raters), np.nan)
    for i in range(items):
        who = rng.choice(raters, per_item, replace=False)
        block[i, who] = worth[i] + off[who] + rng.normal(0, 0.4, per_item)
    return block


def fitted(
    block: np.ndarray, plan: Plan = PLAN, zero: tuple[int, ...] = (), size: int = 3
) -> tuple[RaterEffect, ...]:
    ratings = Ratings.from_matrix(block, level="interval", clusters=np.arange(len(block)) // size)
    columns = range(block.shape[1])
    return rater_effects(ratings, block, columns, zero or tuple(columns), resampling_of(ratings, plan))


def design(block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dummies of items and of all raters but the first; the values; whose each is."""
    rows, columns = np.nonzero(~np.isnan(block))
    dummies = np.zeros((len(rows), block.shape[0] + block.shape[1]))
    dummies[np.arange(len(rows)), rows] = 1
    dummies[np.arange(len(rows)), block.shape[0] + columns] = 1
    return np.delete(dummies, block.shape[0], axis=1), block[rows, columns], columns


def test_severities_are_those_of_least_squares() -> None:
    block = sparse_crowd()
    x, y, who = design(block)
    found = np.linalg.lstsq(x, y, rcond=None)[0][len(block) :]
    effects = np.concatenate([[0.0], found])
    effects -= (effects * np.bincount(who)).sum() / len(y)
    assert [e.severity.value for e in fitted(block)] == pytest.approx(effects, abs=1e-12)


def test_misfits_are_mean_squares_by_the_leverage_of_statsmodels() -> None:
    block = sparse_crowd(seed=1)
    x, y, who = design(block)
    model = sm.OLS(y, x).fit()
    free = 1 - model.get_influence().hat_matrix_diag
    squares = model.resid**2
    whole = squares.sum() / model.df_resid
    wanted = [squares[who == j].sum() / free[who == j].sum() / whole for j in range(block.shape[1])]
    assert [e.misfit.value for e in fitted(block)] == pytest.approx(wanted, abs=1e-9)


def test_with_very_many_raters_intervals_are_those_of_cluster_robust_standard_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rater_panel, "MOST_RESAMPLED", 5)
    block = sparse_crowd(seed=3)
    x, y, who = design(block)
    clusters = np.nonzero(~np.isnan(block))[0] // 3
    options = {"groups": clusters, "use_correction": False}
    model = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds=options)
    k, items = block.shape[1], len(block)
    contrast = np.zeros((k, x.shape[1]))
    contrast[1:, items:] = np.eye(k - 1)
    contrast -= (np.bincount(who) / len(y)) @ contrast
    seen = len(np.unique(clusters))
    errors = np.sqrt(np.diag(contrast @ model.cov_params() @ contrast.T) * seen / (seen - 1))
    found = fitted(block)
    for j, effect in enumerate(found):
        n = len(np.unique(clusters[who == j]))
        width = stats.t.ppf(0.975, n - 1) * errors[j]
        assert effect.severity.high - effect.severity.value == pytest.approx(width, abs=1e-9)
    assert "cluster-robust" in found[0].severity.method


def test_where_everybody_rated_everything_it_is_the_difference_of_means() -> None:
    block = np.random.default_rng(0).integers(1, 6, (30, 4)).astype(float)
    wanted = block.mean(axis=0) - block.mean()
    assert [e.severity.value for e in fitted(block)] == pytest.approx(wanted, abs=1e-12)


def test_nobody_is_severe_for_having_had_the_weak_items() -> None:
    block = np.array([[1, 1, np.nan], [2, 2, np.nan], [np.nan, 4, 4], [np.nan, 5, 5]])
    assert [e.severity.value for e in fitted(block)] == pytest.approx([0, 0, 0], abs=1e-12)


def test_a_resample_is_the_fit_of_the_items_that_it_draws() -> None:
    block = sparse_crowd(30, 5)
    low = [e.severity.low for e in fitted(block, Plan(resamples=400))]
    clusters = np.arange(30) // 3
    rng = np.random.default_rng(0)
    drawn = []
    for row in rng.integers(0, 10, size=(400, 10)):
        rows = np.concatenate([np.flatnonzero(clusters == c) for c in row])
        drawn.append([e.severity.value for e in fitted(block[rows], Plan(resamples=0))])
    assert low == pytest.approx(np.quantile(drawn, 0.025, axis=0), abs=1e-9)


def test_zero_is_the_average_person_where_people_are_named() -> None:
    block = sparse_crowd()
    given = (~np.isnan(block)).sum(axis=0)[:3]
    effects = [e.severity.value for e in fitted(block, zero=(0, 1, 2))]
    assert (np.array(effects[:3]) * given).sum() == pytest.approx(0, abs=1e-9)


def test_raters_whom_no_item_joins_are_not_compared() -> None:
    block = np.full((8, 5), np.nan)
    block[:5, :2] = [[1, 2], [2, 3], [3, 4], [2, 4], [4, 4]]
    block[5:7, 2:4] = [[1, 3], [2, 4]]
    block[7, 4] = 5
    assert groups_of(block).tolist() == [1, 1, 2, 2, 0]
    found = fitted(block, size=1)
    assert [e.group for e in found] == [1, 1, 2, 2, 0]
    assert [e.severity.value for e in found[2:4]] == pytest.approx([-1, 1])
    assert found[4].severity.reason == "shares no item with another rater"
    assert found[2].misfit.reason.startswith("the raters differ by the same amount")


def test_a_rater_seen_in_one_cluster_has_no_interval() -> None:
    block = sparse_crowd(60, 4)
    block = np.column_stack([block, np.full(60, np.nan)])
    block[:3, 4] = [3.0, 4.0, 2.0]
    last = fitted(block)[-1].severity
    assert last.ok
    assert last.low is None
    assert "single cluster" in last.reason


def test_a_constant_rater_is_flagged_and_two_raters_are_enough() -> None:
    block = np.column_stack([np.full(20, 3.0), np.arange(20) % 5])
    one, other = fitted(block)
    assert one.severity.value == pytest.approx(0.5)
    assert other.severity.value == pytest.approx(-0.5)
    assert "constant_rater" in one.severity.flags
    assert "constant_rater" not in other.severity.flags
    assert fitted(block[:, :1])[0].group == 0


def test_single_ratings_leave_no_residuals() -> None:
    found = fitted(np.array([[1.0, 2.0]]))[0]
    assert found.severity.value == pytest.approx(-0.5)
    assert found.misfit.status == "undefined"
