"""Counts by system and condition: the worked examples, an independent computation, and every edge case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.statistics import Plan
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.counts import (
    Column,
    Counted,
    MixedLengths,
    Rated,
    columns_of,
    counts_of,
    distances,
    rated_of,
    table,
)
from calibration.statistics.strata import Design, swaps
from tests.statistics.counted import HUMAN, MODEL, PLAN, counted, one_row, only, paired

from .swapping import permutation_by_cluster


def test_the_mean_of_strata_and_the_mean_of_continuations() -> None:
    values = [[2.0], [4.0], [9.0]]
    assert one_row(counted(values, strata=["P", "P", "Q"])).cells[0].result.value == 6.0
    assert one_row(counted(values)).cells[0].result.value == 5.0


def test_shape_and_amount_answer_different_questions() -> None:
    people = np.array([[2.0, 1, 1], [2, 1, 1], [2, 1, 1]])
    rows = np.array([[0.2, 0.1, 0.1], [6, 1, 1], [0, 0, 0]])
    found = distances(rows, people)
    assert found[0] == pytest.approx([0.0, 0.0, 3.6], abs=1e-12)
    assert found[1] == pytest.approx([0.25, 0.049, 4.0], abs=5e-4)
    assert np.isnan(found[2, :2]).all()
    assert found[2, 2] == 4.0


def test_rogan_gladen_takes_the_judge_s_errors_out() -> None:
    """Se 0.8 and Sp 0.97 as measured on rated continuations; cells of 5.52 and 1.054 turns of 30."""
    truth = np.concatenate([np.ones(100), np.zeros(200)])
    judge = np.concatenate([np.ones(80), np.zeros(20), np.ones(6), np.zeros(194)])
    turn = np.repeat(np.arange(10), 30)
    shuffled = np.random.default_rng(0).permutation(300)
    columns = (Column("b0", "tag"),)
    measured = rated_of([judge[shuffled][:, None]], [truth[shuffled][:, None]], turn, 10, columns)
    for seen, true in ((5.52, 6.0), (1.054, 0.2)):
        values = np.concatenate([np.full(10, np.nan), np.full(10, seen)])[:, None]
        given = counted(values)
        nothing = np.zeros((10, 1))
        rated = Rated(
            np.full((20, 1), np.nan),
            *(
                np.vstack([part, nothing])
                for part in (measured.positives, measured.hits, measured.negatives, measured.rejections)
            ),
        )
        rows = np.repeat([HUMAN, MODEL], 10)
        row = table(given, rows, rated=rated, plan=PLAN).rows[1]
        result = row.cells[0].corrected
        assert result is not None
        assert result.value == pytest.approx(true, abs=1e-9)
        assert result.low < true < result.high
        assert "errors_measured_elsewhere" in result.flags
        assert result.method.startswith("Rogan-Gladen")


# An independent computation.


def test_cells_and_differences_are_those_of_pandas() -> None:
    given, rows = paired()
    frame = pd.DataFrame(given.values, columns=["b0", "b1", "b2"]).assign(row=rows, stratum=given.strata)
    expected = frame.groupby(["row", "stratum"]).mean().groupby("row").mean()
    made = table(given, rows, human=HUMAN, plan=PLAN)
    for row in made.rows:
        values = [cell.result.value for cell in row.cells]
        assert values == pytest.approx(expected.loc[row.code].tolist(), abs=1e-12)
    model = made.rows[1]
    gaps = (expected.loc[MODEL] - expected.loc[HUMAN]).tolist()
    assert [cell.difference.result.value for cell in model.cells] == pytest.approx(gaps, abs=1e-12)
    people, own = (expected.loc[code].to_numpy() for code in (HUMAN, MODEL))
    tv = np.abs(own / own.sum() - people / people.sum()).sum() / 2
    assert model.distance["tv"].value == pytest.approx(tv, abs=1e-12)
    assert model.distance["amount"].value == pytest.approx(np.abs(own - people).sum(), abs=1e-12)


def test_the_shape_by_jensen_and_shannon_is_scipy_s() -> None:
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(1)
    a, b = rng.random((5, 10)), rng.random((5, 10))
    a[0, 3] = b[1, 4] = 0.0
    expected = [jensenshannon(x, y, base=2) ** 2 for x, y in zip(a, b, strict=True)]
    assert distances(a, b)[:, 1] == pytest.approx(expected, abs=1e-12)


def test_the_p_value_is_that_of_swapping_whole_clusters_and_holm_s() -> None:
    given, rows = paired(seed=3, n=16)
    given = replace(given, strata=np.full(len(given), ""))
    row = table(given, rows, human=HUMAN, plan=Plan(resamples=300)).rows[1]
    ps = []
    for at, cell in enumerate(row.cells):
        model, human = (given.values[rows == code, at] for code in (MODEL, HUMAN))
        own = permutation_by_cluster(
            model,
            human,
            given.clusters[rows == MODEL],
            lambda a, b: float(a.mean() - b.mean()),
            permutations=300,
        )
        assert cell.difference.p == pytest.approx(own.p, abs=1e-12)
        ps.append(own.p)
    assert [cell.difference.p_holm for cell in row.cells] == pytest.approx(corrected(ps, "holm").tolist())


def test_few_clusters_are_swapped_in_all_ways_and_many_at_random() -> None:
    chunks, exact = swaps(3, 8, 0)
    assert (np.vstack(list(chunks)).shape, exact) == ((8, 3), True)
    chunks, exact = swaps(4, 8, 0)
    assert (np.vstack(list(chunks)).shape, exact) == ((8, 4), False)


def test_resamples_draw_as_many_clusters_of_each_stratum_as_there_are() -> None:
    design = Design.of(np.array(list("abcdef")), np.array(list("PPPPQQ")), Plan(resamples=50))
    weights = np.vstack(list(design.resampling(np.ones(6, dtype=bool)).chunks()))
    assert (weights[:, :4].sum(axis=1) == 4).all()
    assert (weights[:, 4:].sum(axis=1) == 2).all()
    assert weights[:, :4].std() > 0


def test_nothing_depends_on_the_order_of_continuations_or_rows() -> None:
    given, rows = paired(seed=5)
    order = np.random.default_rng(2).permutation(len(given))
    shuffled = Counted(
        given.columns,
        *(
            getattr(given, name)[order]
            for name in ("dialogues", "clusters", "strata", "turns", "values", "lowest", "highest")
        ),
    )
    one = table(given, rows, human=HUMAN, plan=PLAN)
    other = table(shuffled, 7 - rows[order], human=7 - HUMAN, plan=PLAN)
    for left, right in zip(one.rows, other.rows, strict=True):
        assert left.cells == right.cells
        assert left.distance == right.distance
    assert one.halves == other.halves


# Counting.


def test_a_turn_counts_once_per_behaviour_and_once_for_any() -> None:
    columns = columns_of({"a": "one", "b": "one", "c": "two", "other": "Other"}, alone=["other"])
    assert [(column.key, column.kind) for column in columns] == [
        ("a", "tag"), ("b", "tag"), ("c", "tag"), ("other", "alone"), ("group:one", "sum"), ("any", "any"),
    ]  # fmt: skip
    marks = np.array([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1]], np.float64)
    values, lowest, highest = counts_of([marks], np.zeros(3, dtype=int), 1, columns)
    assert values.tolist() == [[1, 2, 1, 2, 3, 2]]
    assert lowest.tolist() == highest.tolist() == values.tolist()


def test_an_unanswered_turn_leaves_bounds_and_no_value() -> None:
    columns = columns_of({"a": "g", "b": "g"})
    marks = np.array([[1, np.nan], [0, 0], [np.nan, np.nan]])
    values, lowest, highest = counts_of([marks], np.zeros(3, dtype=int), 1, columns)
    assert np.isnan(values).all()
    assert lowest.tolist() == [[1, 0, 1, 1]]
    assert highest.tolist() == [[2, 2, 4, 2]]


def test_people_together_are_the_mean_of_each_one_s_count() -> None:
    columns = columns_of({"a": "g"})
    ann, ben = np.array([[1.0], [1.0]]), np.array([[0.0], [1.0]])
    cid = np.array([[1.0], [np.nan]])
    values, _, _ = counts_of([ann, ben, cid], np.zeros(2, dtype=int), 1, columns)
    assert values.tolist() == [[1.5]]


# Edge cases.


def test_other_lengths_are_counted_per_turns_with_the_raw_count_beside() -> None:
    given = counted([[3.0], [2.0]], turns=[30, 10])
    with pytest.raises(MixedLengths, match="10 to 30 turns"):
        one_row(given)
    cell = one_row(given, per_turns=30).cells[0]
    assert (cell.result.value, cell.raw) == (pytest.approx(4.5), 2.5)


def test_scores_do_not_depend_on_lengths() -> None:
    cell = one_row(counted([[3.0], [2.0]], turns=[30, 10], kind="score")).cells[0]
    assert (cell.result.value, cell.raw) == (2.5, None)


def test_missing_values_leave_the_mean_of_the_others_between_its_bounds() -> None:
    row = one_row(counted([[3.0], [5.0], [np.nan], [np.nan]]))
    cell = row.cells[0]
    assert (cell.result.value, cell.result.n_items, cell.result.n_missing) == (4.0, 2, 2)
    assert (cell.lowest, cell.highest) == (2.0, 17.0)
    assert (row.n_continuations, row.n_missing) == (2, 2)


def test_an_open_scale_has_no_bounds() -> None:
    given = counted([[3.0], [np.nan]], kind="score")
    given = replace(given, lowest=np.array([[3.0], [-np.inf]]), highest=np.array([[3.0], [np.inf]]))
    cell = one_row(given).cells[0]
    assert (cell.result.value, cell.lowest, cell.highest) == (3.0, None, None)


def test_a_behaviour_that_nobody_marked_is_zero_with_wilson_s_limit_on_turns() -> None:
    row = one_row(counted([[0.0, 1.0]] * 40 + [[0.0, 2.0]]))
    result = row.cells[0].result
    n, z = 41 * 30, 1.959963984540054
    assert (result.value, result.low) == (0.0, 0.0)
    assert result.high == pytest.approx(30 * z**2 / (n + z**2), abs=1e-12)
    assert "no_events" in result.flags
    assert "no_events" not in row.cells[1].result.flags


def test_a_stratum_with_one_cluster_adds_no_spread_and_is_flagged() -> None:
    result = one_row(counted([[2.0], [4.0], [9.0]], strata=["P", "P", "Q"])).cells[0].result
    assert "single_cluster_stratum" in result.flags
    assert (result.low, result.high) == (5.5, 6.5)


def test_a_cluster_in_several_strata_is_flagged() -> None:
    row = one_row(counted([[2.0], [4.0], [9.0]], clusters=["a", "b", "a"], strata=["P", "P", "Q"]))
    assert "clusters_span_strata" in row.cells[0].result.flags


def test_a_row_that_rests_on_fewer_continuations_is_flagged() -> None:
    given = counted([[1.0], [2.0], [3.0], [4.0], [5.0]], dialogues=[0, 1, 2, 0, 1])
    people, model = table(given, np.array([0, 0, 0, 1, 1]), human=0, plan=PLAN).rows
    assert "unequal_n" in model.cells[0].result.flags
    assert "unequal_n" not in people.cells[0].result.flags
    assert model.cells[0].difference.result.value == pytest.approx(4.5 - 1.5)
    assert model.cells[0].difference.result.n_items == 2


def test_without_people_differences_and_distances_are_left_out_with_the_reason() -> None:
    made = table(counted([[1.0, 2.0], [2.0, 3.0]]), np.array([1, 1]), plan=PLAN)
    row = only(made)
    assert (row.cells[0].difference, row.distance, made.halves) == (None, None, None)
    assert "no continuation by people" in made.no_differences
    assert "no continuation by people" in made.no_distance


def test_rows_without_a_common_dialogue_have_no_difference_but_a_reason() -> None:
    given = counted([[1.0], [2.0], [3.0], [4.0]])
    difference = table(given, np.array([0, 0, 1, 1]), human=0, plan=PLAN).rows[1].cells[0].difference
    assert difference.result.status == "undefined"
    assert "no dialogue has a value" in difference.result.reason
    assert (difference.p, difference.p_holm) == (None, None)


def test_a_single_behaviour_has_no_distribution() -> None:
    given, rows = paired(columns=1)
    made = table(given, rows, human=HUMAN, plan=PLAN)
    assert made.rows[1].distance is None
    assert "two behaviours" in made.no_distance


def test_shape_is_undefined_where_nobody_marked_anything() -> None:
    given, rows = paired(columns=2)
    values = np.where((rows == MODEL)[:, None], 0.0, given.values)
    distance = table(replace(given, values=values), rows, human=HUMAN, plan=PLAN).rows[1].distance
    assert distance["tv"].status == distance["js"].status == "undefined"
    assert "no event" in distance["tv"].reason
    assert distance["amount"].value > 0


def test_all_values_missing_is_a_reason() -> None:
    result = one_row(counted([[np.nan], [np.nan]])).cells[0].result
    assert (result.status, result.value) == ("insufficient", None)
    assert result.reason


def test_one_continuation_has_no_interval() -> None:
    result = one_row(counted([[3.0]])).cells[0].result
    assert (result.value, result.low) == (3.0, None)
    assert "one_item" in result.flags
    assert "single cluster" in result.reason


def test_two_halves_of_people_are_apart_by_chance_alone() -> None:
    rng = np.random.default_rng(0)
    values = rng.poisson(2, (80, 5)).astype(float)
    made = table(counted(values), np.zeros(80, dtype=int), human=0, plan=PLAN)
    halves = made.halves["tv"]
    assert 0 < halves.low < halves.value < halves.high < 0.2
    alone = table(counted(values[:1]), np.zeros(1, dtype=int), human=0, plan=PLAN).halves
    assert alone["tv"].status == "undefined"
