"""Metrics that need a model: tested on tiny models, and refused in one line without a model."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from annotation.records import Participant
from judges.metrics import METRICS, ModelMissing, Tools, instrument_for, likelihood
from judges.metrics.kit.models import load_causal
from judges.metrics.likelihood import mean_log_probability
from tests.metrics import models
from tests.metrics.helpers import answer, reply, score


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def causal(folder: Path) -> str:
    return models.causal(folder / "causal")


@pytest.mark.exhaustive
def test_likelihood_under_a_uniform_model_is_one_over_the_vocabulary(causal: str) -> None:
    scene = reply("A: hello there", "B: a b c")
    assert score(f"ll:model={causal}", scene).value == pytest.approx(1 / models.SIZE, rel=1e-6)


def test_likelihood_is_the_geometric_mean_of_the_tokens_probabilities(folder: Path) -> None:
    name = models.causal(folder / "shares", {"a": 0.5, "b": 0.25})
    found = score(f"ll:model={name}", reply("A: hello", "B: a b")).value
    assert found == pytest.approx(math.sqrt(0.5 * 0.25), rel=1e-6)


def test_fed_is_the_difference_of_mean_losses(folder: Path) -> None:
    """Every follow-up is unknown words; they differ in length alone, which the mean takes away in part."""
    name = models.causal(folder / "unknown", {"<unk>": 0.5, "a": 0.25})
    rest = 0.25 / (models.SIZE - 2)

    def loss(follow_up: str) -> float:
        text = f"a <|endoftext|> {follow_up}".split()
        return sum(-math.log({"a": 0.25, "<|endoftext|>": rest}.get(word, 0.5)) for word in text) / len(text)

    def mean(said: tuple[str, ...]) -> float:
        return sum(map(loss, said)) / len(said)

    scene = reply("A: ", "B: a")
    expected = mean(likelihood.BORED) - mean(likelihood.ENGAGED)
    assert score(f"fed_engaging:model={name}", scene).value == pytest.approx(expected, rel=1e-5)
    relevant = score(f"fed_relevant:model={name}", scene).value
    assert relevant == pytest.approx(mean(likelihood.OFF_TOPIC), rel=1e-5)


def test_a_message_without_a_token_has_no_likelihood(causal: str) -> None:
    scene = reply("A: hello", "B: \u2060")
    found = score(f"ll:model={causal}", scene)
    assert found.value is not None or found.reason == "the model reads nothing in the message"
    model = load_causal(causal)
    assert mean_log_probability(model, "hello", "  ") is None


def test_scaled_likelihood_is_one_minus_exp_of_minus_25_times_it(causal: str) -> None:
    scene = reply("A: hello there", "B: a b c")
    expected = 1 - math.exp(-25 / models.SIZE)
    assert score(f"ll:model={causal},scaled=1", scene).value == pytest.approx(expected, rel=1e-6)


def test_a_context_longer_than_the_model_reads_is_cut_at_its_beginning(causal: str) -> None:
    scene = reply(*["A: a b c d e f"] * 40, "B: a b c")
    assert score(f"ll:model={causal}", scene).value == pytest.approx(1 / models.SIZE, rel=1e-6)


def test_fed_under_a_uniform_model_finds_nothing_engaging_and_only_the_loss_of_complaints(
    causal: str,
) -> None:
    scene = reply("A: hello", "B: a b c")
    assert score(f"fed_engaging:model={causal}", scene).value == pytest.approx(0.0, abs=1e-6)
    assert score(f"fed_relevant:model={causal}", scene).value == pytest.approx(
        math.log(models.SIZE), rel=1e-6
    )


def test_bert_score_of_equal_words_is_one_and_of_half_of_them_two_thirds(folder: Path) -> None:
    name = models.encoder(folder / "encoder")
    key = f"bert_score:model={name},layer=0"
    assert score(key, answer("b c", "b c")).value == pytest.approx(1.0)
    found = score(key, answer("b", "b c"))
    assert found.details["precision"] == pytest.approx(1.0)
    assert found.details["recall"] == pytest.approx(0.5)
    assert found.value == pytest.approx(2 / 3)
    assert score(key, answer("b", "c")).value == pytest.approx(0.0, abs=1e-9)


def test_bert_score_refuses_a_layer_that_the_model_does_not_have(folder: Path) -> None:
    name = models.encoder(folder / "encoder2")
    with pytest.raises(Exception, match="has 1 layers, not a layer 9"):
        score(f"bert_score:model={name}", answer("b c", "b c"))


def test_bleurt_is_the_output_of_the_regressor(folder: Path) -> None:
    name = models.classifier(folder / "regressor", ("score",))
    assert score(f"bleurt:model={name}", answer("b c", "b d")).value == pytest.approx(0.25)


def test_bleurt_refuses_a_classifier(folder: Path) -> None:
    name = models.classifier(folder / "classifier", ("x", "y"))
    with pytest.raises(Exception, match="is not a regressor"):
        score(f"bleurt:model={name}", answer("b c", "b d"))


def test_unieval_of_an_undecided_model_is_one_half_a_question(folder: Path) -> None:
    name = models.seq2seq(folder / "seq2seq")
    people = (Participant("B", "Bo", profile=("likes b c",)),)
    found = score(f"unieval:model={name}", reply("A: hello", "B: yes. no.", people=people))
    assert found.details["engagingness"] == pytest.approx(1.0)
    assert found.value == pytest.approx((4 * 0.5 + 1.0) / 5)


def test_unieval_without_a_profile_is_unscored_unless_the_aspect_needs_no_fact(folder: Path) -> None:
    name = models.seq2seq(folder / "seq2seq2")
    scene = reply("A: hello", "B: yes")
    assert score(f"unieval:model={name}", scene).reason == "the speaker has no profile"
    assert score(f"unieval:model={name},aspect=coherence", scene).value == pytest.approx(0.5)


def test_a_classifier_can_tag_dialogue_acts(folder: Path) -> None:
    name = models.classifier(folder / "tagger", ("ask", "tell"))
    scene = reply("A: hello", "B: there")
    instrument = instrument_for(f"daf:tagger={name}").fit([scene.dialogue], Tools())
    assert instrument.fitted.total[(), "tell"] == 1


@pytest.mark.parametrize(
    "key", [key for key, metric in METRICS.items() if "language_model" in metric.needs] + ["daf"]
)
def test_without_its_model_a_metric_says_in_one_line_what_to_download(key: str, tmp_path: Path) -> None:
    people = (Participant("B", "Bo", profile=("likes tea",)),)
    compared = METRICS[key.split(":")[0]].aspect == "reference"
    scene = answer("yes", "no") if compared else reply("A: hello", "B: yes", people=people)
    parameter = "tagger" if key == "daf" else "model"
    instrument = instrument_for(f"{key}:{parameter}={tmp_path / 'absent'}")
    with pytest.raises(ModelMissing) as caught:
        instrument.fit([scene.dialogue], Tools()).score(scene, 0, Tools())
    assert "download it" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "what"),
    [
        ("lnr@paper", "spaCy pipeline"),
        ("lnr@paper:pipeline=en_core_web_sm", "spacy"),
        ("meteor@paper", "WordNet"),
    ],
)
def test_without_its_library_a_variant_says_so_in_one_line(key: str, what: str) -> None:
    scene = answer("yes we can", "no we can not") if key.startswith("meteor") else reply("A: tea", "B: milk")
    with pytest.raises(ModelMissing, match=what):
        score(key, scene)


@pytest.mark.parametrize("key", ["tes@reference", "tes:model=bertopic", "ls_ta:model=bertopic"])
def test_without_bertopic_no_other_topic_model_stands_in(key: str) -> None:
    scene = reply("A: hello", "B: yes")
    with pytest.raises(ModelMissing, match="needs the Python packages bertopic"):
        instrument_for(key).fit([scene.dialogue], Tools())
