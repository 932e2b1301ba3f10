"""Repeats, table 7, comparisons, levels and descriptions of raters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from calibration.statistics import Plan, Ratings, analyse
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.cocoeval import table
from calibration.statistics.level_correlations import correlation_test, level_table
from calibration.statistics.level_scores import Frame, Scored, Scores, Units, aggregate
from calibration.statistics.repeats import pass_at_k, pass_hat_k, self_consistency
from calibration.statistics.replacement import alternative_annotator_test

PLAN = Plan(resamples=100)


def _panel(raters: int = 4, n: int = 200, hit: float = 0.8, seed: int = 0, **options: object) -> Ratings:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    block = np.column_stack([np.where(rng.random(n) < hit, truth, 1 - truth) for _ in range(raters)])
    return Ratings.from_matrix(block, level="binary", clusters=np.arange(n) // 4, **options)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_pass_k_is_the_mean_over_all_choices_of_k_trials(k: int) -> None:
    trials = [[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    successes = [sum(t) for t in trials]
    every = [[all(c) for c in combinations(t, k)] for t in trials]
    some = [[any(c) for c in combinations(t, k)] for t in trials]
    assert pass_hat_k(successes, 4, k, plan=PLAN).value == pytest.approx(np.mean([np.mean(e) for e in every]))
    assert pass_at_k(successes, 4, k, plan=PLAN).value == pytest.approx(np.mean([np.mean(e) for e in some]))


def test_impossible_trial_counts_are_rejected() -> None:
    assert pass_hat_k([5], 4, 1, plan=PLAN).status == "rejected"
    assert pass_hat_k([], 4, 1, plan=PLAN).status == "insufficient"
    assert pass_hat_k([1], 4, 0, plan=PLAN).status == "undefined"


def test_a_judge_that_never_changes_its_mind_is_fully_consistent() -> None:
    same = Ratings.from_matrix(np.tile(np.arange(30)[:, None] % 3, (1, 5)), level="ordinal")
    values = {r.name: r.value for r in self_consistency(same, PLAN)}
    assert values == {"percent_agreement": 1.0, "gwet_ac1": 1.0, "krippendorff_alpha": 1.0}


def _marks() -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(3)
    judge = rng.random((300, 3)) < 0.1
    people = [np.where(rng.random(judge.shape) < 0.9, judge, ~judge) for _ in range(2)]
    people[0][:, 1] = False
    return judge, people


def test_table_seven_in_the_papers_policy_counts_a_silent_annotators_kappa_as_nothing() -> None:
    judge, people = _marks()
    names = ["a", "b", "c"]
    paper = {r.behaviour: r for r in table(judge, people, names, policy="cocoeval", plan=PLAN)}
    ours = {r.behaviour: r for r in table(judge, people, names, plan=PLAN)}
    silent, other = paper["b"].judge["kappa"].value, ours["b"].judge["kappa"].value
    assert silent == pytest.approx(other / 2)
    assert paper["b"].judge["recall"].value == ours["b"].judge["recall"].value
    assert "dropped_raters" in ours["b"].judge["precision"].flags
    assert paper["a"].judge["kappa"].value == ours["a"].judge["kappa"].value


def test_the_overall_row_joins_the_behaviours_end_to_end() -> None:
    judge, people = _marks()
    overall = table(judge, people, ["a", "b", "c"], plan=PLAN)[-1]
    joined = table(judge.T.reshape(-1, 1), [p.T.reshape(-1, 1) for p in people], ["all"], plan=PLAN)[0]
    for figure in ("precision", "recall", "mcc", "kappa"):
        assert overall.judge[figure].value == pytest.approx(joined.judge[figure].value)
        assert overall.people[figure].value == pytest.approx(joined.people[figure].value)
    assert overall.detected_by_judge.value == judge.sum()


def test_a_behaviour_that_nobody_marks_has_no_figures() -> None:
    nothing = np.zeros((50, 1))
    row = table(nothing, [nothing, nothing], ["never"], plan=PLAN)[0]
    assert {r.status for r in row.judge.values()} == {"undefined"}


def test_a_correction_is_no_test_of_what_is_not_a_p_value() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        corrected([0.2, 1.4], "holm")


def _by_system() -> Ratings:
    rng = np.random.default_rng(1)
    systems = np.tile(np.repeat(np.arange(12), 3), 10)
    clusters = np.repeat(np.arange(10), 36)
    quality = np.linspace(0, 4, 12)[systems]
    block = np.column_stack([quality + rng.normal(size=360), quality + rng.normal(size=360)])
    return Ratings.from_matrix(block, level="interval", clusters=clusters, systems=systems)


def test_a_systems_score_is_the_mean_of_all_its_turns() -> None:
    ratings = _by_system()
    systems = aggregate(ratings, "system")
    assert systems.n_items == 12
    assert systems.values[3, 0] == pytest.approx(ratings.values[ratings.systems == 3, 0].mean())
    with pytest.raises(ValueError, match="do not name the continuation"):
        aggregate(ratings, "continuation")


def test_p_values_are_scipys_for_independent_items() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    for name, wanted in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_tau_b", stats.kendalltau),
    ):
        assert correlation_test(x, y, name).p == pytest.approx(wanted(x, y)[1], abs=1e-12)


def test_turns_of_one_dialogue_do_not_make_evidence() -> None:
    rng = np.random.default_rng(4)
    dialogues = np.repeat(np.arange(8), 30)
    x, y = rng.normal(size=8)[dialogues], rng.normal(size=8)[dialogues]
    x, y = x + rng.normal(size=240) / 9, y + rng.normal(size=240) / 9
    assert correlation_test(x, y).p < 0.05
    units = Units(np.arange(8), np.arange(8), np.zeros(8, int), tuple("abcdefgh"), ("one",))
    turns = Frame("turn", dialogues, np.tile(np.arange(30), 8))
    scored = Scored(units, Scores("people", "turn", x), (Scores("metric", "turn", y),), turns)
    table = level_table(scored, ("turn",), plan=Plan(resamples=0))
    assert all(entry.p > 0.05 for entry in table.rows[0].entries)


def test_a_judge_like_the_people_passes_and_a_guessing_one_does_not() -> None:
    ratings = _panel(n=800, hit=0.85, kinds=["judge", "human", "human", "human"])
    good = alternative_annotator_test(ratings, 0, (1, 2, 3), plan=PLAN)
    assert good.winning_rate.value == 1.0
    assert good.won == ("r2", "r3", "r4")
    guesses = ratings.values.copy()
    guesses[:, 0] = np.random.default_rng(9).integers(0, 2, 800)
    bad = alternative_annotator_test(ratings.with_values(guesses), 0, (1, 2, 3), plan=PLAN)
    assert bad.winning_rate.value == 0.0
    assert bad.advantage.value < good.advantage.value


def test_clusters_make_the_alternative_annotator_test_harder_to_pass() -> None:
    ratings = _panel(n=800, hit=0.85)
    blocks = np.arange(800) // 80
    whole = Ratings.from_matrix(ratings.values, level="binary", clusters=blocks)
    plain = alternative_annotator_test(whole, 0, (1, 2, 3), plan=PLAN)
    clustered = alternative_annotator_test(whole, 0, (1, 2, 3), clustered=True, plan=PLAN)
    assert min(clustered.p_values.values()) != min(plain.p_values.values())
    assert "over clusters" in clustered.winning_rate.method


def test_annotators_with_few_items_are_left_out_and_named() -> None:
    ratings = _panel(5)
    values = ratings.values.copy()
    values[20:, 4] = np.nan
    found = alternative_annotator_test(ratings.with_values(values), 0, (1, 2, 3, 4), plan=PLAN)
    assert found.left_out == ("r5",)
    assert "few_items" in found.advantage.flags


def test_fewer_than_three_people_with_enough_items_have_no_test() -> None:
    ratings = _panel()
    values = ratings.values.copy()
    values[20:, 3] = np.nan
    found = alternative_annotator_test(ratings.with_values(values), 0, (1, 2, 3), plan=PLAN)
    assert {(r.status, r.value) for r in found.results} == {("insufficient", None)}
    assert found.winning_rate.reason == (
        "the test needs 3 people who share 30 items or more with the judge and another of them; 2 of 3 do"
    )
    two = alternative_annotator_test(ratings, 0, (1, 2), plan=PLAN).winning_rate
    assert two.reason == "the test needs 3 people, and 2 answered"


def _rare(judge: np.ndarray, people: int = 3, n: int = 1000) -> Ratings:
    """People who mark the same turn in fifty, each with a few slips, and a judge beside them."""
    rng = np.random.default_rng(4)
    truth = rng.random(n) < 0.04
    block = [np.where(rng.random(n) < 0.02, ~truth, truth) for _ in range(people)]
    kinds = ["human"] * people + ["judge"]
    names = [f"p{i}" for i in range(people)] + ["gpt"]
    values = np.column_stack([*block, judge]).astype(float)
    return Ratings.from_matrix(values, level="binary", clusters=np.arange(n) // 5, kinds=kinds, raters=names)


def test_a_judge_that_guesses_at_the_base_rate_is_no_pass_though_it_wins() -> None:
    found = analyse(_rare(np.random.default_rng(5).random(1000) < 0.02), plan=PLAN)
    rate = found.find("alt_test_winning_rate").result
    assert rate.value == 1.0
    assert {"by_chance", "constant_too"} <= set(rate.flags)
    (verdict,) = found.stand_ins
    assert (verdict.rater, verdict.state) == ("gpt", "not_passed")
    kappa, constant = verdict.reasons
    assert kappa.startswith("its Cohen's kappa with people could be chance: ")
    assert constant.startswith("answering 0 to every item does as well (accuracy 0.9")


def test_a_good_judge_that_one_answer_equals_by_accuracy_is_no_pass_either() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(1000) < 0.04
    slips = np.random.default_rng(6).random(1000) < 0.06
    found = analyse(_rare(np.where(slips, ~truth, truth)), plan=PLAN)
    (verdict,) = found.stand_ins
    assert found.find("judge_cohen_kappa").result.low > 0
    assert verdict.state == "not_passed"
    assert len(verdict.reasons) == 1
    assert "answering 0 to every item" in verdict.why


def test_the_verdict_does_not_depend_on_the_statistics_that_were_asked_for() -> None:
    ratings = _rare(np.random.default_rng(5).random(1000) < 0.02)
    every, few = (
        analyse(ratings, plan=PLAN, statistics=names) for names in (None, ["alt_test_winning_rate"])
    )
    assert few.stand_ins == every.stand_ins


def test_a_judge_like_the_people_is_a_pass() -> None:
    ratings = _panel(n=800, hit=0.85, kinds=["judge", "human", "human", "human"])
    found = analyse(ratings, plan=PLAN)
    assert [(one.rater, one.state, one.reasons) for one in found.stand_ins] == [("r1", "passed", ())]
    assert not {"by_chance", "constant_too"} & set(found.find("alt_test_winning_rate").result.flags)


def test_on_scales_a_constant_is_beaten_by_error() -> None:
    rng = np.random.default_rng(7)
    truth = rng.normal(3, 0.3, 600)
    people = [truth + rng.normal(0, 1.0, 600) for _ in range(3)]
    block = np.column_stack([*people, 3 + rng.normal(0, 0.1, 600)])
    ratings = Ratings.from_matrix(
        block, level="interval", clusters=np.arange(600) // 5, kinds=["human"] * 3 + ["judge"]
    )
    (verdict,) = analyse(ratings, plan=PLAN).stand_ins
    assert verdict.state == "not_passed"
    assert "answering 2.96" in verdict.why
    assert "to every item does as well (error " in verdict.why


def test_epsilon_may_differ_by_annotator_and_similarity_may_be_any_function() -> None:
    ratings = _panel()
    kinds = {"r2": 0.2, "r3": 0.15, "r4": 0.1}
    found = alternative_annotator_test(
        ratings,
        0,
        (1, 2, 3),
        epsilon=kinds,
        score="similarity",
        similarity=lambda a, b: 1 - abs(a - b),
        plan=PLAN,
    )
    same = alternative_annotator_test(ratings, 0, (1, 2, 3), epsilon=kinds, plan=PLAN)
    assert found.p_values == same.p_values
    with pytest.raises(ValueError, match="similarity function"):
        alternative_annotator_test(ratings, 0, (1, 2, 3), score="similarity", plan=PLAN)
