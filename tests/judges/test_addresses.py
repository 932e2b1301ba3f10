"""Allowed addresses of an endpoint: decided on the address connected to, not on the name's earlier one."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config.models import Event
from jobs.endpoints import client as probing
from jobs.endpoints.endpoint_actions import key_of, key_variables, save, sync_environment
from jobs.endpoints.wire import refusal
from jobs.errors import JobError
from jobs.models import Endpoint, Run
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.5", "192.168.1.1", "172.16.0.1", "100.64.0.1", "0.0.0.0", "::1", "::", "fd12::1"]
    + ["::ffff:10.0.0.5", "64:ff9b::7f00:1", "2002:7f00:1::", "240.0.0.1", "fe80::1", "localhost"],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert refusal(address, allow_private=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "::1", "fd12::1", "100.64.0.1"])
def test_private_ones_are_for_the_administrator_to_allow(address: str) -> None:
    assert refusal(address, allow_private=True) == ""


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254", "100.100.100.200"]
    + ["168.63.129.16", "fe80::1%eth0", "224.0.0.1"],
)
def test_metadata_and_link_local_addresses_are_never_allowed(address: str) -> None:
    assert refusal(address, allow_private=True)


def test_public_addresses_are_no_trouble() -> None:
    assert [refusal(address, allow_private=False) for address in ("9.9.9.9", "2620:fe::fe")] == ["", ""]


def leads_to(monkeypatch: pytest.MonkeyPatch, port: int, *addresses: str) -> list[str]:
    """Let the name `judge.example` resolve to one address after the other, the last one for good."""
    answers, asked, usual = list(addresses), [], socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if host not in ("judge.example", b"judge.example"):
            return usual(host, *rest, **named)
        asked.append(answers.pop(0) if len(answers) > 1 else answers[0])
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (asked[-1], port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def run_at(fake: FakeLLM, url: str, **fields: Any) -> Run:
    endpoint = endpoint_of(fake, **{"allow_private": False, **fields})
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=url)
    endpoint.refresh_from_db()
    return begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint))


@pytest.mark.parametrize("host", ["judge.example", "localhost", "127.0.0.1"])
def test_a_name_that_leads_into_the_machine_is_not_connected_to(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    port = int(fake.url.split(":")[2].split("/")[0])
    leads_to(monkeypatch, port, "127.0.0.1")
    run = run_at(fake, f"http://{host}:{port}/v1")
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert "is this machine itself. An administrator may allow it" in run.error
    assert fake.requests.total() == 0


def test_a_name_that_turns_inwards_after_it_was_looked_up_is_not_followed(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(fake.url.split(":")[2].split("/")[0])
    asked = leads_to(monkeypatch, port, "9.9.9.9", "127.0.0.1")
    save(by=factories.user(administrator=True), fields={"name": "x", "base_url": "http://judge.example/v1"})
    assert socket.getaddrinfo("judge.example", port)[0][4][0] == "9.9.9.9"
    run = run_at(fake, f"http://judge.example:{port}/v1")
    finish()
    assert asked[-1] == "127.0.0.1"
    assert "is this machine itself" in Run.objects.get(pk=run.pk).error
    assert fake.requests.total() == 0


def test_an_endpoint_that_is_allowed_to_be_here_is_asked(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(fake.url.split(":")[2].split("/")[0])
    leads_to(monkeypatch, port, "127.0.0.1")
    run = run_at(fake, f"http://judge.example:{port}/v1", allow_private=True)
    finish()
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE


def test_an_endpoint_of_the_environment_is_allowed_to_be_here() -> None:
    (declared,) = sync_environment({"CONCORD_ENDPOINT_LOCAL": "http://localhost:9/v1|m"})
    assert declared.allow_private


def test_only_variables_that_the_environment_lists_hold_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    by = factories.user(administrator=True)
    fields = {"name": "x", "base_url": "https://judge.example/v1", "model": "m", "key_env": "STRIPE_API_KEY"}
    monkeypatch.setenv("STRIPE_API_KEY", "sk-of-something-else")
    with pytest.raises(JobError, match="STRIPE_API_KEY is not among the variables that may hold keys"):
        save(by=by, fields=fields)
    with pytest.raises(JobError, match="not among the variables"):
        key_of(Endpoint(**fields))
    monkeypatch.setenv("CONCORD_ENDPOINT_OWN", "https://judge.example/v1|m|STRIPE_API_KEY")
    assert "STRIPE_API_KEY" in key_variables()
    assert save(by=by, fields=fields).key_env == "STRIPE_API_KEY"


def test_a_test_says_that_an_endpoint_answers(client: Client, fake: FakeLLM) -> None:
    fake.say = lambda prompt: "yes"  # type: ignore[method-assign,assignment]
    endpoint = endpoint_of(fake)
    client.force_login(factories.user("root", administrator=True))
    client.post(reverse("test-endpoint", args=[endpoint.pk]))
    page = client.get(reverse("endpoints")).content.decode()
    assert "asking" in page
    assert "every 2s" in page
    assert [found.pk for found in probing.waiting()] == [endpoint.pk]
    probing.test(*probing.waiting())
    page = client.get(reverse("endpoints")).content.decode()
    assert "answered" in page
    assert "“yes”" in page
    assert "every 2s" not in page
    assert Event.objects.filter(verb="test endpoint", by__username="root").exists()


def test_a_test_says_why_an_endpoint_does_not_answer(client: Client, fake: FakeLLM) -> None:
    fake.mode = "401"
    endpoint = endpoint_of(fake)
    client.force_login(factories.user(administrator=True))
    address = reverse("api-test-endpoint", args=[endpoint.pk])
    assert client.post(address).status_code == 202
    probing.test(*probing.waiting())
    shown = client.get(reverse("api-endpoint", args=[endpoint.pk])).json()
    address = f"{fake.url}/chat/completions"
    assert (shown["test_error"], shown["test_ms"]) == (f"{address}: HTTP 401: the fake answers 401", None)
