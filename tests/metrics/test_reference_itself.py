"""A metric that compares with a reference has no value for the reference itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.formats import FORMATS
from annotation.formats.source import Source
from annotation.records import Continuation, Dialogue, Turn
from judges.metrics.kit.tools import Scene
from tests.importing.test_usr_and_comperdial import TOPICAL, written
from tests.metrics.helpers import score

OWN = (Turn("A", "What do you do?"), Turn("B", "I bake bread and cake."))
ITSELF = "it is the reference itself"


def scene(text: str, system: str, *, own: str = "human") -> Scene:
    said = Continuation("x", system, (Turn("B", text, at=1),), mode="static")
    return Scene(Dialogue("d", OWN, (), (said,), system=own), said)


@pytest.mark.parametrize("key", ["bleu", "word_f1", "rouge_1", "rouge_l", "meteor", "bart_score@recall"])
def test_what_people_said_is_not_compared_with_itself(key: str) -> None:
    result = score(key, scene("I bake bread and cake.", "human"))
    assert (result.value, result.reason) == (None, ITSELF)


def test_a_response_in_the_same_words_by_another_system_counts() -> None:
    assert score("word_f1", scene("I bake bread and cake.", "model-x")).value == 1
    assert score("word_f1", scene("I bake a cake!", "human")).value == pytest.approx(0.75)
    assert score("word_f1", scene("I bake bread and cake.", "model-x", own="model-x")).reason == ITSELF


def test_a_continuation_that_is_named_as_reference_is_not_compared_with_itself() -> None:
    first = Continuation("first", "model-a", (Turn("B", "I bake."),))
    second = Continuation("second", "model-b", (Turn("B", "I bake."),))
    dialogue = Dialogue("d", OWN, (), (first, second))
    assert score("word_f1:against=first", Scene(dialogue, first)).reason == ITSELF
    assert score("word_f1:against=first", Scene(dialogue, second)).value == 1


def test_the_original_responses_of_usr_are_references_and_have_no_overlap(tmp_path: Path) -> None:
    path = written(tmp_path, TOPICAL)
    dialogue = next(iter(FORMATS["usr"].read(Source(path)))).record
    original, other = dialogue.continuations
    assert score("word_f1", Scene(dialogue, original)).reason == ITSELF
    assert score("word_f1", Scene(dialogue, other)).value == 0
