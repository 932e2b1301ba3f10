"""Strata of a review queue: rules, exact allocation, and the draw."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import pytest

from annotation.campaigns import allocation
from annotation.campaigns.allocation import QueueError, allocate, draw, parse, sizes, stratum_of


def queue(*strata, judges=("a", "b"), question="overall", **more):
    return parse({"judges": list(judges), "question": question, "strata": list(strata), **more})


def none():
    raise AssertionError("no deviation is needed")


def test_an_item_belongs_to_the_first_stratum_whose_rule_its_answers_meet() -> None:
    rules = queue(
        {"rule": "missing", "share": 1},
        {"rule": "unsure", "share": 1},
        {"rule": "disagree", "limit": 2, "share": 1},
        {"rule": "at_most", "limit": 2, "share": 1},
        {"rule": "at_least", "limit": 4.5, "share": 1},
        {"rule": "value", "values": [3], "share": 1},
        {"rule": "rest", "share": 0.1},
    )
    expected = {
        (): "no answer",
        ((1, 2), (1, 1)): "low confidence",
        ((1,), (3,)): "judges at least 2 apart",
        ((2,), (2, 2)): "score at most 2",
        ((1,),): "score at most 2",
        ((4,), (5,)): "score at least 4.5",
        ((3,), (4,)): "answer 3",
        ((4,), (4,)): "rest",
    }
    for answers, name in expected.items():
        assert stratum_of(rules, answers, "ordinal", None).name == name, answers


def test_half_of_a_judges_samples_flag_an_item_and_one_judge_is_enough() -> None:
    rules = queue({"rule": "flagged", "share": 1}, {"rule": "disagree", "share": 1})
    expected = {
        ((1.0,), (0.0,)): "flagged",
        ((1.0, 0.0), (0.0,)): "flagged",
        ((1.0, 0.0, 0.0), (0.0,)): "rest",
        ((0.0,), (0.0,)): "rest",
    }
    for answers, name in expected.items():
        assert stratum_of(rules, answers, "binary", 1.0).name == name, answers
    assert stratum_of(rules, ((0.0,), (1.0,)), "binary", 0.0).name == "flagged"


def test_categories_disagree_where_the_most_frequent_answers_differ() -> None:
    rules = queue({"rule": "disagree", "share": 1})
    assert stratum_of(rules, (("yes", "yes", "no"), ("yes",)), "nominal", None).name == "rest"
    assert stratum_of(rules, (("yes", "no", "no"), ("yes",)), "nominal", None).name == "judges disagree"


def variance(counts, deviation, n):
    """Variance of the estimated total, but for what no allocation changes; inf without two items of each."""
    if any(size < min(2, count) or size > count for size, count in zip(n, counts, strict=True)):
        return math.inf
    return sum((N * S) ** 2 / k for N, S, k in zip(counts, deviation, n, strict=True) if k)


def test_the_allocation_is_the_best_of_all_whole_numbers() -> None:
    rng = random.Random(33)
    for _ in range(150):
        counts = [rng.choice([0, 1, 2, 3, 5, 8, 13]) for _ in range(rng.randint(1, 4))]
        deviation = [rng.choice([0.0, 0.1, 0.5, 1.0, 2.0]) for _ in counts]
        least = sum(min(2, count) for count in counts)
        total = rng.randint(least, sum(counts) + 2)
        n = allocate(counts, deviation, total)
        assert sum(n) == min(total, sum(counts))
        every = itertools.product(*(range(count + 1) for count in counts))
        best = min(variance(counts, deviation, k) for k in every if sum(k) == sum(n))
        assert variance(counts, deviation, n) == pytest.approx(best, abs=1e-12)


def test_equal_deviations_allocate_in_proportion_and_unequal_ones_as_neyman_does() -> None:
    assert allocate([100, 300, 600], [1, 1, 1], 100) == [10, 30, 60]
    assert allocate([500, 500], [3, 1], 100) == [75, 25]
    assert allocate([10, 990], [50, 0.5], 100) == [10, 90]  # the surplus of a full stratum goes to the others
    assert allocate([400, 100], [0, 1], 50) == [2, 48]  # two items show that a stratum does not vary


def test_sizes_are_shares_numbers_and_the_rest_of_a_total() -> None:
    rules = queue(
        {"rule": "missing", "share": 1},
        {"rule": "unsure", "number": 30},
        {"rule": "at_most", "limit": 2},
        {"rule": "rest"},
        total=100,
    )
    counts = {"no answer": 5, "low confidence": 20, "score at most 2": 100, "rest": 400}
    rows = {row.name: (row.sample, row.probability) for row in sizes(rules, counts, none)}
    assert rows == {
        "no answer": (5, 1.0),
        "low confidence": (20, 1.0),
        "score at most 2": (15, 0.15),
        "rest": (60, 0.15),
    }


@pytest.mark.parametrize(("share", "items", "n"), [(0.05, 200, 10), (0.05, 21, 2), (0.5, 5, 3), (0.3, 1, 1)])
def test_a_share_is_rounded_and_at_least_two_items_are_drawn(share: float, items: int, n: int) -> None:
    (row,) = sizes(queue({"rule": "rest", "share": share}), {"rest": items}, none)
    assert (row.sample, row.probability) == (n, n / items)


def test_a_stratum_without_a_sample_has_no_probability_and_an_absent_rest_is_one() -> None:
    rows = sizes(queue({"rule": "missing", "share": 1}), {"no answer": 3, "rest": 7}, none)
    assert [(row.name, row.sample, row.probability) for row in rows] == [
        ("no answer", 3, 1),
        ("rest", 0, None),
    ]


def test_a_total_that_cannot_be_divided_and_an_empty_draw_are_refused() -> None:
    rules = queue({"rule": "missing", "share": 1}, {"rule": "rest"}, total=10)
    with pytest.raises(QueueError, match="take 9, and the others need at least 2"):
        sizes(rules, {"no answer": 9, "rest": 100}, none)
    with pytest.raises(QueueError, match="nothing to draw"):
        sizes(queue({"rule": "missing", "share": 1}), {"rest": 7}, none)


def test_neyman_takes_deviations_of_the_stratum_then_of_the_pilot_then_those_that_were_given() -> None:
    rules = queue(
        {"rule": "at_most", "limit": 2},
        {"rule": "at_least", "limit": 4, "sd": 0.25},
        {"rule": "rest"},
        total=50,
        allocation="neyman",
    )
    pilot = [("score at most 2", [[2.0]], [value]) for value in (1.0, 2.0, 3.0, 4.0, 5.0)]
    pilot += [("rest", [[3.0], [3.0]], [2.0, 4.0])]
    estimates = allocation.deviations(rules, pilot, "ordinal")
    assert estimates["score at most 2"].sd == pytest.approx(math.sqrt(2.5))
    assert estimates["score at most 2"].source == "5 rated items"
    assert estimates["score at least 4"] == (0.25, "given")
    assert estimates["rest"].source == "6 rated items of all strata"
    alike = [
        (name, answers, [3.0]) if name == "score at most 2" else (name, answers, people)
        for name, answers, people in pilot
    ]
    assert (
        allocation.deviations(rules, alike, "ordinal")["score at most 2"].source
        == "6 rated items of all strata"
    )
    with pytest.raises(QueueError, match=r"needs 5 items .* \(there are 4\)"):
        allocation.deviations(rules, pilot[:4], "ordinal")


def test_of_categories_the_deviation_is_that_of_the_error_rate_and_never_zero() -> None:
    rules = queue({"rule": "flagged"}, {"rule": "rest", "share": 0}, total=50, allocation="neyman")
    right = [("flagged", [[1.0]], [1.0, 1.0, 0.0])] * 7
    assert allocation.deviations(rules, right, "binary")["flagged"].sd == pytest.approx(
        math.sqrt(0.5 / 8 * 7.5 / 8)
    )
    wrong = right[:4] + [("flagged", [[1.0]], [0.0])] * 3
    assert allocation.deviations(rules, wrong, "binary")["flagged"].sd == pytest.approx(
        math.sqrt(3.5 / 8 * 4.5 / 8)
    )


def test_the_draw_depends_on_seed_and_keys_alone_and_every_item_is_drawn_alike_often() -> None:
    keys = {pk: f"d{pk}/self/0" for pk in range(40)}
    backwards = dict(reversed(keys.items()))
    assert draw(keys, 10, 7) == draw(backwards, 10, 7)
    assert draw(keys, 10, 7)[:4] == draw(keys, 4, 7)
    assert set(draw(keys, 10, 7)) != set(draw(keys, 10, 8))
    times = dict.fromkeys(keys, 0)
    for seed in range(4_000):
        for pk in draw(keys, 10, seed):
            times[pk] += 1
    # 4,000 draws with probability 1/4: 1,000 expected, standard deviation 27.4; 40 items, 4.5 deviations
    assert all(abs(count - 1_000) < 4.5 * 27.4 for count in times.values())


INVALID = [
    ([], "an object with judges"),
    ({"judges": [], "question": "q", "strata": [{"rule": "rest", "share": 1}]}, "1 to 20 judges"),
    ({"judges": ["a"], "question": "", "strata": [{"rule": "rest", "share": 1}]}, "which question"),
    ({"judges": ["a"], "question": "q", "strata": []}, "1 to 20 strata"),
    (
        {"judges": ["a"], "question": "q", "strata": [{"rule": "rest", "share": 1}], "colour": 1},
        "no “colour”",
    ),
]
INVALID_STRATA = [
    ([{"rule": "often", "share": 1}], "one of flagged"),
    ([{"rule": "rest", "share": 1}, {"rule": "missing", "share": 1}], "comes last"),
    ([{"rule": "missing", "share": 1}, {"rule": "missing", "number": 5}], "two strata “no answer”"),
    ([{"rule": "rest", "share": 0}], "Every stratum is left out"),
    ([{"rule": "missing", "share": 0}], "above 0 and at most 1"),
    ([{"rule": "missing", "share": 1.1}], "above 0 and at most 1"),
    ([{"rule": "missing", "share": float("nan")}], "is a number"),
    ([{"rule": "missing", "share": True}], "is a number"),
    ([{"rule": "missing", "share": 0.5, "number": 5}], "not both"),
    ([{"rule": "missing", "number": 1}], "2 or more"),
    ([{"rule": "missing", "number": 2.5}], "whole number"),
    ([{"rule": "missing", "share": 1, "sd": 0}], "standard deviation"),
    ([{"rule": "missing", "share": 1, "limit": 2}], "has no limit"),
    ([{"rule": "at_most", "share": 1}], "needs its score"),
    ([{"rule": "value", "share": 1}], "needs its answers"),
    ([{"rule": "value", "values": ["\0"], "share": 1}], "numbers or names"),
    ([{"rule": "value", "values": [True], "share": 1}], "numbers or names"),
    ([{"rule": "unsure", "limit": 0, "share": 1}], "above 0"),
    ([{"rule": "disagree", "share": 1}], "two or more"),
    ([{"rule": "missing"}], "or give a total"),
]


@pytest.mark.parametrize(("settings", "why"), INVALID)
def test_an_invalid_queue_is_refused_in_one_sentence(settings: object, why: str) -> None:
    with pytest.raises(QueueError, match=why):
        parse(settings)


@pytest.mark.parametrize(("strata", "why"), INVALID_STRATA)
def test_an_invalid_stratum_is_refused_in_one_sentence(strata: list[dict[str, object]], why: str) -> None:
    with pytest.raises(QueueError, match=why):
        queue(*strata, judges=["a"])


def test_a_total_needs_strata_to_divide_it_and_an_allocation_a_total() -> None:
    for more, why in (
        ({"total": 10}, "leave one empty"),
        ({"allocation": "neyman"}, "in total"),
        ({"total": 1}, "2 or more"),
        ({"total": 10, "allocation": "fair"}, "proportional or neyman"),
    ):
        with pytest.raises(QueueError, match=why):
            queue({"rule": "rest", "share": 1}, **more)


def test_rules_fit_the_question() -> None:
    flagged, low = queue({"rule": "flagged", "share": 1}), queue({"rule": "at_most", "limit": 2, "share": 1})
    answers = queue({"rule": "value", "values": ["maybe"], "share": 1})
    for rules, level, values, why in (
        (flagged, "ordinal", [1, 2], "yes-no question"),
        (low, "nominal", ["a"], "no order"),
        (low, "text", [], "not by texts"),
        (answers, "nominal", ["yes", "no"], "“maybe” is not an answer"),
    ):
        with pytest.raises(QueueError, match=why):
            allocation.check_question(rules, level, values)
    allocation.check_question(answers, "nominal", [])


KEYS = {item: f"d{item}/self/0" for item in range(30)}
ODD, EVEN, THIRD = (
    {i for i in KEYS if i % 2},
    {i for i in KEYS if not i % 2},
    {i for i in KEYS if not i % 3},
)


def inclusion(*strata: tuple[set[int], int]) -> dict[int, tuple[float, str]]:
    """Return the probability and stratum of each item of strata, which are sets and sizes of samples."""
    return {
        item: (n / len(items), f"stratum {number}")
        for number, (items, n) in enumerate(strata)
        for item in items
    }


def test_an_item_is_drawn_by_any_of_independent_draws_as_often_as_the_joint_probability_says() -> None:
    """Counted over 3,000 pairs of seeds: the draws are by a hash, and different seeds are independent."""
    first, second = [(ODD, 12), (EVEN, 3)], [(THIRD, 5), (set(KEYS) - THIRD, 4)]
    joint = allocation.joint_probabilities([(1, inclusion(*first)), (2, inclusion(*second))])
    assert joint is not None
    p_odd, p_third = 12 / 15, 5 / 10
    assert joint[3] == pytest.approx(1 - (1 - p_odd) * (1 - p_third))
    pairs, hits = 3_000, dict.fromkeys(KEYS, 0)
    for seed in range(pairs):
        items_of_either = {
            item
            for own, strata in ((2 * seed, first), (2 * seed + 1, second))
            for items, n in strata
            for item in draw({i: KEYS[i] for i in items}, n, own)
        }
        for item in items_of_either:
            hits[item] += 1
    for item, probability in joint.items():
        error = math.sqrt(probability * (1 - probability) / pairs)
        assert abs(hits[item] / pairs - probability) < 4 * error


def test_draws_of_one_seed_have_a_joint_probability_where_their_strata_are_equal() -> None:
    smaller, larger = inclusion((ODD, 3), (EVEN, 6)), inclusion((ODD, 9), (EVEN, 2))
    joint = allocation.joint_probabilities([(1, smaller), (1, larger)])
    assert joint == pytest.approx({item: 9 / 15 if item in ODD else 6 / 15 for item in KEYS})
    pairs = [(1, inclusion((ODD, 15), (EVEN, 6))), (1, inclusion((ODD, 3)))]
    assert allocation.joint_probabilities(pairs) == pytest.approx(
        {item: 1.0 if item in ODD else 6 / 15 for item in KEYS}
    )


def test_draws_of_one_seed_that_divide_items_differently_have_no_joint_probability() -> None:
    pairs = [inclusion((ODD, 3), (EVEN, 6)), inclusion((THIRD, 3), (set(KEYS) - THIRD, 6))]
    assert allocation.joint_probabilities([(1, each) for each in pairs]) is None
    assert allocation.joint_probabilities(list(enumerate(pairs))) is not None


def test_the_docs_explain_every_rule_and_allocation() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "campaigns.md").read_text(encoding="utf-8")
    section = page.partition("### Review queue")[2].partition("\n### ")[0]
    assert [key for key in (*allocation.RULES, *allocation.ALLOCATIONS) if f"`{key}`" not in section] == []
