"""Endpoints declared in the environment exist for the API, pages and commands alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import close_old_connections, connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.models import Event
from jobs.endpoints.endpoint_actions import sync_environment
from jobs.errors import JobError
from jobs.models import Endpoint, Run
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)

ENDPOINTS = "/api/v1/endpoints/"
VARIABLE = "CONCORD_ENDPOINT_MY_VLLM"


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(factories.user("root", administrator=True, researcher=True))
    return client


def names(client: Client) -> list[str]:
    return [row["name"] for row in client.get(ENDPOINTS).json()["results"]]


def test_the_api_lists_declared_endpoints_of_an_empty_database(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "http://localhost:9/v1|llama|VLLM_API_KEY|0.1|0.2")
    (row,) = root.get(ENDPOINTS).json()["results"]
    assert (row["name"], row["model"], row["from_environment"], row["active"]) == (
        "my-vllm", "llama", True, True,
    )  # fmt: skip
    monkeypatch.delenv(VARIABLE)
    assert [row["active"] for row in root.get(ENDPOINTS).json()["results"]] == [False]


def test_the_api_starts_runs_at_a_declared_endpoint_that_nobody_listed(
    root: Client, fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = small_corpus(dialogues=1)
    monkeypatch.setenv(VARIABLE, f"{fake.url}|fake-1")
    body = {"protocol": "cpdscore_detail", "endpoint": "my-vllm", "corpus": corpus.name}
    answer = root.post("/api/v1/runs/", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    finish()
    assert Run.objects.get().state == Run.State.DONE


def test_the_page_of_requests_offers_declared_endpoints(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "http://localhost:9/v1|llama")
    assert "my-vllm" in root.get("/prompts/request/?ref=cpdscore_simple_without_reference@1").content.decode()


def test_declared_endpoints_take_one_query_where_nothing_changed(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        monkeypatch.setenv(f"{VARIABLE}_{number}", f"http://localhost:9/v1|m{number}||0.123456|2|||||0.3333")
    assert len(names(root)) == 5
    with CaptureQueriesContext(connection) as queries:
        declared = sync_environment()
    assert (len(queries), len(declared)) == (1, 5)
    assert Event.objects.filter(verb="declare endpoint").count() == 5


def test_processes_that_begin_together_declare_an_endpoint_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(_: int) -> list[str]:
        try:
            return [endpoint.name for endpoint in sync_environment({VARIABLE: "http://localhost:9/v1|m"})]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(begin, range(6))) == [["my-vllm"]] * 6
    close_old_connections()
    assert Event.objects.filter(verb="declare endpoint").count() == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://x", "expected base_url"),
        ("ftp://x|m", "not an http or https address"),
        ("http://u:p@x|m", "no user, password"),
        ("http://169.254.169.254/v1|m", "are refused"),
        ("http://x|m|PATH", "cannot name a key"),
        ("http://x|m||a", "not a price"),
        ("http://x|m||12345678", "price_in: "),
        ("http://x|m||0.1234567", "price_in: "),
        (f"http://x|{'m' * 201}", "model: "),
        (f"http://{'x' * 500}|m", "more than 500 characters"),
        (f"http://x|m|||||||{'f' * 61}", "family: "),
    ],
)
def test_a_declaration_that_makes_no_sense_is_named(
    root: Client, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    monkeypatch.setenv("CONCORD_ENDPOINT_BAD", text)
    corpus = small_corpus(dialogues=1)
    body = {"protocol": "cpdscore_detail", "endpoint": "bad", "corpus": corpus.name}
    for answer in (root.get(ENDPOINTS), root.post("/api/v1/runs/", body, content_type="application/json")):
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("CONCORD_ENDPOINT_BAD: ")
        assert reason in answer.json()["detail"]
    with pytest.raises(JobError, match=r"^CONCORD_ENDPOINT_BAD: "):
        sync_environment()
    with pytest.raises(CommandError, match=r"^CONCORD_ENDPOINT_BAD: "):
        call_command("run_judge", *(f"--{name}={value}" for name, value in body.items()))
    assert not Endpoint.objects.exists()
