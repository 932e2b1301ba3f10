"""Disagreement between turn and dialogue ratings: inversions, and the shift of a continuation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from calibration.statistics.level_scores import Units, turns_and_whole


def _units(dialogues: list[int], systems: list[int]) -> Units:
    return Units(
        np.array(dialogues),
        np.array(dialogues),
        np.array(systems),
        tuple(f"d{code}" for code in range(max(dialogues) + 1)),
        tuple("abcdef"[: max(systems) + 1]),
    )


def test_the_papers_example_has_one_inversion_of_three_pairs() -> None:
    placed, (found,) = turns_and_whole(
        _units([0, 0, 0], [0, 1, 2]), np.array([2.86, 3.76, 4.10]), np.array([3.67, 3.00, 4.67])
    )
    assert (found.dialogue, found.n_units, found.inversions, found.pairs) == ("d0", 3, 1.0, 3)
    assert found.share == 1 / 3
    by_unit = {one.unit: one for one in placed}
    assert [by_unit[unit].rank_by_turns for unit in range(3)] == [3, 2, 1]
    assert [by_unit[unit].rank_by_whole for unit in range(3)] == [2, 3, 1]
    assert [by_unit[unit].moved for unit in range(3)] == [1, -1, 0]
    assert [one.unit for one in placed] == [0, 1, 2], "those that moved most come first"
    c, b = by_unit[2], by_unit[1]
    assert c.by_turns - b.by_turns == pytest.approx(0.34)
    assert c.by_whole - b.by_whole == pytest.approx(1.67)


@pytest.mark.parametrize(
    ("turns", "whole", "inversions"),
    [
        ([1, 1], [1, 2], 0.5),
        ([1, 2], [1, 1], 0.5),
        ([1, 1], [1, 1], 0.0),
        ([1, 2], [2, 1], 1.0),
        ([1, 1, 2], [2, 1, 1], 2.0),
    ],
)
def test_a_pair_tied_by_one_score_alone_counts_half(
    turns: list[float], whole: list[float], inversions: float
) -> None:
    units = _units([0] * len(turns), list(range(len(turns))))
    _, (found,) = turns_and_whole(units, np.array(turns, float), np.array(whole, float))
    assert found.inversions == inversions


def test_means_that_differ_by_rounding_alone_are_tied() -> None:
    sums = np.array([0.1 + 0.2, 0.3])
    placed, (found,) = turns_and_whole(_units([0, 0], [0, 1]), sums, np.array([1.0, 1.0]))
    assert found.inversions == 0
    assert {one.rank_by_turns for one in placed} == {1.5}


def test_units_without_both_scores_are_left_out_and_dialogues_stand_apart() -> None:
    rng = np.random.default_rng(0)
    units = _units([0] * 6 + [1] * 6 + [2], [*range(6), *range(6), 0])
    turns, whole = rng.integers(1, 4, 13).astype(float), rng.integers(1, 4, 13).astype(float)
    turns[2], whole[7], whole[12] = np.nan, np.nan, np.nan
    placed, found = turns_and_whole(units, turns, whole)
    assert {one.unit for one in placed} == set(range(13)) - {2, 7, 12}
    assert [one.dialogue for one in found] == ["d0", "d1"]
    for one, own in zip(found, ([0, 1, 3, 4, 5], [6, 8, 9, 10, 11]), strict=True):
        apart = sum(
            abs(np.sign(turns[i] - turns[j]) - np.sign(whole[i] - whole[j])) / 2
            for i, j in combinations(own, 2)
        )
        assert (one.inversions, one.pairs) == (apart, 10)
