"""Tests of every metric in the table: declarations, reasons, determinism, and irrelevant changes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import METRICS, Instrument, Metric, Scene, Score, Tools, instrument_for
from judges.runs.scoring import lines
from tests.metrics.helpers import tools

HUB = {key for key, metric in METRICS.items() if "language_model" in metric.needs}
SCENARIOS = {key for key, metric in METRICS.items() if metric.group in ("cascade", "live")}
"""What has a value in scenarios alone: tests/suites/group_chat."""
READY = [
    f"{key}@{variant}"
    for key, metric in METRICS.items()
    for variant in metric.variants
    if key not in HUB | SCENARIOS
    and f"{key}@{variant}" not in {"meteor@paper", "tes@reference", "daf@transformer"}
    if not (key.startswith("lnr") and variant == "paper")
]
OWN = [key for key in READY if not key.endswith("@reference")]

PEOPLE = (
    Participant("ana", "Ana Lopez", "chair", ("plans the picnic", "likes tea")),
    Participant("bo", "Bo", "cook", ("bakes bread and cake",)),
    Participant("cy", "Cy", "driver", ("drives the van to the lake",)),
)
AGENDA = Agenda(
    {"place": "lake or park for the picnic", "food": "bread and cake", "ride": "van to the lake"},
    edges=(("place", "food"), ("food", "ride")),
    start="place",
    terminal="ride",
)
SAID = (
    ("ana", "Shall we have the picnic at the lake or in the park?"),
    ("bo", "The lake, please. I can bake bread and cake for the picnic."),
    ("cy", "I drive the van to the lake, if Bo brings cake and bread."),
    ("ana", "The park or the lake for a picnic, both are near the road."),
    ("bo", "Bread and cheese and cake then. Cy, can the van take tables to the lake?"),
    ("cy", "Yes, the van takes six tables to the lake."),
    ("ana", "Good. Picnic at the lake, van at nine, bread from Bo."),
    ("bo", "I will bake two loaves of bread and one cake."),
)
ANSWERS = (("bo", "I bake bread and one cake."), ("cy", "My van takes bread to the lake, Ana Lopez."))


def conversation(said=SAID, people=PEOPLE, answers=ANSWERS, name: str = "picnic") -> Dialogue:
    """A talk with a rollout that goes on from it and a static continuation at its last turn."""
    rollout = Continuation("roll", "model-x", tuple(Turn(*pair) for pair in answers))
    static = Continuation("fixed", "model-y", (Turn(*answers[0], at=len(said) - 1),), mode="static")
    return Dialogue(name, tuple(Turn(*pair) for pair in said), people, (rollout, static), agenda=AGENDA)


OTHER = conversation(SAID[2:6], name="other")


def fitted(key: str, with_tools: Tools) -> Instrument:
    return instrument_for(key).fit([conversation(), OTHER], with_tools)


def scores(key: str, dialogue: Dialogue, learned: Instrument | None = None) -> list[Score]:
    """Every score of a dialogue's continuations, computed from nothing."""
    with_tools = tools()
    instrument = learned or fitted(key, with_tools)
    found = []
    for continuation in dialogue.continuations:
        scene = Scene(dialogue, continuation)
        found += [instrument.score(scene, turn, with_tools) for turn in scene.items(instrument.metric.kind)]
    return found


def same(left: list[Score], right: list[Score]) -> None:
    """The same reasons and, but for rounding, the same values."""
    assert [one.reason for one in left] == [one.reason for one in right]
    for one, other in zip(left, right, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_declares_what_it_is(metric: Metric) -> None:
    assert METRICS[metric.key] is metric
    assert metric.documentation.strip().endswith((".", ")"))
    assert metric.title
    assert metric.low is None or metric.high is None or metric.low < metric.high
    assert metric.default_variant in metric.variants
    for variant in metric.variants:
        assert set(metric.variants[variant]) <= set(metric.all_parameters())
    assert all(parameter.help for parameter in metric.all_parameters().values())


@pytest.mark.parametrize("key", READY)
def test_values_stay_in_the_declared_range(key: str) -> None:
    metric = instrument_for(key).metric
    values = [one.value for one in scores(key, conversation()) if one.value is not None]
    assert all(metric.low is None or value >= metric.low for value in values)
    assert all(metric.high is None or value <= metric.high for value in values)


@pytest.mark.parametrize("key", [key for key in OWN if "task" not in key])
def test_every_metric_scores_an_ordinary_conversation(key: str) -> None:
    metric = instrument_for(key).metric
    parameters = {"relevance": 0.3, "coverage": 0.9 if metric.key == "ap" else 0.1, "block": 2}
    parameters |= {"against": "roll", "shift": 1e-6, "min_each": 1}
    chosen = ",".join(f"{name}={value}" for name, value in parameters.items() if name in metric.parameters)
    assert any(one.value is not None for one in scores(f"{key}:{chosen}", conversation()))


@pytest.mark.parametrize("key", READY)
def test_the_same_input_gives_the_same_digits(key: str) -> None:
    assert scores(key, conversation()) == scores(key, conversation())


@pytest.mark.parametrize("key", READY)
def test_order_and_company_do_not_change_a_digit(key: str) -> None:
    with_tools, again = tools(), tools()
    one, other = fitted(key, with_tools), fitted(key, again)
    forward = list(lines([conversation(), OTHER], [one], with_tools))
    backward = list(lines([OTHER, conversation()], [other], again))
    assert sorted(map(str, forward)) == sorted(map(str, backward))


@pytest.mark.parametrize("key", [key for key in READY if not key.startswith("dnr")])
def test_renaming_the_speakers_changes_nothing(key: str) -> None:
    names = {"ana": "x1", "bo": "x2", "cy": "x3"}

    def renamed(pairs):
        return tuple((names[who], text) for who, text in pairs)

    people = tuple(replace(person, id=names[person.id]) for person in PEOPLE)
    moved = conversation(renamed(SAID), people, renamed(ANSWERS))
    same(scores(key, moved), scores(key, conversation()))


@pytest.mark.parametrize("key", [key for key in READY if METRICS[key.split("@")[0]].kind == "dialogue"])
def test_permuting_the_labels_of_speakers_changes_no_global_value(key: str) -> None:
    names = {"ana": "bo", "bo": "cy", "cy": "ana"}
    back = {new: old for old, new in names.items()}
    profiles = {person.id: person for person in PEOPLE}
    people = tuple(replace(profiles[back[who]], id=who) for who in ("ana", "bo", "cy"))
    moved = conversation(
        tuple((names[who], text) for who, text in SAID), people, tuple((names[w], t) for w, t in ANSWERS)
    )
    same(scores(key, moved), scores(key, conversation()))


@pytest.mark.parametrize("key", [key for key in READY if not key.startswith("sc_gini@reference")])
def test_white_space_around_and_inside_a_text_changes_nothing(key: str) -> None:
    def spaced(pairs):
        return tuple((who, "  " + text.replace(" ", " \t ") + " \n") for who, text in pairs)

    learned = fitted(key, tools())
    moved = scores(key, conversation(spaced(SAID), answers=spaced(ANSWERS)), learned)
    same(moved, scores(key, conversation(), learned))


@pytest.mark.parametrize("key", ["nse", "gscc_dc_avg", "gscc_dc_max"])
def test_saying_everything_twice_changes_no_share_and_no_centroid(key: str) -> None:
    twice = conversation(SAID + ANSWERS, answers=SAID + ANSWERS)
    same(scores(key, twice)[:1], scores(key, conversation())[:1])


@pytest.mark.parametrize("key", ["nse", "sc_gini", "gscc_dc_avg", "gscc_dc_max", "acr", "pe"])
def test_the_order_of_turns_does_not_matter_where_it_must_not(key: str) -> None:
    everything = SAID + ANSWERS
    backwards = everything[::-1]
    forward = conversation(everything[:-1], answers=everything[-1:])
    moved = conversation(backwards[:-1], answers=backwards[-1:])
    same(scores(key, moved)[:1], scores(key, forward)[:1])


@pytest.mark.parametrize("key", ["m_sns_avg", "m_sns_min", "lnr", "lscc_es_avg", "lscc_es_max", "pf"])
def test_the_order_of_the_context_does_not_matter_where_it_must_not(key: str) -> None:
    same(scores(key, conversation(SAID[::-1]))[:1], scores(key, conversation())[:1])


EMPTY = Dialogue("empty", (), (), (Continuation("x", "s", (Turn("ana", " "),)),))
BARE = Dialogue("bare", (), (), (Continuation("self", "human", ()),))
"""A dialogue without turns that people rate by its participants."""
LONE = Dialogue("lone", (), (), (Continuation("x", "s", (Turn("ana", "hello"),)),))


LONE_COUNTS = {f"gscc_dc_{best}{form}@paper" for best in ("avg", "max") for form in ("", "_multi")}
"""Where a speaker's single turn counts, one turn is defined."""


@pytest.mark.parametrize("key", [key for key in OWN if key not in LONE_COUNTS])
@pytest.mark.parametrize("dialogue", [EMPTY, BARE, LONE], ids=["empty", "bare", "lone"])
def test_what_is_undefined_has_a_reason_and_no_number(key: str, dialogue: Dialogue) -> None:
    for one in scores(key, dialogue):
        assert one.value is None, f"{key} gave {one.value}"
        assert one.reason
        assert "\n" not in one.reason


@pytest.mark.parametrize("key", [key for key in OWN if "speakers" in METRICS[key.split("@")[0]].needs])
def test_turns_of_nobody_are_not_the_turns_of_one_speaker(key: str) -> None:
    unnamed = tuple(("", text) for _, text in SAID[:4])
    for one in scores(key, conversation(unnamed, answers=(("", "The van at the lake."),)))[:1]:
        assert one.reason in ("the predicted speaker is not named", "no turn has both text and a speaker")


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", [key for key in READY if METRICS[key.split("@")[0]].kind == "dialogue"])
def test_turns_at_fixed_points_are_no_conversation(key: str) -> None:
    static = scores(key, conversation())[1]
    assert static.reason in (
        "turns at fixed points are not one conversation",
        "the agenda declares neither success criteria nor a terminal item",
    )


@pytest.mark.parametrize("key", READY)
@pytest.mark.parametrize(
    "text",
    [
        "!!! ???",
        *(
            pytest.param(text, marks=pytest.mark.exhaustive)
            for text in ("\u200b\ufeff", "👍👍", "\x07\x1b[31m", "<script>", "NaN", "a\u0301" * 9)
        ),
        "A" * 3000,
    ],
)
def test_odd_texts_give_a_value_or_a_reason(key: str, text: str) -> None:
    odd = conversation((*SAID[:3], ("cy", text)), answers=(("bo", text), ("cy", text)))
    for one in scores(key, odd):
        assert (one.value is None) == bool(one.reason)
        assert one.value is None or math.isfinite(one.value)


def test_a_score_is_a_finite_value_or_a_reason_and_never_both() -> None:
    for value, reason in ((None, ""), (1.0, "why"), (math.nan, ""), (math.inf, "")):
        with pytest.raises(ValueError):
            Score(value, reason)
