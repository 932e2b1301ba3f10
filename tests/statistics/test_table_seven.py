"""Table 7 reads tags, and nothing that is not a tag."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from calibration.statistics import Plan, Ratings, Record, ratings_from_records
from calibration.statistics.cocoeval import table, tables_of


@pytest.mark.parametrize("mark", [np.nan, 2, -1])
def test_what_is_no_mark_is_refused_and_not_read_as_absent(mark: float) -> None:
    with pytest.raises(ValueError, match="marks are 0 or 1"):
        table([[1], [mark]], [[[1], [0]]], ["contradiction"])


def test_a_table_of_no_turns_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        table(np.empty((0, 1)), [np.empty((0, 1))], ["contradiction"])


def _answers(seed: int, raters: int = 4, turns: int = 240, behaviours: int = 10) -> np.ndarray:
    """Marks (raters x turns x behaviours) of raters who see most of what is there."""
    rng = np.random.default_rng(seed)
    there = rng.random((turns, behaviours)) < 0.15
    seen = rng.random((raters, turns, behaviours))
    return np.where(there, seen < 0.7, seen < 0.05).astype(float)


def _questions(marks: np.ndarray, kinds: tuple[str, ...]) -> dict[str, Ratings]:
    """The same marks as ratings of each behaviour; the first rater is `gpt`, the others people."""
    names = ["gpt", *(f"p{n}" for n in range(1, len(kinds)))]
    return {
        f"b{behaviour}": ratings_from_records(
            [
                Record(f"t{turn}", names[rater], marks[rater, turn, behaviour], f"d{turn // 8}", kinds[rater])
                for turn in range(marks.shape[1])
                for rater in range(len(kinds))
                if not np.isnan(marks[rater, turn, behaviour])
            ],
            level="binary",
            values=(0, 1),
        )
        for behaviour in range(marks.shape[2])
    }


KINDS = ("judge", "human", "human", "human")


def test_every_figure_is_scikit_learn_s_mean_over_people() -> None:
    marks = _answers(3)
    (found,) = tables_of(_questions(marks, KINDS), policies=["consistent"], plan=Plan(resamples=0))
    formulas = {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "mcc": metrics.matthews_corrcoef,
        "kappa": metrics.cohen_kappa_score,
    }
    assert len(found.rows) == 11
    for place, row in enumerate(found.rows):
        own = [m.ravel() if place == 10 else m[:, place] for m in marks]
        assert row.detected_by_judge.value == own[0].sum()
        assert row.detected_by_people.value == pytest.approx(np.mean([m.sum() for m in own[1:]]), abs=1e-12)
        for name, formula in formulas.items():
            judge = np.mean([formula(person, own[0]) for person in own[1:]])
            people = np.mean([formula(own[a], own[b]) for a, b in ((1, 2), (1, 3), (2, 3))])
            assert row.judge[name].value == pytest.approx(judge, abs=1e-12)
            assert row.people[name].value == pytest.approx(people, abs=1e-12)


def test_only_turns_that_all_answered_for_every_behaviour_count() -> None:
    marks = _answers(4)
    marks[1, :20, 0] = np.nan
    marks[0, 30, 5] = np.nan
    marks[:, 31, :] = np.nan
    (found,) = tables_of(_questions(marks, KINDS), policies=["consistent"], plan=Plan(resamples=0))
    assert (found.n_items, found.n_dropped) == (240 - 22, 21)
    kept = [turn for turn in range(240) if turn > 31 or turn in range(20, 30)]
    whole = table(marks[0, kept], list(marks[1:, kept]), [f"b{n}" for n in range(10)], plan=Plan(resamples=0))
    assert [r.judge["kappa"].value for r in found.rows] == pytest.approx(
        [r.judge["kappa"].value for r in whole], abs=1e-12
    )


def test_clusters_are_drawn_whole_whatever_question_names_them_first() -> None:
    marks = _answers(5, turns=64)
    questions = _questions(marks, KINDS)
    (found,) = tables_of(questions, policies=["consistent"], plan=Plan(resamples=50, seed=1))
    clusters = [f"d{turn // 8}" for turn in range(64)]
    whole = table(marks[0], list(marks[1:]), list(questions), clusters, plan=Plan(resamples=50, seed=1))
    assert [(r.judge["mcc"].low, r.judge["mcc"].high) for r in found.rows] == [
        (r.judge["mcc"].low, r.judge["mcc"].high) for r in whole
    ]
    assert found.rows[0].detected_by_people.low is not None


def test_one_person_has_nobody_to_agree_with_and_three_have_three_pairs() -> None:
    marks = _answers(6)
    alone, *_ = tables_of(_questions(marks[:2], KINDS[:2]), plan=Plan(resamples=0))
    assert not alone.rows[0].people
    crowd, *_ = tables_of(_questions(marks, KINDS), plan=Plan(resamples=0))
    assert "mean over 3 of 3 pairs" in crowd.rows[0].people["kappa"].method


def test_raters_who_share_no_turn_have_a_reason_and_no_rows() -> None:
    marks = _answers(7)
    marks[0, :120] = np.nan
    marks[1, 120:] = np.nan
    found = tables_of(_questions(marks, KINDS), plan=Plan(resamples=0))
    assert [(t.rows, t.reason) for t in found] == [
        ((), "no turn was answered for every behaviour by gpt and by all it is compared with")
    ] * 2


def test_without_a_judge_or_without_people_there_is_no_table() -> None:
    marks = _answers(8)
    assert tables_of(_questions(marks, ("human",) * 4)) == ()
    assert tables_of(_questions(marks, ("judge",) * 4)) == ()
    assert tables_of({}) == ()


def test_a_behaviour_that_no_person_marks_has_reasons_and_not_noughts() -> None:
    marks = _answers(9)
    marks[1:, :, 2] = 0
    (found,) = tables_of(_questions(marks, KINDS), policies=["consistent"], plan=Plan(resamples=0))
    row = found.rows[2]
    assert row.detected_by_people.value == 0
    assert {r.status for r in row.judge.values()} == {"undefined"}
    assert row.judge["kappa"].reason == "no kappa: no person marks the behaviour"


def test_a_judge_that_was_not_asked_a_behaviour_is_compared_on_the_others() -> None:
    marks = _answers(10)
    marks[0, :, 3] = np.nan
    (found,) = tables_of(_questions(marks, KINDS), policies=["consistent"], plan=Plan(resamples=0))
    assert found.behaviours == tuple(f"b{n}" for n in range(10) if n != 3)
    assert (len(found.rows), found.n_items, found.n_dropped) == (10, 240, 0)


def test_where_the_judge_marks_nothing_the_reason_names_the_judge() -> None:
    marks = _answers(11)
    marks[0, :, 2] = 0
    (found,) = tables_of(_questions(marks, KINDS), policies=["consistent"], plan=Plan(resamples=0))
    row = found.rows[2]
    assert row.judge["precision"].reason == "no precision: the judge marks no turn"
    assert row.judge["mcc"].reason == "no MCC: the judge marks no turn"
    assert (row.judge["recall"].value, row.judge["kappa"].value) == (0, 0)
