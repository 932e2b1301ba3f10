"""Tests of every statistic in the table. A statistic added without its properties fails here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from calibration.statistics import STATISTICS, Plan, Ratings
from calibration.statistics.core.engine import estimates
from calibration.statistics.core.ratings import SCALES
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample

from .helpers import POINT, compute

SEEDS = range(4)


@dataclass(frozen=True)
class Properties:
    """``renames``: blind to the order of categories. ``flips``: the statistic it becomes when a binary scale
    is reversed ("" if it stays itself, None if it is not of binary scales). ``rises``: more agreement never
    lowers it. ``perfect``: its value when raters agree fully and use every value."""

    renames: bool
    flips: str | None
    rises: bool
    perfect: float | None = 1.0


SAME = Properties(renames=True, flips="", rises=True)
ORDERED = Properties(renames=False, flips=None, rises=True)
PROPERTIES: dict[str, Properties] = {
    "percent_agreement": SAME,
    "cohen_kappa": SAME,
    "cohen_kappa_linear": ORDERED,
    "cohen_kappa_quadratic": ORDERED,
    "scott_pi": SAME,
    "mcc": SAME,
    "fleiss_kappa": SAME,
    "gwet_ac1": SAME,
    "gwet_ac2_linear": ORDERED,
    "gwet_ac2_quadratic": ORDERED,
    "brennan_prediger": SAME,
    "krippendorff_alpha": Properties(renames=False, flips="", rises=True),
    "krippendorff_alpha_masi": Properties(renames=False, flips=None, rises=True),
    "precision": Properties(False, "negative_predictive_value", True),
    "recall": Properties(False, "specificity", True),
    "specificity": Properties(False, "recall", True),
    "f1": Properties(False, "negative_agreement", True),
    "positive_agreement": Properties(False, "negative_agreement", True),
    "negative_agreement": Properties(False, "positive_agreement", True),
    "prevalence_index": Properties(False, "-prevalence_index", False, None),
    "bias_index": Properties(False, "-bias_index", False, 0.0),
    "pabak": Properties(False, "", True),
    "icc_1_1": ORDERED,
    "icc_2_1": ORDERED,
    "icc_3_1": ORDERED,
    "icc_1_k": ORDERED,
    "icc_2_k": ORDERED,
    "icc_3_k": ORDERED,
    "pearson": ORDERED,
    "spearman": ORDERED,
    "kendall_tau_b": ORDERED,
    "ranking_accuracy": ORDERED,
}


SETS = tuple(map(frozenset, ("", "a", "ab", "bc")))
"""Four sets of tags, for statistics that read sets: the values of the scale by their number."""


def _level(key: str) -> str:
    levels = STATISTICS[key].levels
    return "binary" if levels == {"binary"} else "nominal" if "nominal" in levels else "ordinal"


def _ratings(key: str, seed: int, raters: int | None = None) -> Ratings:
    """Ratings that suit the statistic, with all values used and no constant rater."""
    rng = np.random.default_rng(seed)
    level = _level(key)
    k = 2 if level == "binary" else 4
    r = raters or (2 if STATISTICS[key].raters == "pair" else 3)
    truth = np.concatenate([np.arange(k), rng.integers(0, k, 60)])
    block = np.column_stack(
        [np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(0, k, len(truth))) for _ in range(r)]
    )
    clusters = np.arange(len(truth)) // 3
    return _matrix(key, block.astype(float), level=level, scale=range(k), clusters=clusters)


def _matrix(key: str, values: np.ndarray, **options: Any) -> Ratings:
    """Ratings of a matrix; for a statistic of sets the values of the scale are sets."""
    ratings = Ratings.from_matrix(values, **options)
    return replace(ratings, sets=SETS[: len(ratings.scale or ())]) if STATISTICS[key].of_sets else ratings


def _value(ratings: Ratings, key: str, columns: tuple[int, ...] | None = None) -> float:
    value = compute(ratings, key, columns).value
    assert value is not None
    return value


def _changed(ratings: Ratings, values: np.ndarray) -> Ratings:
    return ratings.with_values(values)


def test_every_statistic_declares_its_properties() -> None:
    assert set(PROPERTIES) == set(STATISTICS)


@pytest.mark.parametrize("key", STATISTICS)
def test_the_row_of_the_table_is_complete(key: str) -> None:
    row = STATISTICS[key]
    assert row.key == key
    assert row.title
    assert row.levels <= set(SCALES)
    assert row.levels
    assert row.compute.__doc__ or row.source


@pytest.mark.parametrize("key", STATISTICS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_items_does_not_matter(key: str, seed: int) -> None:
    ratings = _ratings(key, seed)
    shuffled = _changed(ratings, ratings.values[np.random.default_rng(seed).permutation(ratings.n_items)])
    assert _value(shuffled, key) == pytest.approx(_value(ratings, key), abs=1e-12)


@pytest.mark.parametrize("key", [k for k, s in STATISTICS.items() if s.symmetric])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_raters_does_not_matter_where_symmetric(key: str, seed: int) -> None:
    ratings = _ratings(key, seed)
    backwards = tuple(reversed(range(len(ratings.raters))))
    assert _value(ratings, key, backwards) == pytest.approx(_value(ratings, key), abs=1e-12)


@pytest.mark.parametrize("key", [k for k, p in PROPERTIES.items() if p.renames])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_names_of_categories_do_not_matter(key: str, seed: int) -> None:
    ratings = _ratings(key, seed)
    names = np.random.default_rng(seed).permutation(len(ratings.scale or ()))
    renamed = _changed(ratings, names[ratings.values.astype(int)].astype(float))
    assert _value(renamed, key) == pytest.approx(_value(ratings, key), abs=1e-12)


@pytest.mark.parametrize("key", [k for k, p in PROPERTIES.items() if p.flips is not None])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_reversed_binary_scale_gives_the_complement(key: str, seed: int) -> None:
    ratings = _ratings("recall", seed)
    other = PROPERTIES[key].flips or key
    found = _value(_changed(ratings, 1 - ratings.values), key)
    if other == "negative_predictive_value":
        x, y = ratings.values.T
        wanted = ((x == 0) & (y == 0)).sum() / (y == 0).sum()
    else:
        wanted = _value(ratings, other.lstrip("-")) * (-1 if other.startswith("-") else 1)
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("key", STATISTICS)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_stay_within_their_bounds(key: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = _ratings(key, seed)
    random = _changed(ratings, rng.choice(np.array(ratings.scale), ratings.values.shape))
    low, high = STATISTICS[key].bounds
    for case in (ratings, random):
        value = compute(case, key).value
        assert value is None or low - 1e-12 <= value <= high + 1e-12


@pytest.mark.parametrize("key", [k for k, p in PROPERTIES.items() if p.perfect is not None])
def test_full_agreement_reaches_the_top(key: str) -> None:
    ratings = _ratings(key, 1)
    same = _changed(ratings, np.repeat(ratings.values[:, :1], len(ratings.raters), axis=1))
    assert _value(same, key) == pytest.approx(PROPERTIES[key].perfect, abs=1e-9)


@pytest.mark.parametrize("key", [k for k, p in PROPERTIES.items() if p.rises])
@pytest.mark.parametrize("seed", SEEDS)
def test_items_of_full_agreement_never_lower_it(key: str, seed: int) -> None:
    ratings = _ratings(key, seed)
    k = len(ratings.scale or ())
    added = np.repeat(np.arange(k, dtype=float), 30)[:, None].repeat(len(ratings.raters), axis=1)
    more = _matrix(key, np.vstack([ratings.values, added]), level=ratings.level, scale=ratings.scale)
    assert _value(more, key) >= _value(ratings, key) - 1e-12


GARBAGE = {
    "one rater": lambda k: np.array([[0.0], [1.0]]),
    "nothing but missing": lambda k: np.full((5, 3), np.nan),
    "no items": lambda k: np.empty((0, 2)),
    "no item rated twice": lambda k: np.array([[0.0, np.nan], [np.nan, 1.0]]),
    "all the same": lambda k: np.ones((9, 3)),
    "off the scale": lambda k: np.full((9, 3), 77.0),
    "infinite": lambda k: np.array([[0.0, np.inf], [1.0, 1.0]]),
}


@pytest.mark.parametrize("key", STATISTICS)
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_in_gives_a_reason_or_a_finite_value(key: str, garbage: str) -> None:
    ratings = _matrix(key, GARBAGE[garbage](key), level=_level(key), scale=(0, 1))
    columns = None if STATISTICS[key].raters == "panel" else tuple(range(min(2, len(ratings.raters))))
    result = compute(ratings, key, columns, Plan(resamples=50))
    if garbage == "all the same":
        assert result.status in ("ok", "undefined")
        return
    wanted = "rejected" if garbage in ("off the scale", "infinite") else "insufficient"
    assert result.status == wanted
    assert result.reason


@pytest.mark.parametrize("key", STATISTICS)
def test_a_resample_counts_an_item_as_often_as_it_was_drawn(key: str) -> None:
    """The value under weights is the value of the ratings with their clusters repeated that often."""
    ratings = _ratings(key, 3)
    plan = Plan(resamples=5, seed=1)
    resampling = resampling_of(ratings, plan)
    sample = Sample(ratings, range(len(ratings.raters)), resampling)
    replicates = estimates(sample, [STATISTICS[key]], resampling)[0].replicates
    for weights, value in zip(np.concatenate(list(resampling.chunks())), replicates, strict=True):
        times = weights[ratings.clusters].astype(int)
        repeated = np.repeat(ratings.values, times, axis=0)
        drawn = _matrix(key, repeated, level=ratings.level, scale=ratings.scale)
        assert _value(drawn, key) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("key", STATISTICS)
def test_missing_cells_are_counted_and_do_not_change_who_is_compared(key: str) -> None:
    ratings = _ratings(key, 4)
    values = ratings.values.copy()
    values[5:9, 0] = np.nan
    result = compute(_changed(ratings, values), key, plan=POINT)
    assert result.n_missing == 4
    assert result.n_raters == len(ratings.raters)
