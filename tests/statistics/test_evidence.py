"""Agreement on evidence: against nltk, by hand, and with nothing to compare."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance, masi_distance

from calibration.statistics import Plan, evidence
from calibration.statistics.evidence import (
    ALL,
    ALL_SAME,
    FIGURES,
    NO_PAIR,
    NOBODY,
    Pointing,
    Stretch,
    dice,
    jaccard,
    overlaps,
    span_f1,
)

PLAN = Plan(resamples=200)


def point(rater, item, turns, answer=1.0, kind="human"):
    stretches = tuple(Stretch(turn, 0, 10) for turn in turns)
    return Pointing(item, rater, answer, stretches, item, kind)


def figures_of(given, asks="turns", plan=PLAN, name=""):
    (found,) = [one for one in overlaps(given, asks, plan) if one.name == name]
    return {figure.name: figure for figure in found.figures}


def drawn_sets(seed, items=40, raters=3):
    draw = random.Random(seed)
    for item in range(items):
        common = draw.sample(range(6), 2)
        for rater in range(raters):
            turns = {turn for turn in common if draw.random() < 0.8} | (
                {draw.randrange(6)} if draw.random() < 0.3 else set()
            )
            if turns:
                yield f"r{rater}", f"i{item}", frozenset(turns)


@pytest.mark.parametrize("seed", range(20))
def test_set_similarities_are_those_of_nltk(seed):
    draw = random.Random(seed)
    one, other = (frozenset(draw.sample(range(5), draw.randint(1, 4))) for _ in range(2))
    assert 1 - jaccard(one, other) == pytest.approx(jaccard_distance(one, other), abs=1e-12)
    shared = jaccard(one, other)
    assert dice(one, other) == pytest.approx(2 * shared / (1 + shared), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_over_sets_is_that_of_nltk(seed):
    data = list(drawn_sets(seed))
    held = defaultdict(int)
    for _, item, _ in data:
        held[item] += 1
    data = [row for row in data if held[row[1]] > 1]  # nltk counts single values among the expected ones
    theirs = AnnotationTask(data=data, distance=masi_distance).alpha()
    ours = figures_of([point(*row) for row in data])["evidence_alpha"]
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert ours.low < ours.value < ours.high
    assert (ours.n_raters, ours.n_items) == (3, len({item for _, item, _ in data}))


def test_means_over_pairs_by_hand():
    given = [
        point("a", "i", [1, 2]), point("b", "i", [2]), point("c", "i", [3]),
        point("a", "j", [1]), point("b", "j", [1]),
    ]  # fmt: skip
    found = figures_of(given)
    assert found["evidence_f1"].value == pytest.approx(((2 / 3 + 0 + 0) / 3 + 1) / 2)
    assert found["evidence_jaccard"].value == pytest.approx(((1 / 2 + 0 + 0) / 3 + 1) / 2)
    assert found["evidence_pointed"].value == 1.0
    assert (found["evidence_f1"].n_items, found["evidence_f1"].n_raters) == (2, 3)


def test_only_who_gave_the_same_answer_and_points_is_compared():
    given = [
        point("a", "i", [1], answer=2.0), point("b", "i", [5], answer=3.0),
        point("a", "j", [1]), point("b", "j", []), point("c", "j", [1]),
    ]  # fmt: skip
    found = figures_of(given)
    assert found["evidence_f1"].value == 1.0
    assert found["evidence_f1"].n_items == 1
    assert "one_item" in found["evidence_f1"].flags
    assert found["evidence_f1"].n_missing == 1
    assert found["evidence_pointed"].value == pytest.approx(4 / 5)


def test_characters_are_counted_once_and_alike_in_every_script():
    text = "他说他昨天去了北京，可是他一直在上海。"
    assert len(text) == 19
    one = [Stretch(0, text.index("北"), text.index("北") + 2)]
    other = [Stretch(0, text.index("去"), text.index("，"))]
    assert span_f1(one, other) == pytest.approx(2 * 2 / (2 + 4))
    whole = [Stretch(0, 0, len(text))]
    assert span_f1(whole, one) == pytest.approx(2 * 2 / (19 + 2))
    overlapping = [Stretch(0, 0, 5), Stretch(0, 3, 8), Stretch(0, 8, 9)]
    assert span_f1(overlapping, [Stretch(0, 0, 9)]) == 1.0
    assert span_f1([Stretch(0, 0, 5)], [Stretch(1, 0, 5)]) == 0.0
    with pytest.raises(ValueError, match="neither"):
        span_f1([], [])


def test_spans_have_a_figure_that_turns_do_not():
    given = [
        Pointing("i", "a", 1.0, (Stretch(0, 0, 4),), "d"),
        Pointing("i", "b", 1.0, (Stretch(0, 2, 6),), "d"),
    ]
    assert "evidence_span_f1" not in figures_of(given)
    found = figures_of(given, asks="spans")
    assert list(found) == list(FIGURES)
    assert found["evidence_span_f1"].value == 0.5
    assert found["evidence_f1"].value == 1.0
    assert found["evidence_span_f1"].low is None  # a single dialogue


def test_where_nobody_points_or_nobody_shares_an_item_the_reason_is_said():
    nobody = figures_of([point("a", "i", []), point("b", "i", [])])
    assert nobody["evidence_pointed"].value == 0.0
    for name in ("evidence_f1", "evidence_jaccard", "evidence_alpha"):
        assert (nobody[name].status, nobody[name].reason) == ("insufficient", NOBODY)
    apart = figures_of([point("a", "i", [1]), point("b", "j", [1])])
    assert apart["evidence_f1"].reason == NO_PAIR


def test_where_all_point_at_the_same_alpha_is_undefined_and_the_rest_is_1():
    found = figures_of([point(rater, f"i{n}", [1]) for rater in "ab" for n in range(3)])
    assert (found["evidence_alpha"].status, found["evidence_alpha"].reason) == ("undefined", ALL_SAME)
    assert found["evidence_f1"].value == 1.0


def test_one_rater_is_compared_with_nobody():
    assert overlaps([point("a", "i", [1])], "turns", PLAN) == []
    assert overlaps([], "turns", PLAN) == []


def test_a_judge_meets_people_and_people_each_other():
    given = [point("a", "i", [1]), point("b", "i", [1]), point("gpt", "i", [2], kind="judge")]
    people, judge = overlaps(given, "turns", PLAN)
    assert (people.name, people.raters) == ("", ("a", "b"))
    assert (judge.name, judge.raters) == ("gpt", ("gpt", "a", "b"))
    of = {figure.name: figure.value for figure in judge.figures}
    assert of == {"evidence_pointed": 1.0, "evidence_f1": 0.0, "evidence_jaccard": 0.0}
    (both,) = overlaps([given[0], given[2]], "turns", PLAN)
    assert (both.kind, both.raters) == (ALL, ("a", "gpt"))


def test_order_and_seed_do_not_change_a_digit():
    data = [point(*row) for row in drawn_sets(3)]
    turned = list(data)
    random.Random(1).shuffle(turned)
    one, other = figures_of(data), figures_of(turned)
    for name in FIGURES.keys() - {"evidence_span_f1"}:
        assert one[name].value == pytest.approx(other[name].value, abs=1e-12)
    assert figures_of(data)["evidence_alpha"] == one["evidence_alpha"]


def test_too_many_different_sets_are_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(evidence, "MOST_SETS", 3)
    data = [point(rater, f"i{n}", [n]) for rater in "ab" for n in range(5)]
    found = figures_of(data)["evidence_alpha"]
    assert found.status == "rejected"
    assert "5 different sets of turns" in found.reason


def test_intervals_hold_the_simulated_truth():
    """Each item's two raters point at the same turn with chance 0.7: that is the F1 in the long run."""
    held = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        same = draw.random(120) < 0.7
        given = [point("a", f"i{n}", [1]) for n in range(120)]
        given += [point("b", f"i{n}", [1 if alike else 2]) for n, alike in enumerate(same)]
        figure = figures_of(given, plan=Plan(resamples=300))["evidence_f1"]
        held += figure.low <= 0.7 <= figure.high
    assert held >= 52
