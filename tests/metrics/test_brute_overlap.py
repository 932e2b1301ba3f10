"""Overlap metrics against their definitions, reimplemented as plain loops, on random pairs of texts."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from tests.metrics.helpers import answer, score

VOCABULARY = ["The", "a", "cakes,", "cake", "Lake!", "lake", "tea", "baking", "bake", "it's"]
KEPT = {"cakes,": "cakes", "Lake!": "lake", "The": "", "a": "", "it's": "it s"}
Words = list[str]


def text(draw: random.Random) -> str:
    return " ".join(draw.choices(VOCABULARY, k=draw.randint(1, 9)))


def normalised(said: str) -> Words:
    """Lower case, no punctuation, no articles: the table says by hand what becomes of each word."""
    return " ".join(KEPT.get(word, word) for word in said.split(" ")).split()


def grams(words: Words, size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def bleu(response: Words, reference: Words) -> float:
    """Papineni et al. 2002 with one reference; zero matches count as 1e-12."""
    if not grams(response, 1) & grams(reference, 1):
        return 0.0
    logs = []
    for size in (1, 2, 3, 4):
        found = grams(response, size)
        matches, total = (found & grams(reference, size)).total(), max(found.total(), 1)
        logs.append(math.log((matches or 1e-12) / total))
    brevity = min(1.0, math.exp(1 - len(reference) / len(response)))
    return brevity * math.exp(sum(logs) / 4)


def f1(shared: int, left: int, right: int) -> float:
    return 2 * shared / (left + right) if shared else 0.0


def rouge(size: int) -> Callable[[Words, Words], float]:
    def value(response: Words, reference: Words) -> float:
        left, right = grams(response, size), grams(reference, size)
        return f1((left & right).total(), left.total(), right.total())

    return value


def rouge_l(response: Words, reference: Words) -> float:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(response) or j == len(reference):
            return 0
        if response[i] == reference[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    return f1(longest(0, 0), len(response), len(reference))


CASES: dict[str, Callable[[Words, Words], float]] = {
    "bleu": bleu,
    "word_f1": rouge(1),
    "rouge_1": rouge(1),
    "rouge_2": rouge(2),
    "rouge_l": rouge_l,
}


@pytest.mark.parametrize("key", CASES)
def test_an_overlap_is_its_definition(key: str) -> None:
    draw = random.Random(0)
    for _ in range(150):
        response, reference = text(draw), text(draw)
        left, right = normalised(response), normalised(reference)
        value = score(key, answer(response, reference)).value
        if not left or not right:
            assert value is None
        else:
            assert value == pytest.approx(CASES[key](left, right), rel=1e-9), (response, reference)


@pytest.mark.parametrize(
    ("response", "reference", "precision", "recall", "chunks", "matches"),
    [
        ("tea lake", "tea lake", 1.0, 1.0, 1, 2),
        ("lake tea", "tea lake", 1.0, 1.0, 2, 2),
        ("baking cakes", "bake cake tea lake", 1.0, 0.5, 1, 2),
        ("tea", "cake", 0.0, 0.0, 0, 0),
    ],
)
def test_meteor_is_its_formula_with_stems(
    response: str, reference: str, precision: float, recall: float, chunks: int, matches: int
) -> None:
    """10PR / (R + 9P) times 1 - 0.5 (chunks / matches)^3: Banerjee and Lavie 2005."""
    expected = 0.0
    if matches:
        mean = 10 * precision * recall / (recall + 9 * precision)
        expected = mean * (1 - 0.5 * (chunks / matches) ** 3)
    assert score("meteor", answer(response, reference)).value == pytest.approx(expected)
