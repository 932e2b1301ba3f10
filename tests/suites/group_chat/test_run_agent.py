"""Agents run by command, page and API: baselines as systems, and a model called at every point."""

from __future__ import annotations

import json
from copy import deepcopy
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpora.import_file import import_path
from annotation.models import Continuation, Corpus, Item, Label, System
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.errors import JobRefused
from jobs.models import Call, Endpoint, Job
from suites.continuation.models import Production
from suites.group_chat import baselines
from suites.group_chat.scenarios.agents import AGENTS
from tests import factories
from tests.suites.group_chat.scripts import LAUNCH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from django.test import Client

pytestmark = pytest.mark.django_db(transaction=True)
POINTS = 5


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Two scenarios of two families."""
    path = tmp_path / "set.jsonl"
    lines = [LAUNCH, deepcopy(LAUNCH) | {"id": "launch-08", "cluster": "other"}]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A fake model that errs at half of what it attends to, as an endpoint."""
    model = FakeModel(ErrorModel({"agent": RoleErrors(own={"stages": {"attend": 0.5}})}))
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        yield Endpoint.objects.create(
            name="fake", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )


def run_agent(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("run_agent", "--corpus", "Set", *arguments, stdout=out, stderr=StringIO())
    told: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return told


@pytest.mark.parametrize("key", AGENTS)
def test_a_baseline_decides_at_every_point_and_the_same_again_changes_nothing(
    corpus: Corpus, key: str
) -> None:
    told = run_agent("--agent", key, "--trials", "2")
    assert told == {
        "system": key,
        "condition": {"mode": "explicit"},
        "scenarios": 2,
        "made": 4,
        "reused": 0,
        "decisions": 4 * POINTS,
        "left_out": 0,
    }
    made = Continuation.objects.filter(system__name=key)
    assert {(one.mode, one.trial) for one in made} == {("static", 0), ("static", 1)}
    assert Item.objects.filter(continuation__in=made, kind="decision").count() == 4 * POINTS
    labels = Label.objects.filter(item__continuation__in=made, rater__kind="key", question__key="attend")
    assert labels.count() == 4 * POINTS
    again = run_agent("--agent", key, "--trials", "2")
    assert (again["made"], again["reused"], made.count()) == (0, 4, 4)
    assert run_agent("--agent", key, "--trials", "3")["made"] == 2


def test_the_modes_are_conditions_of_one_system(corpus: Corpus) -> None:
    run_agent("--agent", "mention_rule")
    run_agent("--agent", "mention_rule", "--mode", "implicit")
    made = Continuation.objects.filter(system__name="mention_rule")
    assert sorted(one.condition["mode"] for one in made) == ["explicit", "explicit", "implicit", "implicit"]
    assert System.objects.filter(name="mention_rule").count() == 1


def test_what_does_not_fit_is_refused_in_one_line(corpus: Corpus) -> None:
    for arguments, why in (
        (("--agent", "shouter"), "There is no agent 'shouter'; there are always_silent"),
        (("--agent", "random", "--trials", "0"), "trials must be between 1 and 50"),
        (("--agent", "random", "--part", "dev"), "has no split"),
        (("--agent", "random", "--own-outputs"), "--own-outputs: it is for a model"),
        (("--endpoint", "nobody"), "There is no endpoint 'nobody'"),
    ):
        with pytest.raises(CommandError, match=why):
            run_agent(*arguments)
    run_agent("--agent", "random")
    with pytest.raises(CommandError, match="it is another one: seed is 0 there and 3 here"):
        run_agent("--agent", "random", "--draws", "3")
    System.objects.create(corpus=corpus, name="oracle")
    with pytest.raises(CommandError, match="has a system 'oracle' whose continuations were imported"):
        run_agent("--agent", "oracle")


def test_dialogues_that_are_no_scenarios_are_refused_or_left_out(corpus: Corpus) -> None:
    factories.dialogue(corpus, "plain", turns=4)
    assert run_agent("--agent", "oracle")["left_out"] == 1
    plain = factories.corpus("Plain")
    factories.dialogue(plain, "d", turns=4)
    with pytest.raises(CommandError, match="no scenario with points"):
        call_command("run_agent", "--corpus", "Plain", "--agent", "oracle", stderr=StringIO())


@pytest.mark.exhaustive
def test_a_model_is_asked_at_every_point_in_every_trial(corpus: Corpus, endpoint: Endpoint) -> None:
    told = run_agent("--endpoint", "fake", "--trials", "2", "--seed", "5", "--quiet")
    assert (told["productions"], told["done"], told["failed"]) == (4, 4, 0)
    assert told["calls"] == 4 * POINTS
    made = Continuation.objects.filter(system__name="fake-1")
    assert {json.dumps(one.condition, sort_keys=True) for one in made} == {
        '{"mode": "explicit", "model": "fake-1", "own_outputs": false}'
    }
    assert made.filter(trial=0).count() == made.filter(trial=1).count() == 2
    acts = {
        trial: [
            turn.extra.get("act", "message")
            for one in made.filter(trial=trial).order_by("dialogue__key")
            for turn in one.turns.order_by("position")
        ]
        for trial in (0, 1)
    }
    assert acts[0] != acts[1]
    assert Label.objects.filter(item__continuation__in=made, rater__kind="key").exists()
    again = run_agent("--endpoint", "fake", "--trials", "2", "--seed", "5", "--quiet")
    assert again["calls"] == told["calls"]


@pytest.mark.exhaustive
def test_a_reply_that_no_asking_makes_readable_is_a_decision(corpus: Corpus) -> None:
    with LocalServer(_unreadable) as server:
        Endpoint.objects.create(
            name="odd", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )
        told = run_agent("--endpoint", "odd", "--quiet")
    assert (told["done"], told["failed"], told["calls"]) == (2, 0, 4 * POINTS)
    assert told["flags"] == {"unparseable": 2}
    made = Continuation.objects.filter(system__name="fake-1")
    decided = [turn.extra["extra"]["decision"] for one in made for turn in one.turns.all()]
    assert [one["flags"] for one in decided] == [["unparseable"]] * 2 * POINTS


def test_a_call_that_fails_leaves_the_decisions_missing(corpus: Corpus) -> None:
    model = FakeModel()

    def respond(method: str, path: str, body: Any, headers: Any) -> Any:
        if body and "who will run the fair" in body["messages"][-1]["content"]:
            return model.respond(method, path, {})
        return model.respond(method, path, body)

    with LocalServer(respond) as server:
        Endpoint.objects.create(
            name="odd", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )
        with pytest.raises(CommandError, match="2 of 2 productions failed"):
            run_agent("--endpoint", "odd", "--quiet")
    assert not Continuation.objects.filter(system__name="fake-1").exists()
    assert set(Production.objects.values_list("status", flat=True)) == {"failed"}
    assert Call.objects.filter(state="done").count() == 2 * (POINTS - 1)


def _unreadable(method: str, path: str, body: Any, headers: Any) -> Any:
    answer = FakeModel().respond(method, path, body)
    whole = json.loads(answer.body)
    whole["choices"][0]["message"]["content"] = "I would rather not say."
    return type(answer)(answer.status, json.dumps(whole).encode(), answer.headers)


def test_the_page_runs_a_baseline_and_says_who_decided(signed_in: Client, corpus: Corpus) -> None:
    address = reverse("agents", args=[corpus.pk])
    page = signed_in.get(address).content.decode()
    assert "Nobody has decided here yet." in page
    assert f"{reverse('generate')}?corpus={corpus.pk}&amp;generator=group_chat_agent" in page
    answer = signed_in.post(address, {"agent": "oracle", "mode": "implicit", "trials": 2}, follow=True)
    page = answer.content.decode()
    assert "oracle: 20 decisions in 4 new continuations." in page
    assert "mode implicit" in page
    assert "2 of 2" in page
    refused = signed_in.post(address, {"agent": "oracle", "mode": "loud", "trials": 2})
    assert refused.status_code == 422


def test_a_corpus_without_scenarios_has_no_agents(signed_in: Client) -> None:
    plain = factories.corpus("Plain")
    page = signed_in.get(reverse("agents", args=[plain.pk])).content.decode()
    assert "No scenarios here" in page
    answer = signed_in.post(
        reverse("agents", args=[plain.pk]), {"agent": "oracle", "mode": "explicit", "trials": 1}
    )
    assert answer.status_code == 422


@pytest.mark.exhaustive
def test_the_api_runs_a_baseline_and_says_who_decided(signed_in: Client, corpus: Corpus) -> None:
    address = reverse("api-agents", args=[corpus.pk])
    made = signed_in.post(address, {"agent": "random", "trials": 2}, content_type="application/json")
    assert made.status_code == 201
    assert (made.json()["made"], made.json()["decisions"]) == (4, 4 * POINTS)
    told = signed_in.get(address).json()
    assert [one["key"] for one in told["baselines"]] == list(AGENTS)
    assert told["scenarios"] == 2
    assert told["systems"] == [
        {"system": "random", "condition": {"mode": "explicit"}, "scenarios": 2, "trials": 2, "decisions": 20}
    ]
    refused = signed_in.post(address, {"agent": "random", "part": "dev"}, content_type="application/json")
    assert refused.status_code == 400
    assert "has no split" in refused.json()["detail"]


def test_the_estimate_counts_one_call_a_point(corpus: Corpus, endpoint: Endpoint) -> None:
    told = run_agent("--endpoint", "fake", "--trials", "3", "--estimate")
    assert told["calls"] == 3 * 2 * POINTS


@pytest.mark.exhaustive
def test_many_trials_are_a_job_whose_result_says_what_came_of_it(
    signed_in: Client, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "AT_ONCE", 10)
    asked = {"agent": "always_speak", "mode": "explicit", "trials": 6}
    factories.dialogue(corpus, "plain", turns=2)
    answer = signed_in.post(reverse("agents", args=[corpus.pk]), asked)
    assert answer["Location"] == reverse("jobs")
    again = signed_in.post(reverse("api-agents", args=[corpus.pk]), asked, content_type="application/json")
    job = Job.objects.get(kind="baseline")
    assert (again.status_code, again.json()) == (202, {"job": job.pk})
    told = baselines.run(job, lambda done, of: None)
    assert (told["made"], told["decisions"], told["left_out"]) == (12, 12 * POINTS, 1)
    job.params["dialogues"]["corpus"] = 0
    with pytest.raises(JobRefused, match="was deleted"):
        baselines.run(job, lambda done, of: None)


@pytest.mark.exhaustive
def test_the_report_shows_how_reliability_falls_with_k(tmp_path: Path) -> None:
    mark = "{key attend=1 speak=message addressed=kit target=ana ground=answer}"
    path = tmp_path / "marked.jsonl"
    lines = [json.dumps(_marked(number, mark)) for number in range(12)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    rates = {"attend": 0.1, "speak": 0.1, "address": 0.05, "ground": 0.2}
    model = FakeModel(ErrorModel({"agent": RoleErrors(own={"stages": rates})}))
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        Endpoint.objects.create(
            name="fake", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )
        run_agent("--endpoint", "fake", "--trials", "8", "--seed", "1", "--quiet")
    out = StringIO()
    call_command("cascade", "--corpus", "Set", "--format", "json", stdout=out, stderr=StringIO())
    told = json.loads(out.getvalue())
    found = {
        cell["name"]: cell["value"]
        for table in told["tables"]
        for row in table["rows"]
        if row["name"].startswith("fake-1 (mode explicit")
        for cell in row["cells"]
        if isinstance(cell, dict)
    }
    values = [found[f"pass_hat_{k}"] for k in (1, 2, 4, 8)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] > values[3]
    assert found["competence_probed"] == pytest.approx(0.71, abs=0.1)


def _marked(number: int, mark: str) -> dict[str, Any]:
    key = {
        "attend": 1,
        "speak": {"message": 1},
        "addressed": ["kit"],
        "target": ["ana"],
        "ground": ["answer"],
    }
    people = [{"id": one.lower(), "name": one} for one in ("Ana", "Bo", "Cy")]
    return {
        "id": f"m{number}",
        "cluster": f"m{number}",
        "kind": "scenario",
        "participants": [*people, {"id": "kit", "name": "Kit", "agent": True}],
        "turns": [
            {"speaker": "bo", "text": f"Cy, is it {number}?", "addressees": ["cy"]},
            {"speaker": "ana", "text": f"Kit, when do we start? {mark}", "addressees": ["kit"]},
            {"speaker": "ana", "text": f"Kit, when does it end? {mark}", "addressees": ["kit"]},
        ],
        "probes": [
            {"id": "a", "kind": "overheard", "trigger": 0, "points": [0], "control": True}
            | {"key": {"attend": 0, "speak": {"silence": 1}}},
            {
                "id": "b",
                "kind": "buried_mention",
                "trigger": 1,
                "points": [1, 2],
                "control": True,
                "key": key,
            },
        ],
    }
