"""Statistics equal their published formulas, written out item by item, if no library has them."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Ratings
from calibration.statistics.replacement import alternative_annotator_test

from . import formulas
from .helpers import POINT, compute

SEEDS = range(40)


def _drawn(seed: int) -> tuple[np.ndarray, list[float]]:
    """Ratings with ties, rare values, holes and a scale with gaps, tiny or large."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    scale = np.sort(rng.choice(30, k, replace=False)) * 10.0 ** rng.choice([-9, 0, 9])
    truth = rng.choice(k, int(rng.integers(3, 15)), p=rng.dirichlet(np.ones(k)))
    raters = int(rng.integers(2, 6))
    given = np.where(
        rng.random((len(truth), raters)) < 0.6, truth[:, None], rng.integers(0, k, (len(truth), raters))
    )
    block = scale[given]
    block[rng.random(block.shape) < rng.choice([0, 0.2, 0.4])] = np.nan
    block[0, :2], block[1, :2] = scale[0], scale[1]  # so that there is something to compute
    return block, scale.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_gwets_coefficients_with_missing_ratings(seed: int) -> None:
    block, scale = _drawn(seed)
    ratings = Ratings.from_matrix(block, level="ordinal", scale=scale)
    for key, weight in (
        ("gwet_ac1", "unweighted"),
        ("gwet_ac2_linear", "linear"),
        ("gwet_ac2_quadratic", "quadratic"),
    ):
        assert compute(ratings, key).value == pytest.approx(formulas.gwet(block, scale, weight), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_with_missing_ratings(level: str, seed: int) -> None:
    block, scale = _drawn(seed)
    found = compute(Ratings.from_matrix(block, level=level, scale=scale), "krippendorff_alpha").value
    assert found == pytest.approx(formulas.alpha(block, level), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_iccs_with_missing_ratings_also_where_groups_of_raters_share_no_item(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 14)), int(rng.integers(4, 6))
    block = rng.normal(size=n)[:, None] * 2 + rng.normal(size=k) + rng.normal(size=(n, k))
    if seed % 2:
        block[: n // 2, 2:], block[n // 2 :, :2] = np.nan, np.nan
    else:
        block[rng.random(block.shape) < 0.3] = np.nan
    used = block[(~np.isnan(block)).sum(axis=1) >= 2]
    ratings = Ratings.from_matrix(block, level="interval")
    for key, wanted in formulas.iccs(used).items():
        found = compute(ratings, key)
        assert found.value == pytest.approx(wanted, abs=1e-9) or found.status == "insufficient"


def test_a_crowd_in_pairs_has_a_one_way_icc_only() -> None:
    rng = np.random.default_rng(3)
    block = np.full((40, 80), np.nan)
    for n, row in enumerate(block):
        row[2 * n : 2 * n + 2] = rng.normal() * 2 + rng.normal(size=2)
    ratings = Ratings.from_matrix(block, level="interval")
    assert compute(ratings, "icc_1_1").value == pytest.approx(formulas.iccs(block)["icc_1_1"])
    assert compute(ratings, "icc_2_1").status == "insufficient"


def test_a_rater_without_ratings_does_not_raise_the_icc_of_the_mean() -> None:
    block = np.random.default_rng(0).normal(size=(10, 3)) + np.arange(10)[:, None]
    with_absent = np.column_stack([block, np.full(10, np.nan)])
    for key in ("icc_1_k", "icc_2_k", "icc_3_k"):
        values = [compute(Ratings.from_matrix(b, level="interval"), key).value for b in (block, with_absent)]
        assert values[0] == pytest.approx(values[1])


def test_the_test_over_clusters_is_the_ratio_estimate_with_its_linearised_error() -> None:
    from scipy import stats

    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 12, 200)
    truth = rng.integers(0, 2, 200)
    block = np.where(rng.random((200, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    ratings = Ratings.from_matrix(block, level="binary", clusters=clusters)
    found = alternative_annotator_test(ratings, 3, (0, 1, 2), clustered=True, plan=POINT)
    for j in range(3):
        others = block[:, [k for k in range(3) if k != j]]
        judge, person = ((block[:, [c]] == others).mean(axis=1) for c in (3, j))
        d = (person >= judge).astype(float) - (judge >= person)
        names = np.unique(clusters)
        sums = np.array([(d[clusters == c] - d.mean()).sum() for c in names])
        error = np.sqrt(len(names) / (len(names) - 1) * (sums**2).sum()) / len(d)
        wanted = stats.t.cdf((d.mean() - 0.15) / error, len(names) - 1)
        assert found.p_values[f"r{j + 1}"] == pytest.approx(wanted)
