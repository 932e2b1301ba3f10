"""Prevalence corrected for a judge's errors: exact properties, and refused input."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan
from calibration.statistics.prevalence import (
    Labelled,
    cluster_covariance,
    naive,
    prediction_powered,
    rogan_gladen,
    rogan_gladen_estimated,
    stratified,
    stratified_rogan_gladen,
    wilson,
)

PLAN = Plan(resamples=200)


def _study(seed: int = 0, n: int = 4000, labelled: int = 1000, prevalence: float = 0.1) -> tuple:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prevalence).astype(float)
    judge = np.where(truth == 1, rng.random(n) < 0.8, rng.random(n) < 0.1).astype(float)
    clusters = np.arange(n) // 10
    known = Labelled.of(truth[:labelled], judge[:labelled], clusters[:labelled])
    return known, judge[labelled:], clusters[labelled:]


def test_the_judge_alone_overstates_a_rare_behaviour_and_the_corrections_do_not() -> None:
    known, judge, clusters = _study()
    alone = naive(judge, clusters, PLAN)
    assert alone.low > 0.1
    for corrected in (
        rogan_gladen_estimated(known, judge, clusters, PLAN),
        prediction_powered(known, judge, clusters),
    ):
        assert corrected.low < 0.1 < corrected.high


def test_a_judge_no_better_than_chance_is_refused() -> None:
    assert rogan_gladen(30, 100, 0.4, 0.6).status == "rejected"
    guesses = Labelled.of([1, 1, 0, 0], [1, 0, 1, 0])
    result = rogan_gladen_estimated(guesses, [1, 0, 1], plan=PLAN)
    assert result.status == "rejected"
    assert "no better than chance" in result.reason


def test_a_perfect_judge_needs_no_correction() -> None:
    assert rogan_gladen(30, 100, 1, 1).value == pytest.approx(0.3)


def test_known_errors_that_cannot_be_are_shown_at_the_bound_and_flagged() -> None:
    result = rogan_gladen(1, 100, 0.9, 0.9)
    assert result.value == 0.0
    assert "clipped" in result.flags


def test_no_positives_among_the_labelled_leave_sensitivity_unknown() -> None:
    result = rogan_gladen_estimated(Labelled.of([0, 0], [0, 1]), [1, 0], plan=PLAN)
    assert result.status == "undefined"
    assert "no positives" in result.reason


def test_tuning_never_widens_the_interval_and_a_useless_judge_costs_nothing() -> None:
    known, judge, clusters = _study()
    tuned, plain, ignored = (prediction_powered(known, judge, clusters, tuning=t) for t in (None, 1.0, 0.0))
    width = tuned.high - tuned.low
    assert width <= plain.high - plain.low + 1e-12
    assert width <= ignored.high - ignored.low + 1e-12
    assert ignored.value == pytest.approx(known.truth.mean())


def test_with_one_item_a_cluster_the_variance_is_that_of_a_mean() -> None:
    x = np.random.default_rng(1).normal(size=50)
    assert cluster_covariance(x, x, np.arange(50)) == pytest.approx(x.var(ddof=1) / 50)


def test_strata_are_weighted_by_their_size() -> None:
    strata = [
        (Labelled.of([1, 1, 0, 1], [1, 1, 0, 1]), np.ones(30), None),
        (Labelled.of([0, 0, 1], [0, 0, 1]), np.zeros(10), None),
    ]
    result = stratified(strata, tuning=1.0)
    assert result.value == pytest.approx(34 / 47)
    assert stratified(strata, shares=[1, 1], tuning=1.0).value == pytest.approx(0.5)


def test_strata_may_have_errors_of_their_own() -> None:
    easy, hard = _study(1, prevalence=0.05), _study(2, prevalence=0.3)
    result = stratified_rogan_gladen([easy, hard], plan=PLAN)
    alone = [rogan_gladen_estimated(*study, PLAN).value for study in (easy, hard)]
    assert result.value == pytest.approx(np.mean(alone))
    assert result.low < 0.175 < result.high
    assert "2 strata" in result.method
    with pytest.raises(ValueError, match="0 and 1"):
        rogan_gladen_estimated(Labelled.of([1, 2], [1, 0]), [1, 0])
    assert rogan_gladen_estimated(Labelled.of([1, 0], [1, 0]), []).status == "insufficient"


def test_a_stratum_without_labels_is_insufficient() -> None:
    assert stratified([(Labelled.of([], []), np.ones(3), None)]).status == "insufficient"


def test_few_labelled_positives_are_flagged_whatever_corrects_the_prevalence() -> None:
    rows = np.arange(1200)
    for positives, few in ((30, False), (29, True)):
        truth = (rows < positives).astype(float)
        labelled = Labelled.of(truth, truth, rows // 10)
        for result in (
            rogan_gladen_estimated(labelled, truth, rows // 10, Plan(50)),
            prediction_powered(labelled, truth, rows // 10),
        ):
            assert ("few_events" in result.flags) == few


def test_a_mean_score_is_corrected_as_a_share_is() -> None:
    known = Labelled.of([3.0, 4.0, 5.0], [4.0, 5.0, 6.0])
    assert prediction_powered(known, [4.0, 4.0], tuning=1).value == pytest.approx(3.0)


def test_wilson_at_the_ends_stays_within_zero_and_one() -> None:
    assert wilson(0, 20).low == 0.0
    assert wilson(20, 20).high == 1.0
    assert wilson(0, 0).status == "insufficient"
    assert wilson(5, 4).status == "rejected"


def test_labelling_one_stratum_more_than_another_does_not_shift_the_estimate() -> None:
    rare, common = np.zeros(500), np.ones(500)
    strata = [(Labelled.of(rare[:450], rare[:450]), rare[450:], None)]
    strata += [(Labelled.of(common[:50], common[:50]), common[50:], None)]
    assert stratified(strata, tuning=1.0).value == pytest.approx(0.5)


def test_a_sample_without_variation_has_no_interval() -> None:
    result = prediction_powered(Labelled.of([0, 0, 0], [0, 0, 0]), [0, 0])
    assert (result.value, result.low) == (0.0, None)
    assert "do not vary" in result.reason
    clipped = rogan_gladen(2, 150, 0.9, 0.9)
    assert (clipped.value, clipped.low, clipped.flags) == (0.0, None, ("clipped",))


def test_a_corrected_share_outside_zero_to_one_is_flagged() -> None:
    result = prediction_powered(Labelled.of([0, 0, 0, 1], [1, 1, 1, 1]), [0, 0, 0], tuning=1)
    assert result.value == pytest.approx(-0.75)
    assert "outside_range" in result.flags


def test_the_share_of_several_people_an_item_stays_within_zero_to_one() -> None:
    """Thirds of people, 2% of them yes: on the plain scale the interval reached below 0 and had no flag."""
    below_on_the_plain_scale = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        yes = rng.random(400) < 0.02
        people = np.where(yes[:, None], rng.random((400, 3)) < 0.8, rng.random((400, 3)) < 0.004)
        judge = np.where(yes, rng.random(400) < 0.75, rng.random(400) < 0.05).astype(float)
        clusters = np.arange(400) // 10
        known = clusters < 12
        labelled = Labelled.of(people.mean(axis=1)[known], judge[known], clusters[known])
        result = prediction_powered(labelled, judge[~known], clusters[~known])
        assert "few_events" in result.flags
        if result.value is None or result.low is None or result.high is None:
            assert result.reason
            continue
        assert 0 < result.low < result.value < result.high < 1
        assert "logit scale" in result.method
        half = (result.high - result.low) / 2
        below_on_the_plain_scale += result.value - half < 0
    assert below_on_the_plain_scale


def test_positives_of_several_people_are_counted_in_shares_of_items() -> None:
    rows = np.arange(600)
    judge = (rows < 45).astype(float)
    for share, few in ((2 / 3, False), (1 / 3, True)):
        truth = np.where(rows < 60, share, 0.0)
        result = prediction_powered(Labelled.of(truth, judge, rows // 10), judge, rows // 10)
        assert ("few_events" in result.flags) == few


def test_scores_on_another_scale_have_no_bounds() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=60)
    result = prediction_powered(Labelled.of(truth, truth, np.arange(60) // 3), rng.normal(size=60))
    assert "logit" not in result.method
    assert not {"few_events", "outside_range"} & set(result.flags)


def test_a_corrected_share_outside_zero_to_one_has_no_interval() -> None:
    labelled = Labelled.of([0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    for result in (
        prediction_powered(Labelled.of([0, 0, 0.5, 1], [1, 1, 1, 1]), [0, 0, 1], tuning=1),
        rogan_gladen_estimated(labelled, [0] * 6, [3, 3, 4, 4, 5, 5], PLAN),
    ):
        assert result.value is not None
        assert result.value < 0
        assert (result.low, result.high) == (None, None)
        assert "the corrected value is impossible" in result.reason
        assert "outside_range" in result.flags


def test_an_interval_of_rogan_gladen_is_cut_at_zero_and_one() -> None:
    known, judge, clusters = _study(1, n=900, labelled=300, prevalence=0.03)
    result = rogan_gladen_estimated(known, judge, clusters, PLAN)
    assert result.value is not None
    assert result.low is not None
    assert result.low == 0


def test_figures_that_are_no_shares_are_rejected() -> None:
    for figures in ((200, 150, 0.9, 0.9), (-1, 150, 0.9, 0.9), (20, 150, 1.9, 0.9), (20, 150, np.nan, 0.9)):
        assert rogan_gladen(*figures).status == "rejected"
    assert naive([]).status == "insufficient"


def test_a_missing_judgement_and_shares_that_do_not_fit_are_refused() -> None:
    known = Labelled.of([0, 1, 1], [0, 1, 0])
    for estimate in (
        naive,
        lambda f: prediction_powered(known, f),
        lambda f: rogan_gladen_estimated(known, f),
    ):
        with pytest.raises(ValueError, match="no value for 1 items"):
            estimate([0, np.nan, 1])
    for shares in ([1], [0, 0], [2, -1]):
        with pytest.raises(ValueError, match="2 strata need"):
            stratified([(known, [0, 1], None)] * 2, shares=shares)
