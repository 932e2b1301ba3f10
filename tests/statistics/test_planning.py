"""Plans: widths against theory, figures against the report, ranges, and reasons for no plan."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.planning import (
    GRID,
    clusters_for_alt_test,
    clusters_for_width,
    design_effect,
    draw_counts,
    planned,
    width_of,
)

PLAN = Plan(resamples=300)
KINDS = ("judge", "human", "human", "human")


def _panel(n: int = 200, hit: float = 0.8, per: int = 4, raters: int = 4, **options: object) -> Ratings:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    block = np.column_stack([np.where(rng.random(n) < hit, truth, 1 - truth) for _ in range(raters)])
    return Ratings.from_matrix(block, level="binary", clusters=np.arange(n) // per, **options)


def _clustered() -> Ratings:
    """Forty dialogues of ten turns; in some of them the second rater is wrong throughout."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    wrong = np.repeat(rng.random(40) < 0.3, 10)
    block = np.column_stack([truth, np.where(wrong, 1 - truth, truth)])
    return Ratings.from_matrix(block, level="binary", clusters=np.arange(400) // 10)


def test_widths_of_independent_items_are_those_of_a_share() -> None:
    ratings = _panel(per=1, raters=2)
    share = float((ratings.values[:, 0] == ratings.values[:, 1]).mean())
    plan = clusters_for_width(planned(ratings, "percent_agreement"), 0.1, plan=Plan(2000))
    for row in plan.widths:
        if row.n_clusters >= 50:
            normal = 2 * 1.96 * np.sqrt(share * (1 - share) / row.n_clusters)
            assert row.width == pytest.approx(normal, rel=0.08)
    assert plan.needed == pytest.approx((2 * 1.96 / 0.1) ** 2 * share * (1 - share), rel=0.15)
    assert plan.more == plan.needed - 200
    assert plan.design_effect == pytest.approx(1, abs=0.25)


def test_more_dialogues_give_narrower_intervals_and_the_number_lies_where_the_width_is_reached() -> None:
    plan = clusters_for_width(planned(_panel(raters=2), "cohen_kappa"), 0.2, plan=PLAN)
    widths = {w.n_clusters: w.width for w in plan.widths}
    assert [round(w, 2) for w in widths.values()] == sorted(round(w, 2) for w in widths.values())[::-1]
    assert max(n for n, w in widths.items() if w > 0.2) < plan.needed
    assert plan.needed <= min(n for n, w in widths.items() if w <= 0.2)
    assert plan.n_pilot == 50


@pytest.mark.parametrize(
    ("statistic", "judge", "name"),
    [
        ("cohen_kappa", "r1", "judge_cohen_kappa"),
        ("gap_cohen_kappa", "r1", "gap_cohen_kappa"),
        ("mcc", "", "people_mcc"),
        ("krippendorff_alpha", "", "krippendorff_alpha"),
        ("spearman", "r1", "spearman"),
    ],
)
def test_the_figure_of_a_plan_is_the_one_of_the_report(statistic: str, judge: str, name: str) -> None:
    ratings = _panel(kinds=KINDS)
    if statistic == "spearman":
        ratings = Ratings.from_matrix(
            np.random.default_rng(3).integers(1, 6, (200, 4)),
            level="ordinal",
            kinds=KINDS,
            clusters=np.arange(200) // 4,
        )
    figure = planned(ratings, statistic, judge)
    entries = analyse(ratings, plan=PLAN).entries
    wanted = [
        e.result
        for e in entries
        if e.result.name == name
        and (set(e.raters) == set(figure.raters) or set(e.raters) == {*figure.raters})
    ]
    assert figure.value == pytest.approx(wanted[0].value, abs=1e-12)
    assert width_of(figure, Plan(2000)) == pytest.approx(wanted[0].high - wanted[0].low, rel=0.12)


def test_only_dialogues_that_two_raters_rated_are_counted() -> None:
    ratings = _panel(raters=2)
    values = ratings.values.copy()
    values[80:, 1] = np.nan
    figure = planned(ratings.with_values(values), "cohen_kappa")
    assert (figure.n_clusters, figure.n_items) == (20, 80)
    alone = planned(
        Ratings.from_matrix(ratings.values[:80], level="binary", clusters=np.arange(80) // 4), "cohen_kappa"
    )
    assert clusters_for_width(figure, 0.3, plan=PLAN) == clusters_for_width(alone, 0.3, plan=PLAN)


def test_the_same_seed_gives_the_same_plan_and_the_range_holds_the_plan() -> None:
    figure = planned(_clustered(), "percent_agreement")
    plan = clusters_for_width(figure, 0.2, plan=PLAN)
    assert clusters_for_width(figure, 0.2, plan=PLAN) == plan
    assert plan.needed_low < plan.needed < plan.needed_high
    assert all(row.low < row.width < row.high for row in plan.widths)


def _ranges(n: int, wide: float) -> tuple[float, float]:
    """Return, over pilots of n dialogues, how wide the range is, and how often it holds the true width."""
    rng = np.random.default_rng(n)
    spans, held = [], []
    for _ in range(20):
        agree = rng.permutation(np.arange(n) < 0.8 * n + rng.integers(-1, 2))
        ratings = Ratings.from_matrix(np.column_stack([np.ones(n), agree]), level="binary")
        plan = clusters_for_width(planned(ratings, "percent_agreement"), 0.1, grid=(100,), plan=PLAN)
        row = next(w for w in plan.widths if w.n_clusters == 100)
        spans.append(row.high / row.low if row.high else np.inf)
        held.append(row.low <= wide <= (row.high or np.inf))
    return float(np.median(spans)), float(np.mean(held))


@pytest.mark.exhaustive
def test_the_range_of_small_pilots_is_wider_and_holds_the_true_width() -> None:
    wide = 2 * 1.96 * 0.4 / 10
    small, large = _ranges(10, wide), _ranges(60, wide)
    assert small[0] > 1.2 * large[0]
    assert small[1] >= 0.6
    assert large[1] >= 0.8


def test_what_is_narrow_enough_needs_no_more_and_what_is_never_narrow_enough_says_so() -> None:
    figure = planned(_panel(raters=2), "cohen_kappa")
    assert clusters_for_width(figure, 0.9, plan=PLAN).more == 0
    never = clusters_for_width(figure, 0.001, plan=PLAN)
    assert (never.needed, never.more, never.needed_low) == (None, None, None)
    assert never.widths[-1].n_clusters == GRID[-1]


@pytest.mark.parametrize(
    ("ratings", "statistic", "reason"),
    [
        (_panel(12, raters=2), "cohen_kappa", "pilot of 3 dialogues"),
        (_panel(20, hit=1.0, raters=2), "percent_agreement", "all alike"),
        (Ratings.from_matrix([[1, 1]] * 8, level="binary", scale=(0, 1)), "cohen_kappa", "no variation"),
    ],
)
def test_a_pilot_that_says_nothing_gives_no_plan_but_a_reason(
    ratings: Ratings, statistic: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        clusters_for_width(planned(ratings, statistic), 0.2, plan=PLAN)


@pytest.mark.parametrize(
    ("statistic", "judge", "reason"),
    [
        ("nonsense", "", "no statistic"),
        ("cohen_kappa", "nobody", "no rater"),
        ("cohen_kappa", "r2", "one of the people"),
        ("gap_cohen_kappa", "", "name the judge"),
        ("krippendorff_alpha", "r1", "people together"),
        ("cohen_kappa_quadratic", "r1", "does not apply"),
        ("icc_2_1", "", "does not apply"),
    ],
)
def test_what_does_not_apply_is_refused_in_one_line(statistic: str, judge: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        planned(_panel(kinds=KINDS), statistic, judge)


def test_a_large_study_is_drawn_by_counts_as_a_small_one_is_one_by_one() -> None:
    rng = np.random.default_rng(0)
    pilot = np.array([0, 0, 1, 2])
    for n in (3, 400):
        counts = draw_counts(rng, pilot, n, 2000)
        assert (counts.sum(axis=1) == n).all()
        assert counts.mean(axis=0) / n == pytest.approx([0.5, 0.25, 0.25, 0], abs=0.02)


def test_clustered_errors_have_the_design_effect_of_their_clusters() -> None:
    """Agreement is 0 or 1 for whole dialogues of ten, so the variance is ten times that of turns."""
    assert design_effect(planned(_clustered(), "percent_agreement"), Plan(500)) == pytest.approx(10, rel=0.2)


def test_a_design_effect_without_variation_is_none() -> None:
    same = Ratings.from_matrix([[1, 1]] * 8, level="binary", scale=(0, 1), clusters=[0, 0, 1, 1, 2, 2, 3, 3])
    assert design_effect(planned(same, "percent_agreement"), PLAN) is None
    assert design_effect(planned(same, "cohen_kappa"), PLAN) is None


def test_the_power_of_the_alternative_annotator_test_grows_with_dialogues() -> None:
    plan = clusters_for_alt_test(
        _panel(hit=0.85, kinds=KINDS), "r1", ("r2", "r3", "r4"), plan=Plan(200), grid=(10, 50, 400)
    )
    powers = [p.power for p in plan.powers]
    assert powers == sorted(powers)
    assert powers[-1] > 0.9
    assert all(row.low <= row.high for row in plan.powers)
    assert plan.needed == next(p.n_clusters for p in plan.powers if p.power >= 0.8)


def test_a_plan_counts_a_study_with_too_few_items_as_not_passed() -> None:
    pilot = _panel(60, hit=0.95, per=2, raters=4)
    plan = clusters_for_alt_test(
        pilot, "r1", ["r2", "r3", "r4"], epsilon=0.3, grid=(10, 14, 20), plan=Plan(resamples=100)
    )
    assert [p.power for p in plan.powers[:2]] == [0.0, 0.0]
    assert plan.powers[2].power > 0.5


def test_two_people_and_a_constant_judge_have_no_power_to_plan() -> None:
    ratings = _panel(kinds=KINDS)
    with pytest.raises(ValueError, match="three identified people, not 2"):
        clusters_for_alt_test(ratings, "r1", ["r2", "r3"], plan=PLAN)
    constant = ratings.values.copy()
    constant[:, 0] = 1
    with pytest.raises(ValueError, match="one value throughout"):
        clusters_for_alt_test(ratings.with_values(constant), "r1", ["r2", "r3", "r4"], plan=PLAN)


def test_a_judge_that_never_passes_is_out_of_reach_and_the_share_of_pilots_says_so() -> None:
    ratings = _panel(kinds=KINDS, hit=0.95)
    guesses = ratings.values.copy()
    guesses[:, 0] = np.random.default_rng(9).integers(0, 2, 200)
    plan = clusters_for_alt_test(ratings.with_values(guesses), "r1", ["r2", "r3", "r4"], plan=Plan(100))
    assert (plan.needed, plan.needed_low, plan.needed_high, plan.reaching) == (None, None, None, 0.0)
