"""Resampling: the same seed gives the same digits, clusters stay whole, known intervals are reproduced."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibration.statistics import Plan, Ratings, analyse, correlation
from calibration.statistics.analysis import f_interval, paired_difference
from calibration.statistics.core import resampling
from calibration.statistics.core.resampling import bounds_of

from .helpers import compute, pair


def _judged(seed: int = 0, n: int = 240) -> Ratings:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    block = np.column_stack([np.where(rng.random(n) < 0.8, truth, 1 - truth) for _ in range(4)])
    return Ratings.from_matrix(
        block, level="binary", clusters=np.arange(n) // 4, kinds=["human", "human", "judge", "judge"]
    )


def test_the_same_seed_gives_the_same_digits() -> None:
    one, two = (analyse(_judged(), plan=Plan(resamples=300)) for _ in range(2))
    assert [e.as_dict() for e in one.entries] == [e.as_dict() for e in two.entries]


def test_another_seed_gives_other_digits() -> None:
    assert compute(_judged(), "gwet_ac1", plan=Plan(300, 1)) != compute(
        _judged(), "gwet_ac1", plan=Plan(300, 2)
    )


def test_digits_do_not_depend_on_how_many_resamples_are_held_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = analyse(_judged(), plan=Plan(resamples=300)).entries
    monkeypatch.setattr(resampling, "CHUNK", 500)
    monkeypatch.setattr(resampling, "KEEP", 0)
    monkeypatch.setattr(correlation, "ROWS", 700)
    assert analyse(_judged(), plan=Plan(resamples=300)).entries == whole


def test_asking_for_fewer_statistics_changes_no_digit() -> None:
    alone = analyse(_judged(), statistics=["cohen_kappa"], plan=Plan(resamples=300)).pairs[0]
    assert analyse(_judged(), plan=Plan(resamples=300)).find("cohen_kappa", alone.raters) == alone


def test_item_resampling_meets_scipys_percentile_interval() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    ours = compute(pair(x, y), "pearson", plan=Plan(resamples=8000))
    theirs = stats.bootstrap(
        (x, y),
        lambda a, b: stats.pearsonr(a, b)[0],
        paired=True,
        vectorized=False,
        method="percentile",
        rng=0,
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_bca_is_scipys_on_the_same_resamples() -> None:
    rng = np.random.default_rng(2)
    x = rng.exponential(size=40)
    drawn = x[rng.integers(0, 40, (3000, 40))].mean(axis=1)
    left_out = (x.sum() - x) / 39
    ours = bounds_of(x.mean(), drawn, Plan(interval="bca"), left_out)
    found = stats.bootstrap((x,), np.mean, n_resamples=0, bootstrap_result=_distribution(drawn), method="BCa")
    assert (ours.low, ours.high) == pytest.approx(tuple(found.confidence_interval), abs=1e-12)


def _distribution(drawn: np.ndarray) -> object:
    class Given:
        bootstrap_distribution = drawn

    return Given()


def test_clusters_make_an_interval_wider_than_items_do() -> None:
    truth = np.repeat(np.random.default_rng(3).integers(0, 2, 40), 10)
    noise = np.repeat(np.random.default_rng(4).random(40) < 0.3, 10)
    ratings = pair(truth, np.where(noise, 1 - truth, truth), "binary", clusters=np.arange(400) // 10)
    by_cluster = compute(ratings, "cohen_kappa", plan=Plan(resamples=500))
    by_item = compute(ratings, "cohen_kappa", plan=Plan(resamples=500, scheme="items"))
    assert by_cluster.high - by_cluster.low > 2 * (by_item.high - by_item.low)


def test_crossed_and_system_resampling_need_the_systems() -> None:
    with pytest.raises(ValueError, match="needs the system"):
        compute(_judged(), "cohen_kappa", plan=Plan(scheme="crossed"))


def test_crossed_resampling_is_wider_than_by_cluster_where_systems_differ() -> None:
    rng = np.random.default_rng(6)
    systems, clusters = np.tile(np.arange(20), 15), np.repeat(np.arange(15), 20)
    quality = rng.normal(size=20)[systems]
    x, y = quality + rng.normal(size=300) / 2, quality + rng.normal(size=300) / 2
    ratings = pair(x, y, clusters=clusters, systems=systems)
    crossed = compute(ratings, "pearson", plan=Plan(500, scheme="crossed"))
    alone = compute(ratings, "pearson", plan=Plan(500))
    assert crossed.high - crossed.low > alone.high - alone.low


def test_a_paired_difference_is_narrower_than_its_parts() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 400)
    judge = np.where(rng.random(400) < 0.8, truth, 1 - truth)
    other = np.where(rng.random(400) < 0.02, 1 - judge, judge)
    ratings = Ratings.from_matrix(
        np.column_stack([truth, judge, other]), level="binary", clusters=np.arange(400) // 4
    )
    plan = Plan(resamples=500)
    gap = paired_difference(ratings, "cohen_kappa", ("r1", "r2"), ("r1", "r3"), plan)
    alone = compute(ratings, "cohen_kappa", (0, 1), plan)
    assert gap.high - gap.low < (alone.high - alone.low) / 2
    assert gap.value == pytest.approx(alone.value - compute(ratings, "cohen_kappa", (0, 2), plan).value)


@pytest.mark.parametrize(
    ("clusters", "flagged"),
    [(49, {"few_clusters"}), (50, {"moderate_clusters"}), (149, {"moderate_clusters"}), (150, set())],
)
def test_intervals_over_too_few_clusters_say_so(clusters: int, flagged: set[str]) -> None:
    found = compute(_judged(n=4 * clusters), "cohen_kappa", (0, 1), Plan(50))
    assert set(found.flags) & {"few_clusters", "moderate_clusters"} == flagged


@pytest.mark.parametrize(("scheme", "flag"), [("clusters", None), ("systems", True), ("crossed", True)])
def test_what_is_drawn_decides_whether_there_is_enough_of_it(scheme: str, flag: bool | None) -> None:
    rows = np.arange(800)
    ratings = Ratings.from_matrix(
        np.column_stack([rows % 7 < 3, rows % 5 < 2]).astype(float),
        level="binary",
        clusters=rows // 4,
        systems=rows % 3,
    )
    found = compute(ratings, "cohen_kappa", (0, 1), Plan(50, scheme=scheme))
    assert ("few_clusters" in found.flags) == bool(flag)
    assert found.n_clusters == 200


def test_one_system_has_no_interval_over_systems() -> None:
    rows = np.arange(800)
    block = np.column_stack([rows % 7 < 3, rows % 5 < 2]).astype(float)
    ratings = Ratings.from_matrix(block, level="binary", clusters=rows // 4, systems=rows * 0)
    found = compute(ratings, "cohen_kappa", (0, 1), Plan(50, scheme="systems"))
    assert (found.low, found.reason) == (None, "no interval: there is a single system")


def _with_positives(first: int, second: int) -> Ratings:
    rows = np.arange(1000)
    block = np.column_stack([rows < first, rows < second, rows < first]).astype(float)
    return Ratings.from_matrix(block, level="binary", clusters=rows % 100)


@pytest.mark.parametrize("statistic", ["cohen_kappa", "scott_pi", "mcc", "precision", "recall", "f1"])
def test_few_events_are_flagged_whichever_rater_marks_few(statistic: str) -> None:
    for first, second, few in ((30, 30, False), (29, 40, True), (40, 29, True)):
        flags = compute(_with_positives(first, second), statistic, (0, 1), Plan(50)).flags
        assert ("few_events" in flags) == few


@pytest.mark.parametrize("statistic", ["krippendorff_alpha", "fleiss_kappa"])
def test_a_panel_with_few_events_on_average_is_flagged(statistic: str) -> None:
    for first, second, few in ((31, 28, False), (29, 30, True)):
        assert (
            "few_events" in compute(_with_positives(first, second), statistic, plan=Plan(50)).flags
        ) == few


def test_few_negatives_are_few_events_for_what_rests_on_them() -> None:
    ratings = _with_positives(975, 980)
    flagged = {
        key: "few_events" in compute(ratings, key, (0, 1), Plan(50)).flags for key in ("mcc", "recall")
    }
    assert flagged == {"mcc": True, "recall": False}


def test_bca_is_refused_for_very_many_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "MOST_FOR_BCA", 10)
    with pytest.raises(ValueError, match="use percentile"):
        compute(_judged(), "cohen_kappa", (0, 1), Plan(50, interval="bca"))


def test_f_intervals_of_icc_hold_the_values_known_for_shrout_and_fleiss_data() -> None:
    """The limits are those that pingouin and psych print for this table, as recalled, to two decimals."""
    block = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    ratings = Ratings.from_matrix(block, level="interval")
    known = {
        (1, False): (-0.13, 0.72),
        (2, False): (0.02, 0.76),
        (3, False): (0.34, 0.95),
        (1, True): (-0.88, 0.91),
        (2, True): (0.07, 0.93),
        (3, True): (0.68, 0.99),
    }
    for (form, average), wanted in known.items():
        found = f_interval(ratings, form, average)
        assert (found.low, found.high) == pytest.approx(wanted, abs=0.006)
        assert found.low < found.value < found.high


def test_f_intervals_need_a_complete_table() -> None:
    found = f_interval(Ratings.from_matrix([[1, 2], [2, np.nan], [4, 5], [3, 3]], level="interval"), 2)
    assert found.low is None
    assert "missing cells" in found.reason


@pytest.mark.parametrize(
    "statistic", ["cohen_kappa", "scott_pi", "mcc", "krippendorff_alpha", "fleiss_kappa"]
)
def test_below_ten_of_the_rarer_answer_agreement_has_a_value_and_no_interval(statistic: str) -> None:
    columns = (0, 1)
    few, enough = (
        compute(_with_positives(n, n + 3).take(columns), statistic, columns, Plan(50)) for n in (8, 10)
    )
    assert few.value is not None
    assert (few.low, few.reason.startswith("no interval: fewer than 10 items with the rarer answer")) == (
        None,
        True,
    )
    assert "too_few_events" in few.flags
    assert enough.low is not None
    assert "too_few_events" not in enough.flags
