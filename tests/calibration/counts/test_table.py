"""Counts by system and condition: from labels to the table, also for unusual corpora."""

from __future__ import annotations

import pytest

from annotation.models import Item, Rater
from annotation.work.labels import Answer, record
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import compute, facts
from calibration.errors import CountsRefused
from jobs.models import Call, Run
from tests import factories
from tests.calibration.counts.built import (
    KEYS,
    TURNS,
    Made,
    cells,
    frame,
    planted,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("strata", ["", "source"])
def test_the_table_is_what_pandas_counts(made: Made, strata: str) -> None:
    found = made.counts(by="prompting,turns_per_call", strata=strata)
    counted = frame(made).drop(columns="dialogue")
    if strata:
        expected = counted.groupby(["cont", "source"]).mean().groupby("cont").mean()
    else:
        expected = counted.drop(columns="source").groupby("cont").mean()
    rows = {"human": (None, None), "v1": ("vanilla", 1), "t1": ("taxonomy", 1), "t30": ("taxonomy", 30)}
    by = {found.by[row.code]: row for row in found.table.rows}
    for key, values in rows.items():
        for column, cell in cells(by[values]).items():
            assert cell.result.value == pytest.approx(expected.loc[key, column], abs=1e-12), (key, column)
            assert cell.result.n_items == 6


@pytest.mark.exhaustive
def test_people_stand_first_and_rows_by_each_key_in_order(made: Made) -> None:
    found = made.counts(by="turns_per_call,prompting")
    assert [found.by[row.code] for row in found.table.rows] == [
        (None, None), (1, "vanilla"), (1, "taxonomy"), (30, "taxonomy"),
    ]  # fmt: skip
    assert [row.human for row in found.table.rows] == [True, False, False, False]


@pytest.mark.exhaustive
def test_the_rows_of_a_system_hold_all_its_conditions(made: Made) -> None:
    found = made.counts()
    assert [(found.by[row.code], row.n_continuations) for row in found.table.rows] == [
        (("human",), 6), (("model",), 18),
    ]  # fmt: skip


@pytest.mark.exhaustive
def test_another_behaviour_is_a_column_and_in_no_sum(made: Made) -> None:
    found = made.counts()
    kinds = {column.key: column.kind for column in found.columns}
    assert kinds["another_behaviour"] == "alone"
    assert kinds["any"] == "any"
    assert list(kinds)[-3:] == ["group:Inconsistent", "group:Uncollaborative", "any"]


@pytest.mark.exhaustive
def test_some_questions_by_key_reference_or_scheme(made: Made) -> None:
    assert [c.key for c in made.counts(questions="repetition").columns] == ["repetition"]
    ref = "cocoeval_behaviours@1/off_topic"
    assert [c.key for c in made.counts(questions=f"repetition,{ref}").columns] == [
        "repetition", "off_topic", "any",
    ]  # fmt: skip
    assert len(made.counts(questions="cocoeval_behaviours").columns) == 8


@pytest.mark.exhaustive
def test_the_first_sample_counts_unless_the_mean_is_asked_for(made: Made) -> None:
    made.mark("judge", lambda item, key: 1.0, sample=1)
    first = cells(made.counts(questions="repetition").table.rows[0])["repetition"].result.value
    mean = cells(made.counts(questions="repetition", samples="mean").table.rows[0])["repetition"].result.value
    expected = frame(made).query("cont == 'human'")["repetition"].mean()
    assert first == pytest.approx(expected, abs=1e-12)
    assert mean == pytest.approx((expected + TURNS) / 2, abs=1e-12)


@pytest.mark.exhaustive
def test_people_together_are_the_mean_of_each_one_s_count(made: Made) -> None:
    made.mark("ann", planted, kind="human")
    made.mark("ben", lambda item, key: 1.0, kind="human")
    row = made.counts(rater="people", questions="repetition").table.rows[0]
    expected = frame(made).query("cont == 'human'")["repetition"].mean()
    assert cells(row)["repetition"].result.value == pytest.approx((expected + TURNS) / 2, abs=1e-12)
    alone = made.counts(rater="ben", questions="repetition").table.rows[0]
    assert cells(alone)["repetition"].result.value == TURNS


@pytest.mark.exhaustive
def test_an_answer_given_again_in_another_campaign_counts_once(made: Made) -> None:
    made.mark("ann", lambda item, key: 0.0, kind="human", occasion="imported")
    campaign = factories.campaign(made.corpus, "cocoeval_behaviours", opened=False)
    made.mark("ann", lambda item, key: 1.0, kind="human", campaign=campaign)
    row = made.counts(rater="ann", questions="repetition").table.rows[0]
    assert cells(row)["repetition"].result.value == 0.0
    scoped = compute(query=read({"rater": "ann", "questions": "repetition"}, made.corpus, campaign), by=None)
    assert cells(scoped.table.rows[0])["repetition"].result.value == TURNS


@pytest.mark.exhaustive
def test_scores_of_whole_continuations_are_averaged() -> None:
    built = Made()
    version = factories.scheme_version("cocoeval_overall")
    judge = built.rater("overall")
    items = Item.objects.filter(corpus=built.corpus, kind="dialogue").exclude(continuation__key="self")
    values = {"human": [6.0, 5.0], "v1": [8.0, 9.0], "t1": [3.0, 3.0], "t30": [9.0, 9.0]}
    answers = [
        Answer(item, question, values[item.continuation.key][sample], sample=sample)
        for item in items.select_related("continuation")
        for question in version.questions.all()
        for sample in (0, 1)
    ]
    record(rater=judge, answers=answers, occasion="main")
    found = built.counts(by="prompting,turns_per_call")
    assert [(found.by[row.code], cells(row)["consistency"].result.value) for row in found.table.rows] == [
        ((None, None), 5.5), (("vanilla", 1), 8.5), (("taxonomy", 1), 3.0), (("taxonomy", 30), 9.0),
    ]  # fmt: skip
    first = built.counts(samples="first").table.rows[0]
    assert cells(first)["consistency"].result.value == 6.0
    assert found.table.rows[1].distance is None
    assert "scored by overall" in " ".join(facts(found))


@pytest.mark.exhaustive
def test_failed_calls_are_missing_and_bound_the_cell(made: Made) -> None:
    judge = Rater.objects.get(name="judge")
    lost = factories.continuation(
        made.corpus.dialogues.get(key="d0"), "lost", system="model", turns=[{"text": "x"}] * TURNS
    )
    run = Run.objects.create(
        rater=judge,
        corpus=made.corpus,
        kind="judge",
        queue="calls",
        scope_hash="x",
        questions={key: made.questions[key].pk for key in KEYS},
    )
    Call.objects.create(run=run, rater=judge, continuation=lost, state=Call.State.FAILED)
    row = made.counts().table.rows[1]
    cell = cells(row)["repetition"]
    assert (row.n_continuations, row.n_missing, cell.result.n_missing) == (18, 1, 1)
    total = cell.result.value * 18
    assert (cell.lowest, cell.highest) == (pytest.approx(total / 19), pytest.approx((total + TURNS) / 19))


@pytest.mark.exhaustive
def test_a_continuation_with_a_turn_left_out_is_missing_within_what_is_known() -> None:
    built = Made(dialogues=2)
    built.mark("judge", lambda item, key: None if item.turn.position == 0 else 1.0)
    cell = cells(built.counts(questions="repetition").table.rows[0])["repetition"]
    assert (cell.result.status, cell.lowest, cell.highest) == ("insufficient", TURNS - 1, TURNS)


@pytest.mark.exhaustive
def test_other_lengths_are_refused_unless_counted_per_turns() -> None:
    built = Made(turns=lambda number: 4 + number)
    built.mark("judge", planted)
    with pytest.raises(CountsRefused, match=r"4 to 9 turns.*per 30"):
        built.counts()
    found = built.counts(per_turns=30)
    counted = frame(built)
    lengths = {f"d{number}": 4 + number for number in range(6)}
    own = counted[counted["cont"] == "human"]
    cell = cells(found.table.rows[0])["off_topic"]
    rates = own["off_topic"] / own["dialogue"].map(lengths) * 30
    assert cell.result.value == pytest.approx(rates.mean(), abs=1e-12)
    assert cell.raw == pytest.approx(own["off_topic"].mean(), abs=1e-12)


@pytest.mark.exhaustive
def test_a_person_who_rated_some_continuations_is_flagged_where_numbers_differ(made: Made) -> None:
    some = [
        item
        for item in made.items()
        if item.continuation.dialogue.key in "d0 d1" or item.continuation.key == "human"
    ]
    made.mark("ann", planted, kind="human", items=some)
    people, model = made.counts(rater="ann", by="system").table.rows
    assert (people.n_continuations, model.n_continuations) == (6, 6)
    rows = made.counts(rater="ann", by="prompting").table.rows
    assert [row.n_continuations for row in rows] == [6, 2, 4]
    assert "unequal_n" in cells(rows[1])["repetition"].result.flags
    assert "unequal_n" not in cells(rows[0])["repetition"].result.flags


@pytest.mark.exhaustive
def test_without_people_s_row_the_reason_is_told(made: Made) -> None:
    items = [item for item in made.items() if item.continuation.key != "human"]
    made.mark("other", planted, items=items)
    found = made.counts(rater="other")
    assert found.table.rows[0].cells[0].difference is None
    assert "No differences and no distances: no continuation by people was rated" in " ".join(facts(found))


@pytest.mark.exhaustive
def test_a_behaviour_that_nobody_marked_has_wilson_s_interval(made: Made) -> None:
    made.mark("strict", lambda item, key: 0.0 if key == "off_topic" else planted(item, key))
    cell = cells(made.counts(rater="strict").table.rows[0])["off_topic"]
    assert (cell.result.value, cell.result.low) == (0.0, 0.0)
    assert cell.result.high == pytest.approx(TURNS * 3.8414588 / (36 + 3.8414588))
    assert "no_events" in cell.result.flags


@pytest.mark.exhaustive
def test_own_turns_count_where_people_wrote_nothing_else(made: Made) -> None:
    own = Item.objects.filter(corpus=made.corpus, kind="turn", continuation__key="self")
    record(
        rater=Rater.objects.get(name="judge"),
        answers=[Answer(item, made.questions[key], 1.0) for item in own for key in KEYS],
        occasion="main",
    )
    assert made.counts().table.rows[0].n_continuations == 6
    alone = factories.corpus("own turns")
    factories.dialogue(alone, turns=3)
    items = Item.objects.filter(corpus=alone, kind="turn")
    answers = [Answer(item, made.questions["repetition"], 1.0) for item in items]
    own_judge = Rater.objects.create(corpus=alone, kind="judge", name="judge of its own")
    record(rater=own_judge, answers=answers, occasion="main")
    (row,) = compute(query=read({}, alone, None), by=None).table.rows
    assert (row.human, cells(row)["repetition"].result.value) == (True, 3.0)


@pytest.mark.exhaustive
def test_a_question_that_the_rater_never_answers_is_left_out_and_named(made: Made) -> None:
    made.mark("half", lambda item, key: None if key == "misunderstanding" else planted(item, key))
    found = made.counts(rater="half")
    assert "misunderstanding" not in {column.key for column in found.columns}
    assert "Left out, in sums too, because the rater never answered it: Misunderstanding" in " ".join(
        facts(found)
    )
    assert found.table.rows[1].distance["tv"].value is not None
