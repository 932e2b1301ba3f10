"""Systems as people would have rated them: by hand, against truescore, weighted, and where refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import truescore.compare
import truescore.correct
from django.core.management import call_command
from scipy import special, stats

from calibration.statistics import Plan, Ratings
from calibration.statistics.corrected_shares import corrected_shares
from calibration.statistics.corrected_systems import (
    JudgedItems,
    confusion_corrected,
    confusion_shares,
    corrected_systems,
    paired_difference,
    prediction_powered_mean,
)
from calibration.statistics.prevalence import Labelled, prediction_powered

PLAN = Plan(resamples=300)


def _marks(seed: int, n: int, rated: int, rate: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """People's marks of the first items, NaN after them, and a judge's marks of all."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < rate
    judge = np.where(truth, rng.random(n) < 0.8, rng.random(n) < 0.15).astype(float)
    return np.where(np.arange(n) < rated, truth, np.nan), judge


def _scores(seed: int, n: int, rated: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = np.clip(np.round(3 + shift + rng.normal(size=n)), 1, 5)
    judge = np.clip(np.round(quality + 0.4 + 0.6 * rng.normal(size=n)), 1, 5)
    return np.where(np.arange(n) < rated, quality, np.nan), judge


def _items(people: np.ndarray, judge: np.ndarray, **more: object) -> JudgedItems:
    n = len(judge)
    fields = {"systems": np.zeros(n, int), "clusters": np.arange(n), "categories": (0.0, 1.0)} | more
    return JudgedItems(judge, people[:, None], **fields)  # type: ignore[arg-type]


def _mask(items: JudgedItems) -> np.ndarray:
    return np.ones(len(items.judge), dtype=bool)


@pytest.mark.parametrize("per", [1, 4])
@pytest.mark.parametrize("make", [_marks, _scores])
@pytest.mark.parametrize("weights", [None, 5.0])
def test_with_equal_probabilities_the_figure_is_the_prediction_powered_one(
    per: int, make: object, weights: float | None
) -> None:
    people, judge = make(3, 400, 80)  # type: ignore[operator]
    rated = ~np.isnan(people)
    clusters = np.arange(400) // per
    own = None if weights is None else np.where(rated, weights, np.nan)
    mine = prediction_powered_mean(_items(people, judge, clusters=clusters, weights=own))
    labelled = Labelled.of(people[rated], judge[rated], clusters[rated])
    theirs = prediction_powered(labelled, judge[~rated], clusters[~rated])
    for end in ("value", "low", "high"):
        assert getattr(mine, end) == pytest.approx(getattr(theirs, end), abs=1e-12)
    assert (mine.n_items, mine.n_clusters) == (theirs.n_items, theirs.n_clusters)


def _standard_error(result: object, df: int, *, is_share: bool) -> float:
    """Return the standard error behind an interval of ours, from its ends and Student's t."""
    low, high, value = result.low, result.high, result.value  # type: ignore[attr-defined]
    t = special.stdtrit(df, 0.975)
    if is_share:
        return float((special.logit(high) - special.logit(low)) / 2 / t * value * (1 - value))
    return float((high - low) / 2 / t)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [_marks, _scores])
def test_truescore_gives_the_same_corrected_mean_for_independent_items(seed: int, make: object) -> None:
    people, judge = make(seed, 500, 100)  # type: ignore[operator]
    theirs = truescore.correct.ppi_estimate(judge, people[:100], np.arange(100))
    items = _items(people, judge)
    mine = prediction_powered_mean(items, tuning=theirs.lambda_)
    assert mine.value == pytest.approx(theirs.point, abs=1e-9)
    # truescore: normal quantiles around the value. Concord: Student's t, and the logit scale for shares.
    error = _standard_error(mine, 99, is_share=make is _marks)
    assert 1.959963984540054 * error == pytest.approx(theirs.half_width, abs=1e-9)
    # Their lambda has one variance of the judge (rated items), ours one of each sample.
    free = prediction_powered_mean(items)
    assert free.value == pytest.approx(theirs.point, abs=0.1 * error)


@pytest.mark.parametrize("seed", range(5))
def test_truescore_gives_the_same_rogan_gladen_share(seed: int) -> None:
    people, judge = _marks(seed, 500, 100)
    theirs = truescore.correct.rogan_gladen_estimate(judge, people[:100], np.arange(100))
    items = _items(people, judge)
    mine = confusion_corrected(items, _mask(items), Plan(resamples=2000))
    assert mine.value == pytest.approx(theirs.point, abs=1e-9)
    # Theirs is the delta method, ours a bootstrap of clusters: near each other, not the same.
    assert mine.low == pytest.approx(theirs.low, abs=0.03)
    assert mine.high == pytest.approx(theirs.high, abs=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_truescore_gives_the_same_paired_difference_and_p(seed: int) -> None:
    first, judge_first = _scores(seed, 300, 60)
    second, judge_second = _scores(seed + 50, 300, 60, shift=0.3)
    theirs = truescore.compare.ppi_compare(judge_first, judge_second, first[:60], second[:60], np.arange(60))
    tuning = truescore.correct.ppi_estimate(
        judge_first - judge_second, first[:60] - second[:60], np.arange(60)
    ).lambda_
    items = JudgedItems(
        np.append(judge_first, judge_second),
        np.append(first, second)[:, None],
        np.repeat([0, 1], 300),
        np.tile(np.arange(300), 2),
    )
    mine = paired_difference(items, 0, 1, tuning=tuning)
    assert mine.value == pytest.approx(theirs.difference, abs=1e-9)
    error = _standard_error(mine, 59, is_share=False)
    assert mine.value is not None
    assert 1.959963984540054 * error == pytest.approx((theirs.high - theirs.low) / 2, abs=1e-9)
    assert 2 * stats.norm.sf(abs(mine.value) / error) == pytest.approx(theirs.p_value, abs=1e-9)


def test_systems_of_other_dialogues_are_compared_without_pairing() -> None:
    first, judge_first = _scores(1, 200, 50)
    second, judge_second = _scores(2, 200, 50)
    both = np.append(first, second)[:, None]
    judge, systems = np.append(judge_first, judge_second), np.repeat([0, 1], 200)
    apart = JudgedItems(judge, both, systems, np.arange(400))
    (pair,) = corrected_systems(apart, PLAN).pairs
    rated = np.append(np.arange(200) < 50, np.arange(200) < 50)
    y = np.append(first, second)
    share = float(pair.corrected.method.split("lambda ")[1].split(",")[0])
    rest = np.where(rated, y - share * judge, share * judge)
    by_hand = [
        rest[rated & (systems == code)].mean() + rest[~rated & (systems == code)].mean() for code in (0, 1)
    ]
    assert pair.corrected.value == pytest.approx(by_hand[0] - by_hand[1], abs=2e-3)
    assert pair.judge.value == pytest.approx(judge_first.mean() - judge_second.mean(), abs=1e-12)


def test_a_shared_dialogue_effect_makes_the_paired_interval_narrower() -> None:
    rng = np.random.default_rng(4)
    effect = 2 * rng.normal(size=300)
    values = [3 + effect + 0.3 * rng.normal(size=300) for _ in range(2)]
    judges = [v + 0.3 * rng.normal(size=300) for v in values]
    people = [np.where(np.arange(300) < 90, v, np.nan) for v in values]
    fields = (np.concatenate(judges), np.concatenate(people)[:, None], np.repeat([0, 1], 300))
    paired = paired_difference(JudgedItems(*fields, np.tile(np.arange(300), 2)), 0, 1)
    apart = paired_difference(JudgedItems(*fields, np.arange(600)), 0, 1)
    assert paired.high is not None
    assert paired.low is not None
    assert apart.high is not None
    assert apart.low is not None
    assert paired.high - paired.low < 0.4 * (apart.high - apart.low)


def test_weights_undo_what_was_drawn_more_often() -> None:
    """What the judge flagged was all rated, of the rest a tenth: unweighted, the people's mean is far off."""
    values, plain = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = (rng.random(1500) < 0.2).astype(float)
        judge = np.where(truth == 1, rng.random(1500) < 0.7, rng.random(1500) < 0.2).astype(float)
        chance = np.where(judge == 1, 1.0, 0.1)
        drawn = rng.random(1500) < chance
        people = np.where(drawn, truth, np.nan)
        weighted = _items(people, judge, weights=np.where(drawn, 1 / chance, np.nan))
        values.append(prediction_powered_mean(weighted))
        plain.append(np.nanmean(people))
    assert np.mean([v.value for v in values]) == pytest.approx(0.2, abs=0.006)
    assert np.mean(plain) > 0.3
    assert sum(v.low <= 0.2 <= v.high for v in values) >= 34  # type: ignore[operator]
    assert all("unequal_probabilities" in v.flags for v in values)


def test_an_item_that_was_not_drawn_does_not_count_as_rated() -> None:
    people, judge = _marks(5, 300, 100)
    weights = np.where(np.arange(300) < 60, 5.0, np.nan)
    only_drawn = np.where(np.arange(300) < 60, people, np.nan)
    mine = prediction_powered_mean(_items(people, judge, weights=weights))
    assert mine.value == prediction_powered_mean(_items(only_drawn, judge)).value


def test_the_confusion_matrix_recovers_planted_shares() -> None:
    matrix = np.array([[0.8, 0.1, 0.0], [0.2, 0.7, 0.2], [0.0, 0.2, 0.8]])
    planted = np.array([0.5, 0.3, 0.2])
    shares, is_moved = confusion_shares(matrix, matrix @ planted)
    assert shares == pytest.approx(planted, abs=1e-12)
    assert not is_moved


def test_shares_outside_the_simplex_are_the_nearest_on_it() -> None:
    matrix = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    judged = np.array([0.9, 0.05, 0.05])
    shares, is_moved = confusion_shares(matrix, judged)
    assert is_moved
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    rng = np.random.default_rng(1)
    others = rng.dirichlet(np.full(3, 0.3), size=2000)
    least = ((matrix @ shares - judged) ** 2).sum()
    assert (((others @ matrix.T - judged) ** 2).sum(axis=1) >= least - 1e-9).all()


def test_a_mean_of_ordered_categories_is_corrected_by_their_shares() -> None:
    people, judge = _scores(2, 4000, 1500)
    items = _items(people, judge, categories=(1.0, 2.0, 3.0, 4.0, 5.0))
    result = confusion_corrected(items, _mask(items), PLAN)
    truth, _ = _scores(2, 4000, 4000)
    assert result.low is not None
    assert result.high is not None
    assert result.low < truth.mean() < result.high
    assert judge.mean() - truth.mean() > 0.2


def test_a_judge_that_hardly_tells_categories_apart_is_refused() -> None:
    rng = np.random.default_rng(3)
    people, judge = rng.integers(0, 3, 300).astype(float), rng.integers(0, 3, 300).astype(float)
    items = _items(people, judge, categories=(0.0, 1.0, 2.0))
    result = confusion_corrected(items, _mask(items), PLAN)
    assert result.status == "rejected"
    assert "near singular" in result.reason


@pytest.mark.parametrize(
    ("people", "judge", "reason"),
    [
        ([0.0] * 12, [0.0, 1.0] * 6, "fewer than two"),
        ([0.0, 1.0] * 6, [0.0, 1.0, 2.0] * 4, "people never gave 2"),
        ([0.0, 1.0] * 6, [0.0, 0.5] * 6, "between the values"),
    ],
)
def test_errors_that_were_never_seen_are_not_corrected(people: list, judge: list, reason: str) -> None:
    items = _items(np.array(people), np.array(judge), categories=(0.0, 1.0, 2.0))
    result = confusion_corrected(items, _mask(items), PLAN)
    assert result.value is None
    assert reason in result.reason


def test_items_selected_by_disagreement_leave_the_judge_alone() -> None:
    people, judge = _marks(1, 200, 60)
    systems = np.arange(200) % 2
    why = "the rated items were selected because judge and people differ"
    result = corrected_systems(_items(people, judge, systems=systems, not_random=why, other_errors=why), PLAN)
    for row in result.systems:
        assert row.figures["judge"].low is not None
        assert row.figures["people"].low is None
        for name in ("prediction_powered", "confusion"):
            assert row.figures[name].reason == why
    (pair,) = result.pairs
    assert pair.judge.value is not None
    assert (pair.corrected.value, pair.p, pair.p_holm) == (None, None, None)


def test_few_rated_items_are_refused_and_all_rated_are_the_people_s_own_mean() -> None:
    people, judge = _marks(1, 200, 9)
    few = prediction_powered_mean(_items(people, judge))
    assert few.status == "insufficient"
    assert "people rated 9" in few.reason
    everyone, judge = _marks(1, 200, 200)
    assert prediction_powered_mean(_items(everyone, judge)).value == pytest.approx(everyone.mean(), abs=1e-12)


def test_categories_have_a_share_each_and_holm_covers_all_pairs_and_categories() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 600).astype(float)
    judge = np.where(rng.random(600) < 0.8, truth, rng.integers(0, 3, 600))
    people = np.where(rng.random(600) < 0.4, truth, np.nan)
    items = _items(people, judge, systems=np.arange(600) % 3, categories=(0.0, 1.0, 2.0))
    result = corrected_systems(items, PLAN, shares_of=(0.0, 1.0, 2.0))
    assert len(result.systems) == 9
    assert len(result.pairs) == 9
    for code in range(3):
        rows = [row for row in result.systems if row.system == code]
        assert sum(row.figures["judge"].value or 0 for row in rows) == pytest.approx(1, abs=1e-12)
    ps = [pair.p for pair in result.pairs]
    smallest = min(range(9), key=lambda at: ps[at] or 0)
    assert result.pairs[smallest].p_holm == pytest.approx(min(1.0, 9 * (ps[smallest] or 0)))


def test_the_order_of_items_does_not_change_a_figure() -> None:
    people, judge = _marks(7, 240, 80)
    order = np.random.default_rng(0).permutation(240)
    clusters, systems = np.arange(240) // 3, np.arange(240) % 2
    first = corrected_systems(_items(people, judge, clusters=clusters, systems=systems), PLAN)
    again = corrected_systems(
        _items(people[order], judge[order], clusters=clusters[order], systems=systems[order]), PLAN
    )
    for row, other in zip(first.systems, again.systems, strict=True):
        for name, result in row.figures.items():
            assert result.value == pytest.approx(other.figures[name].value, abs=1e-12), name
            assert result.low == pytest.approx(other.figures[name].low, abs=1e-9), name


def _file(path: Path, *, with_system: bool = True) -> Path:
    """Two systems of 200 dialogues; a judge rated all of them 0.5 too high on average, a person 60."""
    rng = np.random.default_rng(6)
    head = ["item", "rater", "value", "kind", "cluster", *(["system"] if with_system else [])]
    rows = []
    for at in range(200):
        for system, shift in (("alpha", 0), ("beta", 1)):
            quality = int(np.clip(rng.integers(1, 5) + shift, 1, 5))
            judged = int(np.clip(quality + rng.integers(0, 2), 1, 5))
            place = [f"d{at}", *([system] if with_system else [])]
            rows.append([f"{system}{at}", "bot", judged, "judge", *place])
            if at < 60:
                rows.append([f"{system}{at}", "ann", quality, "human", *place])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def _agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", "ordinal", "--values", "1,2,3,4,5", "--resamples", "200",
                 *options, stdout=out)  # fmt: skip
    return out.getvalue()


def test_a_file_with_a_column_of_systems_has_corrected_figures_in_json_and_text(tmp_path: Path) -> None:
    document = json.loads(_agree(_file(tmp_path / "r.csv"), "--json"))
    assert [(row["system"], row["n_items"], row["n_rated"]) for row in document["corrected"]] == [
        ("alpha", 200, 60),
        ("beta", 200, 60),
    ]
    (pair,) = document["corrected_pairs"]
    assert (pair["first"], pair["second"]) == ("alpha", "beta")
    alpha, beta = document["corrected"]
    difference = alpha["corrected"]["value"] - beta["corrected"]["value"]
    assert pair["corrected"]["value"] == pytest.approx(difference, abs=0.05)
    assert pair["p"] == pair["p_holm"]
    for row in (alpha, beta):
        assert row["corrected"]["value"] < row["judge"]["value"] - 0.2
        assert row["confusion"]["status"] == "ok"
    text = _agree(_file(tmp_path / "r.csv"), "--prevalence", "--full")
    for words in ("Systems, by bot and corrected", "Corrected by the confusion matrix", "alpha less beta"):
        assert words in text


def test_a_file_without_systems_has_none_of_them(tmp_path: Path) -> None:
    assert "corrected" not in json.loads(_agree(_file(tmp_path / "r.csv", with_system=False), "--json"))


def test_a_file_of_categories_has_a_share_per_system_and_category(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    lines = ["item,rater,value,kind,system"]
    for at in range(300):
        truth = rng.integers(3)
        judged = truth if rng.random() < 0.8 else rng.integers(3)
        system = ("alpha", "beta")[at % 2]
        lines.append(f"i{at},bot,{'abc'[judged]},judge,{system}")
        if at < 120:
            lines.append(f"i{at},ann,{'abc'[truth]},human,{system}")
    path = tmp_path / "c.csv"
    path.write_text("\n".join(lines) + "\n")
    out = io.StringIO()
    call_command("agree", str(path), "--json", "--resamples", "100", stdout=out)
    rows = json.loads(out.getvalue())["corrected"]
    assert [(row["system"], row["category"]) for row in rows] == [
        (system, category) for system in ("alpha", "beta") for category in "abc"
    ]
    for at in (0, 3):
        for name in ("judge", "corrected", "people"):
            assert sum(row[name]["value"] for row in rows[at : at + 3]) == pytest.approx(1, abs=0.05)


def test_the_shares_of_a_report_are_weighted_where_items_were_drawn_with_unequal_probabilities() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(4000) < 0.2).astype(float)
    judge = np.where(truth == 1, rng.random(4000) < 0.7, rng.random(4000) < 0.2).astype(float)
    chance = np.where(judge == 1, 1.0, 0.1)
    drawn = rng.random(4000) < chance
    matrix = np.column_stack([np.where(drawn, truth, np.nan), judge])
    fields = {"level": "binary", "kinds": ["human", "judge"], "scale": [0.0, 1.0]}
    ratings = Ratings.from_matrix(matrix, weights=np.where(drawn, 1 / chance, np.nan), **fields)  # type: ignore[arg-type]
    (weighted,) = corrected_shares(ratings, Plan(resamples=200))
    planted = {"people_share": 0.2, "prediction_powered": 0.2, "rogan_gladen": 0.2}
    for name, share in (planted | {"sensitivity": 0.7, "specificity": 0.8}).items():
        figure = weighted.figures[name]
        assert figure.low is not None, name
        assert figure.high is not None, name
        assert figure.low < share < figure.high, name
        assert "unequal_probabilities" in figure.flags, name
    (plain,) = corrected_shares(Ratings.from_matrix(matrix, **fields), Plan(resamples=200))  # type: ignore[arg-type]
    assert (plain.figures["people_share"].value or 0) > 0.35
