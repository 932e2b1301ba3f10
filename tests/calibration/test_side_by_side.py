"""Continuations of one context side by side: systems, values, differences, causes and reasons."""

from __future__ import annotations

import pytest

from annotation.models import Dialogue, Label
from calibration.comparisons import side_by_side
from calibration.comparisons.side_by_side import (
    MOST,
    NO_CONVERSATION,
    NOT_SCORED,
    USUAL,
    Comparison,
    ComparisonQuery,
    compare,
    contexts,
)
from calibration.errors import CompareRefused
from tests import factories
from tests.calibration.compared_world import rater, rollout, score, static

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def dialogue(module_database: None) -> Dialogue:
    return factories.dialogue(factories.corpus(), "d", turns=4)


def shared(dialogue: Dialogue) -> list[tuple[int, list[str]]]:
    return [(one.at, [answer.name for answer in one.answers]) for one in contexts(dialogue)]


def names(made: Comparison) -> list[str]:
    return [column.answer.name for column in made.columns]


def test_static_turns_of_one_point_share_its_context_and_so_does_the_dialogue_s_own_turn(
    dialogue: Dialogue,
) -> None:
    static(dialogue, "x", (1, 2))
    static(dialogue, "y", (2, 9))
    assert shared(dialogue) == [(1, ["x", "self"]), (2, ["x", "y", "self"])]


def test_rollouts_share_the_whole_history_and_static_turns_at_its_end_share_it_too(
    dialogue: Dialogue,
) -> None:
    rollout(dialogue, "b")
    rollout(dialogue, "a")
    rollout(dialogue, "people", system="Human")
    static(dialogue, "z", (4, 99))
    assert shared(dialogue) == [(4, ["a", "b", "z/0", "z/1", "people"])]


def test_one_rollout_alone_shares_nothing(dialogue: Dialogue) -> None:
    rollout(dialogue, "a")
    assert shared(dialogue) == []
    with pytest.raises(CompareRefused, match="no two continuations of d share a context"):
        compare(dialogue, ComparisonQuery())


def test_rollouts_without_a_history_share_an_empty_context() -> None:
    made = factories.dialogue(factories.corpus(), "scratch", turns=0)
    rollout(made, "a")
    rollout(made, "b")
    found = compare(made, ComparisonQuery())
    assert (found.choice.context.at, found.context, names(found)) == (0, (), ["a", "b"])


def test_given_turns_are_context_so_those_who_answer_others_are_not_compared(dialogue: Dialogue) -> None:
    for key, said in (("a", "Why?"), ("b", "Why?"), ("c", "When?"), ("e", "When?")):
        turns = [{"text": said, "given": True, "at": 2}, {"text": f"{key}!", "at": 2}]
        factories.continuation(dialogue, key, system=key, turns=turns, mode="static")
    rows = [{"text": "Hello?", "given": True}, {"text": "Hi."}]
    for key in ("p", "q"):
        factories.continuation(dialogue, key, system=key, turns=rows)
    assert shared(dialogue) == [(2, ["c", "e"]), (2, ["a", "b"]), (4, ["p", "q"])]
    made = compare(dialogue, ComparisonQuery(at=2, continuations=("a",)))
    assert names(made) == ["a", "b"]
    assert [line.text for line in made.context] == ["turn 0", "turn 1", "Why?"]
    with pytest.raises(CompareRefused, match="a, c share no context of d after 2 turns: other turns"):
        compare(dialogue, ComparisonQuery(at=2, continuations=("a", "c")))
    live = compare(dialogue, ComparisonQuery(at=4))
    assert [column.line.text for column in live.columns] == ["Hi.", "Hi."]
    assert [line.text for line in live.context][-1] == "Hello?"


def test_cells_have_the_value_the_difference_and_what_caused_it(dialogue: Dialogue) -> None:
    by = rater("m_sns_min")
    score(by, static(dialogue, "x"), 0.3, nearest=1)
    score(by, static(dialogue, "y"), 0.5, nearest=0)
    (row,) = compare(dialogue, ComparisonQuery(against="x", continuations=("x", "y"))).rows
    assert [(cell.value, cell.difference) for cell in row.cells] == [(0.3, None), (0.5, pytest.approx(0.2))]
    assert [cell.causes for cell in row.cells] == [("nearest to turn 2",), ("nearest to turn 1",)]
    assert [cell.leads for cell in row.cells] == [((2, "turn-2"),), ((1, "turn-1"),)]
    (turned,) = compare(dialogue, ComparisonQuery(against="y", continuations=("x", "y"))).rows
    assert [cell.difference for cell in turned.cells] == [pytest.approx(-0.2), None]


def test_a_missing_value_has_its_reason_and_no_difference(dialogue: Dialogue) -> None:
    by = rater("m_sns_min")
    score(by, static(dialogue, "x"), None)
    score(by, static(dialogue, "y"), 0.5)
    made = compare(dialogue, ComparisonQuery())
    (row,) = made.rows
    assert [(cell.value, cell.missing) for cell in row.cells] == [
        (None, "there is no context"),
        (0.5, ""),
        (None, NOT_SCORED),
    ]
    assert [cell.difference for cell in row.cells] == [None, None, None]
    assert [column.scored for column in made.columns] == [True, True, False]


def test_metrics_of_conversations_are_of_rollouts_alone(dialogue: Dialogue) -> None:
    whole, turn = rater("nse"), rater("m_sns_min")
    a, b, z = rollout(dialogue, "a"), rollout(dialogue, "b"), static(dialogue, "z", (4,))
    for made, value in ((a, 0.9), (b, 0.8), (z, 0.1)):
        score(whole, made, value)
        score(turn, made, 0.5)
    score(turn, a, 0.7, turn=1)
    found = compare(dialogue, ComparisonQuery())
    assert [section.title for section in found.sections] == ["Turns: content", "Conversations: speaker"]
    first, of_whole = found.rows
    assert [cell.value for cell in first.cells] == [0.5, 0.5, 0.5]
    assert [(cell.value, cell.missing) for cell in of_whole.cells] == [
        (0.9, ""),
        (0.8, ""),
        (None, NO_CONVERSATION),
    ]
    assert [column.n_rest for column in found.columns] == [2, 2, 0]


def test_each_rater_of_a_metric_is_a_row_and_the_latest_label_counts(dialogue: Dialogue) -> None:
    x, y = static(dialogue, "x"), static(dialogue, "y")
    for made in (x, y):
        score(rater("m_sns_min", "paper"), made, 0.1)
        score(rater("m_sns_min", "reference"), made, 0.2)
    old = Label.objects.filter(item__continuation=x, rater__name="m_sns_min@paper").get()
    score(rater("m_sns_min", "paper"), x, 0.9)
    old.refresh_from_db()
    assert old.superseded_at is not None
    made = compare(dialogue, ComparisonQuery(continuations=("x", "y")))
    assert [(row.metric.name, [cell.value for cell in row.cells]) for row in made.rows] == [
        ("m_sns_min@paper", [0.9, 0.1]),
        ("m_sns_min@reference", [0.2, 0.2]),
    ]
    (one,) = compare(dialogue, ComparisonQuery(metric="m_sns_min@reference")).rows
    assert one.metric.name == "m_sns_min@reference"
    with pytest.raises(
        CompareRefused, match=r"no metric lnr scored these continuations; these did: m_sns_min@"
    ):
        compare(dialogue, ComparisonQuery(metric="lnr"))


def test_the_usual_columns_have_people_among_them_and_the_own_turn_only_where_nobody_else_is(
    dialogue: Dialogue,
) -> None:
    for number in range(9):
        static(dialogue, f"s{number}")
    assert names(compare(dialogue, ComparisonQuery())) == ["s0", "s1", "s2", "s3", "s4", "self"]
    static(dialogue, "people", system="human")
    assert names(compare(dialogue, ComparisonQuery())) == ["s0", "s1", "s2", "s3", "s4", "people"]
    assert names(compare(dialogue, ComparisonQuery(continuations=("s8",)))) == [
        "s8",
        "s0",
        "s1",
        "s2",
        "s3",
        "people",
    ]
    assert names(compare(dialogue, ComparisonQuery(continuations=("self", "s8")))) == ["self", "s8"]
    assert len(names(compare(dialogue, ComparisonQuery()))) == USUAL
    for key in ("s9", "s10"):
        static(dialogue, key)
    every = tuple(answer.name for answer in contexts(dialogue)[0].answers)
    with pytest.raises(CompareRefused, match=f"13 continuations are too many for one table: name {MOST}"):
        compare(dialogue, ComparisonQuery(continuations=every))


def test_what_cannot_be_compared_is_said_in_one_line(dialogue: Dialogue) -> None:
    static(dialogue, "x", (1, 2))
    static(dialogue, "y", (2,))
    for wanted, told in (
        (
            ComparisonQuery(at=3),
            "no two continuations of d share the context of 3 turns; they do after .* 1, 2",
        ),
        (
            ComparisonQuery(at=1, continuations=("y",)),
            "y shares no context .* after 1 turn; these do: x, self",
        ),
        (
            ComparisonQuery(continuations=("nobody",)),
            "nobody shares no context with another continuation of d; these do",
        ),
        (ComparisonQuery(at=1, against="y"), "y is not among the continuations compared: x, self"),
    ):
        with pytest.raises(CompareRefused, match=told) as refused:
            compare(dialogue, wanted)
        assert "\n" not in str(refused.value)


def test_the_context_with_most_answers_is_the_usual_one(dialogue: Dialogue) -> None:
    static(dialogue, "x", (0, 2, 3))
    static(dialogue, "y", (2, 3))
    assert compare(dialogue, ComparisonQuery()).choice.context.at == 2
    assert compare(dialogue, ComparisonQuery(at=0)).choice.context.at == 0


def test_long_texts_are_cut_to_what_a_page_holds_and_say_how_long_they_are(
    dialogue: Dialogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "MOST_LINES", 2)
    rollout(dialogue, "a", turns=9)
    rollout(dialogue, "b", turns=1)
    made = compare(dialogue, ComparisonQuery())
    assert ([line.number for line in made.context], made.n_context) == ([3, 4], 4)
    assert [(len(column.rest), column.n_rest) for column in made.columns] == [(2, 8), (0, 0)]


@pytest.mark.exhaustive
def test_the_queries_grow_with_neither_columns_nor_labels(
    dialogue: Dialogue, django_assert_num_queries: object
) -> None:
    for number in range(6):
        made = static(dialogue, f"s{number}", (1, 2, 3))
        for metric in ("m_sns_min", "m_sns_avg", "lnr"):
            score(rater(metric), made, 0.5, turn=1)
    with django_assert_num_queries(12):  # type: ignore[operator]
        compare(dialogue, ComparisonQuery(at=2))


def test_a_condition_that_names_a_fake_model_marks_its_continuation(dialogue: Dialogue) -> None:
    for key, condition in (("x", {"model": "Fake-1"}), ("y", {"model": "not-a-fake"}), ("z", {"model": 3})):
        made = static(dialogue, key)
        made.condition = condition | {"turns_per_call": 1}
        made.save()
    columns = compare(dialogue, ComparisonQuery(continuations=("x", "y", "z"))).columns
    assert [column.answer.continuation.fake_model for column in columns] == [True, False, False]
    assert columns[0].condition == "model Fake-1 · turns per call 1"
