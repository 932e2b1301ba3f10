"""A model's server is part of a judge's identity: two servers of one model are two judges, and a run never
changes its server."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.models import Label, Rater
from calibration.exports.labels import labels, stream
from calibration.ratings.scope import Scope
from jobs.endpoints.endpoint_actions import sync_environment
from jobs.endpoints.responses import completion
from jobs.models import Call, Endpoint, Run
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def other() -> Iterator[FakeLLM]:
    """A second server of the same model, such as a quantised one."""
    with FakeLLM() as server:
        yield server


def detail(endpoint: Endpoint) -> Judge:
    return Judge("cpdscore_detail", endpoint=endpoint)


def test_one_model_at_two_servers_is_two_judges_that_can_be_compared(fake: FakeLLM, other: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    full = begin(corpus, detail(endpoint_of(fake, name="full")))
    small = begin(corpus, detail(endpoint_of(other, name="small")))
    assert full.pk != small.pk
    finish()
    assert (fake.requests.total(), other.requests.total()) == (6, 6)
    first, second = full.answerer, small.answerer
    assert (first.name, second.name) == (
        "fake-1 (fake model) cpdscore_detail without reference",
        "fake-1 (fake model) cpdscore_detail without reference at small",
    )
    assert (first.spec["address"], second.spec["address"]) == (fake.url, other.url)
    assert [Label.objects.filter(rater=rater).count() for rater in (first, second)] == [6, 6]


def test_the_served_revision_tells_judges_apart_at_one_address(fake: FakeLLM) -> None:
    endpoint = endpoint_of(fake)
    corpus = small_corpus(dialogues=1)
    begin(corpus, detail(endpoint))
    Endpoint.objects.filter(pk=endpoint.pk).update(revision="Q4_K_M")
    again = begin(corpus, detail(Endpoint.objects.get()))
    assert Run.objects.count() == 2
    assert again.answerer.spec["revision"] == "Q4_K_M"
    finish()
    assert (again.calls.filter(state=Call.State.DONE).count(), Call.objects.count()) == (6, 12)


def test_the_same_server_under_another_name_is_the_same_judge_and_another_run(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    first = begin(corpus, detail(endpoint_of(fake, name="one")))
    finish()
    second = begin(corpus, detail(endpoint_of(fake, name="two")))
    assert second.rater == first.rater
    assert (second.pk != first.pk, second.reused) == (True, 6)
    finish()
    assert fake.requests.total() == 6, "nothing is asked twice"


def test_the_database_lets_no_run_change_its_endpoint(fake: FakeLLM, other: FakeLLM) -> None:
    run = begin(small_corpus(dialogues=1), detail(endpoint_of(fake)))
    elsewhere = endpoint_of(other, name="other")
    with pytest.raises(IntegrityError, match="never changes its endpoint"), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(endpoint=elsewhere)
    with pytest.raises(IntegrityError, match="never changes its endpoint"), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(endpoint=None)


@pytest.mark.parametrize("change", ["address", "revision"])
def test_a_run_whose_endpoint_became_another_server_stops_unasked(
    fake: FakeLLM, other: FakeLLM, change: str
) -> None:
    corpus = small_corpus(dialogues=1)
    endpoint = endpoint_of(fake)
    run = begin(corpus, detail(endpoint))
    to = {"base_url": other.url} if change == "address" else {"revision": "2026-11-01"}
    Endpoint.objects.filter(pk=endpoint.pk).update(**to)
    finish()
    run.refresh_from_db()
    assert (fake.requests.total(), other.requests.total()) == (0, 0)
    assert run.state == Run.State.FAILED
    assert f"this run asked {fake.url}" in run.error
    assert "a run never changes its server" in run.error
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=fake.url, revision="")
    begin(corpus, detail(Endpoint.objects.get()))
    finish()
    assert Run.objects.get().state == Run.State.DONE


def test_a_reply_of_one_server_is_never_taken_for_another_ones(fake: FakeLLM) -> None:
    endpoint = endpoint_of(fake)
    begin(small_corpus(dialogues=1), detail(endpoint))
    finish()
    Endpoint.objects.filter(pk=endpoint.pk).update(revision="new weights")
    begin(Run.objects.get().corpus, detail(Endpoint.objects.get()))
    finish()
    assert fake.requests.total() == 12
    assert not Call.objects.filter(cached=True).exists()


def test_runs_and_calls_say_where_they_asked(fake: FakeLLM, client: Client) -> None:
    run = begin(small_corpus(dialogues=1), detail(endpoint_of(fake, revision="Q4")))
    finish()
    client.force_login(factories.user(researcher=True))
    told: dict[str, Any] = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert (told["endpoint"], told["address"], told["revision"]) == ("fake", fake.url, "Q4")
    (call, *_) = client.get(f"/api/v1/runs/{run.pk}/calls/").json()["results"]
    assert (call["endpoint"], call["address"], call["revision"]) == ("fake", fake.url, "Q4")
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert fake.url in page
    assert "Q4" in page


def test_a_run_says_which_models_served_it_where_they_are_not_the_one_it_asked(
    fake: FakeLLM, client: Client
) -> None:
    client.force_login(factories.user(researcher=True))
    corpus, endpoint = small_corpus(dialogues=1), endpoint_of(fake)
    fake.served = {"model": "fake-1"}
    run = begin(corpus, detail(endpoint))
    finish()
    assert "Served as" not in client.get(f"/runs/{run.pk}/").content.decode()

    fake.served = {"model": "fake-1 <b>0613</b>", "system_fingerprint": "fp_1"}
    Endpoint.objects.filter(pk=endpoint.pk).update(revision="Q4")
    run = begin(corpus, detail(Endpoint.objects.get()))
    finish()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "fake-1 &lt;b&gt;0613&lt;/b&gt; (build fp_1)" in page
    served = client.get(f"/api/v1/runs/{run.pk}/").json()["served"]
    assert served == [{"model": "fake-1 <b>0613</b>", "system_fingerprint": "fp_1", "calls": 6}]
    (call, *_) = client.get(f"/api/v1/runs/{run.pk}/calls/").json()["results"]
    assert (call["served_model"], call["system_fingerprint"]) == ("fake-1 <b>0613</b>", "fp_1")


def test_a_reused_reply_names_the_model_that_served_it(fake: FakeLLM) -> None:
    endpoint = endpoint_of(fake)
    fake.served = {"model": "fake-1-june"}
    begin(small_corpus(dialogues=1), detail(endpoint))
    finish()
    fake.served = {"model": "fake-1-july"}
    again = begin(small_corpus(dialogues=1), detail(endpoint))
    finish()
    assert set(again.calls.values_list("cached", "served_model")) == {(True, "fake-1-june")}


@pytest.mark.parametrize(
    ("value", "name"),
    [("a\x1b[31m\u202e b\nc", "a[31m b c"), ("x" * 300, "x" * 200), (7, ""), (None, ""), (["a"], "")],
)
def test_a_name_that_a_server_gives_is_short_and_printable(value: Any, name: str) -> None:
    choices = [{"message": {"content": "4"}, "finish_reason": "stop"}]
    reply = completion({"choices": choices, "model": value, "system_fingerprint": value}, 5)
    assert (reply.served_model, reply.system_fingerprint) == (name, name)


def test_exported_labels_say_which_server_answered(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    run = begin(corpus, detail(endpoint_of(fake, revision="Q4")))
    finish()
    item = Label.objects.filter(rater=run.rater).earliest("pk").item
    person = Rater.objects.create(name="Ana", kind=Rater.Kind.HUMAN, corpus=corpus)
    question = Label.objects.earliest("pk").question
    Label.objects.create(rater=person, item=item, question=question, number=3, occasion="imported")
    file = b"".join(stream(query=labels(Scope(corpus)), form="csv", corpus=corpus, by=None))
    rows = list(csv.DictReader(io.StringIO(file.decode())))
    assert {(row["kind"], row["endpoint"], row["revision"]) for row in rows} == {
        ("judge", fake.url, "Q4"),
        ("human", "", ""),
    }


def test_the_environment_names_the_served_revision() -> None:
    (declared,) = sync_environment({"CONCORD_ENDPOINT_X": "http://localhost:9/v1|m|||||||||||fp16"})
    assert (declared.revision, declared.server) == (
        "fp16",
        {"address": "http://localhost:9/v1", "revision": "fp16"},
    )
