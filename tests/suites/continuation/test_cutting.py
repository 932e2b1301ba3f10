"""Cut points of conversations, and the instances of a benchmark."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demo.fake_model.errors import u
from suites.continuation.benchmarks.instances import Instance, Offer, Quota, Shortage, choose, starts


@pytest.mark.parametrize("n", [60, 61, 100, 1000])
def test_the_first_start_is_uniform_from_30_to_n_minus_30(n: int) -> None:
    for seed in range(200):
        assert starts(seed, "d", n) == [30 + int(u(seed, "cut", "d", 0) * (n - 59))]
    found = {starts(seed, "d", n)[0] for seed in range(2000)}
    assert min(found) - 30 <= n // 100
    assert n - 30 - max(found) <= n // 100


def test_a_conversation_of_100_turns_is_cut_from_30_to_70() -> None:
    counts = Counter(starts(seed, "d", 100)[0] for seed in range(8200))
    assert set(counts) == set(range(30, 71))
    assert all(130 < number < 270 for number in counts.values())  # 200 each, five standard deviations


@given(st.integers(0, 400), st.integers(0, 2000), st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_further_starts_are_60_apart_and_as_many_as_fit(seed: int, n: int, most: int) -> None:
    found = starts(seed, "d", n, most)
    assert all(30 <= start <= n - 30 for start in found)
    assert all(abs(one - other) >= 60 for one in found for other in found if one != other)
    assert len(set(found)) == len(found) <= most
    assert bool(found) == (n >= 60)
    if len(found) < most:  # nothing is left
        assert all(any(abs(start - one) < 60 for one in found) for start in range(30, n - 29))
    assert starts(seed, "d", n, most + 3)[: len(found)] == found


def offers(source: str, number: int, turns: int = 200) -> list[Offer]:
    return [Offer(source, f"c{n}", f"c{n}", turns) for n in range(number)]


def chosen(found: list[Instance], part: str) -> list[Instance]:
    return [one for one in found if one.part == part]


def test_one_instance_per_conversation_where_there_are_enough() -> None:
    given_offers = offers("A", 12) + offers("B", 8)
    found = choose(given_offers, Quota(5, train=6), 3, ["A", "B"])
    evaluation, train = chosen(found, "evaluation"), chosen(found, "train")
    assert Counter(one.source for one in evaluation) == {"A": 5, "B": 5}
    assert len(train) == 6
    used = [{(one.source, one.conversation) for one in part} for part in (evaluation, train)]
    assert not used[0] & used[1]
    assert len(used[0]) == 10
    assert found == choose(given_offers[::-1], Quota(5, train=6), 3, ["B", "A"])
    assert found != choose(given_offers, Quota(5, train=6), 4, ["A", "B"])
    assert {one.key for one in found} == {f"{one.source}-{one.conversation}-{one.start}" for one in found}


def test_few_conversations_give_several_instances_each() -> None:
    spread = choose(offers("A", 10, 1000), Quota(15, per_conversation=4), 0, ["A"])
    assert sorted(Counter(one.conversation for one in spread).values()) == [1] * 5 + [2] * 5
    both = choose(offers("A", 10, 1000), Quota(15, train=20, per_conversation=4), 0, ["A"])
    evaluation = {one.conversation for one in chosen(both, "evaluation")}
    train = {one.conversation for one in chosen(both, "train")}
    assert not evaluation & train
    assert (len(evaluation), len(chosen(both, "train"))) == (4, 20)


def test_training_draws_from_the_sources_that_are_named() -> None:
    found = choose(offers("A", 9) + offers("B", 9), Quota(2, train=7, train_sources=("B",)), 0, ["A", "B"])
    assert {one.source for one in chosen(found, "train")} == {"B"}
    with pytest.raises(Shortage, match="7 instances of the 8 asked for are left in 'B'"):
        choose(offers("A", 9) + offers("B", 9), Quota(2, train=8, train_sources=("B",)), 0, ["A", "B"])


def test_dialogues_that_share_material_are_never_in_both_parts() -> None:
    shared = [Offer("A", f"c{n}", f"meeting {n // 2}", 100) for n in range(20)]
    for seed in range(20):
        found = choose(shared, Quota(4, train=6), seed, ["A"])
        parts = [
            {int(one.conversation[1:]) // 2 for one in chosen(found, part)}
            for part in ("evaluation", "train")
        ]
        assert not parts[0] & parts[1]


def test_fewer_than_asked_names_the_source_and_what_to_do() -> None:
    given_offers = offers("A", 5) + offers("B", 3) + offers("B short", 3, 59)
    with pytest.raises(Shortage, match=r"the source 'B' has 3 instances of the 4 asked for: 3 conversations "
                                       r"of at least 60 turns .* --per-conversation"):  # fmt: skip
        choose(given_offers, Quota(4), 0, ["A", "B"])
    fewer = choose(given_offers, Quota(4, allow_fewer=True), 0, ["A", "B", "B short"])
    assert Counter(one.source for one in fewer) == {"A": 4, "B": 3}
    with pytest.raises(Shortage, match="nothing can be cut"):
        choose(offers("A", 3, 59), Quota(4, allow_fewer=True), 0, ["A"])


def test_nothing_is_asked_for_evaluation_where_only_training_is_wanted() -> None:
    found = choose(offers("A", 4), Quota(0, train=3), 0, ["A"])
    assert [one.part for one in found] == ["train"] * 3
