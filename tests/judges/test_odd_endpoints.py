"""Servers that violate HTTP: every transport error has a name, and no other endpoint waits."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils import timezone

from jobs.endpoints import client
from jobs.endpoints.client import Again, CallError, Clients
from jobs.models import Call, Endpoint
from jobs.prompt import Prompt
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

KEY = "sk-Zq81tRv93xWb77dYc0"
BODY = b'{"choices": []}'
ODD = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing": b"",
    "a status in words": b"HTTP/1.1 fine OK\r\n\r\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nno header at all\r\n\r\n",
    "a header that repeats the key": b"HTTP/1.1 200 OK\r\nx y: " + KEY.encode() + b"\r\n\r\n",
    "a NUL in a header": b"HTTP/1.1 200 OK\r\nx: \x00\r\n\r\n",
    "a line without an end": b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}",
    "a length in words": b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
    "a body cut off": b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + BODY,
    "chunks that are none": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an unknown charset": b"HTTP/1.1 400 No\r\nContent-Type: text/plain; charset=klingon\r\n"
    b"Content-Length: 3\r\n\r\nno!",
    "an upgrade": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "a redirect to nowhere": b"HTTP/1.1 302 Found\r\nLocation: ::::\r\nContent-Length: 0\r\n\r\n",
}


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """A server that sends the same bytes to whoever connects; yields its base URL."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                if connection.recv(65536):
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(timeout=5)


async def asked(endpoint: Endpoint) -> CallError:
    clients = Clients()
    try:
        await clients.ask(endpoint, "m", Prompt("", "x"), {})
    except CallError as error:
        return error
    finally:
        await clients.close()
    raise AssertionError("it answered")


@pytest.mark.parametrize("kind", ODD)
def test_whatever_the_transport_raises_has_a_name_and_no_key(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("ODD_API_KEY", KEY)
    with raw_server(ODD[kind]) as url:
        endpoint = Endpoint(
            pk=1, name="odd", base_url=url, model="m", allow_private=True, timeout_s=5,
            key_env="ODD_API_KEY", from_environment=True,
        )  # fmt: skip
        error = asyncio.run(asked(endpoint))
    assert str(error)
    assert "\n" not in str(error)
    assert KEY[:8] not in str(error)


def test_a_broken_response_is_worth_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(ODD["a status in words"]) as url:
        endpoint = Endpoint(pk=1, name="odd", base_url=url, model="m", allow_private=True, timeout_s=5)
        error = asyncio.run(asked(endpoint))
    assert isinstance(error, Again)
    assert str(error).startswith("the response was not valid: ")


@pytest.mark.django_db(transaction=True)
def test_one_odd_endpoint_keeps_no_other_from_being_tested(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = client._ask

    async def breaking(endpoint: Endpoint, fakes: set[int]) -> object:
        if endpoint.name == "a defect":
            raise TypeError("not this one")
        return await ask(endpoint, fakes)

    monkeypatch.setattr(client, "_ask", breaking)
    now = timezone.now()
    with raw_server(ODD["a status in words"]) as url:
        for name, address in (("a defect", url), ("odd", url), ("well", fake.url)):
            Endpoint.objects.create(
                name=name, base_url=address, model="fake-1", allow_private=True, test_asked=now
            )
        client._test_waiting()
    tests = {one.name: one for one in Endpoint.objects.all()}
    assert all(one.test_done for one in tests.values())
    assert tests["a defect"].test_error == "a defect in Concord: TypeError"
    assert "the response was not valid" in tests["odd"].test_error
    assert tests["well"].test_error == ""


@pytest.mark.django_db(transaction=True)
def test_a_call_to_an_odd_server_waits_for_another_try() -> None:
    with raw_server(ODD["a header without a colon"]) as url:
        odd = Endpoint.objects.create(name="odd", base_url=url, model="m", allow_private=True, timeout_s=5)
        run = begin(small_corpus(dialogues=1, turns=1), Judge("cpdscore_detail", endpoint=odd))
        finish(seconds=1)
    call = run.calls.get()
    assert (call.state, call.error_kind) == (Call.State.PENDING, "transport")
    assert call.error.startswith("the response was not valid: ")


@pytest.mark.django_db(transaction=True)
def test_a_test_names_the_address_that_it_asked_and_hints_at_v1(fake: FakeLLM) -> None:
    fake.mode = "404"
    at_root = endpoint_of(fake, name="root")
    bare = fake.url.removesuffix("/v1")
    Endpoint.objects.filter(pk=at_root.pk).update(base_url=bare)
    at_root.refresh_from_db()
    told = client.test(at_root).test_error
    assert told.startswith(f"{bare}/chat/completions: HTTP 404")
    assert told.endswith(f"Most servers answer under /v1: try {bare}/v1 as its base URL.")
    versioned = client.test(endpoint_of(fake, name="versioned")).test_error
    assert versioned == f"{fake.url}/chat/completions: HTTP 404: the fake answers 404"


@pytest.mark.django_db(transaction=True)
def test_a_reply_that_is_cut_at_its_most_tokens_is_an_answer_to_a_test(fake: FakeLLM) -> None:
    message = {"role": "assistant", "content": "Well, let me think about"}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "length"}]})
    fake.answer = lambda _: (200, body)  # type: ignore[method-assign]
    tested = client.test(endpoint_of(fake))
    assert tested.test_error == ""
    assert tested.test_ms is not None
