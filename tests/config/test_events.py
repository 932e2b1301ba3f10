"""Streams of events: what is published reaches every page of its topic, and no thread waits with them."""

from __future__ import annotations

import asyncio
import gc
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from config.web import events
from config.web.events import CHANNEL, MOST_WAITING, EventStream, publish
from config.web.protocol import LimitedHeaders
from tests.platform.web import ask, everything, send, serving

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 200
MOST_HELD = 2**20
"""Bytes that may wait for a client that does not read."""
MOST_FLOODS = 200


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
    """Answer `/stream/TOPIC` with a stream, and any other path at once."""
    path = environ["PATH_INFO"]
    if path.startswith("/stream/"):
        response = EventStream(path.removeprefix("/stream/"))
        start("200 OK", list(response.items()))
        return response
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


@pytest.fixture
def port() -> Iterator[int]:
    with serving(application) as port:
        yield port


def opened(port: int, topic: str) -> socket.socket:
    """Return a connection with an open stream of a topic, at its first event."""
    stream = send(port, f"GET /stream/{topic} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert "data: reopened" in until(stream, "data: reopened")
    return stream


def until(stream: socket.socket, text: str) -> str:
    """Read a stream until `text` has come."""
    data = ""
    while text not in data:
        part = stream.recv(65536)
        assert part, f"the stream ended after {data!r}"
        data += part.decode()
    return data


def wait_for_listener(*, ended: int = 0) -> int:
    """Wait until a connection of the server listens, other than the `ended` one; return its process."""
    deadline = time.monotonic() + 30
    query = "SELECT pid FROM pg_stat_activity WHERE query = %s AND state = 'idle' AND pid != %s"
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(query, [f"LISTEN {CHANNEL}", ended])
            if row := cursor.fetchone():
                return int(row[0])
            time.sleep(0.01)
    raise AssertionError("no connection listens")


def test_an_event_reaches_each_stream_of_its_topic_and_no_other(port: int) -> None:
    with opened(port, "a") as first, opened(port, "a") as second, opened(port, "b") as other:
        wait_for_listener()
        publish("a", "one")
        publish("b", "two")
        assert "data: one\n" in until(first, "one")
        assert "data: one\n" in until(second, "one")
        assert "one" not in until(other, "two")


def test_what_a_transaction_publishes_is_sent_only_if_it_commits(port: int) -> None:
    with opened(port, "a") as stream:
        wait_for_listener()
        with transaction.atomic():
            publish("a", "undone")
            transaction.set_rollback(True)
        publish("a", "stored")
        assert "undone" not in until(stream, "stored")


def test_two_hundred_streams_take_no_thread_from_other_requests(port: int) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(opened(port, "a")) for _ in range(MANY)]
        wait_for_listener()
        assert ask(port, "/page").endswith(b"ok")
        publish("a", "to all")
        assert all("data: to all\n" in until(stream, "to all") for stream in streams)


def test_after_a_lost_database_connection_every_client_reads_the_state_again(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RETRY_SECONDS", 0.01)
    with opened(port, "a") as stream:
        process = wait_for_listener()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [process])
        wait_for_listener(ended=process)
        publish("a", "again")
        assert "data: reopened\n" in until(stream, "again").partition("reopened")[2]


def test_a_stream_ends_after_its_time_so_that_its_client_is_authorised_anew(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "STREAM_SECONDS", 0.2)
    answer = ask(port, "/stream/a")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"0\r\n\r\n")


def test_a_quiet_stream_shows_signs_of_life(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET_SECONDS", 0.01)
    with opened(port, "a") as stream:
        assert ":\n\n" in until(stream, ":\n\n")


def test_a_text_with_line_breaks_is_one_event(port: int) -> None:
    with opened(port, "a") as stream:
        wait_for_listener()
        publish("a", "x\n\ndata: forged\r\rend")
        assert "data: x data: forged end\n\n" in until(stream, "end\n\n")


def test_a_stopping_server_closes_its_streams_and_does_not_wait_for_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(application) as port:
        stream = opened(port, "a")
    everything(stream)
    assert "Cancel" not in caplog.text
    stream.close()


def test_a_stopping_server_begins_no_stream_for_a_request_that_it_still_answers(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopping, shutdown = Event(), Event(), LimitedHeaders.shutdown

    def shut_down(protocol: LimitedHeaders) -> None:
        shutdown(protocol)
        stopping.set()

    def slow(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        begun.set()
        assert stopping.wait(60)
        return application(environ, start)

    monkeypatch.setattr(LimitedHeaders, "shutdown", shut_down)
    with serving(slow) as port:
        stream = send(port, b"GET /stream/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert begun.wait(60)
    assert everything(stream).startswith(b"HTTP/1.1 200")
    assert "Cancel" not in caplog.text
    stream.close()


def flood(topic: str, reader: socket.socket) -> None:
    """Publish as many large events as a stream may hold, and wait until a client has read them."""
    with transaction.atomic():
        for number in range(MOST_WAITING - 1):
            publish(topic, f"{number} {'x' * 6_000}")
        publish(topic, "end")
    until(reader, "data: end")


def waiting_bytes() -> int:
    """Return the bytes that the server's connections hold because their clients do not read."""
    transports = [thing for thing in gc.get_objects() if isinstance(thing, asyncio.Transport)]
    return sum(transport.get_write_buffer_size() for transport in transports)


def test_a_client_that_never_reads_delays_nobody_and_holds_little_memory(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(application) as port:
        silent = opened(port, "a")
        with opened(port, "a") as reader:
            wait_for_listener()
            floods = 0
            while not waiting_bytes():  # until the buffers of the sockets are full
                flood("a", reader)
                floods += 1
                assert floods < MOST_FLOODS
            for _ in range(20):
                flood("a", reader)
            assert ask(port, "/page").endswith(b"ok")
            assert waiting_bytes() < MOST_HELD
    assert "Cancel" not in caplog.text
    silent.close()
