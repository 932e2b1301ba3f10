"""Predictions of one half: input given to the system has no value, with that reason. MPCEval table 2."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judges.metrics import METRICS, Scene, instrument_for
from judges.runs.scoring import lines
from tests.metrics.helpers import tools
from tests.metrics.test_table import OTHER, conversation

SPEAKER = ("dnr", "ir", "pf", "ls_es_avg", "ls_es_max", "ls_es_avg_aug", "ls_es_max_aug", "ls_ta")
CONTENT = (
    "lnr",
    "lnr_e",
    "lnr_e_w",
    "m_sns_avg",
    "m_sns_min",
    "daf",
    "ll",
    "tes",
    "ap",
    "info_cov",
    "info_gain",
)
CONSISTENCY = ("lscc_es_avg", "lscc_es_max", "lscc_es_min", "lscc_es_aug")
GROUPS = {"speaker": SPEAKER, "content": CONTENT, "consistency": CONSISTENCY}
GIVEN = {
    ("speaker", "speaker"): "the speaker was given",
    ("speaker", "content"): "",
    ("content", "speaker"): "",
    ("content", "content"): "the message was given",
    ("consistency", "speaker"): "the speaker was given",
    ("consistency", "content"): "the message was given",
}
CELLS = [
    (key, given, GIVEN[group, given])
    for group, keys in GROUPS.items()
    for key in keys
    for given in ("speaker", "content")
]


def scene_given(**condition: str) -> Scene:
    dialogue = conversation()
    fixed = replace(dialogue.continuations[1], condition=condition)
    return Scene(replace(dialogue, continuations=(fixed,)), fixed)


def test_every_metric_of_a_turn_in_the_papers_table_is_in_a_group() -> None:
    local = {key for key, metric in METRICS.items() if metric.group == "local"}
    assert local == {*SPEAKER, *CONTENT, *CONSISTENCY}


@pytest.mark.parametrize(("key", "given", "reason"), [cell for cell in CELLS if cell[0] != "ll" or cell[2]])
def test_a_metric_fits_what_was_predicted(key: str, given: str, reason: str) -> None:
    chosen = {
        "ap": ":coverage=0.9,relevance=0.3",
        "info_cov": ":relevance=0.3",
        "info_gain": ":relevance=0.3",
    }
    with_tools = tools()
    instrument = instrument_for(key + chosen.get(key, ""))
    if instrument.learns:
        instrument = instrument.fit([conversation(), OTHER], with_tools)
    found = instrument.score(scene_given(**{given: "given"}), 0, with_tools)
    assert found.reason == reason
    if key != "ll":
        plain = instrument.score(scene_given(), 0, with_tools)
        assert plain.value is not None
        assert reason or found == plain


@pytest.mark.parametrize("key", [*SPEAKER, *CONTENT, *CONSISTENCY])
def test_with_both_halves_given_nothing_has_a_value(key: str) -> None:
    instrument = instrument_for(key)
    learned = replace(instrument, fitted=object())
    assert learned.score(scene_given(speaker="given", content="given"), 0, tools()).value is None


def test_the_score_command_s_lines_say_so_too() -> None:
    with_tools = tools()
    told = {
        line["metric"]: line["reason"]
        for line in lines(
            [scene_given(speaker="given").dialogue], list(map(instrument_for, ("pf", "lnr"))), with_tools
        )
    }
    assert told == {"pf": "the speaker was given", "lnr": None}
