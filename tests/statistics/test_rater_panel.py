"""One row per rater, against pandas, scipy and scikit-learn, and reasons if nobody is comparable."""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from calibration.statistics import Plan, Ratings, Result
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.describe import bland_altman
from calibration.statistics.pairwise import disagreement_weights, kappa_of
from calibration.statistics.rater_panel import FIGURES, RaterPanel, rater_panel

from .helpers import compute

PLAN = Plan(resamples=100)
KINDS = ["human", "human", "human", "judge"]
SCALE = (1, 2, 3, 4, 5)


def scores(items: int = 90, seed: int = 0, missing: float = 0.2) -> np.ndarray:
    """Three people, the second lenient, the third keeping to the middle; a judge."""
    rng = np.random.default_rng(seed)
    worth = rng.integers(1, 6, items)
    near = [worth + rng.integers(-1, 2, items) for _ in range(4)]
    block = np.column_stack([near[0], near[1] + 1, 3 + np.sign(near[2] - 3), near[3]]).astype(float)
    block = np.clip(block, 1, 5)
    block[rng.random(block.shape) < missing] = np.nan
    return block


def ratings_of(block: np.ndarray, level: str = "ordinal", **options: object) -> Ratings:
    kinds = options.pop("kinds", KINDS[: block.shape[1]])
    scale = SCALE if level == "ordinal" else None
    clusters = np.arange(len(block)) // 3
    return Ratings.from_matrix(block, level=level, scale=scale, clusters=clusters, kinds=kinds, **options)


def cells(panel: RaterPanel, rater: str) -> dict[str, Result]:
    (row,) = [row for row in panel.rows if row.rater == rater]
    return {figure.name: figure for figure in row.figures}


@pytest.fixture(scope="module")
def panel() -> RaterPanel:
    return rater_panel(ratings_of(scores()), plan=PLAN)


def rest_of(block: np.ndarray, rater: int) -> np.ndarray:
    return block[:, [j for j in range(3) if j != rater]]


@pytest.mark.parametrize("rater", range(4))
def test_a_rater_is_compared_with_the_people_other_than_it_on_the_same_items(
    panel: RaterPanel, rater: int
) -> None:
    block = scores()
    y, rest = block[:, rater], rest_of(block, rater)
    both = pd.DataFrame({"y": y, "rest": pd.DataFrame(rest).mean(axis=1)}).dropna()
    difference = both.y - both.rest
    found = cells(panel, f"r{rater + 1}")
    assert found["rater_mean"].value == pytest.approx(np.nanmean(y), abs=1e-12)
    assert found["rater_difference"].value == pytest.approx(difference.mean(), abs=1e-12)
    assert found["rater_limit_low"].value == pytest.approx(difference.mean() - 1.96 * difference.std())
    assert found["rater_limit_high"].value == pytest.approx(difference.mean() + 1.96 * difference.std())
    assert found["rater_difference"].n_items == len(both)
    rho = stats.spearmanr(both.y, both.rest).statistic
    assert found["rater_with_rest"].value == pytest.approx(rho, abs=1e-12)


@pytest.mark.parametrize("rater", range(4))
def test_the_spread_is_that_of_one_rating_of_the_rest_drawn_from_each_item(
    panel: RaterPanel, rater: int
) -> None:
    block = scores()
    long = pd.DataFrame(rest_of(block, rater)).stack().dropna().rename("value").reset_index()
    shared = np.intersect1d(long.level_0.unique(), np.flatnonzero(~np.isnan(block[:, rater])))
    long = long[long.level_0.isin(shared)]
    weight = 1 / long.groupby("level_0").value.transform("count")
    mean = np.average(long.value, weights=weight)
    theirs = np.average((long.value - mean) ** 2, weights=weight) ** 0.5
    found = cells(panel, f"r{rater + 1}")
    assert found["rater_spread"].value == pytest.approx(block[shared, rater].std() / theirs, abs=1e-12)
    ends = np.average(long.value.isin((1, 5)), weights=weight)
    own = np.isin(block[shared, rater], (1, 5)).mean()
    assert found["rater_ends"].value == pytest.approx(own - ends, abs=1e-12)


def test_who_is_lenient_and_who_keeps_to_the_middle_is_seen(panel: RaterPanel) -> None:
    severity = {row.rater: cells(panel, row.rater)["rater_severity"] for row in panel.rows}
    assert max(severity, key=lambda name: severity[name].value) == "r2"
    assert severity["r2"].low > 0
    third = cells(panel, "r3")
    assert third["rater_spread"].high < 1
    assert third["rater_ends"].high < 0


def test_alpha_with_and_without_a_rater_is_that_of_the_library(panel: RaterPanel) -> None:
    block = scores()

    def alpha(columns: list[int]) -> float:
        data = block[:, columns].T
        return krippendorff.alpha(data, level_of_measurement="ordinal", value_domain=SCALE)

    person, judge = cells(panel, "r1"), cells(panel, "r4")
    assert person["rater_alpha_without"].value == pytest.approx(alpha([1, 2]), abs=1e-9)
    assert person["rater_alpha_gain"].value == pytest.approx(alpha([0, 1, 2]) - alpha([1, 2]), abs=1e-9)
    assert judge["rater_alpha_without"].value == pytest.approx(alpha([0, 1, 2]), abs=1e-9)
    assert judge["rater_alpha_gain"].value == pytest.approx(alpha([0, 1, 2, 3]) - alpha([0, 1, 2]), abs=1e-9)


def test_tags_have_shares_and_kappa_with_the_majority_of_the_rest() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    block = np.column_stack([np.where(rng.random(200) < 0.8, truth, 1 - truth) for _ in range(4)]).astype(
        float
    )
    found = rater_panel(ratings_of(block, "binary", kinds=["human"] * 4), plan=PLAN)
    mine = cells(found, "r2")
    rest = block[:, [0, 2, 3]].sum(axis=1) >= 2
    assert mine["rater_mean"].value == pytest.approx(block[:, 1].mean())
    assert mine["rater_with_rest"].value == pytest.approx(cohen_kappa_score(block[:, 1], rest))
    assert "rater_spread" not in mine
    severity = block.mean(axis=0) - block.mean()
    assert [cells(found, r.rater)["rater_severity"].value for r in found.rows] == pytest.approx(severity)


def test_categories_have_no_severity_but_agreement_and_their_use() -> None:
    block = np.random.default_rng(0).integers(0, 3, (40, 3)).astype(float)
    found = rater_panel(ratings_of(block, "nominal", kinds=["human"] * 3), plan=PLAN)
    assert set(cells(found, "r1")) == {"rater_with_rest", "rater_alpha_without", "rater_alpha_gain"}
    assert sum(found.rows[0].shares.values()) == pytest.approx(1)


def test_every_figure_has_its_words(panel: RaterPanel) -> None:
    assert {figure.name for row in panel.rows for figure in row.figures} == set(FIGURES)


def test_one_rater_has_a_mean_and_nobody_to_be_compared_with() -> None:
    (row,) = rater_panel(ratings_of(scores()[:, :1]), plan=PLAN).rows
    said = {figure.name: figure for figure in row.figures}
    assert said["rater_mean"].ok
    assert said["rater_difference"].reason == "no other rater answered it"


def test_two_raters_are_each_others_rest() -> None:
    block = scores(missing=0)[:, :2]
    found = rater_panel(ratings_of(block), plan=PLAN)
    one, other = (cells(found, name) for name in ("r1", "r2"))
    assert one["rater_difference"].value == pytest.approx(-other["rater_difference"].value)
    assert one["rater_severity"].value == pytest.approx((block[:, 0] - block[:, 1]).mean() / 2)
    assert one["rater_alpha_without"].reason == "fewer than two raters"
    assert one["rater_alpha_gain"].status == "insufficient"


def test_a_judge_with_a_constant_answer_has_reasons() -> None:
    block = scores(missing=0)
    block[:, 3] = 4
    found = cells(rater_panel(ratings_of(block), plan=PLAN), "r4")
    assert found["rater_with_rest"].reason == "the rater gave one value throughout"
    assert found["rater_spread"].value == 0
    assert "constant_rater" in found["rater_spread"].flags
    assert found["rater_severity"].ok
    assert found["rater_mean"].reason == "no interval: the same in every resample"


def test_slots_are_nobody_but_a_judge_beside_them_is_somebody() -> None:
    identified = [False, False, False, True]
    found = rater_panel(ratings_of(scores(), identified=identified), plan=PLAN)
    assert [row.rater for row in found.rows] == ["r4"]
    assert found.unidentified == 3
    assert cells(found, "r4")["rater_difference"].ok
    assert cells(found, "r4")["rater_severity"].reason == "shares no item with another rater"
    slots = rater_panel(ratings_of(scores()[:, :3], identified=[False] * 3), plan=PLAN)
    assert slots.rows == ()
    assert "a slot may be a different person" in slots.reason


def test_people_whom_only_a_judge_joins_are_told() -> None:
    block = scores(missing=0)
    block[:30, 1:3], block[30:60, [0, 2]], block[60:, :2] = np.nan, np.nan, np.nan
    found = rater_panel(ratings_of(block), plan=PLAN)
    assert found.through_judges
    assert found.groups == ()
    apart = rater_panel(ratings_of(block[:, :3]), plan=PLAN)
    assert apart.groups == (("r1",), ("r2",), ("r3",))
    assert cells(apart, "r1")["rater_difference"].status == "insufficient"


def test_metrics_and_keys_have_no_row() -> None:
    kinds = ["human", "human", "key", "metric"]
    assert [r.rater for r in rater_panel(ratings_of(scores(), kinds=kinds), plan=PLAN).rows] == ["r1", "r2"]


def test_the_agreement_of_pairs_has_an_interval_over_people_where_there_are_five() -> None:
    rng = np.random.default_rng(2)
    block = np.clip(rng.integers(1, 6, (80, 1)) + rng.integers(-1, 2, (80, 6)), 1, 5).astype(float)
    found = rater_panel(ratings_of(block, kinds=["human"] * 6), plan=PLAN).over
    assert found is not None
    weights = disagreement_weights(5, "quadratic")
    tables = [
        pd.crosstab(block[:, i], block[:, j])
        .reindex(index=SCALE, columns=SCALE, fill_value=0)
        .to_numpy(float)
        for i in range(6)
        for j in range(i + 1, 6)
    ]
    assert found.value == pytest.approx(kappa_of(np.array(tables), weights).mean(), abs=1e-12)
    assert found.low < found.value < found.high
    few = rater_panel(ratings_of(block[:, :4], kinds=["human"] * 4), plan=PLAN).over
    assert few is not None
    assert few.reason == "an interval over raters needs 5 of them"


def test_limits_of_agreement_are_the_mean_difference_and_its_spread() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = x + 1 + rng.normal(size=60) / 3
    ratings = Ratings.from_matrix(np.column_stack([x, y]), level="interval")
    bias, low, high = bland_altman(x, y, resampling_of(ratings, PLAN))
    assert bias.value == pytest.approx((x - y).mean())
    assert high.value - low.value == pytest.approx(2 * 1.96 * (x - y).std(ddof=1))
    assert low.low < low.value < low.high
    x[1:] = np.nan
    assert bland_altman(x, y, resampling_of(ratings, PLAN))[0].status == "insufficient"


def test_leaving_out_a_guesser_raises_alpha() -> None:
    block = scores(missing=0)
    block[:, 0] = np.random.default_rng(8).integers(1, 6, len(block))
    ratings = ratings_of(block[:, :3])
    found = cells(rater_panel(ratings, plan=PLAN), "r1")
    assert found["rater_alpha_gain"].high < 0
    assert found["rater_alpha_without"].value > compute(ratings, "krippendorff_alpha").value
