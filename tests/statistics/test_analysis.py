"""The choice of statistics for raters, their order, and the comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from calibration.statistics import STATISTICS, Plan, Ratings, Record, analyse, ratings_from_records

PLAN = Plan(resamples=100)
PAIR_KAPPAS = {"cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic"}


def _ratings(kinds: list[str], level: str = "ordinal", identified: bool = True, n: int = 120) -> Ratings:
    rng = np.random.default_rng(0)
    k = 2 if level == "binary" else 5
    truth = rng.integers(0, k, n)
    block = np.column_stack([np.where(rng.random(n) < 0.7, truth, rng.integers(0, k, n)) for _ in kinds])
    if "metric" in kinds:
        block = block + np.array([0.37 if kind == "metric" else 0 for kind in kinds])
    known = [identified or kind != "human" for kind in kinds]
    return Ratings.from_matrix(
        block, level=level, scale=range(k), clusters=np.arange(n) // 2, kinds=kinds, identified=known
    )


def _names(entries: tuple) -> set[str]:
    return {e.result.name for e in entries}


def test_the_panel_comes_first_and_once_and_pairs_follow() -> None:
    analysis = analyse(_ratings(["", "", ""]), plan=PLAN)
    names = [e.result.name for e in analysis.entries if len(e.raters) == 3]
    assert len(names) == len(set(names))
    sizes = [len(e.raters) for e in analysis.entries]
    assert sizes == sorted(sizes, reverse=True)
    assert {e.raters for e in analysis.pairs} == {("r1", "r2"), ("r1", "r3"), ("r2", "r3")}


def test_two_raters_have_percent_agreement_once() -> None:
    entries = analyse(_ratings(["", ""]), plan=PLAN).entries
    assert [e.raters for e in entries if e.result.name == "percent_agreement"] == [("r1", "r2")]


def test_an_entry_has_the_fields_that_programs_read() -> None:
    entry = analyse(_ratings(["", ""]), question="overall", plan=PLAN).entries[0].as_dict()
    assert list(entry)[:3] == ["name", "raters", "question"]
    fields = "value low high status reason flags n_items n_clusters n_raters n_missing method"
    assert set(fields.split()) <= set(entry)
    assert entry["question"] == "overall"


def test_kappa_weights_need_an_order_and_mcc_needs_categories() -> None:
    nominal = _names(analyse(_ratings(["", ""], "nominal"), plan=PLAN).pairs)
    ordinal = _names(analyse(_ratings(["", ""]), plan=PLAN).pairs)
    assert nominal & PAIR_KAPPAS == {"cohen_kappa"}
    assert ordinal & PAIR_KAPPAS == PAIR_KAPPAS
    assert "mcc" in nominal
    assert "mcc" not in ordinal
    assert "spearman" not in nominal


def test_unidentified_raters_have_only_exchangeable_statistics() -> None:
    analysis = analyse(_ratings(["human"] * 3, identified=False), plan=PLAN)
    assert analysis.pairs == ()
    assert all(STATISTICS[e.result.name].exchangeable for e in analysis.panel)
    assert {"krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "icc_1_1"} <= _names(analysis.panel)
    assert "icc_2_1" not in _names(analysis.panel)


def test_unidentified_people_meet_a_judge_through_their_mean() -> None:
    analysis = analyse(_ratings(["human", "human", "judge"], identified=False), plan=PLAN)
    assert {e.raters for e in analysis.pairs} == {("mean(kind:human)", "r3")}
    assert _names(analysis.pairs) == {"pearson", "spearman", "kendall_tau_b", "ranking_accuracy"}


def test_a_metric_meets_people_only_through_correlation() -> None:
    analysis = analyse(_ratings(["human", "human", "metric"]), plan=PLAN)
    with_metric = [e for e in analysis.entries if "r3" in e.raters]
    assert _names(tuple(with_metric)) == {"pearson", "spearman", "kendall_tau_b", "ranking_accuracy"}
    assert all("r3" not in e.raters for e in analysis.panel)


def test_a_judge_on_another_scale_meets_people_only_through_correlation() -> None:
    records = [Record(f"i{i}", "ann", i % 5, kind="human") for i in range(40)]
    records += [Record(f"i{i}", "gpt", 1 + i % 7, kind="judge") for i in range(40)]
    ratings = ratings_from_records(records, level="ordinal", values=range(5), off_scale=["gpt"])
    assert _names(analyse(ratings, plan=PLAN).pairs) == {
        "pearson",
        "spearman",
        "kendall_tau_b",
        "ranking_accuracy",
    }


def test_people_come_first_as_the_reference() -> None:
    analysis = analyse(_ratings(["judge", "human", "human"], "binary"), plan=PLAN)
    assert all(e.raters[1] == "r1" for e in analysis.pairs if "r1" in e.raters)


def test_against_names_the_reference_and_limits_the_pairs() -> None:
    analysis = analyse(_ratings(["", "", ""], "binary"), against="r2", plan=PLAN)
    assert {e.raters for e in analysis.entries} == {("r2", "r1"), ("r2", "r3")}
    with pytest.raises(KeyError, match="no rater 'nobody'"):
        analyse(_ratings(["", ""]), against="nobody", plan=PLAN)


def test_mixed_kinds_have_a_panel_of_their_own() -> None:
    analysis = analyse(_ratings(["human", "human", "judge", "judge"]), plan=PLAN)
    assert list(dict.fromkeys(e.raters for e in analysis.panel)) == [
        ("r1", "r2", "r3", "r4"),
        ("r1", "r2"),
        ("r3", "r4"),
    ]


def test_the_gap_is_the_judge_less_the_people_on_the_same_items() -> None:
    ratings = _ratings(["human", "human", "human", "judge"])
    values = ratings.values.copy()
    values[:30, 3] = np.nan
    analysis = analyse(ratings.with_values(values), plan=PLAN)
    raters = ("r4", "r1", "r2", "r3")
    people, judge, gap = (analysis.find(f"{p}_cohen_kappa", raters) for p in ("people", "judge", "gap"))
    assert gap.result.value == pytest.approx(judge.result.value - people.result.value)
    alone = analyse(_cut(ratings, values), plan=PLAN)
    wanted = np.mean(
        [alone.find("cohen_kappa", p).result.value for p in (("r1", "r2"), ("r1", "r3"), ("r2", "r3"))]
    )
    mean = analysis.find("people_mean_cohen_kappa", raters)
    assert mean.result.value == pytest.approx(wanted)


def _cut(ratings: Ratings, values: np.ndarray) -> Ratings:
    return Ratings.from_matrix(
        values[30:], level=ratings.level, scale=ratings.scale, clusters=ratings.clusters[30:]
    )


def test_two_equal_judges_have_a_gap_around_zero() -> None:
    result = analyse(_ratings(["human", "human", "judge"]), plan=PLAN).find("gap_cohen_kappa").result
    assert result.low < 0 < result.high


def test_an_unknown_statistic_is_refused_by_name() -> None:
    with pytest.raises(KeyError, match="no statistic 'kapa'"):
        analyse(_ratings(["", ""]), statistics=["kapa"])


SAMPLES = [Record(f"i{i}", "gpt", 1 + (i + s) % 3, sample=s) for i in range(6) for s in range(2)]


def test_samples_are_averaged_on_ordered_scales_and_leave_the_scale() -> None:
    ratings = ratings_from_records(SAMPLES, level="ordinal", values=(1, 2, 3))
    assert ratings.values[:3, 0].tolist() == [1.5, 2.5, 2.0]
    assert ratings.on_scale == (False,)


def test_the_first_sample_counts_on_other_scales_and_may_be_asked_for() -> None:
    assert ratings_from_records(SAMPLES, level="nominal").values[:3, 0].tolist() == [1, 2, 3]
    assert ratings_from_records(SAMPLES, level="ordinal", samples="first").values[:3, 0].tolist() == [1, 2, 3]


def test_separate_samples_are_raters_of_their_own() -> None:
    ratings = ratings_from_records(SAMPLES, level="ordinal", samples="separate")
    assert ratings.raters == ("gpt#0", "gpt#1")


def test_a_crowds_pairs_that_share_few_items_are_not_listed_and_counted() -> None:
    raters = 30
    block = np.full((raters, raters), np.nan)
    for i in range(raters):
        block[i, [i, (i + 1) % raters]] = i % 2, 1
    ratings = Ratings.from_matrix(block, level="binary", scale=(0, 1))
    found = analyse(ratings, statistics=["cohen_kappa"], plan=PLAN)
    assert found.pairs == ()
    assert found.left_out.startswith(f"0 of {raters} pairs of raters who share items are compared")


def test_two_people_are_too_few_for_a_judge_to_stand_in() -> None:
    analysis = analyse(_ratings(["human", "human", "judge"]), plan=PLAN)
    assert {e.result.status for e in analysis.replacement} == {"insufficient"}
    assert len(analysis.replacement) == 2
    (verdict,) = analysis.stand_ins
    assert (verdict.state, verdict.why) == ("cannot_say", "the test needs 3 people, and 2 answered")


def test_people_without_a_judge_still_have_their_mean_over_pairs() -> None:
    analysis = analyse(_ratings(["human"] * 3), plan=PLAN)
    mean = analysis.find("people_mean_cohen_kappa", ("r1", "r2", "r3")).result
    pairs = [e.result.value for e in analysis.pairs if e.result.name == "cohen_kappa"]
    assert mean.value == pytest.approx(np.mean(pairs))
    assert mean.low < mean.value < mean.high


def test_the_gap_is_over_the_items_that_two_people_and_the_judge_rated() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 200)
    block = np.where(rng.random((200, 4)) < 0.85, truth[:, None], 1 - truth[:, None]).astype(float)
    block[100:, 1:3] = np.nan  # rated by one person alone
    block[100:, 3] = 1 - block[100:, 0]  # and there the judge is always wrong
    kinds = ("human", "human", "human", "judge")
    whole, half = (
        analyse(Ratings.from_matrix(b, level="binary", kinds=kinds), plan=Plan(resamples=0))
        for b in (block, block[:100])
    )
    for name in ("people_cohen_kappa", "judge_cohen_kappa", "gap_cohen_kappa"):
        assert whole.find(name).result.value == pytest.approx(half.find(name).result.value)
        assert whole.find(name).result.n_items == 100


def test_people_with_people_are_over_all_they_rated_whatever_a_judge_rated() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    block = np.column_stack([np.where(rng.random(200) < 0.85, truth, 1 - truth) for _ in range(4)]).astype(
        float
    )
    block[60:, 2], block[:, 3] = np.nan, np.nan
    kinds = ["human", "human", "judge", "judge"]
    ratings = Ratings.from_matrix(block, level="binary", clusters=np.arange(200) // 4, kinds=kinds)
    gaps = analyse(ratings, plan=Plan(100), statistics=("cohen_kappa",)).gaps
    found = {(e.result.name, e.raters[0]): e.result for e in gaps}
    assert found["people_cohen_kappa", "r1"].n_items == 200
    assert found["people_cohen_kappa", "r1"].value == pytest.approx(
        cohen_kappa_score(block[:, 0], block[:, 1])
    )
    assert found["people_cohen_kappa", "r3"].n_items == 60
    assert found["people_cohen_kappa", "r4"].value is None


def test_a_judge_who_rated_some_of_two_peoples_items_has_a_gap() -> None:
    rng = np.random.default_rng(0)
    block = rng.integers(0, 2, (40, 3)).astype(float)
    block[30:, 2] = np.nan
    ratings = Ratings.from_matrix(block, level="binary", kinds=["human", "human", "judge"])
    found = analyse(ratings, statistics=["percent_agreement"], plan=PLAN).find("gap_percent_agreement")
    assert found is not None
    agreed = [(block[:30, a] == block[:30, b]).mean() for a, b in ((0, 2), (1, 2), (0, 1))]
    assert found.result.value == pytest.approx((agreed[0] + agreed[1]) / 2 - agreed[2])
