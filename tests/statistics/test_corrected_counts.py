"""Counts corrected by people's ratings, and recovery of simulated truths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import counts as simulation
from calibration.statistics import Plan
from calibration.statistics.counts import Counted, Rated, columns_of, counts_of, rated_of, table
from tests.statistics.counted import PLAN, counted, one_row


def _rated_study(n: int = 40, rated: int = 15) -> tuple[Counted, Rated]:
    """Return a judge's counts of one behaviour and two, and people's of the first continuations."""
    rng = np.random.default_rng(4)
    truth = (rng.random((n * 30, 2)) < 0.1).astype(float)
    judge = np.where(truth == 1, rng.random(truth.shape) < 0.8, rng.random(truth.shape) < 0.05).astype(float)
    continuation = np.repeat(np.arange(n), 30)
    columns = columns_of({"b0": "g", "b1": "g"})
    values, lowest, highest = counts_of([judge], continuation, n, columns)
    people = np.where((continuation < rated)[:, None], truth, np.nan)
    plain = counted(values)
    made = replace(plain, columns=columns, values=values, lowest=lowest, highest=highest)
    return made, rated_of([judge], [people], continuation, n, columns)


def test_ten_rated_continuations_are_enough_for_the_prediction_powered_mean() -> None:
    for rated, method in ((10, "prediction-powered"), (9, "Rogan-Gladen")):
        given, said = _rated_study(rated=rated)
        result = one_row(given, rated=said).cells[0].corrected
        assert result is not None
        assert result.method.startswith(method)


def test_the_prediction_powered_mean_is_the_library_s() -> None:
    from calibration.statistics.prevalence import Labelled, prediction_powered

    given, said = _rated_study()
    for at, most in ((0, 30), (2, 60), (3, 30)):
        cell = one_row(given, rated=said).cells[at]
        judge, truth = given.values[:, at] / most, said.values[:, at] / most
        expected = prediction_powered(Labelled.of(truth[:15], judge[:15]), judge[15:])
        assert cell.corrected.value == pytest.approx(expected.value * most, abs=1e-12)
        assert 0 < cell.corrected.low < cell.corrected.value < cell.corrected.high


def test_where_people_rated_everything_their_own_mean_stands() -> None:
    given, said = _rated_study(rated=40)
    result = one_row(given, rated=said).cells[0].corrected
    assert result.value == pytest.approx(said.values[:, 0].mean(), abs=1e-12)
    assert "every continuation" in result.method


def test_a_sample_may_be_declared_not_random() -> None:
    given, said = _rated_study()
    assert one_row(given, rated=said, correction="rogan_gladen").cells[0].corrected.method.startswith("Rogan")
    assert one_row(given, rated=said, correction="none").cells[0].corrected is None


def test_a_sum_is_the_sum_of_its_corrected_behaviours() -> None:
    given, said = _rated_study(rated=8)
    cells = {cell.column.key: cell.corrected for cell in one_row(given, rated=said).cells}
    assert cells["group:g"].value == pytest.approx(cells["b0"].value + cells["b1"].value, abs=1e-12)
    assert cells["any"].value < cells["group:g"].value


def test_a_judge_no_better_than_chance_and_unknown_errors_are_refused_with_the_reason() -> None:
    given, said = _rated_study(rated=8)
    useless = replace(said, hits=said.positives * 0.02, rejections=said.negatives * 0.9)
    cells = one_row(given, rated=useless).cells
    assert cells[0].corrected.status == "rejected"
    assert "no better than chance" in cells[0].corrected.reason
    assert cells[2].corrected.reason.startswith("b0: ")
    unmarked = replace(said, positives=said.positives * 0, hits=said.hits * 0)
    assert "sensitivity is not known" in one_row(given, rated=unmarked).cells[0].corrected.reason


def test_scores_need_ten_rated_continuations_in_every_stratum_some() -> None:
    values = np.arange(40.0)[:, None] % 7
    truth = np.where(np.arange(40)[:, None] < 12, values + 1, np.nan)
    nothing = np.zeros((40, 1))
    rated = Rated(truth, nothing, nothing, nothing, nothing)
    cell = one_row(counted(values, kind="score"), rated=rated).cells[0]
    assert cell.corrected.value == pytest.approx(cell.result.value + 1, abs=0.05)
    strata = np.where(np.arange(40) < 20, "P", "Q")
    refused = one_row(counted(values, kind="score", strata=strata), rated=rated).cells[0].corrected
    assert refused.status == "insufficient"
    assert "10 are needed" in refused.reason


def test_per_turns_corrects_in_the_same_unit() -> None:
    given, said = _rated_study()
    whole = one_row(given, rated=said).cells[0]
    halved = one_row(given, rated=said, per_turns=15).cells[0]
    assert halved.corrected.value == pytest.approx(whole.corrected.value / 2, abs=1e-12)
    assert halved.corrected.high == pytest.approx(whole.corrected.high / 2, abs=1e-9)
    assert halved.result.value == pytest.approx(whole.result.value / 2, abs=1e-12)


# Simulated studies in the shape of CoCoEval's.


def test_planted_rates_are_recovered_and_the_systems_stand_in_their_order() -> None:
    """People 2 turns of repetition a continuation, vanilla 0.2, taxonomy 6, seen by Se 0.8 and Sp 0.97."""
    one = simulation.study(1, rates=[[2.0, 1.0], [0.2, 1.0], [6.0, 1.0]])
    made = table(one.counted, one.rows, human=0, rated=one.rated, plan=PLAN)
    cells = [row.cells[0] for row in made.rows]
    n = one.counted.values[one.rows == 0].shape[0]
    for row, cell, expected in zip(made.rows, cells, (2.44, 1.054, 5.52), strict=True):
        spread = one.counted.values[one.rows == row.code, 0].std(ddof=1) / n**0.5
        assert abs(cell.result.value - expected) < 3 * spread
        error = (cell.corrected.high - cell.corrected.low) / (2 * 1.96)
        assert abs(cell.corrected.value - one.rates[row.code, 0]) < 3 * error
    for values in ([c.result.value for c in cells], [c.corrected.value for c in cells]):
        assert values[1] < values[0] < values[2]
    assert cells[1].difference.p_holm < 0.05
    assert made.rows[2].distance["amount"].low > made.halves["amount"].high


@pytest.mark.exhaustive
def test_cells_are_unbiased_and_their_intervals_hold_the_truth() -> None:
    """200 studies: an interval that covers in 95% lies between 90 and 99.6%, three standard errors."""
    found = simulation.simulated(range(200), Plan(resamples=300), rates=((2.0,), (0.2,)), rated=60)
    for name, kept in found.items():
        error, spread = simulation.bias(kept)
        assert abs(error) < 3 * spread, name
        assert 0.90 <= simulation.coverage(kept) <= 0.996, name
