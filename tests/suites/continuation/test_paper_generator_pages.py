"""Every generator of the papers is available by page, API and command, with an accurate estimate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Continuation, Corpus
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.models import Endpoint, Run
from suites.continuation.generators import GENERATORS
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import estimate
from tests import factories
from tests.judges.helpers import finish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = [{"id": "A", "name": "Ana", "profile": ["bees"]}, {"id": "B", "name": "Ben", "profile": ["runs"]}]
CHOSEN = (
    ("mpceval_next_message", {"batch": 2, "profiles": True}),
    ("mpceval_speaker_given_content", {"point": "every:2"}),
    ("mpceval_content_given_speaker", {"window": 2}),
    ("mpc_conversation", {"turns": 3, "strategy": "turn_by_turn", "min_each": 1}),
    ("comperdial_response", {"personas": "own", "seconds": 3600}),
)
NAMED = [key for key, _ in CHOSEN]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A running fake model as an endpoint."""
    model = FakeModel()
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        yield Endpoint.objects.create(
            name="fake", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )


def talks(number: int = 3) -> Corpus:
    corpus = factories.corpus("talks")
    for n in range(number):
        factories.dialogue(corpus, f"d{n}", turns=6, participants=PEOPLE, metadata={"topic": f"tea {n}"})
    return corpus


@pytest.mark.parametrize(("key", "chosen"), CHOSEN, ids=NAMED)
def test_the_page_shows_its_settings_estimates_and_starts(
    signed_in: Client, endpoint: Endpoint, key: str, chosen: dict[str, Any]
) -> None:
    corpus = talks()
    address = f"{reverse('generate')}?corpus={corpus.pk}&generator={key}"
    page = signed_in.get(address).content.decode()
    resolved = GENERATORS[key].resolved({})
    assert all(f'name="setting_{name}"' in page for name in resolved)
    told = {f"setting_{name}": value for name, value in {**resolved, **chosen}.items() if value is not False}
    body = {"endpoint": endpoint.pk, "trials": 1, "mode": "at_once", **told}
    shown = signed_in.post(address, body)
    assert shown.status_code == 200, shown.content.decode()
    started = signed_in.post(address, body | {"confirmed": "1"})
    assert started.status_code == 302, started.content.decode()
    finish()
    run = Run.objects.get(kind="generate")
    assert (run.state, run.values, run.missing) == ("done", 3, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "chosen"), CHOSEN, ids=NAMED)
def test_the_api_starts_it_and_the_estimate_is_what_it_takes(
    signed_in: Client, endpoint: Endpoint, key: str, chosen: dict[str, Any]
) -> None:
    corpus = talks()
    plan = Generation(key, endpoint, settings=chosen).plan()
    calls = estimate(plan, Dialogues(corpus), 1).calls
    body = {"generator": key, "corpus": "talks", "endpoint": "fake", "settings": chosen}
    made = signed_in.post("/api/v1/productions/", body, content_type="application/json")
    assert made.status_code == 201, made.content.decode()
    finish()
    run = Run.objects.get(kind="generate")
    assert (run.state, run.calls.count()) == ("done", calls)
    condition = Continuation.objects.filter(system__name=plan.name)[0].condition
    assert condition == dict(plan.condition)


def test_the_command_writes_and_says_what_it_did(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    talks(2)
    call_command(
        "generate", "--corpus", "talks", "--endpoint", "fake", "--generator", "mpceval_next_message",
        "--set", "window=2", "point=2,4", "--condition", "mood=calm", "--name", "mine", "--quiet",
    )  # fmt: skip
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["productions"], told["done"], told["failed"], told["calls"]) == (2, 2, 0, 4)
    made = Continuation.objects.filter(system__name="mine")
    assert {one.condition["mood"] for one in made} == {"calm"}


def test_settings_that_do_not_go_together_are_told_on_the_page(signed_in: Client, endpoint: Endpoint) -> None:
    corpus = talks(1)
    address = f"{reverse('generate')}?corpus={corpus.pk}&generator=mpceval_next_message"
    body = {
        "endpoint": endpoint.pk,
        "trials": 1,
        "mode": "at_once",
        "setting_point": "every:2",
        "setting_window": 0,
    }
    refused = signed_in.post(address, body | {"setting_batch": 5})
    assert refused.status_code == 422
    assert "dialogues share a call only where each has one point" in refused.content.decode()


def test_an_estimate_of_dialogues_beyond_a_limit_ends_where_the_limit_is_passed(endpoint: Endpoint) -> None:
    corpus = talks(1)
    plan = Generation("comperdial_response", endpoint, settings={"tokens_in": 1}).plan()
    assert estimate(plan, Dialogues(corpus), 1).calls == 1
