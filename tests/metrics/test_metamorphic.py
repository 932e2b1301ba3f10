"""Changes of a conversation that leave a value unchanged, for every metric in the table."""

from __future__ import annotations

import pytest

from annotation.records import Continuation, Dialogue, Participant, Turn
from judges.metrics import METRICS, Instrument, Scene, Score, Tools, instrument_for
from tests.metrics import models, oracle
from tests.metrics.helpers import tools
from tests.metrics.test_table import (
    AGENDA,
    HUB,
    PEOPLE,
    READY,
    SAID,
    SCENARIOS,
    conversation,
    fitted,
    same,
)

LOCAL = [key for key in READY if instrument_for(key).metric.kind == "turn"]
OVERLAP = ["bleu", "word_f1", "rouge_1", "rouge_2", "rouge_l", "meteor"]

# The context of a predicted turn backwards: what only asks what was said, and not when.
CONTEXT_BACKWARDS = [
    *("dnr", "pf", "ls_es_avg", "ls_es_max", "ls_es_avg_aug", "ls_es_max_aug", "ls_ta"),
    *("info_cov:relevance=0.3", "info_gain:relevance=0.3", "ap:relevance=0.3,coverage=0.9"),
    *("lnr", "lnr_e", "lnr_e_w", "m_sns_avg", "m_sns_min"),
    *("lscc_es_avg", "lscc_es_max", "lscc_es_min", "lscc_es_aug", *OVERLAP),
]
# The context said twice: shares, means and nearest turns stay; IDF and coverage count.
CONTEXT_TWICE = [
    *("dnr", "ir", "pf", "ls_es_avg", "ls_es_max", "ls_es_avg_aug", "ls_es_max_aug", "ls_ta", "daf"),
    *("info_gain:relevance=0.3", "lnr", "lnr_e", "m_sns_avg", "m_sns_min"),
    *("lscc_es_avg", "lscc_es_max", "lscc_es_min", "lscc_es_aug", *OVERLAP),
]
# The whole conversation backwards: sets of turns, and distances that are the same both ways.
BACKWARDS = [
    *("nse", "sc_gini", "acr:relevance=0.3,coverage=0.1", "pe:relevance=0.3,coverage=0.1"),
    *("task_success:relevance=0.3,coverage=0.1", "cs:block=2,step=2", "pd", "pd@paper", "hmp", "hmp@paper"),
    *("gscc_dc_avg", "gscc_dc_max", "gscc_dc_avg_aug", "gscc_dc_max_aug"),
]
# The whole conversation twice.
TWICE = ["nse", "gscc_dc_avg", "gscc_dc_max"]
# Tiny models read one text at a time, so speakers' names and company must not matter to them.
NAMELESS = ["bert_score", "bleurt", "fed_engaging", "fed_relevant", "unieval", "bart_score"]
ELSEWHERE = {
    "constraints": "test_constraints",
    "tes": "windows hide what is before them, and speakers do not matter",
    "ll": "reads the speakers' names; windows hide what is before them",
    "gscc_dc_avg_multi": "a mixture starts from the order of turns; speakers do not matter",
    "gscc_dc_max_multi": "a mixture starts from the order of turns; speakers do not matter",
    "gscc_dc_avg_multi_aug": "a mixture starts from the order of turns; speakers do not matter",
    "gscc_dc_max_multi_aug": "a mixture starts from the order of turns; speakers do not matter",
}


def reply(context=SAID, name: str = "picnic") -> Dialogue:
    """A static turn by Bo at the end of a context; the reference of it is what Bo said next."""
    turns = (*(Turn(*one) for one in context), Turn("bo", "I will bake a cake and bread."))
    turn = Turn("bo", "I bake bread and one cake.", at=len(context))
    static = Continuation("fixed", "model-y", (turn,), mode="static")
    return Dialogue(name, turns, PEOPLE, (static,), agenda=AGENDA)


def local(instrument: Instrument, dialogue: Dialogue, with_tools: Tools) -> list[Score]:
    return [instrument.score(Scene(dialogue, dialogue.continuations[0]), 0, with_tools)]


def whole(instrument: Instrument, said, with_tools: Tools) -> list[Score]:
    dialogue = Dialogue("whole", tuple(Turn(*one) for one in said), PEOPLE, agenda=AGENDA)
    return [instrument.score(Scene(dialogue, dialogue.own()), None, with_tools)]


@pytest.mark.parametrize("key", CONTEXT_BACKWARDS)
def test_the_context_backwards(key: str) -> None:
    with_tools = tools()
    instrument = fitted(key, with_tools)
    found = local(instrument, reply(), with_tools)
    assert found[0].value is not None
    same(local(instrument, reply(SAID[::-1]), with_tools), found)


@pytest.mark.parametrize("key", CONTEXT_TWICE)
def test_the_context_twice(key: str) -> None:
    with_tools = tools()
    instrument = fitted(key, with_tools)
    found = local(instrument, reply(), with_tools)
    assert found[0].value is not None
    same(local(instrument, reply((*SAID, *SAID)), with_tools), found)


@pytest.mark.parametrize("key", BACKWARDS)
def test_the_whole_conversation_backwards(key: str) -> None:
    instrument, with_tools = instrument_for(key), tools()
    found = whole(instrument, SAID, with_tools)
    assert found[0].value is not None
    same(whole(instrument, SAID[::-1], with_tools), found)


@pytest.mark.parametrize("key", TWICE)
def test_the_whole_conversation_twice(key: str) -> None:
    instrument, with_tools = instrument_for(key), tools()
    same(whole(instrument, (*SAID, *SAID), with_tools), whole(instrument, SAID, with_tools))


@pytest.mark.parametrize("key", LOCAL)
def test_what_a_window_hides(key: str) -> None:
    """Six turns are read, whatever came before them; IDF, agenda and act model are the same."""
    with_tools = tools()
    learned = fitted(f"{key}:window=6", with_tools)
    hidden = (("cy", "Nothing of this is read."), ("ana", "Nor this, at the lake."), *SAID)
    same(local(learned, reply(hidden), with_tools), local(learned, reply(), with_tools))


@pytest.mark.parametrize("key", [key for key in READY if key.split("@")[0] not in {"task_success"}])
def test_values_of_random_conversations_stay_in_the_declared_range(key: str) -> None:
    with_tools = tools()
    instrument = fitted(key, with_tools)
    metric = instrument.metric
    for seed in range(25):
        said = [(who.lower(), text) for who, text in oracle.conversation(seed, least=2)]
        half = len(said) // 2
        rollout = Continuation("roll", "x", tuple(Turn(*one) for one in said[half:]))
        static = Continuation("fixed", "y", (Turn(*said[-1], at=half),), mode="static")
        history = tuple(Turn(*one) for one in said[:half]) + (Turn("bo", said[0][1]),)
        dialogue = Dialogue(f"d{seed}", history, PEOPLE, (rollout, static), agenda=AGENDA)
        for continuation in dialogue.continuations:
            scene = Scene(dialogue, continuation)
            for item in scene.items(metric.kind):
                value = instrument.score(scene, item, with_tools).value
                assert value is None or metric.low is None or value >= metric.low
                assert value is None or metric.high is None or value <= metric.high


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Keys of the metrics that need a language model, with tiny ones."""
    folder = tmp_path_factory.mktemp("hub")
    causal = models.causal(folder / "causal", {"a": 0.5, "b": 0.25})
    made = {
        "ll": causal,
        "fed_engaging": causal,
        "fed_relevant": causal,
        "bert_score": models.encoder(folder / "encoder"),
        "bleurt": models.classifier(folder / "regressor", ("score",)),
        "unieval": models.seq2seq(folder / "seq2seq"),
        "bart_score": models.bart(folder / "bart"),
    }
    return {key: f"{key}:model={name}" + ",layer=0" * (key == "bert_score") for key, name in made.items()}


def asked(who: str, *before: str, space: str = " ") -> Dialogue:
    turns = tuple(Turn("x", text.replace(" ", space)) for text in before)
    turn = Turn(who, f"a b{space}c", at=len(before))
    person = Participant(who, profile=("a b",))
    answer = Turn(who, f"a b{space}d")
    return Dialogue("d", (*turns, answer), (person,), (Continuation("y", "s", (turn,), mode="static"),))


@pytest.mark.parametrize("key", sorted(HUB))
def test_metrics_with_a_model_read_no_further_than_their_window_and_give_the_same_again(
    key: str, hub: dict[str, str]
) -> None:
    instrument = instrument_for(hub[key] + ",window=1")
    found = local(instrument, asked("bo", "hello there"), Tools())
    assert found[0].value is not None
    same(local(instrument, asked("bo", "no yes", "hello there"), Tools()), found)
    assert local(instrument, asked("bo", "hello there"), Tools()) == found


@pytest.mark.parametrize("key", NAMELESS)
def test_metrics_with_a_model_do_not_care_for_names_and_spaces(key: str, hub: dict[str, str]) -> None:
    instrument = instrument_for(hub[key])
    found = local(instrument, asked("bo", "hello there"), Tools())
    same(local(instrument, asked("cy", "hello there"), Tools()), found)
    same(local(instrument, asked("bo", "hello there", space="  \t"), Tools()), found)


@pytest.mark.parametrize("key", sorted(METRICS.keys() - SCENARIOS))
def test_every_metric_has_something_that_must_not_change_it(key: str) -> None:
    related = [*CONTEXT_BACKWARDS, *CONTEXT_TWICE, *BACKWARDS, *TWICE, *NAMELESS, *ELSEWHERE]
    assert key in {one.partition(":")[0].partition("@")[0] for one in related}
    assert key in HUB or any(one.partition("@")[0] == key for one in READY)
    assert conversation().continuations
