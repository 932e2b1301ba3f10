"""A simulation: sessions are summarised, texts embedded, questions asked, each of them once."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Continuation, Label, QuestionSet
from annotation.text.draws import u as draw
from calibration.ratings.calls import fake_systems
from jobs.models import Endpoint
from jobs.queue.jobs import work as work_jobs
from jobs.queue.worker import Heartbeat
from judges.models import Embedding
from judges.runs.material import tools
from judges.runs.selection import RunSettings
from suites.continuation.errors import SystemsError
from suites.continuation.models import Production
from suites.long_dialogue.agent.memory import Heard
from suites.long_dialogue.answers.answers import stored
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import counts, estimate, paused
from suites.long_dialogue.simulations.steps import Order
from tests import factories
from tests.judges.helpers import finish
from tests.suites.continuation.making import Served, served
from tests.suites.long_dialogue.long_talk import world
from tests.suites.long_dialogue.simulating import (
    answers,
    asks,
    brought,
    brought_on,
    ordered,
    simulate,
    written,
)

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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_the_command_plays_a_baseline(asked: QuestionSet, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["--corpus", "world", "--set", "usual", "--trials", "2", "--quiet"]
    for agent in ("random", "always_e"):
        made = command(capsys, *told, "--agent", agent, "--seed", "3")
        assert (made["done"], made["calls"], made["cost"], made["condition"]["seed"]) == (2, 0, 0, 3)
        assert made["condition"]["model"] == agent
        assert not {"memory", "retriever", "k"} & made["condition"].keys()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("told", "why"),
    [
        (["--agent", "random", "--memory", "base"], "--memory: it is for a model"),
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


def test_the_report_finds_the_set_that_was_asked(asked: QuestionSet) -> None:
    held = simulate(asked, None, baseline="always_e")
    named = answers(written(held)[0])[0][1]["set"]
    assert stored(asked.corpus, [named]) == stored(asked.corpus, ["usual"]) == [asked]
    assert stored(asked.corpus, ["usual:7"]) == []


def summed(model: Served) -> int:
    """Return how many requests asked for the summary of a session."""
    return sum("LISTENER" in text for text in model.prompts)


@pytest.mark.parametrize("retriever", ["bm25", "embedding"])
@pytest.mark.exhaustive
def test_each_session_is_summed_up_once_for_trials_retrievers_and_later_simulations(
    model: Served, asked: QuestionSet, retriever: str
) -> None:
    endpoint = model.endpoint()
    order = {"memory": "summary", "retriever": retriever} | (
        {"embedder": "fake"} if retriever == "embedding" else {}
    )
    expected = estimate(asked, ordered(trials=2, **order), endpoint)
    first = simulate(asked, endpoint, trials=2, **order)
    assert (first.state, first.error) == ("done", "")
    sessions = summed(model)
    assert sessions == len(Heard(MATERIAL.dialogue).numbers)
    assert [(step.step, step.all, step.done) for step in expected.steps] == [
        ("summaries", sessions, 0), ("answers", sum(len(asks(one)) for one in written(first)), 0),
    ]  # fmt: skip
    again = estimate(asked, ordered(trials=2, **order, k=4), endpoint)
    assert (again.steps[0].done, again.steps[0].calls) == (sessions, 0)
    for more in ({"k": 4}, {"retriever": "bm25", "k": 5}, {"seed": 3}):
        assert simulate(asked, endpoint, **(order | more)).state == "done"
    assert summed(model) == sessions
    other = simulate(asked, endpoint, **order, names="anonymised")
    assert (other.state, summed(model)) == ("done", 2 * sessions)


@pytest.mark.exhaustive
def test_two_simulations_at_once_share_the_run_of_summaries(model: Served, asked: QuestionSet) -> None:
    endpoint = model.endpoint()
    first = simulate(asked, endpoint, rounds=0, memory="summary")
    second = simulate(asked, endpoint, rounds=0, memory="summary", k=3)
    for held in (first, second):
        simulation_actions.advance(held.pk)
    assert first.links.get().run == second.links.get().run
    simulation_actions.cancel(by=None, simulation=first)
    assert brought_on(second).state == "done"
    assert summed(model) == len(Heard(MATERIAL.dialogue).numbers)


@pytest.mark.exhaustive
def test_what_another_simulation_left_is_taken_over(model: Served, asked: QuestionSet) -> None:
    endpoint = model.endpoint()
    first = simulate(asked, endpoint, rounds=0, memory="summary")
    simulation_actions.advance(first.pk)
    simulation_actions.cancel(by=None, simulation=first)
    second = simulate(asked, endpoint, memory="summary", k=3)
    assert (second.state, second.error) == ("done", "")
    first = brought_on(simulation_actions.go_on(by=None, simulation=first))
    assert (first.state, first.error) == ("done", "")
    assert summed(model) == len(Heard(MATERIAL.dialogue).numbers)


@pytest.mark.exhaustive
def test_a_longer_simulation_takes_over_trials_and_the_shorter_one_waits_for_them(
    model: Served, asked: QuestionSet
) -> None:
    endpoint = model.endpoint()
    short = simulate(asked, endpoint, rounds=0, trials=1)
    simulation_actions.advance(short.pk)
    long = simulate(asked, endpoint, rounds=0, trials=3)
    simulation_actions.advance(long.pk)
    assert simulation_actions.advance(short.pk).state == "making"
    assert brought_on(long).state == brought_on(short).state == "done"
    assert model.asked == sum(len(asks(one)) for one in written(long))
    assert [one.pk for one in written(short)] == [written(long)[0].pk]


@pytest.mark.parametrize(
    ("memory", "remember"),
    [
        ("utterance", False),
        *(
            pytest.param(memory, remember, marks=pytest.mark.exhaustive)
            for memory in ("utterance", "session", "summary")
            for remember in (False, True)
            if (memory, remember) != ("utterance", False)
        ),
    ],
)
def test_a_worker_finds_every_vector_in_the_store(
    model: Served, asked: QuestionSet, memory: str, remember: bool
) -> None:
    model.endpoint()
    embeds = Endpoint.objects.create(name="vectors", model="fake-e", base_url=model.url, allow_private=True)
    held = simulate(
        asked, Endpoint.objects.get(name="fake"), memory=memory, retriever="embedding", embedder="vectors",
        remember=remember, point="any_turn", per_session=2, k=2,
    )  # fmt: skip
    assert (held.state, held.error) == ("done", "")
    assert Embedding.objects.filter(model__startswith="vectors: fake-e at http").exists()
    assert all(one["outcome"] != "failed" for made in written(held) for _, one in answers(made))
    vectors = model.embedded
    again = simulate(
        asked, Endpoint.objects.get(name="fake"), memory=memory, retriever="embedding", embedder="vectors",
        remember=remember, point="any_turn", per_session=2, k=1,
    )  # fmt: skip
    assert (again.state, model.embedded) == ("done", vectors)
    embeds.delete()
    with pytest.raises(SystemsError, match="There is no endpoint 'vectors'"):
        simulate(asked, again.endpoint, memory=memory, retriever="embedding", embedder="vectors", k=3)


@pytest.mark.exhaustive
def test_a_worker_computes_no_vector_of_concords_own_model(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), rounds=0, memory="utterance", retriever="embedding", k=2)
    simulation_actions.advance(held.pk)
    tools.cache_clear()
    finish()
    assert simulation_actions.advance(held.pk).state == "done"
    assert tools().embed.computed == 0
    assert Embedding.objects.count() > len(MATERIAL.dialogue.turns) // 2


@pytest.mark.exhaustive
def test_an_embedder_that_fails_stops_it_and_nothing_is_embedded_twice(
    model: Served, asked: QuestionSet
) -> None:
    model.endpoint()
    Endpoint.objects.create(name="vectors", model="fake-e", base_url=model.url + "/x", allow_private=True)
    told = {"memory": "utterance", "retriever": "embedding", "embedder": "vectors"}
    held = simulate(asked, Endpoint.objects.get(name="fake"), **told)
    assert (held.state, "vectors refused to embed: HTTP 404" in held.error) == ("stuck", True)
    Endpoint.objects.filter(name="vectors").update(base_url=model.url)
    assert brought_on(simulation_actions.go_on(by=None, simulation=held)).state == "done"


@pytest.mark.exhaustive
def test_a_fake_embedder_behind_an_alias_stops_it_and_then_says_so(model: Served, asked: QuestionSet) -> None:
    model.endpoint()
    model.says_that_it_is_fake()
    alias = "text-embedding-3-small"
    Endpoint.objects.create(name="vectors", model=alias, base_url=model.url, allow_private=True)
    settings = {"memory": "utterance", "retriever": "embedding", "embedder": "vectors"}
    held = simulate(asked, Endpoint.objects.get(name="fake"), **settings)
    assert held.state == "stuck"
    assert f"a fake model answers under the name {alias}" in held.error
    assert not Embedding.objects.exists()
    assert brought_on(simulation_actions.go_on(by=None, simulation=held)).state == "done"
    names = set(Embedding.objects.values_list("model", flat=True))
    assert [name.partition(" at ")[0] for name in names] == [f"vectors: fake model as {alias}"]


@pytest.mark.exhaustive
def test_a_fake_embedder_beside_another_model_is_named_wherever_a_fake_model_is(
    model: Served, asked: QuestionSet, client: Client, tmp_path: Path
) -> None:
    model.alias = "m-1"
    answering = Endpoint.objects.create(name="real", model="m-1", base_url=model.url, allow_private=True)
    Endpoint.objects.create(name="vectors", model="fake-e", base_url=model.url, allow_private=True)
    settings = {"memory": "utterance", "retriever": "embedding", "embedder": "vectors"}
    held = simulate(asked, answering, trials=1, **settings)
    plain = simulate(asked, answering, trials=1, memory="utterance")
    assert (held.error, plain.error) == ("", "")
    client.force_login(rea := factories.user("rea", researcher=True))
    api = APIClient()
    api.force_authenticate(rea)
    sentences = "A fake model answers", "A fake model computes the embeddings"
    for made, is_fake in ((held, True), (plain, False)):
        page = client.get(reverse("simulation", args=[made.pk])).content.decode()
        assert [sentence in page for sentence in sentences] == [False, is_fake]
        told = api.get(reverse("api-simulation", args=[made.pk])).json()
        assert (told["fake_model"], told["fake_embedder"]) == (False, is_fake)
    conditions = list(Continuation.objects.filter(system__name="m-1").values_list("condition", flat=True))
    assert {one.get("embedding_model") for one in conditions} == {"fake-e", None}
    assert all(one.fake_model == ("embedding_model" in one.condition) for one in Continuation.objects.all())
    path = tmp_path / "labels.csv"
    call_command("export_labels", "--corpus", held.corpus.name, "--format", "csv", "--output", str(path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    fakes = {row["continuation"]: row["fake_model"] for row in rows}
    assert sorted(fakes.values()) == ["false", "true"]
    assert fake_systems(Label.objects.all()) == ["m-1"]
    assert fake_systems(Label.objects.exclude(item__continuation__condition__has_key="embedding_model")) == []
    report = client.get(reverse("answers", args=[held.corpus_id])).content.decode()
    assert "Some of these answers come from a fake model or use its embeddings" in report


@pytest.mark.exhaustive
def test_failed_calls_are_missing_answers_and_no_failed_trials(model: Served, asked: QuestionSet) -> None:
    model.refuses = lambda number, text: draw(0, "refused", text) < 0.4
    held = simulate(asked, model.endpoint(), trials=3)
    assert (held.state, held.error) == ("done", "")
    told = [one for made in written(held) for _, one in answers(made)]
    failed = [one for one in told if one["outcome"] == "failed"]
    assert 0 < len(failed) < len(told)
    missing = Label.objects.filter(rater__name="score:strict", question__key="right").exclude(missing="")
    assert missing.count() == len(failed)
    assert 0 < counts(held)["flags"]["failed"] <= 3
    before = model.asked
    assert simulate(asked, held.endpoint, trials=3).state == "done"
    assert model.asked == before


@pytest.mark.exhaustive
def test_summaries_that_fail_are_tried_again(model: Served, asked: QuestionSet) -> None:
    model.refuses = lambda number, text: "LISTENER" in text and "t3x1" in text
    held = simulate(asked, model.endpoint(), memory="summary")
    assert held.state == "stuck"
    assert held.error.startswith("1 summaries failed, first: ")
    before = model.asked
    model.refuses = lambda number, text: False
    held = brought_on(simulation_actions.go_on(by=None, simulation=held))
    assert held.state == "done"
    assert model.asked == before + 1 + len(answers(written(held)[0]))


@pytest.mark.exhaustive
def test_a_cap_pauses_it_and_a_higher_one_goes_on(
    model: Served, asked: QuestionSet, capsys: pytest.CaptureFixture[str]
) -> None:
    model.endpoint()
    told = ["--corpus", "world", "--set", "usual", "--endpoint", "fake", "--trials", "2", "--quiet"]
    with pytest.raises(CommandError, match=r"Run \d+ is paused: "):
        command(capsys, *told, "--cap-calls", "3")
    assert model.asked == 3
    held = Simulation.objects.get()
    assert held.state == "making"
    assert paused(held) is not None
    done = command(capsys, *told, "--cap-calls", "300")
    assert (done["state"], done["calls"]) == ("done", model.asked)
    assert model.asked == sum(len(asks(one)) for one in written(held))


@pytest.mark.exhaustive
def test_one_that_is_cancelled_keeps_what_was_answered_and_goes_on(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), rounds=0, trials=2, asking=RunSettings(caps={"cap_calls": 3}))
    simulation_actions.advance(held.pk)
    finish()
    held = simulation_actions.cancel(by=None, simulation=held)
    assert (held.state, model.asked) == ("cancelled", 3)
    assert simulation_actions.advance(held.pk).state == "cancelled"
    held = simulate(asked, held.endpoint, trials=2, asking=RunSettings(caps={"cap_calls": 300}))
    assert held.state == "done"
    assert model.asked == sum(len(asks(one)) for one in written(held))


def test_a_system_of_this_name_that_is_another_one_is_refused_at_once(
    model: Served, asked: QuestionSet
) -> None:
    endpoint = model.endpoint()
    simulate(asked, endpoint, rounds=0, name="mine")
    other = Order("", {}, 1, {"temperature": 1.0}, "mine")
    with pytest.raises(SystemsError, match=r"parameters.temperature is 0.2 there and 1.0 here"):
        simulation_actions.start(by=None, question_set=asked, order=other, endpoint=endpoint)
    with pytest.raises(SystemsError, match="has a system 'mine' already"):
        simulate(asked, None, baseline="random", name="mine")
    assert Simulation.objects.count() == 1


@pytest.mark.exhaustive
def test_jobs_bring_it_on_by_themselves(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), rounds=0, memory="summary")
    for _ in range(6):
        simulation_actions.sweep()
        with Heartbeat("jobs") as heartbeat:
            work_jobs("jobs", seconds=20, heartbeat=heartbeat, stopping=lambda: False)
        finish()
    held.refresh_from_db()
    assert (held.state, held.error) == ("done", "")
    assert held.finished_at is not None
