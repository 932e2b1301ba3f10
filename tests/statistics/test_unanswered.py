"""Bounds over unanswered items equal those of trying all possible answers."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from calibration.reports.figures import worded
from calibration.statistics import STATISTICS, Plan, Ratings, Result, analyse, unanswered
from calibration.statistics.panel import POOLED
from calibration.statistics.unanswered import (
    CORRELATIONS,
    GAP,
    MEAN,
    NAME,
    RATIOS,
    SHARE,
    WITH_MEAN,
    Bounded,
    bounds_of,
)

N = np.nan
WEIGHTS = {"cohen_kappa": None, "cohen_kappa_linear": "linear", "cohen_kappa_quadratic": "quadratic"}


def _world(seed: int, scale: list[float], n: int = 9, open_: int = 4, people: int = 1) -> np.ndarray:
    """Items x (people, judge); the judge's last answers are missing, and some of the people's, too."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(scale, n)
    block = np.column_stack(
        [np.where(rng.random(n) < 0.35, rng.choice(scale, n), truth) for _ in range(people + 1)]
    )
    block[-open_:, -1] = N
    if people > 1:
        block[rng.random(block.shape[0]) < 0.2, 0] = N
    return block


def _bounds(block: np.ndarray, level: str, scale: list[float]) -> dict[str, Result]:
    kinds = ["human"] * (block.shape[1] - 1) + ["judge"]
    ratings = Ratings.from_matrix(block, level=level, scale=scale, kinds=kinds)  # type: ignore[arg-type]
    ends = (min(scale), max(scale))
    found = bounds_of(ratings, len(kinds) - 1, statistics=list(STATISTICS), ends=ends)
    assert isinstance(found, Bounded)
    return {result.name: result for result in found.figures}


def test_the_page_names_every_statistic_that_has_no_bounds() -> None:
    page = (Path(__file__).parents[2] / "docs/statistics/uncertainty.md").read_text(encoding="utf-8")
    named = page.partition("### What has no bounds")[2].partition("\n### ")[0].casefold()
    anywhere = {*RATIOS, *unanswered.FORMULAS, *CORRELATIONS}
    for key in STATISTICS:
        name = worded(key).name.replace("’", "'").partition(",")[0].partition(" ICC")[0].casefold()
        assert (name in named) or key in anywhere, key
        beside_several = key in POOLED or key in CORRELATIONS
        assert (name in named) or beside_several, key


def _ways(judge: np.ndarray, scale: list[float]) -> list[np.ndarray]:
    """Return the judge's answers in every way to answer what is open."""
    found = []
    for answers in product(scale, repeat=int(np.isnan(judge).sum())):
        filled = judge.copy()
        filled[np.isnan(judge)] = answers
        found.append(filled)
    return found


def _extremes(values: list[float]) -> tuple[float, float]:
    defined = [value for value in values if np.isfinite(value)]
    return min(defined), max(defined)


def _kappa(x: np.ndarray, y: np.ndarray, scale: list[float], weights: str | None) -> float:
    """1 - observed / expected disagreement, by the definition: over all pairs of ratings."""
    places = [np.searchsorted(scale, side) for side in (x, y)]
    power = {None: 0, "linear": 1, "quadratic": 2}[weights]
    observed = np.abs(places[0] - places[1]) ** power * (x != y)
    expected = np.abs(np.subtract.outer(*places)) ** power * np.not_equal.outer(x, y)
    return N if not expected.any() else float(1 - observed.mean() / expected.mean())


def _pi(x: np.ndarray, y: np.ndarray) -> float:
    share = np.concatenate([x, y]).mean()
    chance = share**2 + (1 - share) ** 2
    return N if chance == 1 else float(((x == y).mean() - chance) / (1 - chance))


def _r(x: np.ndarray, y: np.ndarray) -> float:
    """MCC is Pearson's correlation of two columns of 0 and 1."""
    return N if len(set(x)) < 2 or len(set(y)) < 2 else float(np.corrcoef(x, y)[0, 1])


def _share(top: float, bottom: float) -> float:
    return float(top / bottom) if bottom else N


def _stacked(block: np.ndarray, judge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of a person's rating with the judge's, on items that two people answered (or one)."""
    people = block[:, :-1]
    need = 2 if people.shape[1] > 1 else 1
    kept = (~np.isnan(people)).sum(axis=1) >= need
    rows, columns = np.nonzero(~np.isnan(people) & kept[:, None])
    return people[rows, columns], judge[rows]


@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_of_two_answers_every_bound_is_the_extreme_over_all_ways(seed: int, people: int) -> None:
    scale = [0.0, 1.0]
    block = _world(seed, scale, people=people)
    found = _bounds(block, "binary", scale)
    pairs = [_stacked(block, way) for way in _ways(block[:, -1], scale)]
    by_hand = {
        "cohen_kappa": [_kappa(x, y, scale, None) for x, y in pairs],
        "percent_agreement": [float((x == y).mean()) for x, y in pairs],
        "scott_pi": [_pi(x, y) for x, y in pairs],
        "mcc": [_r(x, y) for x, y in pairs],
        "f1": [_share(2 * (x * y).sum(), x.sum() + y.sum()) for x, y in pairs],
    }
    if people == 1:
        by_hand |= {
            "precision": [_share((x * y).sum(), y.sum()) for x, y in pairs],
            "recall": [_share((x * y).sum(), x.sum()) for x, y in pairs],
            "specificity": [_share(((1 - x) * (1 - y)).sum(), (1 - x).sum()) for x, y in pairs],
            "negative_agreement": [
                _share(2 * ((1 - x) * (1 - y)).sum(), (2 - x - y).sum()) for x, y in pairs
            ],
            "pabak": [2 * float((x == y).mean()) - 1 for x, y in pairs],
        }
    assert {NAME + "percent_agreement", SHARE} <= set(found)
    if people > 1 and (gap := found.get(GAP + "cohen_kappa")) is not None:
        ratings = Ratings.from_matrix(block[:, :-1], level="binary", kinds=["human"] * people)
        among = analyse(ratings, plan=Plan(resamples=0)).find("people_cohen_kappa")
        assert among is not None
        kappas = [value - (among.result.value or 0.0) for value in by_hand["cohen_kappa"]]
        assert (gap.low, gap.high) == pytest.approx(_extremes(kappas), abs=1e-12)
    for name, values in by_hand.items():
        if (result := found.get(NAME + name)) is not None:
            assert (result.low, result.high) == pytest.approx(_extremes(values), abs=1e-12), name


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
@pytest.mark.parametrize("people", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_of_several_answers_kappa_s_bounds_are_its_extremes_with_any_weights(
    seed: int, people: int, level: str
) -> None:
    scale = [1.0, 2.0, 3.0, 4.0]
    block = _world(seed, scale, people=people)
    found = _bounds(block, level, scale)
    pairs = [_stacked(block, way) for way in _ways(block[:, -1], scale)]
    for name, weights in WEIGHTS.items():
        if level == "nominal" and weights:
            assert NAME + name not in found
            continue
        wanted = _extremes([_kappa(x, y, scale, weights) for x, y in pairs])
        assert (found[NAME + name].low, found[NAME + name].high) == pytest.approx(wanted, abs=1e-12), name


@pytest.mark.parametrize("seed", range(6))
def test_no_way_to_answer_has_a_correlation_beyond_its_bounds(seed: int) -> None:
    scale = [1.0, 2.0, 3.0, 4.0, 5.0]
    block = _world(seed, scale, n=10, open_=3, people=2)
    mean = np.nanmean(block[:, :-1], axis=1)
    found = _bounds(block, "interval", scale)
    formulas: dict[str, Any] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall_tau_b": stats.kendalltau,
    }
    for name, formula in formulas.items():
        result = found[WITH_MEAN + name]
        values = [formula(mean, way)[0] for way in _ways(block[:, -1], scale)]
        low, high = _extremes(values)
        assert result.low is not None
        assert result.high is not None
        assert result.low - 1e-12 <= low <= high <= result.high + 1e-12, name
        assert "conservative" in result.method


@pytest.mark.parametrize("name", ["spearman", "kendall_tau_b"])
def test_of_ranks_the_bounds_hold_for_values_off_the_scale_and_stay_close_to_what_is_reached(
    name: str,
) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    y[:12] = N
    low, high = CORRELATIONS[name](x, y, (0.0, 0.0))
    formula: Any = {"spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}[name]
    ways = [np.sort(x[:12])[::-1] * 9, x[:12] * 9, rng.normal(size=12), np.full(12, 99.0)]
    reached = []
    for way in ways:
        filled = y.copy()
        filled[:12] = way
        reached.append(float(formula(x, filled)[0]))
    assert low <= min(reached) <= max(reached) <= high
    assert high - low < 0.15, "twelve of 400 are unanswered"


def test_a_share_and_a_mean_run_from_one_end_of_the_scale_to_the_other() -> None:
    share = _bounds(np.array([[1, 1], [0, 1], [1, 0], [0, N], [1, N]]), "binary", [0.0, 1.0])[SHARE]
    assert (share.value, share.low, share.high) == pytest.approx((2 / 3, 2 / 5, 4 / 5))
    mean = _bounds(np.array([[1, 2.0], [3, 4], [5, N]]), "ordinal", [1.0, 2, 3, 4, 5])[MEAN]
    assert (mean.value, mean.low, mean.high) == pytest.approx((3, 7 / 3, 11 / 3))


@pytest.mark.parametrize("people", [1, 3])
def test_the_value_beside_the_bounds_is_the_one_that_is_reported(people: int) -> None:
    block = _world(2, [0.0, 1.0], n=40, open_=5, people=people)
    kinds = ["human"] * people + ["judge"]
    ratings = Ratings.from_matrix(block, level="binary", kinds=kinds)
    reported = analyse(ratings, plan=Plan(resamples=0))
    found = _bounds(block, "binary", [0.0, 1.0])
    for name in ("cohen_kappa", "mcc", "scott_pi", "percent_agreement", "f1"):
        entry = reported.find(f"judge_{name}") or reported.find(name)
        assert entry is not None
        assert found[NAME + name].value == pytest.approx(entry.result.value, abs=1e-12), name
    rated = (~np.isnan(block[:, :-1])).sum(axis=1) >= min(2, people)
    counted = found[NAME + "mcc"]
    assert (counted.n_items, counted.n_missing) == (int(rated.sum()), int(rated[-5:].sum()))


def test_what_has_no_proven_bound_says_so() -> None:
    block = _world(1, [1.0, 2, 3], people=2)
    ratings = Ratings.from_matrix(block, level="nominal", scale=[1, 2, 3], kinds=["human", "human", "judge"])
    found = bounds_of(ratings, 2, statistics=["mcc", "cohen_kappa", "scott_pi"])
    assert found is not None
    assert dict(found.unbounded) == {"mcc": "only for two answers", "scott_pi": "only for two answers"}
    ratings = Ratings.from_matrix(_world(1, [0.0, 1], people=2), level="binary", kinds=ratings.kinds)
    found = bounds_of(ratings, 2, statistics=["precision", "mcc"])
    assert found is not None
    assert dict(found.unbounded) == {"precision": "with several people it is a mean over pairs of raters"}


def test_who_answered_everything_asked_has_no_bounds() -> None:
    ratings = Ratings.from_matrix(
        np.array([[1, 1], [0, 0], [1, N]]), level="binary", kinds=["human", "judge"]
    )
    asked = np.array([True, True, False])
    assert bounds_of(ratings, 1, asked, statistics=["mcc"]) is None
    assert bounds_of(ratings, 1, statistics=["mcc"]) is not None


def test_ten_thousand_items_take_no_time_worth_speaking_of() -> None:
    """The work grows with the distinct answers of people, and for MCC with the square of the unanswered."""
    rng = np.random.default_rng(1)
    block = (rng.random((10_000, 4)) < 0.3).astype(float)
    block[:800, -1] = N
    found = _bounds(block, "binary", [0.0, 1.0])
    low, high = found[NAME + "mcc"].low, found[NAME + "mcc"].high
    assert low is not None
    assert high is not None
    assert -0.3 < low < 0 < high < 0.3
