"""Pairs of judges against the same reference: values, difference, interval and permutation test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, matthews_corrcoef

from benchmarks import judges_compared as simulated
from calibration.statistics import Plan, Ratings, Record, ratings_from_records
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.analysis import paired_difference
from calibration.statistics.judges_compared import Compared, Contender, contenders_of, judges_compared

from .real_data import alt_test_data
from .swapping import permutation_by_cluster

PLAN = Plan(resamples=200)
WEIGHTS = {"cohen_kappa": None, "cohen_kappa_linear": "linear", "cohen_kappa_quadratic": "quadratic"}


def grades(*, people: int = 2, judges: int = 3, gaps: float = 0.1, dialogues: int = 60) -> Ratings:
    """Ratings from 1 to 5 of three turns a dialogue, some of them missing."""
    rng = np.random.default_rng(people + judges)
    n = 3 * dialogues
    truth = rng.integers(1, 6, n)
    columns = [
        np.clip(truth + rng.integers(-1, 2, n) * (rng.random(n) < 0.3 + 0.1 * j), 1, 5)
        for j in range(people + judges)
    ]
    block = np.column_stack(columns).astype(np.float64)
    block[rng.random(block.shape) < gaps] = np.nan
    return Ratings.from_matrix(
        block,
        level="ordinal",
        scale=range(1, 6),
        clusters=np.arange(n) // 3,
        raters=[f"p{i}" for i in range(people)] + [f"j{i}" for i in range(judges)],
        kinds=["human"] * people + ["judge"] * judges,
    )


def compared(ratings: Ratings, plan: Plan = PLAN, **options: Any) -> dict[tuple[str, ...], Compared]:
    """Return the rows by statistic and the two names."""
    contenders = options.pop("contenders", None) or contenders_of(ratings, None, {})
    found = judges_compared(ratings, contenders, plan=plan, **options)
    return {(row.statistic, *(one.name for one in row.contenders)): row for row in found.pairs}


def by_libraries(statistic: str, people: np.ndarray, judge: np.ndarray) -> float:
    """Return a judge's value over people (items x people) by SciPy and scikit-learn."""
    if statistic in ("spearman", "pearson"):
        correlate = spearmanr if statistic == "spearman" else pearsonr
        return float(correlate(np.nanmean(people, axis=1), judge)[0])
    values = []
    for own in people.T:
        use = ~np.isnan(own)
        weights = WEIGHTS[statistic]
        values.append(cohen_kappa_score(own[use], judge[use], labels=[1, 2, 3, 4, 5], weights=weights))
    return float(np.mean(values))


def test_values_and_p_are_those_of_the_libraries_and_of_a_pass_per_permutation() -> None:
    ratings = grades()
    rows = compared(ratings, permutations=60)
    assert len(rows) == 3 * 5
    for (statistic, one, other), row in rows.items():
        a, b = (ratings.values[:, ratings.column(name)] for name in (one, other))
        people = ratings.values[:, :2]
        use = ~np.isnan(a) & ~np.isnan(b) & ~np.isnan(people).all(axis=1)

        def value(judge: np.ndarray, statistic: str = statistic, of: np.ndarray = people[use]) -> float:
            return by_libraries(statistic, of, judge)

        assert row.first.value == pytest.approx(value(a[use]), abs=1e-12)
        assert row.second.value == pytest.approx(value(b[use]), abs=1e-12)
        assert row.difference.value == pytest.approx(value(a[use]) - value(b[use]), abs=1e-12)
        if (one, other) == ("j0", "j1") and statistic in ("cohen_kappa", "spearman", "pearson"):
            slow = permutation_by_cluster(
                a[use],
                b[use],
                ratings.clusters[use],
                lambda x, y, value=value: value(x) - value(y),  # type: ignore[misc]
                permutations=60,
            )
            assert row.p.value == slow.p


def test_the_interval_is_that_of_a_paired_difference_on_the_same_resamples() -> None:
    ratings = grades(people=1, judges=2)
    for interval in ("percentile", "bca"):
        plan = Plan(resamples=300, interval=interval)  # type: ignore[arg-type]
        row = compared(ratings, plan)["cohen_kappa", "j0", "j1"]
        known = paired_difference(ratings, "cohen_kappa", ("p0", "j0"), ("p0", "j1"), plan)
        assert (row.difference.low, row.difference.high) == (known.low, known.high)
        assert row.difference.n_items == known.n_items


def test_accuracy_and_mcc_are_scikit_learn_s() -> None:
    ratings = simulated.study(3, (0.85, 0.7))
    rows = compared(ratings)
    truth, ann, a, b = ratings.values.T
    assert rows["accuracy", "a", "b"].first.value == accuracy_score(truth, a)
    assert rows["accuracy", "a", "b"].reference == "truth"
    assert rows["mcc", "a", "b"].second.value == pytest.approx(matthews_corrcoef(ann, b), abs=1e-12)
    assert rows["mcc", "a", "b"].reference == "people"
    assert {key[0] for key in rows} == {"cohen_kappa", "mcc", "accuracy"}


def test_p_values_are_corrected_over_the_pairs_of_a_statistic() -> None:
    rows = compared(grades(judges=4), statistics=["cohen_kappa", "spearman"])
    for statistic in ("cohen_kappa", "spearman"):
        family = [row for key, row in rows.items() if key[0] == statistic]
        assert len(family) == 6
        wanted = corrected([row.p.value for row in family if row.p.value is not None], "holm")
        assert [row.p_holm.value for row in family] == wanted.tolist()
        assert "Holm over 6 pairs" in family[0].p_holm.method


def test_holm_s_worked_example() -> None:
    assert corrected([0.010, 0.030, 0.040], "holm") == pytest.approx([0.030, 0.060, 0.060], abs=1e-15)


def test_only_items_that_both_answered_count_and_the_dropped_are_counted() -> None:
    ratings = grades(judges=2)
    row = compared(ratings)["spearman", "j0", "j1"]
    rated = ~np.isnan(ratings.values[:, :2]).all(axis=1)
    one, other = (~np.isnan(ratings.values[:, j]) for j in (2, 3))
    assert row.difference.n_items == (rated & one & other).sum()
    assert row.n_dropped == (rated & (one ^ other)).sum() > 0


def test_judges_without_a_shared_item_have_a_reason_and_no_p() -> None:
    ratings = grades(judges=2, gaps=0.0)
    block = ratings.values.copy()
    block[::2, 2], block[1::2, 3] = np.nan, np.nan
    row = compared(ratings.with_values(block))["cohen_kappa", "j0", "j1"]
    for result in (row.first, row.second, row.difference, row.p, row.p_holm):
        assert result.status == "insufficient"
        assert result.reason == "no item was answered by both j0 and j1"
    assert row.n_dropped == len(block)


def test_judges_who_agree_throughout_differ_by_nothing() -> None:
    ratings = grades(judges=2, gaps=0.0)
    block = ratings.values.copy()
    block[:, 3] = block[:, 2]
    for row in compared(ratings.with_values(block)).values():
        assert row.difference.value == 0.0
        assert row.p.value == row.p_holm.value == 1.0


def test_fewer_than_fifty_dialogues_are_flagged_and_few_are_swapped_in_every_way() -> None:
    row = compared(grades(judges=2, dialogues=8))["cohen_kappa", "j0", "j1"]
    assert "few_clusters" in row.difference.flags
    assert "all 256 swaps" in row.p.method
    assert row.p.value is not None
    assert (row.p.value * 256) % 1 == 0
    assert "few_clusters" not in compared(grades(judges=2))["cohen_kappa", "j0", "j1"].difference.flags


def test_one_person_with_whom_nothing_is_defined_is_left_out_of_the_mean_for_both() -> None:
    ratings = simulated.study(1, (0.8, 0.8))
    never = ratings.with_column("never", np.zeros(ratings.n_items), kind="human", on_scale=True)
    with_never, without = (compared(r)["mcc", "a", "b"] for r in (never, ratings))
    assert with_never.first.value == without.first.value
    assert "dropped_raters" in with_never.first.flags
    assert "dropped_raters" not in without.first.flags


def _repeated() -> list[Record]:
    rng = np.random.default_rng(4)
    records = []
    for n in range(120):
        truth = int(rng.integers(1, 6))
        around = [int(np.clip(truth + rng.integers(-1, 2), 1, 5)) for _ in range(4)]
        records.append(Record(f"i{n}", "ann", truth, f"d{n // 2}", "human"))
        records += [
            Record(f"i{n}", "gpt", v, f"d{n // 2}", "judge", sample=s) for s, v in enumerate(around[:3])
        ]
        records.append(Record(f"i{n}", "llm", around[3], f"d{n // 2}", "judge"))
    return records


def test_one_call_of_a_judge_is_compared_with_the_mean_of_its_three() -> None:
    first, mean = (
        ratings_from_records(_repeated(), level="ordinal", values=range(1, 6), samples=policy)  # type: ignore[arg-type]
        for policy in ("first", "mean")
    )
    contenders = contenders_of(first, mean, {"ann": 1, "gpt": 3, "llm": 1})
    assert [(one.rater, one.samples, one.name) for one in contenders] == [
        ("gpt", "first", "gpt (first of 3 calls)"),
        ("gpt", "mean", "gpt (mean of 3 calls)"),
        ("llm", "", "llm"),
    ]
    rows = compared(mean, contenders=contenders)
    row = rows["spearman", "gpt (first of 3 calls)", "gpt (mean of 3 calls)"]
    assert row.difference.value is not None
    assert row.difference.value < 0  # a mean of three errs less
    ann = mean.values[:, mean.column("ann")]
    assert row.second.value == pytest.approx(spearmanr(ann, mean.values[:, mean.column("gpt")])[0], abs=1e-12)
    assert {key[1:] for key in rows if key[0] == "cohen_kappa"} == {("gpt (first of 3 calls)", "llm")}


@pytest.mark.parametrize("statistic", ["spearman", "pearson"])
def test_raters_of_different_scales_change_places_by_rank_or_standard_score(statistic: str) -> None:
    ratings = grades(judges=1, gaps=0.0)
    rng = np.random.default_rng(0)
    metric = ratings.values[:, 2] + rng.normal(size=ratings.n_items)

    def row(values: np.ndarray) -> Compared:
        made = Contender("bleu", "metric", values, on_scale=False, scale="bleu")
        rows = compared(ratings, contenders=(*contenders_of(ratings, None, {}), made))
        assert {key[0] for key in rows} == {"spearman", "pearson"}
        return rows[statistic, "j0", "bleu"]

    plain, moved = row(metric), row(1000 * metric - 7)
    assert plain.p.value == moved.p.value
    assert plain.difference.value == pytest.approx(moved.difference.value, abs=1e-12)
    assert 0 < (plain.p.value or 0) < 0.05  # noise was added to what the judge says


def test_a_key_stands_for_people_where_nobody_rates() -> None:
    ratings = simulated.study(2, (0.85, 0.7)).take((0, 2, 3))
    rows = compared(ratings)
    assert {row.reference for row in rows.values()} == {"truth"}
    a = ratings.values[:, 1]
    wanted = cohen_kappa_score(ratings.values[:, 0], a)
    assert rows["cohen_kappa", "a", "b"].first.value == pytest.approx(wanted, abs=1e-12)


def test_of_many_contenders_pairs_of_metrics_are_left_out_and_counted() -> None:
    ratings = grades(judges=2, gaps=0.0)
    rng = np.random.default_rng(1)
    metrics = [
        Contender(f"m{n}", "metric", rng.normal(size=ratings.n_items), on_scale=False, scale=f"m{n}")
        for n in range(12)
    ]
    both = contenders_of(ratings, None, {})
    found = judges_compared(ratings, (*both, *metrics), statistics=["pearson"], plan=Plan(0), permutations=20)
    assert found.left_out == 66
    assert len(found.pairs) == 1 + 2 * 12
    assert (
        judges_compared(ratings, metrics, statistics=["pearson"], plan=Plan(0), permutations=20).left_out == 0
    )


@pytest.mark.shared
def test_real_judges_beside_six_people(shared_data: Path) -> None:
    """Four models beside six students (Calderon et al. 2025): one pair and statistic by hand."""
    ratings = alt_test_data(shared_data, "lesion", "ordinal")
    rows = compared(ratings, Plan(100), statistics=["cohen_kappa_quadratic"], permutations=500)
    assert len(rows) == 6
    row = rows["cohen_kappa_quadratic", "gemini_pro", "gpt-4o"]
    judge = ratings.values[:, ratings.column("gpt-4o")]
    values = []
    for person in ratings.of_kind("human"):
        both = ~np.isnan(ratings.values[:, person]) & ~np.isnan(judge)
        own = ratings.values[both, person]
        values.append(
            cohen_kappa_score(own, judge[both], labels=list(ratings.scale or ()), weights="quadratic")
        )
    assert row.second.value == pytest.approx(np.mean(values), abs=1e-12)
    assert row.difference.n_clusters == 100
    assert all((r.p.value or 0) <= (r.p_holm.value or 0) for r in rows.values())


@pytest.mark.exhaustive
def test_the_interval_of_a_difference_holds_the_truth_and_equal_judges_are_seldom_told_apart() -> None:
    """A quick look; `benchmarks/judges_compared.py` tries 1,000 studies."""
    studies, draws = range(100), 200
    different = simulated.tried(studies, simulated.SENSITIVITIES, draws)
    equal = simulated.tried(studies, (0.7, 0.7), draws)
    error = (0.05 * 0.95 / len(studies)) ** 0.5
    for statistic in simulated.STATISTICS:
        assert different[statistic][0] / len(studies) >= 0.93 - 3 * error
        assert abs(equal[statistic][1] / len(studies) - 0.05) <= 3 * error
        assert different[statistic][1] > equal[statistic][1]
