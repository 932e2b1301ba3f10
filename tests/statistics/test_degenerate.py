"""Each statistic's result if it has no value, or a misleading one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calibration.statistics import Plan, RatingError, Ratings, Record, Result, ratings_from_records
from calibration.statistics.core.resampling import bounds_of
from calibration.statistics.repeats import pass_hat_k
from calibration.statistics.replacement import alternative_annotator_test

from .helpers import POINT, QUICK, alpha_at_level, compute, pair, panel

ONES, MIXED, COUNTING = [1.0] * 20, [1.0] * 10 + [0.0] * 10, list(range(20))
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, np.nan]]


def _string_categories() -> Result:
    records = [Record(f"i{i}", r, v) for i, v in enumerate(["a", "b", "nan", "a"]) for r in ("x", "y")]
    return compute(ratings_from_records(records, level="nominal"), "krippendorff_alpha")


def _unlisted() -> Result:
    return compute(panel([[1, 2, 3], [1, 2, 3]], "nominal", scale=[1, 2]), "krippendorff_alpha")


def _constant_bca() -> Result:
    bounds = bounds_of(1.0, np.ones(100), Plan(interval="bca"), np.ones(20))
    return Result("bca", 1.0, bounds.low, bounds.high, reason=bounds.reason, flags=bounds.flags)


def _flat_alt_test() -> Result:
    values = np.tile(np.array(MIXED * 2)[:, None], (1, 4))
    ratings = Ratings.from_matrix(values, level="binary", kinds=["judge", "human", "human", "human"])
    return alternative_annotator_test(ratings, 0, (1, 2, 3), epsilon=0.1, plan=POINT).winning_rate


def _missing_pairs() -> Result:
    return compute(pair([1, 0, np.nan, 1], [1, 0, 1, np.nan], "binary"), "cohen_kappa")


CASES: dict[str, tuple[Callable[[], Result], str, float | None, str]] = {
    "cohen_kappa_both_constant_same": (
        lambda: compute(pair(ONES, ONES, "binary"), "cohen_kappa"),
        "undefined",
        None,
        "no variation",
    ),
    "cohen_kappa_one_constant": (
        lambda: compute(pair(ONES, MIXED, "binary"), "cohen_kappa"),
        "ok",
        0.0,
        "constant_rater",
    ),
    "quadratic_kappa_both_constant_same_weighted": (
        lambda: compute(pair(ONES, ONES, "ordinal", scale=[1, 2, 3]), "cohen_kappa_quadratic"),
        "undefined",
        None,
        "no variation",
    ),
    "MCC_constant": (lambda: compute(pair(ONES, MIXED, "binary"), "mcc"), "undefined", None, "one value"),
    "F1_no_positives": (
        lambda: compute(pair([0.0] * 20, [0.0] * 20, "binary"), "f1"),
        "undefined",
        None,
        "no positives",
    ),
    "F1_no_positives_zero_div_nan": (
        lambda: compute(pair([0.0] * 20, [0.0] * 20, "binary"), "f1"),
        "undefined",
        None,
        "no positives",
    ),
    "spearman_constant": (lambda: compute(pair(ONES, COUNTING), "spearman"), "undefined", None, "one value"),
    "kendall_tau_b_constant": (
        lambda: compute(pair(ONES, COUNTING), "kendall_tau_b"),
        "undefined",
        None,
        "one value",
    ),
    "pearson_constant": (lambda: compute(pair(ONES, COUNTING), "pearson"), "undefined", None, "one value"),
    "pearson_two_points": (lambda: compute(pair([1, 2], [3, 5]), "pearson"), "insufficient", None, "n<3"),
    "krippendorff_alpha_all_same": (
        lambda: compute(panel([ONES, ONES, ONES], "nominal"), "krippendorff_alpha"),
        "undefined",
        None,
        "no variation",
    ),
    "krippendorff_alpha_all_same_with_domain": (
        lambda: compute(panel([ONES, ONES], "nominal", scale=[1, 2]), "krippendorff_alpha"),
        "undefined",
        None,
        "no variation",
    ),
    "krippendorff_alpha_all_missing": (
        lambda: compute(panel([[None] * 3, [None] * 3], "nominal", scale=[1, 2]), "krippendorff_alpha"),
        "insufficient",
        None,
        "no ratings",
    ),
    "krippendorff_alpha_single_rater": (
        lambda: compute(panel([[1, 2, 1]], "nominal"), "krippendorff_alpha"),
        "insufficient",
        None,
        "fewer than two raters",
    ),
    "krippendorff_alpha_one_item": (
        lambda: compute(panel([[1], [2]], "nominal"), "krippendorff_alpha", plan=QUICK),
        "ok",
        0.0,
        "one_item",
    ),
    "krippendorff_alpha_one_item_agree": (
        lambda: compute(panel([[1], [1]], "nominal"), "krippendorff_alpha"),
        "undefined",
        None,
        "no variation",
    ),
    "krippendorff_alpha_unlisted_value": (_unlisted, "rejected", None, "outside the declared scale"),
    "krippendorff_alpha_string_values": (_string_categories, "ok", 1.0, ""),
    "krippendorff_alpha_ratio_zero": (
        lambda: compute(panel([[0, 0, 1, 4, 9], [0, 0, 1, 4, 8]], "ratio"), alpha_at_level("ratio")),
        "ok",
        None,
        "",
    ),
    "fleiss_kappa_one_category": (
        lambda: compute(panel([ONES, ONES, ONES], "nominal", scale=[0, 1]), "fleiss_kappa"),
        "undefined",
        None,
        "no variation",
    ),
    "ICC_missing_cell": (
        lambda: compute(Ratings.from_matrix(SHROUT, level="interval"), "icc_2_1"),
        "ok",
        None,
        "missing_cells",
    ),
    "ICC_missing_cell_omit": (
        lambda: compute(Ratings.from_matrix(SHROUT, level="interval"), "icc_3_k"),
        "ok",
        None,
        "missing_cells",
    ),
    "ICC_zero_variance": (
        lambda: compute(Ratings.from_matrix(np.full((6, 3), 3.0), level="interval"), "icc_1_1"),
        "undefined",
        None,
        "no variation between items",
    ),
    "scipy.bootstrap_BCa_constant_bca": (_constant_bca, "ok", 1.0, "degenerate_resamples"),
    "cohen_kappa_nan_input": (_missing_pairs, "ok", 1.0, ""),
    "alt-test_ttest_ttest_zero_var": (_flat_alt_test, "ok", 1.0, ""),
    "pass^k_k_gt_n": (lambda: pass_hat_k([4], 4, 5, plan=POINT), "undefined", None, "more than the 4 trials"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_degenerate_input_has_its_status_and_says_why(name: str) -> None:
    run, status, value, said = CASES[name]
    result = run()
    assert result.status == status
    if value is not None:
        assert result.value == pytest.approx(value, abs=1e-12)
    assert said in result.reason or said in result.flags


@pytest.mark.shared
def test_every_degenerate_reference_case_is_covered(shared_data: Path) -> None:
    cases = json.loads((shared_data / "statistics_cases.json").read_text())
    assert {c["name"].removeprefix("degenerate_") for c in cases if c["kind"] == "degenerate"} == set(CASES)


def test_identical_ratings_still_have_percent_agreement_and_ac1() -> None:
    ratings = pair(ONES, ONES, "binary")
    assert compute(ratings, "percent_agreement").value == 1.0
    assert compute(ratings, "gwet_ac1").value == 1.0


def test_a_dropped_pair_is_counted_as_missing() -> None:
    result = _missing_pairs()
    assert (result.n_items, result.n_missing) == (2, 2)


def test_no_positives_in_the_reference_leave_recall_undefined_but_not_specificity() -> None:
    ratings = pair([0.0] * 20, MIXED, "binary")
    assert compute(ratings, "recall").status == "undefined"
    assert compute(ratings, "precision").value == 0.0
    assert compute(ratings, "specificity").value == 0.5


def test_a_single_item_has_a_value_but_no_interval() -> None:
    result = compute(panel([[1], [2]], "nominal"), "krippendorff_alpha", plan=QUICK)
    assert result.low is None
    assert "one_item" in result.flags


def test_perfect_agreement_has_no_interval_rather_than_a_point() -> None:
    result = compute(pair(MIXED, MIXED, "binary"), "percent_agreement", plan=QUICK)
    assert (result.value, result.low) == (1.0, None)
    assert "degenerate_resamples" in result.flags


def test_a_statistic_that_is_often_undefined_in_resamples_has_no_interval() -> None:
    rare = [1.0] + [0.0] * 59
    result = compute(pair(rare, rare, "binary"), "cohen_kappa", plan=QUICK)
    assert result.low is None
    assert "undefined_resamples" in result.flags


def test_an_infinite_value_rejects_the_ratings() -> None:
    assert compute(pair([1, 2, np.inf], [1, 2, 3]), "pearson").status == "rejected"


@pytest.mark.parametrize(
    ("level", "values", "said"),
    [
        ("ordinal", None, "name the ordered categories"),
        ("interval", None, "is not a number"),
        ("binary", None, "two values"),
        ("nominal", ("yes", "no"), "expected one of yes, no"),
    ],
)
def test_categories_that_do_not_fit_the_scale_are_refused(
    level: str, values: tuple[str, ...] | None, said: str
) -> None:
    records = [Record(f"i{i}", "x", v) for i, v in enumerate(("yes", "no", "nan"))]
    with pytest.raises(RatingError, match=said):
        ratings_from_records(records, level=level, values=values)


def test_a_second_value_for_the_same_item_rater_and_sample_is_refused() -> None:
    with pytest.raises(RatingError, match="a second value of rater 'x' for item 'a'") as caught:
        ratings_from_records([Record("a", "x", 1), Record("b", "x", 1), Record("a", "x", 2)], level="ordinal")
    assert caught.value.index == 2


def test_fleiss_kappa_counts_only_the_items_it_rests_on() -> None:
    block = [[1, 1, 2], [1, 2, 2], [2, 2, 2], [1, 1, 1], [1, 2, np.nan]]
    result = compute(Ratings.from_matrix(block, level="nominal"), "fleiss_kappa")
    assert result.n_items == 4
    assert "dropped_items" in result.flags
    complete = compute(Ratings.from_matrix(block[:4], level="nominal"), "fleiss_kappa")
    assert result.value == complete.value


def test_a_declared_binary_scale_may_have_any_two_values() -> None:
    ratings = Ratings.from_matrix([[1, 1], [1, 1]], level="binary", scale=(1, 2))
    assert compute(ratings, "percent_agreement").value == 1.0
    assert compute(ratings, "cohen_kappa").status == "undefined"


def test_a_value_declared_twice_counts_once() -> None:
    block = [[1, 2], [2, 3], [3, 3], [1, 1]]
    once, twice = (
        compute(Ratings.from_matrix(block, level="ordinal", scale=s), "cohen_kappa_quadratic").value
        for s in ((1, 2, 3), (1, 1, 2, 3, 3))
    )
    assert once == twice
