"""The fake model continues conversations as requested, with behaviours at known rates, and with errors."""

from __future__ import annotations

import itertools
import json
from math import sqrt
from typing import Any

import pytest

from demo.fake_model import running
from demo.fake_model.errors import ErrorFileProblem, ErrorModel
from demo.fake_model.requests import request
from demo.fake_model.role import shows_planted
from demo.fake_model.roles import recognise
from demo.fake_model.roles.writers import expected_seen, expected_turns, parse_task, rate_of, rates_of
from demo.fake_model.serving import FakeModel
from tests.demo.asking import asked, said
from tests.suites.continuation.cocoeval import begun, prompt_of, talk, written

RATES = {
    "vanilla/30": {"repetition": 0.2},
    "taxonomy": {"repetition": 6.0, "off_topic": 3.0},
    "*": {"interruption": 1.5},
}


def writer(**keys: Any) -> ErrorModel:
    """The error model of a writer."""
    return running.parse({"roles": {"continuation_writer": keys}})


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize("copy", [0, 1, 3, 5])
@pytest.mark.parametrize(("prompting", "per_call"), [("vanilla", 30), ("taxonomy", 1), ("taxonomy", 5)])
def test_prompting_and_turns_a_call_are_read_from_the_prompt_alone(
    prompting: str, per_call: int, copy: int, schema: bool
) -> None:
    prompt = prompt_of(begun(talk(), prompting=prompting, turns_per_call=per_call, copy=copy))
    found = request(asked(prompt, schema=schema))
    assert [role.key for role in recognise(found)] == ["continuation_writer"]
    told = parse_task(found)
    assert told is not None
    assert (told.prompting, told.count, told.first, told.copies) == (prompting, per_call, 41, copy)
    assert told.people == (("A", "Ana"), ("B", "Ben"), ("C", "Cara"))
    reply = json.loads(said(FakeModel(), asked(prompt, schema=schema)))
    copies = [turn["content"] for turn in next(iter(reply.values()))] if copy else []
    assert copies == [f"d1 says {n}" for n in range(40 - copy, 40)]
    assert [turn["turn_number"] for turn in reply["generated_turns"]] == list(range(41, 41 + per_call))


def test_only_the_people_listed_speak_and_nobody_twice_in_a_row() -> None:
    done, _ = written(FakeModel(), talk())
    speakers = [turn.speaker for turn in done.turns]
    assert set(speakers) == {"A", "B", "C"}
    assert all(one != other for one, other in itertools.pairwise(speakers))
    assert done.flags == ()
    assert len({turn.text for turn in done.turns}) > 20


def test_the_same_prompt_gets_the_same_turns_and_a_seed_gets_others() -> None:
    prompt = prompt_of(begun(talk()))
    first = said(FakeModel(), asked(prompt))
    assert said(FakeModel(), asked(prompt)) == first
    assert said(FakeModel(), asked(prompt, seed=1)) != first
    assert said(FakeModel(seed=1), asked(prompt)) != first


@pytest.mark.parametrize(
    ("prompting", "per_call", "behaviour", "rate"),
    [
        ("vanilla", 30, "repetition", 0.2),
        ("vanilla", 5, "repetition", 0.0),
        ("vanilla", 30, "interruption", 1.5),
        ("taxonomy", 1, "repetition", 6.0),
        ("taxonomy", 30, "off_topic", 3.0),
        ("taxonomy", 30, "unclear_intent", 0.0),
    ],
)
def test_the_closest_key_of_the_rates_counts(
    prompting: str, per_call: int, behaviour: str, rate: float
) -> None:
    rates = rates_of(RATES, "rates")
    assert rate_of(rates, prompting, per_call, behaviour) == rate
    assert expected_turns(rates, prompting, per_call, behaviour, 15) == rate / 2


@pytest.mark.parametrize(("prompting", "per_call"), [("vanilla", 30), ("taxonomy", 5)])
def test_behaviours_are_planted_at_the_rates(prompting: str, per_call: int) -> None:
    rates, dialogues = rates_of(RATES, "rates"), 120
    model = FakeModel(writer(rates=RATES))
    texts = []
    for number in range(dialogues):
        done, _ = written(model, talk(31, f"d{number}"), prompting=prompting, turns_per_call=per_call)
        texts += [turn.text for turn in done.turns]
    for behaviour in ("repetition", "off_topic", "interruption", "unclear_intent"):
        wanted = expected_turns(rates, prompting, per_call, behaviour) * dialogues
        found = sum(shows_planted(text, behaviour) for text in texts)
        share = wanted / len(texts)
        assert abs(found - wanted) <= 3 * sqrt(len(texts) * share * (1 - share)), behaviour


def test_what_a_judge_of_known_errors_is_expected_to_see() -> None:
    seen = [round(expected_seen(planted, 0.8, 0.97), 3) for planted in (0.2, 2.0, 6.0)]
    assert seen == [1.054, 2.44, 5.52]


@pytest.mark.parametrize("mistake", ["renumbered", "speaker_by_name", "overlong", "copy_differs"])
def test_each_mistake_of_the_writer_is_flagged_and_stands(mistake: str) -> None:
    done, _ = written(FakeModel(writer(**{mistake: 1})), talk(), turns_per_call=5)
    plain, _ = written(FakeModel(), talk(), turns_per_call=5)
    assert {flag.partition(":")[0] for flag in done.flags} == {mistake}
    assert [turn.speaker for turn in done.turns][:5] == [turn.speaker for turn in plain.turns][:5]
    assert len(done.flags) >= 6


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"rates": []}, "rates: an object by prompting and turns per call is needed"),
        ({"rates": {"kind/1": {}}}, "rates.kind/1: vanilla/30 or the like"),
        ({"rates": {"vanilla": {"anger": 1}}}, "rates.vanilla: a number by behaviour is needed"),
        ({"rates": {"vanilla": {"repetition": 31}}}, "rates.vanilla.repetition: 31 is not between 0 and 30"),
        ({"overlong": 2}, "overlong: 2 is not between 0 and 1"),
    ],
)
def test_wrong_keys_of_a_writer_are_refused(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(ErrorFileProblem) as refusal:
        writer(**keys)
    assert f"roles.continuation_writer.{problem}" in str(refusal.value)


def test_a_role_has_no_keys_of_another() -> None:
    with pytest.raises(ErrorFileProblem, match=r"roles.turn_judge.rates: no such key"):
        running.parse({"roles": {"turn_judge": {"rates": {}}}})


def test_a_phrase_that_changes_errors_leaves_a_role_s_own_keys() -> None:
    phrase = {"text": "You continue a conversation", "noise": 0.1}
    model = running.parse({"roles": {"continuation_writer": {"rates": RATES}}, "phrases": [phrase]})
    found = model.errors("continuation_writer", "You continue a conversation between people.")
    assert found.own["rates"] == rates_of(RATES, "rates")
    assert found.noise == {"*": 0.1}
