"""A fake model behind a proxy that renames it keeps its mark, and never passes for a real model."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.test import Client

from annotation.models import Label
from demo.fake_model.running import MARK, LocalServer
from demo.fake_model.serving import Response
from jobs.endpoints import client as probing
from jobs.endpoints.endpoint_actions import save
from jobs.fake_models import HEADER
from jobs.models import Endpoint, Run
from jobs.progress import progress
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
ALIAS = "gpt-4"


class Proxy(LocalServer):
    """Passes requests on under the fake model's own name, and its responses' headers with a prefix."""

    def __init__(self, to: str) -> None:
        self.to, self.models, self.marks = to, [], True
        super().__init__(self._pass_on)

    def _pass_on(self, method: str, path: str, body: Any, _headers: Mapping[str, str]) -> Response:
        self.models.append(body["model"])
        request = urllib.request.Request(
            self.to + path.removeprefix("/v1"),
            json.dumps(body | {"model": "fake-1"}).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request) as response:
            answer = json.loads(response.read()) | {"model": ALIAS}
            marks = [name for name in response.headers if name == MARK]
        return Response(200, json.dumps(answer).encode(), {f"llm_provider-{name}": "1" for name in marks})


@pytest.fixture
def proxy(fake: FakeLLM) -> Iterator[Proxy]:
    fake.say_that_it_is_fake()
    with Proxy(fake.url) as server:
        yield server


@pytest.fixture
def endpoint(proxy: Proxy) -> Endpoint:
    return Endpoint.objects.create(name="litellm", model=ALIAS, base_url=proxy.url, allow_private=True)


def test_both_ends_speak_of_one_header() -> None:
    assert MARK == HEADER


def test_a_run_at_an_alias_stops_at_once_and_one_started_anew_says_who_answers(
    endpoint: Endpoint, proxy: Proxy, client: Client
) -> None:
    client.force_login(factories.user("root", administrator=True, researcher=True))
    corpus = small_corpus(dialogues=1)
    first = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    first.refresh_from_db()
    assert first.state == Run.State.FAILED
    assert "a fake model answers under the name gpt-4" in first.error
    assert not Label.objects.exists()
    endpoint.refresh_from_db()
    second = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    second.refresh_from_db()
    assert (second.state, progress(second).fake_model) == (Run.State.DONE, True)
    name = "fake model as gpt-4 (fake model) cpdscore_detail without reference"
    assert (second.answerer.name, second.answerer.spec["model"]) == (name, "fake model as gpt-4")
    assert Label.objects.filter(rater=second.answerer).count() == 6
    assert set(proxy.models) == {ALIAS}, "the server is asked for what it knows"
    page = client.get(f"/runs/{second.pk}/").content.decode()
    assert "A fake model answers every call of this run" in page
    assert "fake model as gpt-4" in client.get("/endpoints/").content.decode()
    (row,) = client.get("/api/v1/endpoints/").json()["results"]
    assert (row["model"], row["fake_model"]) == (ALIAS, True)


def test_a_test_of_the_endpoint_marks_it_before_any_run(endpoint: Endpoint, proxy: Proxy) -> None:
    probing.test(endpoint)
    assert (endpoint.test_error, endpoint.fake_model) == ("", True)
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint))
    finish()
    run.refresh_from_db()
    assert (run.state, run.identity["model"]) == (Run.State.DONE, "fake model as gpt-4")


def test_the_mark_is_of_who_answers_there(endpoint: Endpoint) -> None:
    Endpoint.objects.update(fake_model=True)
    endpoint.refresh_from_db()
    by = factories.user(administrator=True)
    assert save(by=by, fields={"name": "renamed", "model": ALIAS}, endpoint=endpoint).fake_model
    assert not save(by=by, fields={"model": "gpt-5"}, endpoint=endpoint).fake_model
