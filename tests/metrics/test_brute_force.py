"""Metrics against the papers' formulas, reimplemented as plain loops, on random conversations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import METRICS, Scene, Tools, instrument_for
from tests.metrics import oracle
from tests.metrics.helpers import tools
from tests.metrics.oracle import Plan, Said

SEEDS = range(60)
PEOPLE = tuple(Participant(who, profile=(text,)) for who, text in oracle.PROFILES.items())
EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("d", "a"), ("c", "d")]
PLAN = Plan({"a": "tea cake", "b": "van", "c": "lake road", "d": "bread milk"}, EDGES, 0.4, 3.0, 0.15)
AGENDA = ":relevance=0.4,gamma=3,coverage=0.15"


@pytest.fixture(scope="module")
def counts() -> Tools:
    return tools()


def scene(said: Said) -> Scene:
    turns = tuple(Turn(*one) for one in said)
    agenda = Agenda(PLAN.items, tuple(EDGES), start="a", terminal="d")
    dialogue = Dialogue("d", (), PEOPLE, (Continuation("x", "s", turns),), agenda=agenda)
    return Scene(dialogue, dialogue.continuations[0])


Local = Callable[[Said, str, str, int], float | None]
LOCAL: dict[str, Local] = {
    "ir": lambda c, who, text, k: oracle.implicit_reference(c, who),
    "pf": lambda c, who, text, k: oracle.frequency(c, who, k),
    "ls_es_avg": lambda c, who, text, k: oracle.likeness(c, who, oracle.average),
    "ls_es_max": lambda c, who, text, k: oracle.likeness(c, who, max),
    "ls_es_avg_aug": lambda c, who, text, k: oracle.likeness_aug(c, who, k, oracle.average),
    "ls_es_max_aug": lambda c, who, text, k: oracle.likeness_aug(c, who, k, max),
    "lscc_es_avg": lambda c, who, text, k: oracle.own_likeness(c, who, text, oracle.average),
    "lscc_es_max": lambda c, who, text, k: oracle.own_likeness(c, who, text, max),
    "lscc_es_min": lambda c, who, text, k: oracle.own_likeness(c, who, text, min),
    "lscc_es_aug": lambda c, who, text, k: (
        (found := oracle.augmented(c, who, k)) and oracle.cosine(oracle.vector(text), found)
    ),
    "m_sns_avg": lambda c, who, text, k: oracle.novelty(c, text, oracle.average),
    "m_sns_min": lambda c, who, text, k: oracle.novelty(c, text, min),
    "lnr": lambda c, who, text, k: oracle.lexical(c, text, embedded=False, weighted=False),
    "lnr_e": lambda c, who, text, k: oracle.lexical(c, text, embedded=True, weighted=False),
    "lnr_e_w": lambda c, who, text, k: oracle.lexical(c, text, embedded=True, weighted=True),
    "info_cov": lambda c, who, text, k: (
        PLAN.coverage(item, [t for _, t in c]) if (item := c and PLAN.current([t for _, t in c])) else None
    ),
    "info_gain": lambda c, who, text, k: (
        PLAN.gain(item, [t for _, t in c], text) if (item := c and PLAN.current([t for _, t in c])) else None
    ),
    "ap": lambda c, who, text, k: PLAN.progression([t for _, t in c], text) if c else None,
}

Whole = Callable[[Said], float | None]


def _saturated(said: Said) -> dict[str, int]:
    texts = [text for _, text in said]
    return {item: len(PLAN.about(item, texts)) for item in PLAN.items if PLAN.saturated(item, texts)}


def _efficiency(said: Said) -> float | None:
    found = _saturated(said)
    return sum(found.values()) / len(found) if found else None


WHOLE: dict[str, Whole] = {
    "nse": oracle.entropy,
    "sc_gini": oracle.concentration,
    "pd@paper": oracle.progression,
    "hmp@paper:epsilon=0.01": lambda said: oracle.harmonic(said, 0.01),
    "gscc_dc_avg": lambda said: oracle.consistency(said, oracle.average, profiles=False),
    "gscc_dc_max": lambda said: oracle.consistency(said, max, profiles=False),
    "gscc_dc_avg_aug": lambda said: oracle.consistency(said, oracle.average, profiles=True),
    "gscc_dc_max_aug": lambda said: oracle.consistency(said, max, profiles=True),
    "gscc_dc_avg@paper": lambda said: oracle.consistency(said, oracle.average, profiles=False, least=1),
    "gscc_dc_max@paper": lambda said: oracle.consistency(said, max, profiles=False, least=1),
    "gscc_dc_avg_aug@paper": lambda said: oracle.consistency(said, oracle.average, profiles=True, least=1),
    "gscc_dc_max_aug@paper": lambda said: oracle.consistency(said, max, profiles=True, least=1),
    f"acr{AGENDA}": lambda said: len(_saturated(said)) / 4,
    f"pe{AGENDA}": _efficiency,
    f"task_success{AGENDA}": lambda said: float("d" in _saturated(said)),
    "cs": lambda said: PLAN.structure([t for _, t in said], "a", 5, 2, 1),
    "cs:block=2,step=1,hops=2": lambda said: PLAN.structure([t for _, t in said], "a", 2, 1, 2),
}


def same(key: str, value: float | None, expected: float | None, said: Said) -> None:
    if expected is None or value is None:
        assert value is expected, f"{key} gave {value}, not {expected}, for {said}"
    else:
        assert value == pytest.approx(expected, abs=1e-6), f"{key} for {said}"


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("key", LOCAL)
def test_a_local_metric_is_the_papers_formula(key: str, window: int, counts: Tools) -> None:
    metric = instrument_for(key).metric
    options = AGENDA + "," if "agenda" in metric.needs else ":"
    instrument = instrument_for(f"{key}{options}window={window}")
    defined = 0
    for seed in SEEDS:
        said = oracle.conversation(seed)
        *before, (who, text) = said
        context = before[-window:] if window else before
        expected = LOCAL[key](context, who, text, window)
        same(key, instrument.score(scene(said), len(said) - 1, counts).value, expected, said)
        defined += expected is not None
    assert defined > 10


@pytest.mark.parametrize("key", WHOLE)
def test_a_global_metric_is_the_papers_formula(key: str, counts: Tools) -> None:
    instrument = instrument_for(key)
    defined = 0
    for seed in SEEDS:
        said = oracle.conversation(seed)
        expected = WHOLE[key](said)
        same(key, instrument.score(scene(said), None, counts).value, expected, said)
        defined += expected is not None
    assert defined > 10


@pytest.mark.parametrize("key", METRICS)
def test_every_metric_is_checked_against_its_formula_somewhere(key: str) -> None:
    elsewhere = {
        "dnr": "names are rules of language: test_scripts",
        "ls_ta": "test_brute_models",
        "daf": "test_brute_models",
        "tes": "test_brute_models",
        "gscc_dc_avg_multi": "test_brute_models",
        "gscc_dc_max_multi": "test_brute_models",
        "gscc_dc_avg_multi_aug": "test_brute_models",
        "gscc_dc_max_multi_aug": "test_brute_models",
        **dict.fromkeys(("bleu", "word_f1", "rouge_1", "rouge_2", "rouge_l", "meteor"), "test_brute_overlap"),
        **dict.fromkeys(
            ("ll", "bert_score", "bleurt", "fed_engaging", "fed_relevant", "bart_score"), "test_models"
        ),
        "unieval": "test_models",
        "constraints": "test_constraints",
        "cascade_observed": "tests/suites/group_chat/test_cascade",
        **dict.fromkeys(("talk_share", "talk_evenness"), "tests/suites/group_chat/test_talk"),
        **dict.fromkeys(
            ("live_evenness", "live_leaks", "live_consensus", "live_competence"),
            "tests/suites/group_chat/test_live_group_chat",
        ),
    }
    assert key in elsewhere or any(
        one.partition("@")[0].partition(":")[0] == key for one in {**LOCAL, **WHOLE}
    )
