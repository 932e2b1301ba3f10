"""Likelihood from an endpoint that gives log-probabilities of a prompt: values, calls, money and failures."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Corpus, Label
from jobs.endpoints.responses import Malformed, NoLogprobs, boundary, echoed
from jobs.models import Call, Endpoint, Run
from judges.errors import JudgeError
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import RunSettings, Selection
from tests import factories
from tests.judges.helpers import finish
from tests.judges.servers.echo_server import EchoServer, write_model

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = (
    "yes, the van takes bread to the lake",
    "tea: and (cake)!",
    "größer 🙂 als der See 🙂",
    "🙂🙂 湖边见",
    "Next: the lake\nNext: the park",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_model(tmp_path_factory.mktemp("echo"))


@pytest.fixture(scope="module", params=["plain", "marked"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EchoServer]:
    path = tmp_path_factory.mktemp(request.param)
    with EchoServer(write_model(path, marked=request.param == "marked")) as server:
        server.folder = str(path)  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def echo(folder: str) -> Iterator[EchoServer]:
    with EchoServer(folder) as server:
        yield server


def endpoint(server: EchoServer, **fields: Any) -> Endpoint:
    prices = {"price_in": 1, "price_out": 10}
    return Endpoint.objects.create(
        **{"name": "gpu", "model": "small", "base_url": server.url, "allow_private": True, **prices, **fields}
    )


def corpus_of(*messages: str) -> Corpus:
    corpus = factories.corpus()
    for number, text in enumerate(messages):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        factories.continuation(dialogue, "c", system="m", turns=[{"text": text}, {"text": f"{text}, 🙂 bye"}])
    return corpus


def start(corpus: Corpus, key: str, settings: RunSettings | None = None) -> Run:
    (run,) = run_actions.start_metrics(by=None, keys=[key], selection=Selection(corpus), settings=settings)
    assert isinstance(run, Run)
    return run


def values(run: Run) -> dict[int, float | None]:
    return dict(Label.objects.filter(rater=run.rater).values_list("item", "number"))


def test_an_endpoint_gives_the_values_of_the_local_model(served: EchoServer) -> None:
    corpus = corpus_of(*MESSAGES)
    endpoint(served)
    remote = start(corpus, "ll:endpoint=gpu")
    finish()
    local = start(corpus, f"ll:model={served.folder}")  # type: ignore[attr-defined]
    finish("metrics")
    remote.refresh_from_db()
    assert (remote.state, remote.calls.count()) == (Run.State.DONE, 10), remote.error
    assert values(remote) == pytest.approx(values(local), rel=1e-5)
    assert len(set(values(local).values())) == 10
