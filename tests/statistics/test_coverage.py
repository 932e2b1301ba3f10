"""A small case of the coverage simulation; the full table is a benchmark."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import (
    binary_cells,
    equal_judges,
    joint_cells,
    ordinal_cells,
    prevalence_cells,
    rare_cells,
)
from calibration.statistics import Plan

PLAN = Plan(resamples=250)
STUDIES = range(120)


@pytest.mark.exhaustive
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    cells = [*binary_cells(0.2, 150, STUDIES, PLAN), *ordinal_cells(150, STUDIES, PLAN)]
    covered = [c.coverage or 0.0 for c in cells]
    assert 0.92 < np.mean(covered) < 0.98
    assert min(covered) > 0.87  # three standard errors of 120 studies below 95%
    assert max(abs(c.bias) for c in cells) < 0.02
    assert max(c.without_interval for c in cells) == 0


@pytest.mark.exhaustive
def test_corrected_prevalence_is_unbiased() -> None:
    for cell in prevalence_cells(0.1, 150, STUDIES, PLAN):
        assert abs(cell.bias) < 0.005
        assert (cell.coverage or 0.0) > 0.87


@pytest.mark.exhaustive
@pytest.mark.parametrize("shares", [(0.05, 0.1), (0.2, 0.4), (0.1, None)])
def test_labels_that_two_campaigns_drew_give_unbiased_figures_that_cover(
    shares: tuple[float, float | None],
) -> None:
    """Each item counts by the probability that either draws it; the last allocates by the first's answers."""
    for cell in joint_cells(0.1, shares, 200, STUDIES, PLAN):
        assert abs(cell["bias"]) < 3 * cell["bias_error"] + 0.003
        assert cell["coverage"] > 0.87
        assert cell["spread"] < 1.1 * cell["spread_averaged"]


@pytest.mark.exhaustive
def test_judges_that_are_equal_are_seldom_called_different() -> None:
    assert equal_judges(0.2, 150, STUDIES, PLAN)["share"] < 0.12


def test_where_answers_are_rare_and_dialogues_short_kappa_has_an_interval_only_if_it_covers() -> None:
    """Five turns a dialogue, 2% positives: of 20 dialogues hardly a study has one; of 50 they cover."""
    few, more = (
        {c.statistic: c for c in rare_cells(0.02, 5, n, range(60), Plan(resamples=100))} for n in (20, 50)
    )
    assert few["cohen_kappa"].without_interval > 0.8
    assert more["cohen_kappa"].without_interval < 0.3
    assert (more["cohen_kappa"].coverage or 0.0) > 0.75  # three standard errors of 60 studies below 90%
