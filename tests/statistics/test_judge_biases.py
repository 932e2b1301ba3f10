"""Biases of judges: planted ones are recovered, absent ones covered, and what cannot be told says why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.api import OLS, add_constant

from calibration.statistics import Plan
from calibration.statistics.analysis import mean_of
from calibration.statistics.core.engine import Result
from calibration.statistics.judge_biases import (
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


def scored(seed: int, slope: float = 0.0, *, people: int = 3, of: int = 3, clusters: int = 100) -> Answers:
    """Six items a dialogue; people, too, rate longer texts higher; `people` of `of` rate each item."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(clusters), 6)
    doublings = rng.normal(6, 1, units.size) + rng.normal(0, 0.5, clusters)[units]
    truth = 3 + 0.6 * (doublings - 6) + rng.normal(0, 0.6, units.size) + rng.normal(0, 0.3, clusters)[units]
    answers = truth[:, None] + rng.normal(0, 0.3, of) + rng.normal(0, 0.8, (units.size, of))
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
