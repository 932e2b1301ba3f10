"""BARTScore on tiny models created by the test, against a direct computation."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from annotation.records import Continuation, Dialogue, Turn
from judges.metrics import METRICS, ModelMissing, Scene, instrument_for
from tests.metrics import models
from tests.metrics.helpers import answer, reply, score


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bart")


@pytest.fixture(scope="module")
def random(folder: Path) -> str:
    return models.bart(folder / "random", marked=True)


def direct(name: str, source: str, target: str) -> float:
    """Step by step: the decoder reads what it has and says how likely the next token is."""
    import torch
    from transformers import AutoTokenizer, BartForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(name)
    model = BartForConditionalGeneration.from_pretrained(name).eval()
    read, said = tokenizer(source).input_ids, tokenizer(target).input_ids
    total, before = 0.0, [model.config.decoder_start_token_id]
    for token in said:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([before])).logits
        total += float(torch.softmax(logits[0, -1].double(), dim=-1)[token].log())
        before = [*before, token]
    return total / len(said)


@pytest.mark.exhaustive
def test_two_tokens_with_log_probabilities_of_minus_two_and_minus_four_score_minus_three(
    folder: Path,
) -> None:
    name = models.bart(folder / "shares", {"a": math.exp(-2), "b": math.exp(-4)})
    found = score(f"bart_score:model={name}", reply("A: hello", "B: a b"))
    assert found.value == pytest.approx(-3.0, abs=1e-5)


def test_each_variant_reads_its_own_source(random: str) -> None:
    scene = answer("b c a", "d e")
    history = "What do you do?"
    expected = {
        "faithfulness": direct(random, history, "b c a"),
        "precision": direct(random, "d e", "b c a"),
        "recall": direct(random, "b c a", "d e"),
    }
    expected["f1"] = (expected["precision"] + expected["recall"]) / 2
    assert len({round(one, 6) for one in expected.values()}) == 4
    for variant, value in expected.items():
        assert score(f"bart_score@{variant}:model={random}", scene).value == pytest.approx(value, abs=1e-5)
    assert score(f"bart_score:model={random}", scene).value == pytest.approx(
        expected["faithfulness"], abs=1e-5
    )


def test_the_history_is_the_turns_of_the_context_a_line_each(random: str) -> None:
    scene = reply("A: a b", "C: c", "B: d")
    assert score(f"bart_score:model={random}", scene).value == pytest.approx(
        direct(random, "a b\nc", "d"), abs=1e-5
    )
    windowed = score(f"bart_score:model={random},window=1", scene).value
    assert windowed == pytest.approx(direct(random, "c", "d"), abs=1e-5)


def test_a_source_that_is_too_long_loses_its_beginning(random: str) -> None:
    long = "a " * 60 + "b c d e " * 20
    tokens = long.split()[-63 + 0 :]
    kept = " ".join(tokens[-62 - 1 :])
    found = score(f"bart_score:model={random}", reply(f"A: {long}", "B: d")).value
    shorter = score(f"bart_score:model={random}", reply(f"A: {kept}", "B: d")).value
    assert found == pytest.approx(shorter, abs=1e-9)


@pytest.mark.parametrize("variant", METRICS["bart_score"].variants)
def test_what_is_missing_has_a_reason(variant: str) -> None:
    key = f"bart_score@{variant}"
    assert score(key, reply("A: hello", "B: ")).reason == "the message has no text"
    if variant == "faithfulness":
        assert score(key, reply("A: ", "B: yes")).reason == "the history has no text"
    else:
        assert score(key, reply("A: hello", "B: yes")).reason == "there is no reference"
        assert score(key, answer("yes", " ")).reason == "the reference has no text"


def test_a_text_of_which_the_model_reads_nothing_has_no_value(random: str) -> None:
    assert score(f"bart_score:model={random}", reply("A: a", "B: \u200b\u2060")).reason in (
        "",
        "the model reads nothing in the text to be scored",
    )


def test_the_default_is_the_published_model_and_is_named_where_it_is_missing() -> None:
    assert instrument_for("bart_score").name == "bart_score@faithfulness"
    assert METRICS["bart_score"].parameters["model"].default == "facebook/bart-large-cnn"
    with pytest.raises(ModelMissing, match=r"'/nowhere/bart' is not on this machine.*download it"):
        score("bart_score:model=/nowhere/bart", reply("A: a", "B: b"))


def test_a_message_that_was_given_has_no_value(random: str) -> None:
    fixed = Continuation("x", "m", (Turn("B", "b", at=1),), mode="static", condition={"content": "given"})
    scene = Scene(Dialogue("d", (Turn("A", "a"),), (), (fixed,)), fixed)
    assert score(f"bart_score:model={random}", scene).reason == "the message was given"
