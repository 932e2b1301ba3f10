"""Simulations by page and API: started after a review of the cost, followed, cancelled, continued."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import QuestionSet
from suites.long_dialogue.models import Simulation
from tests import factories
from tests.suites.continuation.making import Served, served
from tests.suites.long_dialogue.long_talk import world
from tests.suites.long_dialogue.simulating import brought, brought_on, simulate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> QuestionSet:
    return brought(world(sessions=6, questions=10, turns=6), tmp_path)


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("ada", researcher=True))
    return client


def test_the_page_says_what_it_takes_and_then_starts(
    model: Served, asked: QuestionSet, researcher: Client
) -> None:
    endpoint = model.endpoint()
    address = reverse("simulate", args=[asked.corpus_id])
    page = researcher.get(address).content.decode()
    assert "Start a simulation" in page
    assert (
        reverse("simulate", args=[asked.corpus_id])
        in researcher.get(reverse("corpus", args=["world"])).content.decode()
    )
    told = {
        "question_set": asked.pk, "agent": "model", "endpoint": endpoint.pk, "memory": "summary",
        "retriever": "bm25", "k": "0", "names": "anonymised", "format": "template", "order": "time",
        "point": "own_turn", "per_session": "1", "draws": "4", "limit": "0", "context": "0", "trials": "2",
        "temperature": "0.2", "top_p": "0.1", "cap_calls": "500",
    }  # fmt: skip
    shown = researcher.post(address, told).content.decode()
    assert "Nothing has been sent yet" in shown
    assert "Summing up sessions" in shown
    assert not Simulation.objects.exists()
    assert researcher.post(address, told | {"endpoint": ""}).status_code == 422
    started = researcher.post(address, told | {"confirmed": "1"})
    held = Simulation.objects.get()
    assert started["Location"] == reverse("simulation", args=[held.pk])
    assert held.order["settings"] | {"seed": 4, "names": "anonymised:1", "k": 15} == held.order["settings"]
    assert held.order["asking"]["caps"] == {"cap_calls": "500"}
    held = brought_on(held)
    assert held.state == "done", held.error
    body = researcher.get(reverse("simulation", args=[held.pk])).content.decode()
    assert reverse("answers", args=[asked.corpus_id]) in body
    assert "A fake model answers" in body
    assert "anonymised:1" in researcher.get(address).content.decode()


def test_a_baseline_is_started_without_an_endpoint(asked: QuestionSet, researcher: Client) -> None:
    told = {
        "question_set": asked.pk, "agent": "random", "memory": "session", "retriever": "bm25", "k": "0",
        "names": "original", "format": "natural", "order": "time", "point": "any_turn", "per_session": "2",
        "draws": "0", "limit": "0", "context": "0", "trials": "2", "confirmed": "1",
    }  # fmt: skip
    researcher.post(reverse("simulate", args=[asked.corpus_id]), told)
    assert brought_on(Simulation.objects.get()).state == "done"


def test_what_is_missing_is_said_with_what_to_do(researcher: Client, asked: QuestionSet) -> None:
    plain = factories.corpus("plain")
    page = researcher.get(reverse("simulate", args=[plain.pk])).content.decode()
    assert "No script here" in page
    asked.uses.all().delete()
    page = researcher.get(reverse("simulate", args=[asked.corpus_id])).content.decode()
    assert "No question set here" in page


@pytest.mark.exhaustive
def test_buttons_cancel_and_go_on(model: Served, asked: QuestionSet, researcher: Client) -> None:
    held = simulate(asked, model.endpoint(), rounds=0)
    researcher.post(reverse("cancel-simulation", args=[held.pk]))
    held.refresh_from_db()
    assert held.state == "cancelled"
    assert "Go on" in researcher.get(reverse("simulation", args=[held.pk])).content.decode()
    researcher.post(reverse("go-on-simulation", args=[held.pk]))
    assert brought_on(held).state == "done"
    refused = researcher.post(reverse("go-on-simulation", args=[held.pk]), follow=True)
    assert "there is nothing to go on with" in refused.content.decode()


@pytest.mark.exhaustive
def test_programs_can_do_what_pages_can(model: Served, asked: QuestionSet) -> None:
    model.endpoint()
    client = APIClient()
    client.force_authenticate(factories.user(researcher=True))
    address = f"/api/v1/corpora/{asked.corpus_id}/simulations/"
    wanted = {"set": "usual", "endpoint": "fake", "trials": 1, "settings": {"memory": "base"}}
    expected = client.post(f"{address}estimate/", wanted, format="json").json()
    assert expected["calls"] > 2
    made = client.post(address, wanted, format="json")
    assert made.status_code == 201, made.content
    one = f"/api/v1/simulations/{made.json()['id']}/"
    assert client.post(f"{one}cancel/").json()["state"] == "cancelled"
    assert client.post(f"{one}go-on/").json()["state"] == "making"
    brought_on(Simulation.objects.get())
    told = client.get(one).json()
    assert (told["state"], told["counts"]["done"], told["set"]) == ("done", 1, "usual:1")
    assert told["counts"]["calls"] == model.asked == expected["calls"]
    assert [line["id"] for line in client.get(address, {"state": "done"}).json()["results"]] == [told["id"]]
    for change, why in (
        ({"set": "x"}, "has no question set"),
        ({"endpoint": ""}, "name one, or a baseline"),
        ({"settings": {"memory": "none"}}, "memory"),
        ({"settings": {"set": "x"}}, "named by itself"),
    ):
        refused = client.post(address, wanted | change, format="json")
        assert refused.status_code == 400
        assert why in refused.content.decode()


def test_annotators_see_none_of_it(model: Served, asked: QuestionSet) -> None:
    held = simulate(asked, model.endpoint(), rounds=0)
    client = Client()
    client.force_login(factories.user("ann"))
    assert client.get(reverse("simulate", args=[asked.corpus_id])).status_code == 403
    assert client.get(reverse("simulation", args=[held.pk])).status_code == 403
    assert client.post(reverse("cancel-simulation", args=[held.pk])).status_code == 403
    program = APIClient()
    program.force_authenticate(factories.user("bob"))
    assert program.get(f"/api/v1/corpora/{asked.corpus_id}/simulations/").status_code == 403
    assert program.post(f"/api/v1/simulations/{held.pk}/go-on/").status_code == 403
    held.refresh_from_db()
    assert held.state == "making"
