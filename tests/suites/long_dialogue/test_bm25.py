"""BM25 at any moment: the formula's worked example, and the statistics of a rebuild."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suites.long_dialogue.agent.memory import K1, B, Index, ranking, tokens

EXAMPLE = [tokens(text) for text in ("ana buy boots", "ben lost boots again", "cara came home")]
ENTRY = st.lists(st.sampled_from("abcdef"), max_size=6)


def naive(query: list[str], entries: list[list[str]]) -> list[float]:
    """Score as the formula says it, entry by entry and word by word."""
    mean = sum(map(len, entries)) / len(entries) if entries else 0.0
    found = []
    for entry in entries:
        score = 0.0
        for word in query:
            f, n = Counter(entry)[word], sum(word in one for one in entries)
            if f:
                idf = math.log(1 + (len(entries) - n + 0.5) / (n + 0.5))
                score += idf * f * (K1 + 1) / (f + K1 * (1 - B + B * len(entry) / mean))
        found.append(score)
    return found


def test_the_worked_example_is_met() -> None:
    scores = Index(EXAMPLE).scores(tokens("boots ana"), 3)
    assert [round(float(score), 3) for score in scores] == [1.519, 0.431, 0.0]


@settings(max_examples=150, deadline=None)
@given(st.lists(ENTRY, max_size=9), st.lists(ENTRY, max_size=3), ENTRY)
def test_at_every_moment_the_statistics_are_those_of_a_rebuild(
    entries: list[list[str]], beside: list[list[str]], query: list[str]
) -> None:
    index = Index(entries)
    for there in range(len(entries) + 1):
        now = entries[:there] + beside
        scores = index.scores(query, there, beside)
        assert scores == pytest.approx(naive(query, now), abs=1e-12)
        assert list(scores) == list(Index(now).scores(query, len(now)))


def test_a_running_entry_replaces_itself() -> None:
    index = Index(EXAMPLE)
    short, longer = [tokens("boots")], [tokens("boots and boots and the cat")]
    assert index.scores(["boots"], 2, short) == pytest.approx(naive(["boots"], EXAMPLE[:2] + short))
    assert index.scores(["boots"], 2, longer) == pytest.approx(naive(["boots"], EXAMPLE[:2] + longer))
    assert len(index) == 3


def test_a_word_that_the_query_repeats_counts_each_time() -> None:
    index = Index(EXAMPLE)
    assert index.scores(["ana", "ana"], 3) == pytest.approx(2 * index.scores(["ana"], 3))


def test_of_equal_scores_the_more_recent_comes_first() -> None:
    index = Index([["a"], ["b"], ["a"], ["b"]])
    order = ranking(index.scores(["a"], 4), np.arange(4.0))
    assert list(order) == [2, 0, 3, 1]


def test_words_are_those_of_any_script_in_small_letters() -> None:
    assert tokens("Ana's BOOTS, 1994!") == ["ana", "s", "boots", "1994"]
    assert tokens("Привет, Анна") == ["привет", "анна"]
    assert tokens("安娜买鞋") == ["安", "娜", "买", "鞋"]
    assert tokens("") == []


def test_nothing_is_there_before_anything_was_heard() -> None:
    assert len(Index([]).scores(["a"], 0)) == 0
    assert list(Index([]).scores(["a"], 0, [[]])) == [0.0]
    with pytest.raises(IndexError, match="4 entries are asked for, and there are 3"):
        Index(EXAMPLE).scores(["a"], 4)
