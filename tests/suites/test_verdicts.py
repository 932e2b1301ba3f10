"""The verdict on a system: its score beside the baselines' by a written rule over intervals."""

from __future__ import annotations

import pytest

from calibration.statistics import Result
from suites.verdicts import LEAST_CLUSTERS, Comparison, Verdict, Wording, verdict

WORDING = Wording(
    score="competence",
    cluster="family",
    clusters="families",
    add="Add scenarios.",
    complete="Name a judge.",
    read="Read the decisions that failed.",
)


def difference(
    value: float | None = 0.3,
    low: float | None = 0.2,
    high: float | None = 0.4,
    *,
    clusters: int = 40,
    missing: int = 0,
    flags: tuple[str, ...] = (),
    reason: str = "",
) -> Result:
    status = "ok" if value is not None else "insufficient"
    return Result(
        "difference",
        value,
        low,
        high,
        n_items=400,
        n_clusters=clusters,
        n_missing=missing,
        status=status,
        reason=reason,
        flags=flags,
    )


def compared(
    baseline: str = "majority",
    result: Result | None = None,
    if_wrong: Result | None = None,
    if_right: Result | None = None,
) -> Comparison:
    result = result or difference()
    return Comparison(baseline, result, if_wrong or result, if_right or result)


def judged(*comparisons: Comparison) -> Verdict:
    return verdict(comparisons, WORDING)


def test_a_system_above_every_baseline_names_the_best_of_them() -> None:
    result = judged(compared(), compared("mention_rule", difference(0.1, 0.04, 0.16)))
    assert (result.state, result.title, result.next_step) == ("above", "Above every baseline", "")
    assert result.sentence == ("Competence 0.10 above the best baseline, mention_rule (0.04 to 0.16).")


def test_a_difference_that_may_be_chance_says_how_many_clusters_would_show_it() -> None:
    """Intervals narrow with the square root: a low side of 0.05 for 0.12 takes 40 × 5.76 families."""
    result = judged(compared(), compared("mention_rule", difference(0.05, -0.07, 0.17)))
    assert (result.state, result.needed) == ("not_above", 240)
    assert result.sentence == (
        "Competence 0.05 above mention_rule (−0.07 to 0.17). About 240 families would show such a difference."
    )
    assert (result.step, result.next_step) == ("add", "Add scenarios.")


def test_missing_items_come_before_more_clusters() -> None:
    result = judged(compared(result=difference(0.05, -0.07, 0.17, missing=3)))
    assert (result.state, result.step, result.needed) == ("not_above", "complete", None)


@pytest.mark.parametrize(
    ("value", "low", "high", "sentence"),
    [
        (-0.05, -0.17, 0.07, "Competence 0.05 below majority (−0.07 to 0.17)."),
        (0.001, -0.1, 0.1, "Competence the same as majority (−0.10 to 0.10)."),
    ],
)
def test_no_number_of_clusters_is_promised_where_the_difference_points_down(
    value, low, high, sentence
) -> None:
    result = judged(compared(result=difference(value, low, high)))
    assert (result.state, result.needed, result.sentence) == ("not_above", None, sentence)
    assert result.next_step == "Read the decisions that failed."


def test_a_system_below_one_baseline_is_below_even_if_it_is_above_others() -> None:
    result = judged(compared(), compared("mention_rule", difference(-0.12, -0.2, -0.05)))
    assert (result.state, result.next_step) == ("below", "Read the decisions that failed.")
    assert result.sentence == "Competence 0.12 below mention_rule (0.05 to 0.20)."


def test_missing_items_leave_a_verdict_only_where_they_cannot_change_it() -> None:
    part = difference(0.3, 0.2, 0.4, missing=12)
    safe = judged(compared(result=part, if_wrong=difference(0.25, 0.15, 0.35)))
    assert safe.state == "above"
    open_ = judged(compared(result=part, if_wrong=difference(0.05, -0.05, 0.15)))
    assert (open_.state, open_.next_step) == ("cannot_say", "Name a judge.")
    assert open_.sentence == (
        "It is above every baseline where it has a score; 12 missing scores could change that."
    )
    lower = difference(-0.3, -0.4, -0.2, missing=12)
    assert judged(compared(result=lower, if_right=difference(0.1, 0.0, 0.2))).state == "cannot_say"
    assert judged(compared(result=lower, if_right=difference(-0.1, -0.2, -0.01))).state == "below"


def test_too_few_clusters_are_no_verdict_however_far_apart_the_scores() -> None:
    result = judged(compared(result=difference(0.9, 0.8, 1.0, clusters=LEAST_CLUSTERS - 1)))
    assert (result.state, result.needed, result.next_step) == ("cannot_say", 10, "Add scenarios.")
    assert result.sentence == "Only 9 families; a verdict needs at least 10."
    assert judged(compared(result=difference(0.9, 0.8, 1.0, clusters=1))).sentence.startswith(
        "Only 1 family;"
    )
    assert judged(compared(result=difference(0.9, 0.8, 1.0, clusters=LEAST_CLUSTERS))).state == "above"


def test_an_undefined_difference_is_no_verdict_and_says_why() -> None:
    result = judged(compared(result=difference(None, None, None, reason="waits for a judge")))
    assert (result.state, result.next_step) == ("cannot_say", "Name a judge.")
    assert result.sentence == "There is no difference from majority: waits for a judge."


def test_a_difference_without_resamples_is_no_verdict() -> None:
    reason = "no interval: no resamples were asked for"
    result = judged(compared(result=difference(0.3, None, None, reason=reason)))
    assert (result.state, result.next_step) == ("cannot_say", "Compute the report with resamples.")
    assert result.sentence == "The difference from majority has no interval: no resamples were asked for."


@pytest.mark.parametrize(("value", "state"), [(0.4, "above"), (0.0, "not_above"), (-0.4, "below")])
def test_a_difference_that_every_cluster_shares_counts_as_it_is(value, state) -> None:
    same = difference(value, None, None, flags=("degenerate_resamples",))
    assert judged(compared(result=same)).state == state


def test_programs_read_the_differences_behind_a_verdict() -> None:
    payload = judged(compared(result=difference(missing=2), if_wrong=difference(0.2, 0.1, 0.3))).as_dict()
    assert (payload["state"], payload["step"], payload["next"], payload["needed"]) == ("above", "", "", None)
    (baseline,) = payload["baselines"]
    assert (baseline["baseline"], baseline["value"], baseline["low"], baseline["high"]) == (
        "majority",
        0.3,
        0.2,
        0.4,
    )
    assert (baseline["low_if_missing_wrong"], baseline["high_if_missing_right"]) == (0.1, 0.4)
    assert (baseline["n"], baseline["n_clusters"], baseline["n_missing"]) == (400, 40, 2)
