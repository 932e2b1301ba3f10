"""A small case of the simulation of studies at levels; the full table is a benchmark."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks._levels_made import NOTHING_ACROSS_SYSTEMS, SOMETHING_ACROSS_SYSTEMS
from benchmarks.levels import below, held

STUDIES = range(60)


@pytest.mark.exhaustive
def test_permuting_systems_errs_as_often_as_it_says_and_the_test_over_items_far_more() -> None:
    found = [below(seed, planted=NOTHING_ACROSS_SYSTEMS) for seed in STUDIES]
    share = {key: np.mean([one[key] for one in found]) for key in found[0]}
    for level in ("turn", "dialogue", "system"):
        assert share[f"clustered {level} pearson"] < 0.05 + 3 * (0.05 * 0.95 / len(STUDIES)) ** 0.5
    assert share["item turn pearson"] > 0.3


@pytest.mark.exhaustive
def test_permuting_systems_finds_an_association_between_systems() -> None:
    found = [below(seed, planted=SOMETHING_ACROSS_SYSTEMS) for seed in STUDIES[:20]]
    assert np.mean([one["clustered system spearman"] for one in found]) > 0.7


@pytest.mark.exhaustive
def test_intervals_that_draw_dialogues_and_systems_hold_the_truth() -> None:
    levels = ("turn", "dialogue", "system")
    found = [held(seed, 50, 200, ("pearson",), levels)[0] for seed in STUDIES[:30]]
    for level in levels:
        coverage = np.mean([one[level, "pearson"] for one in found])
        assert coverage > 0.95 - 3 * (0.95 * 0.05 / len(found)) ** 0.5
