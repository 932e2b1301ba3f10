"""Point values equal scikit-learn, scipy, statsmodels and krippendorff to 1e-12 on random ratings."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from calibration.statistics import Ratings
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.core import samples
from calibration.statistics.prevalence import wilson_bounds

from .helpers import compute, pair

EXACT = 1e-12
MANY = settings(max_examples=100, deadline=None, derandomize=True)
Block = np.ndarray


@st.composite
def blocks(draw: st.DrawFn, raters: tuple[int, int] = (2, 5), missing: bool = True) -> tuple[Block, Block]:
    """Ratings (items x raters) with ties, rare values and holes, and their scale with gaps."""
    seed, n = draw(st.integers(0, 2**31)), draw(st.integers(1, 60))
    k, r = draw(st.integers(2, 6)), draw(st.integers(*raters))
    rng = np.random.default_rng(seed)
    scale = np.sort(rng.choice(np.arange(-3, 15), k, replace=False)).astype(float)
    shares = rng.dirichlet(np.full(k, draw(st.sampled_from([0.2, 1.0, 5.0]))))
    truth = rng.choice(k, n, p=shares)
    block = scale[[np.where(rng.random(n) < 0.6, truth, rng.choice(k, n)) for _ in range(r)]].T
    if missing:
        block[rng.random(block.shape) < draw(st.sampled_from([0.0, 0.2, 0.5]))] = np.nan
    return block, scale


def _agrees(found: float | None, wanted: float) -> bool:
    return (found is None) if np.isnan(wanted) else found == pytest.approx(wanted, abs=EXACT)


@MANY
@given(blocks(raters=(2, 2)))
def test_kappa_is_scikit_learns_with_the_scale_given(drawn: tuple[Block, Block]) -> None:
    block, scale = drawn
    both = block[~np.isnan(block).any(axis=1)]
    a, b = np.searchsorted(scale, both).T
    ratings = Ratings.from_matrix(block, level="ordinal", scale=scale)
    for key, weights in (("", None), ("_linear", "linear"), ("_quadratic", "quadratic")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = np.arange(len(scale))
            wanted = metrics.cohen_kappa_score(a, b, labels=labels, weights=weights) if len(a) else np.nan
        assert _agrees(compute(ratings, f"cohen_kappa{key}").value, wanted)


@MANY
@given(blocks(raters=(2, 2)))
def test_mcc_is_scikit_learns_where_it_is_defined(drawn: tuple[Block, Block]) -> None:
    block, scale = drawn
    a, b = block[~np.isnan(block).any(axis=1)].T
    value = compute(Ratings.from_matrix(block, level="nominal", scale=scale), "mcc").value
    if len(np.unique(a)) > 1 and len(np.unique(b)) > 1:
        assert value == pytest.approx(metrics.matthews_corrcoef(a.astype(int), b.astype(int)), abs=EXACT)
    else:
        assert value is None


@pytest.mark.exhaustive
@MANY
@given(st.integers(0, 2**31), st.integers(1, 60), st.floats(0, 1))
def test_precision_recall_and_f1_are_scikit_learns(seed: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.random((2, n)) < share).astype(float)
    ratings = pair(a, b, "binary", scale=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _agrees(
            compute(ratings, "precision").value, metrics.precision_score(a, b, zero_division=np.nan)
        )
        assert _agrees(compute(ratings, "recall").value, metrics.recall_score(a, b, zero_division=np.nan))
        assert _agrees(
            compute(ratings, "specificity").value, metrics.recall_score(1 - a, 1 - b, zero_division=np.nan)
        )
        if a.any() or b.any():
            assert _agrees(compute(ratings, "f1").value, metrics.f1_score(a, b, zero_division=np.nan))


@MANY
@given(blocks(), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_is_krippendorffs_with_missing_values(drawn: tuple[Block, Block], level: str) -> None:
    block, scale = (np.abs(d) if level == "ratio" else d for d in drawn)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = krippendorff.alpha(block.T, level_of_measurement=level)
    except ValueError:
        wanted = np.nan
    ratings = Ratings.from_matrix(block, level=level, scale=np.unique(scale))
    assert _agrees(compute(ratings, "krippendorff_alpha").value, wanted)


@MANY
@given(blocks(missing=False))
def test_fleiss_kappa_is_statsmodels(drawn: tuple[Block, Block]) -> None:
    block, scale = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = fleiss_kappa((block[:, :, None] == scale).sum(axis=1))
    assert _agrees(
        compute(Ratings.from_matrix(block, level="nominal", scale=scale), "fleiss_kappa").value, wanted
    )


CORRELATIONS: dict[str, Callable[[Block, Block], tuple[float, float]]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_tau_b": stats.kendalltau,
}


@pytest.mark.exhaustive
@MANY
@given(st.integers(0, 2**31), st.integers(3, 120), st.integers(0, 3), st.sampled_from([0, 2500]))
def test_correlations_are_scipys_by_table_and_by_item(seed: int, n: int, digits: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(size=n), digits) * 10.0 ** rng.integers(-3, 4) + rng.choice([0, 100])
    b = np.round(rng.random() * a + rng.normal(size=n), digits)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "MAX_TABLE", most)
        for key, wanted in CORRELATIONS.items():
            assert compute(pair(a, b), key).value == pytest.approx(wanted(a, b)[0], abs=EXACT)
        alpha = krippendorff.alpha(np.array([a, b]), level_of_measurement="interval")
        assert compute(pair(a, b), "krippendorff_alpha").value == pytest.approx(alpha, abs=EXACT)


@settings(MANY, max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_are_statsmodels(p: list[float]) -> None:
    for ours, theirs in (
        ("holm", "holm"),
        ("benjamini_hochberg", "fdr_bh"),
        ("benjamini_yekutieli", "fdr_by"),
        ("bonferroni", "bonferroni"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gc, "collect", lambda: 0)  # which statsmodels asks for at every call: seconds
            wanted = multipletests(p, method=theirs)[1]
        assert corrected(p, ours) == pytest.approx(wanted, abs=EXACT)


@MANY
@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_is_statsmodels(n: int, share: float) -> None:
    x = round(share * n)
    assert wilson_bounds(x, n) == pytest.approx(proportion_confint(x, n, method="wilson"), abs=EXACT)


def test_large_samples_lose_no_digits() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(1, 6, 100_000).astype(float)
    b = np.clip(a + rng.integers(-1, 2, len(a)), 1, 5)
    ratings = pair(a, b, "ordinal", scale=range(1, 6))
    wanted = metrics.cohen_kappa_score(a.astype(int), b.astype(int), weights="quadratic")
    assert compute(ratings, "cohen_kappa_quadratic").value == pytest.approx(wanted, abs=EXACT)
    assert compute(ratings, "spearman").value == pytest.approx(stats.spearmanr(a, b)[0], abs=EXACT)
    wanted = krippendorff.alpha(np.array([a, b]), level_of_measurement="ordinal")
    assert compute(ratings, "krippendorff_alpha").value == pytest.approx(wanted, abs=EXACT)


@MANY
@given(blocks(raters=(2, 5), missing=False))
def test_icc_is_the_mean_squares_formula_of_shrout_and_fleiss(drawn: tuple[Block, Block]) -> None:
    block, _ = drawn
    n, k = block.shape
    if n < 3 or np.ptp(block.mean(axis=1)) == 0:
        return
    rows, columns, grand = block.mean(axis=1, keepdims=True), block.mean(axis=0), block.mean()
    between = k * ((rows - grand) ** 2).sum() / (n - 1)
    within = ((block - rows) ** 2).sum() / (n * (k - 1))
    raters = n * ((columns - grand) ** 2).sum() / (k - 1)
    error = ((block - rows - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    wanted = {
        "icc_1_1": ((between - within), between + (k - 1) * within),
        "icc_2_1": ((between - error), between + (k - 1) * error + k * (raters - error) / n),
        "icc_3_1": ((between - error), between + (k - 1) * error),
        "icc_1_k": (between - within, between),
        "icc_2_k": (between - error, between + (raters - error) / n),
        "icc_3_k": (between - error, between),
    }
    ratings = Ratings.from_matrix(block, level="interval")
    for key, (top, bottom) in wanted.items():
        if bottom > 1e-3:
            assert compute(ratings, key).value == pytest.approx(top / bottom, abs=1e-9 / bottom)
        elif bottom < -1e-3:  # a total variance below nothing: the ratio would exceed 1
            assert compute(ratings, key).value is None


def _gwet(block: Block, scale: Block, squares: bool) -> tuple[float, float]:
    """AC and Brennan-Prediger, item by item as in the definition."""
    q = len(scale)
    distance = np.subtract.outer(range(q), range(q)) ** 2 / (q - 1) ** 2
    weights = 1 - distance if squares else np.eye(q)
    agreed, used = [], []
    for row in block:
        counts = np.array([(row == v).sum() for v in scale], dtype=float)
        r = counts.sum()
        if r >= 1:
            used.append(counts / r)
        if r >= 2:
            agreed.append((counts * (weights @ counts - 1)).sum() / (r * (r - 1)))
    shares, observed = np.mean(used, axis=0), np.mean(agreed)
    chance = weights.sum() * (shares * (1 - shares)).sum() / (q * (q - 1))
    return (observed - chance) / (1 - chance), (observed - 1 / q) / (1 - 1 / q)


@MANY
@given(blocks())
def test_ac_and_brennan_prediger_follow_gwets_definition(drawn: tuple[Block, Block]) -> None:
    block, scale = drawn
    if ((~np.isnan(block)).sum(axis=1) < 2).all():
        return
    ratings = Ratings.from_matrix(block, level="ordinal", scale=scale)
    first, uniform = _gwet(block, scale, squares=False)
    assert compute(ratings, "gwet_ac1").value == pytest.approx(first, abs=EXACT)
    assert compute(ratings, "brennan_prediger").value == pytest.approx(uniform, abs=EXACT)
    second = _gwet(block, scale, squares=True)[0]
    assert compute(ratings, "gwet_ac2_quadratic").value == pytest.approx(second, abs=EXACT)
