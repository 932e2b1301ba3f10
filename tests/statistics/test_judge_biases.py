"""Biases of judges: planted ones are recovered, absent ones covered, and what cannot be told says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.api import OLS, WLS, add_constant

from calibration.statistics import Plan
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.engine import Result
from calibration.statistics.judge_biases import (
    family_preference,
    first_excess,
    is_clear,
    judge_severity,
    length_slope,
    p_values,
)
from calibration.statistics.preference_strengths import Vote

PLAN = Plan(resamples=300)
Floats = NDArray[np.float64]
Answers = tuple[Floats, Floats, Floats, NDArray[np.int64]]
"""A judge's answers, people's (items x people), characters, clusters."""


def scored(
    seed: int, slope: float = 0.0, *, people: int = 3, of: int = 3, clusters: int = 100, apart: float = 0.3
) -> Answers:
    """Six items a dialogue; people, too, rate longer texts higher; `people` of `of` rate each item.

    `apart` is the standard deviation of people's own severity.
    """
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(clusters), 6)
    doublings = rng.normal(6, 1, units.size) + rng.normal(0, 0.5, clusters)[units]
    truth = 3 + 0.6 * (doublings - 6) + rng.normal(0, 0.6, units.size) + rng.normal(0, 0.3, clusters)[units]
    answers = truth[:, None] + rng.normal(0, apart, of) + rng.normal(0, 0.8, (units.size, of))
    answers[np.argsort(rng.random(answers.shape), axis=1).argsort(axis=1) >= people] = np.nan
    own = rng.normal(0, 0.6, units.size) + rng.normal(0, 0.3, clusters)[units]
    return truth + slope * (doublings - 6) + own, answers, 2**doublings - 1, units


def tagged(seed: int) -> Answers:
    """Tags of three people; a judge whose errors do not depend on the length."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(150), 6)
    doublings = rng.normal(6, 1, units.size)
    chance = 1 / (1 + np.exp(6 - doublings - rng.normal(0, 1, units.size) - rng.normal(0, 0.5, 150)[units]))
    people = (rng.random((units.size, 3)) < chance[:, None]).astype(np.float64)
    judge = (rng.random(units.size) < 0.1 + 0.75 * chance).astype(np.float64)
    return judge, people, 2**doublings - 1, units


def test_with_people_who_agree_wholly_the_slope_is_that_of_least_squares() -> None:
    judge, people, characters, units = scored(1, 0.4)
    same = np.repeat(mean_of(people)[:, None], 2, axis=1)
    judge[:5] = np.nan
    result = length_slope(judge, same, characters, units, PLAN)
    explained = np.column_stack([np.log2(1 + characters), same[:, 0]])[5:]
    expected = OLS(judge[5:], add_constant(explained)).fit().params[1]
    assert result.value == pytest.approx(expected, rel=1e-9)
    assert (result.n_items, result.n_missing, result.n_clusters) == (595, 5, 100)


def test_a_persons_severity_is_no_noise() -> None:
    judge, people, characters, units = scored(2)
    moved = people + np.array([0.0, 5.0, -5.0])
    first, second = (length_slope(judge, block, characters, units, PLAN).value for block in (people, moved))
    assert first == pytest.approx(second, abs=1e-9)


def test_without_items_of_two_people_the_noise_of_people_is_not_known() -> None:
    judge, people, characters, units = scored(3, people=1)
    result = length_slope(judge, people, characters, units, PLAN)
    assert (result.status, result.value) == ("insufficient", None)
    assert "not known" in result.reason
    flat = length_slope(judge, scored(3)[1], np.full(judge.size, 9.0), units, PLAN)
    assert (flat.status, flat.value) == ("undefined", None)


def votes(
    chance: float, *, pairs: int = 200, orders: str = "both", rater: str = "j", seed: int = 0
) -> list[Vote]:
    """A rater takes the response shown first with `chance`, whatever it is; else the better, member 1."""
    rng = np.random.default_rng(seed)
    answers = []
    for number in range(pairs):
        shown = {"both": (False, True), "one": (False,), "either": (bool(rng.random() < 0.5),)}[orders]
        for swapped in shown:
            label = "first" if rng.random() < 0.8 else "second"
            if rng.random() < chance:
                label = "second" if swapped else "first"
            answers.append(Vote(f"i{number}", "j", label, ("a", "b"), f"c{number // 2}", "judge", swapped))
    return answers


@pytest.mark.parametrize("orders", ["both", "either"])
def test_a_judge_that_takes_the_first_shown_has_its_excess(orders: str) -> None:
    for chance in (0.0, 0.3):
        result = first_excess(votes(chance, orders=orders, pairs=600, seed=1), PLAN)
        assert result.low is not None
        assert result.high is not None
        assert result.low <= chance / 2 <= result.high, "a share of the answers moves by half"
        assert result.n_items == 600


def test_with_one_order_position_cannot_be_told() -> None:
    result = first_excess(votes(0.3, orders="one"), PLAN)
    assert (result.status, result.n_items) == ("insufficient", 200)
    assert "one order" in result.reason
    assert first_excess([], PLAN).status == "insufficient"


def test_severity_is_the_mean_gap_on_the_same_items() -> None:
    judge, people, _, units = scored(4)
    judge[:7] = np.nan
    result = judge_severity(judge + 0.7, mean_of(people), units, PLAN)
    assert result.value == pytest.approx(np.nanmean(judge + 0.7 - mean_of(people)))
    assert (result.n_items, result.n_missing) == (593, 7)


def test_p_values_agree_with_the_interval_and_are_corrected_together() -> None:
    at_zero = Result("a", 1.0, 0.0, 2.0, n_items=9, n_clusters=100)
    clear = Result("b", 1.0, 0.7, 1.3, n_items=9, n_clusters=100)
    none = Result("c", 1.0, n_items=9, n_clusters=100, reason="few")
    (edge, edge_holm), (small, small_holm), (without, _) = p_values([at_zero, clear, none])
    assert edge.value == pytest.approx(0.05)
    assert edge_holm.value == pytest.approx(0.05)
    assert small_holm.value == pytest.approx(2 * (small.value or 0))
    assert (without.status, without.reason) == ("insufficient", "few")
    assert is_clear(clear, small_holm)
    assert not is_clear(at_zero, edge_holm)
    assert not is_clear(clear, edge_holm.__class__("p_holm", 0.06))


def covered(world: Callable[[int], Answers], truth: float, worlds: int) -> tuple[float, float]:
    """Return the share of worlds whose interval of the slope holds the truth, and the mean error."""
    hits, errors = 0, []
    for seed in range(worlds):
        result = length_slope(*world(seed), PLAN)
        assert result.value is not None
        hits += (result.low or 0) <= truth <= (result.high or 0)
        errors.append(result.value - truth)
    return hits / worlds, float(np.mean(errors))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("world", "truth"),
    [
        (scored, 0.0),
        (lambda seed: scored(seed, 0.2), 0.2),
        (lambda seed: scored(seed, people=2, of=8), 0.0),
        (tagged, 0.0),
    ],
    ids=["fair", "planted", "two of eight people", "tags"],
)
def test_intervals_of_the_length_slope_cover(world: Callable[[int], Answers], truth: float) -> None:
    share, error = covered(world, truth, 1000)
    print(f"\ncoverage {share:.1%}, mean error {error:+.4f}")
    assert 0.925 <= share <= 0.975
    assert abs(error) < 0.01


@pytest.mark.exhaustive
@pytest.mark.parametrize("planted", [0.0, 0.2])
def test_intervals_of_position_and_severity_cover(planted: float) -> None:
    position = severity = 0
    units = np.repeat(np.arange(100), 6)
    for seed in range(1000):
        result = first_excess(votes(planted, seed=seed), PLAN)
        position += (result.low or 0) <= planted / 2 <= (result.high or 0)
        rng = np.random.default_rng(seed)
        own = rng.normal(0, 0.6, units.size) + rng.normal(0, 0.3, 100)[units]
        result = judge_severity(planted + own, rng.normal(0, 0.5, units.size), units, PLAN)
        severity += (result.low or 0) <= planted <= (result.high or 0)
    print(f"\ncoverage: position {position / 1000:.1%}, severity {severity / 1000:.1%}")
    assert 0.925 <= position / 1000 <= 0.975
    assert 0.925 <= severity / 1000 <= 0.975


# Items drawn for people by what the judge said: all that it scores high, a share of the rest.

DRAWN_EFFECTS = {"length": 0.2, "severity": 0.3, "family": 0.4}


def drawn(seed: int, share: float, clusters: int) -> tuple[Answers, NDArray[np.bool_], Floats]:
    """Return answers of two people on drawn items, which items are of the judge's family, and weights.

    The judge's tenth of highest scores is drawn whole, of the rest a share: what is drawn follows from its
    errors.
    """
    judge, people, characters, units = scored(
        seed, DRAWN_EFFECTS["length"], people=2, of=2, clusters=clusters, apart=0
    )
    rng = np.random.default_rng([seed, 1])
    own = rng.random(units.size) < 0.5
    judge = judge + DRAWN_EFFECTS["severity"] + DRAWN_EFFECTS["family"] * (own - 0.5)
    rest = np.flatnonzero(judge <= np.quantile(judge, 0.9))
    n = round(rest.size * share)
    weights = np.where(judge > np.quantile(judge, 0.9), 1.0, np.nan)
    weights[rng.choice(rest, n, replace=False)] = rest.size / n
    people[np.isnan(weights)] = np.nan
    return (judge, people, characters, units), own, weights


def drawn_effects(
    answers: Answers, own: NDArray[np.bool_], weights: Floats | None, plan: Plan = PLAN
) -> dict[str, Result]:
    """Return the three effects that read items."""
    judge, people, characters, units = answers
    mean = mean_of(people)
    return {
        "length": length_slope(judge, people, characters, units, plan, weights),
        "severity": judge_severity(judge, mean, units, plan, weights),
        "family": family_preference(judge, mean, own, units, plan, weights),
    }


def test_weights_that_are_all_alike_change_nothing_and_no_item_without_one_counts() -> None:
    answers, own, weights = drawn(5, 0.2, 100)
    judge, people, characters, units = answers
    alike = np.where(np.isnan(weights), np.nan, 3.0)
    beside = np.where(np.isnan(people), 99.0, people)
    few = drawn_effects((judge, beside, characters, units), own, alike)
    weighted = drawn_effects(answers, own, weights)
    for key, plain in drawn_effects(answers, own, None).items():
        for name in ("value", "low", "high"):
            assert getattr(few[key], name) == pytest.approx(getattr(plain, name))
        assert (few[key].n_items, few[key].n_missing) == (plain.n_items, 0)
        assert (plain.flags, few[key].flags) == (("moderate_clusters",), ("moderate_clusters",))
        assert weighted[key].flags == ("unequal_probabilities", "moderate_clusters")
        assert weighted[key].value != pytest.approx(plain.value, abs=0.001)


def test_an_item_of_weight_three_counts_as_three_of_its_kind() -> None:
    answers, own, _ = drawn(6, 1.0, 100)
    counts = np.random.default_rng(1).integers(1, 4, own.size)
    copied = tuple(np.repeat(part, counts, axis=0) for part in answers)
    for key in ("severity", "family"):
        weighted = drawn_effects(answers, own, counts.astype(np.float64))[key]
        thrice = drawn_effects(copied, np.repeat(own, counts), None)[key]  # type: ignore[arg-type]
        assert weighted.value == pytest.approx(thrice.value)
    judge, people, characters, units = answers
    same = np.repeat(mean_of(people)[:, None], 2, axis=1)
    fitted = WLS(judge, add_constant(np.column_stack([np.log2(1 + characters), same[:, 0]])), counts).fit()
    weighted = length_slope(judge, same, characters, units, PLAN, counts.astype(np.float64))
    assert weighted.value == pytest.approx(fitted.params[1], rel=1e-9)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("share", "clusters"), [(0.05, 600), (0.2, 300), (1.0, 150)])
def test_intervals_of_weighted_effects_cover(share: float, clusters: int) -> None:
    worlds = 1000
    hits, errors, plain_hits = dict.fromkeys(DRAWN_EFFECTS, 0), dict.fromkeys(DRAWN_EFFECTS, 0.0), 0
    for seed in range(worlds):
        answers, own, weights = drawn(seed, share, clusters)
        judge, people, _, units = answers
        plain = judge_severity(judge, mean_of(people), units, PLAN)
        plain_hits += (plain.low or 0) <= DRAWN_EFFECTS["severity"] <= (plain.high or 0)
        weighted = drawn_effects(answers, own, weights)
        for key, truth in DRAWN_EFFECTS.items():
            result = weighted[key]
            assert result.value is not None
            hits[key] += (result.low or 0) <= truth <= (result.high or 0)
            errors[key] += (result.value - truth) / worlds
    print(f"\nshare {share:.0%}, {clusters} dialogues; severity without weights {plain_hits / worlds:.1%}")
    for key in DRAWN_EFFECTS:
        print(f"{key}: coverage {hits[key] / worlds:.1%}, mean error {errors[key]:+.4f}")
        assert 0.93 <= hits[key] / worlds <= 0.97
        assert abs(errors[key]) < 0.02
    assert share == 1 or plain_hits / worlds < 0.5


def drawn_pairs(seed: int, share: float, pairs: int = 600) -> tuple[list[Vote], dict[str, float]]:
    """Return votes in both orders on drawn pairs, and weights by pair.

    The tenth of pairs that is drawn whole is decided by position in half the answers, the rest in a tenth.
    """
    n_rest = pairs - pairs // 10
    hard, rest = votes(0.5, pairs=pairs // 10, seed=seed), votes(0.1, pairs=n_rest, seed=seed + 5000)
    rng = np.random.default_rng([seed, 2])
    numbers = rng.choice(n_rest, round(n_rest * share), replace=False)
    sampled = {f"i{number}": n_rest / len(numbers) for number in numbers}
    moved = [replace(vote, item=f"h{vote.item}", cluster=f"h{vote.cluster}") for vote in hard]
    everything = [*moved, *(vote for vote in rest if vote.item in sampled)]
    return everything, sampled | {vote.item: 1.0 for vote in moved}


def test_an_order_effect_of_drawn_pairs_is_weighted_and_reads_no_other_pair() -> None:
    answers, weights = drawn_pairs(1, 0.2)
    weighted, plain = first_excess(answers, PLAN, weights), first_excess(answers, PLAN)
    by_pair: dict[str, list[float]] = {}
    for vote in answers:
        by_pair.setdefault(vote.item, []).append(float((vote.label == "second") == vote.swapped))
    pairs = list(by_pair)
    mean = np.average([np.mean(by_pair[pair]) for pair in pairs], weights=[weights[pair] for pair in pairs])
    assert weighted.value == pytest.approx(mean - 0.5)
    assert (plain.value or 0) > (weighted.value or 0) + 0.03
    assert "unequal_probabilities" in weighted.flags
    others = [replace(vote, item="other") for vote in answers]
    assert first_excess([*answers, *others], PLAN, weights) == weighted


@pytest.mark.exhaustive
@pytest.mark.parametrize(("share", "pairs"), [(0.05, 2000), (0.2, 600), (1.0, 600)])
def test_intervals_of_weighted_order_effects_cover(share: float, pairs: int) -> None:
    truth, hits, plain_hits = (0.1 * 0.5 + 0.9 * 0.1) / 2, 0, 0
    for seed in range(1000):
        answers, weights = drawn_pairs(seed, share, pairs)
        weighted, plain = first_excess(answers, PLAN, weights), first_excess(answers, PLAN)
        hits += (weighted.low or 0) <= truth <= (weighted.high or 0)
        plain_hits += (plain.low or 0) <= truth <= (plain.high or 0)
    print(f"\nposition at share {share:.0%}: {hits / 1000:.1%}, without weights {plain_hits / 1000:.1%}")
    assert 0.93 <= hits / 1000 <= 0.97
