"""Examples worked by hand in the docs that need more than turns, and properties of the parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import MetricError, Scene, agendas, instrument_for
from judges.metrics.acts import ActModel
from judges.metrics.agendas import holds, linearised, next_item, prim
from judges.metrics.likelihood import sentences
from judges.metrics.participation import gini
from judges.metrics.references import f1
from judges.metrics.speakers import sizes
from judges.metrics.topics import dominant, jensen_shannon
from judges.metrics.turn_taking import decayed
from tests.metrics.helpers import reply, score, talk, tools, turns


def test_topics_half_shared_have_alignment_0_4421() -> None:
    divergence = jensen_shannon(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert divergence == pytest.approx(0.3113, abs=5e-5)
    assert 1 - math.sqrt(divergence) == pytest.approx(0.4421, abs=5e-5)


def test_disjoint_topics_diverge_by_one_bit_and_by_ln_2_nats() -> None:
    left, right = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert jensen_shannon(left, right) == pytest.approx(1.0)
    assert jensen_shannon(left, right, base=math.e) == pytest.approx(math.log(2))


def test_a_statement_after_a_question_has_probability_0_6327() -> None:
    model = ActModel(4)
    for act in ("statement", "statement", "statement", "question"):
        model.learn("other", ["question", act], 1)
    assert model.probability("statement", ["question"], "this", 0.1, 9) == pytest.approx(0.6327, abs=5e-5)


def test_a_dialogue_does_not_learn_from_itself() -> None:
    model = ActModel(4)
    model.learn("this", ["question", "statement"], 0)
    assert model.probability("statement", ["question"], "this", 0.1, 9) is None


def test_dominant_topics_together_reach_the_mass() -> None:
    assert dominant(np.array([0.6, 0.3, 0.1]), 0.8) == [0, 1]
    assert dominant(np.array([0.25, 0.25, 0.5]), 0.5) == [2]
    assert np.delete(np.array([0.2, 0.3, 0.5]), [0, 1]).sum() == 0.5


def test_decay_falls_with_distance() -> None:
    assert [decayed(d, "geometric", 0.6) for d in (0, 1)] == pytest.approx([0.6, 0.24])
    assert decayed(2, "exponential", 0.5) == pytest.approx(math.exp(-1))
    assert decayed(3, "inverse", 0.6) == 0.25


def test_repeated_messages_are_edges_of_length_zero() -> None:
    distances = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]], dtype=float)
    assert prim(distances, np.arange(4)).length / 3 == pytest.approx(1 / 3)


def test_the_spanning_tree_is_scipys_where_no_distance_is_zero() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 5))
    distances = np.linalg.norm(rows[:, None] - rows[None, :], axis=2)
    assert prim(distances, np.arange(60)).length == pytest.approx(minimum_spanning_tree(distances).sum())


def test_gini_of_equal_shares_is_0_and_of_one_share_1_less_1_by_s() -> None:
    assert gini([2.0, 2.0, 2.0]) == pytest.approx(0.0)
    assert gini([0.0, 0.0, 0.0, 5.0]) == pytest.approx(0.75)


def test_mixture_sizes_follow_the_paper_or_the_published_code() -> None:
    assert sizes(30, reference=False) == [1, 2, 3, 4, 5]
    assert sizes(4, reference=True) == [1]
    assert sizes(24, reference=True) == [1, 2, 3, 4]
    assert sizes(100, reference=True) == [2, 3, 4, 5, 6]


PLAN = Agenda(
    {key: key for key in "abcde"}, edges=(("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")), start="a"
)


def test_the_agenda_is_linearised_depth_first_and_unreached_items_come_last() -> None:
    assert linearised(PLAN) == ["a", "b", "d", "c", "e"]


def test_the_next_item_is_searched_along_follow_ups_before_predecessors() -> None:
    def found(start: str, done: str) -> str | None:
        return next_item(PLAN, start, lambda item: item in done)

    assert found("a", "") == "a"
    assert found("a", "a") == "b"
    assert found("b", "ab") == "d"
    assert found("b", "abd") == "c"
    assert found("d", "bd") == "a"
    assert found("d", "abd") == "c"
    assert found("a", "abcd") is None


@pytest.mark.parametrize(
    ("criterion", "artifact", "expected"),
    [
        ({"kind": "json"}, '{"a": 1}', True),
        ({"kind": "json"}, "{a: 1}", False),
        ({"kind": "fields", "fields": ["a"]}, '{"a": 1}', True),
        ({"kind": "fields", "fields": ["a", "b"]}, '{"a": 1, "b": ""}', False),
        ({"kind": "fields", "fields": ["a"]}, "[1]", False),
        ({"kind": "matches", "pattern": "^Agreed: .+day"}, "Agreed: Monday", True),
        ({"kind": "matches", "pattern": "^Agreed"}, "Not agreed", False),
        ({"kind": "contains", "text": "lake"}, "to the lake", True),
        ({"kind": "not_empty"}, " \n", False),
    ],
)
def test_a_success_criterion_holds_or_not(criterion: dict, artifact: str, expected: bool) -> None:
    assert holds(criterion, artifact) is expected


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ({"kind": "python"}, "kind 'python': it must be"),
        ({"kind": "matches"}, "needs 'pattern'"),
        ({"kind": "matches", "pattern": "("}, "is not a regular expression"),
        ({"kind": "fields", "fields": "a"}, "needs 'fields' as a list"),
        ({"kind": "matches", "pattern": "(a|a)*$"}, "takes too long"),
    ],
)
def test_a_criterion_that_is_none_is_refused(
    criterion: dict, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agendas, "SECONDS", 0.05)
    artifact = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"
    with pytest.raises(MetricError) as caught:
        holds(criterion, artifact)
    assert message in str(caught.value)


def test_task_success_checks_the_artifact_of_a_continuation() -> None:
    agenda = Agenda({}, success=({"kind": "json"}, {"kind": "contains", "text": "May"}))
    said = turns("A: write it down")

    def found(condition: dict) -> float | str:
        made = Continuation("x", "s", said, condition=condition)
        result = score("task_success", Scene(Dialogue("d", said, (), (made,), agenda=agenda), made))
        return result.reason or result.value

    assert found({"artifact": '{"date": "2 May"}'}) == 1.0
    assert found({"artifact": {"date": "2 May"}}) == 1.0
    assert found({"artifact": "2 May"}) == 0.0
    assert found({}) == "there is no artifact to check"


def test_a_static_turn_with_given_turns_before_it_is_scored_on_what_it_sees() -> None:
    history = turns("A: tea", "B: cake", "A: van", "B: lake")
    made = (Turn("A", "bread", given=True, at=1), Turn("B", "tea bread", at=1))
    static = Continuation("x", "s", made, mode="static")
    scene = Scene(Dialogue("d", history, (), (static,)), static)
    assert scene.items("turn") == [1]
    assert scene.context(1) == [0, 4]
    assert score("pf", scene, turn=1).value == 0.0
    assert score("m_sns_avg", scene, turn=1).value == pytest.approx(1 - 1 / math.sqrt(2))
    assert score("ls_es_avg", scene, turn=1).reason == "the speaker has no turn in the context"
    assert score("lnr", scene, turn=1).value == pytest.approx(1 / 3)


def test_what_a_window_hides_changes_nothing() -> None:
    short = reply("B: tea", "A: cake", "B: tea cake")
    long = reply("A: van", "B: lake road", "B: tea", "A: cake", "B: tea cake")
    for key in ("pf", "ls_es_avg", "ls_es_max", "lnr_e_w", "m_sns_min", "lscc_es_avg", "lnr_e"):
        windowed = score(f"{key}:window=2", long).value
        assert windowed == pytest.approx(score(f"{key}:window=2", short).value)


def test_a_profile_counts_the_more_the_less_a_speaker_said() -> None:
    people = (Participant("A", profile=("tea",)),)
    few = reply("A: cake", "B: tea", "B: tea", "B: tea", "A: tea", people=people)
    many = reply("A: cake", "A: cake", "A: cake", "B: tea", "A: tea", people=people)
    assert score("lscc_es_aug", few).value > score("lscc_es_aug", many).value


def test_local_metrics_give_the_same_in_a_rollout_as_for_the_turn_alone() -> None:
    said = ("A: tea and cake", "B: van to lake", "A: tea", "C: cake, A?", "A: lake and tea", "B: the van")
    whole, shared = talk(*said), tools()
    for key in ("dnr", "ir", "pf", "ls_es_avg", "ls_es_max", "lnr", "lnr_e_w", "m_sns_avg", "lscc_es_min"):
        instrument = instrument_for(key)
        for turn in range(1, len(said)):
            alone = instrument.score(reply(*said[: turn + 1]), 0, shared)
            rolled = instrument.score(whole, turn, shared)
            assert (rolled.value, rolled.reason) == (pytest.approx(alone.value), alone.reason)


def test_sentences_end_in_any_script() -> None:
    assert sentences("Yes. No! 好。嗯？ Why") == ["Yes.", "No!", "好。", "嗯？", "Why"]


def test_rounding_does_not_choose_among_topics_of_equal_share() -> None:
    third = 0.1 + 0.2
    assert dominant(np.array([0.3, third, 0.4]), 0.7) == [2, 0]
    assert dominant(np.array([third, 0.3, 0.4]), 0.7) == [2, 0]


def test_f1_is_the_harmonic_mean_and_undefined_across_zero() -> None:
    assert f1(1.0, 0.5) == pytest.approx(2 / 3)
    assert f1(-0.5, -0.5) == pytest.approx(-0.5)
    assert f1(0.0, 0.0) == 0.0
    assert f1(-0.1, 0.11) is None
