"""A simulation: sessions are summed up, texts embedded, questions asked, and all of it once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Label, QuestionSet
from systems.models import Production, Simulation
from tests.systems.long_talk import world
from tests.systems.making import Served, served
from tests.systems.simulating import answers, brought, simulate, written

pytestmark = pytest.mark.django_db(transaction=True)
MATERIAL = world(sessions=8, questions=14, turns=6)


@pytest.fixture
def model() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> QuestionSet:
    return brought(MATERIAL, tmp_path)


def command(capsys: pytest.CaptureFixture[str], *told: str) -> dict[str, Any]:
    call_command("simulate", *told)
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_simulation_asks_a_model_trial_by_trial(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), trials=2, memory="session")
    assert (held.state, held.error) == ("done", "")
    asked.refresh_from_db()
    assert asked.used_at is not None
    trials = written(held)
    assert [one.trial for one in trials] == [0, 1]
    assert all(one.condition["set"] == "usual:1" for one in trials)
    number = sum(len(answers(one)) for one in trials)
    assert model.asked == number > 8
    assert Label.objects.filter(rater__name="score:strict", question__key="right").count() == number
    assert Production.objects.filter(status="done").count() == 2
    again = simulate(asked, held.endpoint, trials=2, memory="session")
    assert (again.pk, model.asked) == (held.pk, number)
    assert Simulation.objects.count() == 1


def test_the_command_simulates_and_again_changes_nothing(
    model: Served, asked: QuestionSet, capsys: pytest.CaptureFixture[str]
) -> None:
    model.endpoint()
    told = ["--corpus", "world", "--set", "usual", "--endpoint", "fake", "--memory", "utterance", "--k", "3",
            "--trials", "2", "--condition", "mood=calm", "--quiet"]  # fmt: skip
    expected = command(capsys, *told, "--estimate")
    assert (expected["productions"], expected["done"], model.asked) == (2, 0, 0)
    first = command(capsys, *told)
    assert {name: first[name] for name in ("productions", "done", "failed", "state", "flags")} == {
        "productions": 2, "done": 2, "failed": 0, "state": "done", "flags": {},
    }  # fmt: skip
    assert first["calls"] == model.asked == expected["calls"]
    assert first["condition"] | {"mood": "calm", "k": 3, "memory": "utterance"} == first["condition"]
    assert abs(first["tokens_in"] - expected["tokens_in"]) < 0.5 * first["tokens_in"]
    assert first["cost"] > 0
    before = model.asked
    assert command(capsys, *told) == first
    assert model.asked == before
    assert command(capsys, *told, "--estimate")["calls"] == 0
    parameters = Production.objects.first().writer.spec["parameters"]
    assert parameters == {"temperature": 0.2, "top_p": 0.1}


def test_the_command_plays_a_baseline(asked: QuestionSet, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["--corpus", "world", "--set", "usual", "--trials", "2", "--quiet"]
    for agent in ("random", "always_e"):
        made = command(capsys, *told, "--agent", agent, "--seed", "3")
        assert (made["done"], made["calls"], made["cost"], made["condition"]["seed"]) == (2, 0, 0, 3)
        assert made["condition"]["model"] == agent
        assert not {"memory", "retriever", "k"} & made["condition"].keys()


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (["--agent", "random", "--memory", "base"], "memory is for a model"),
        (["--agent", "none"], "There is no agent 'none'"),
        (["--endpoint", "gone"], "There is no endpoint 'gone'"),
        (["--agent", "random", "--names", "swapped"], "has no names 'swapped'"),
        (["--agent", "random", "--set", "other"], "world has no question set 'other'; it has usual"),
        (["--agent", "random", "--condition", "names=x"], "names is set by the generator itself"),
        (["--agent", "random", "--trials", "0"], "The number of trials must be between 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(asked: QuestionSet, told: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why) as problem:
        call_command("simulate", "--corpus", "world", "--set", "usual", "--quiet", *told)
    assert "\n" not in str(problem.value)
    assert not Simulation.objects.exists()
