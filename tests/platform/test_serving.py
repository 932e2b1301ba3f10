"""The supervisor: one command runs everything, and no process survives it or is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.fake_llm import FakeLLM
from tests.platform import ready
from tests.platform.running import Running, processes, query, running, status_of, wait_until

WORKERS = ("worker-calls", "worker-metrics", "worker-jobs")
KEY_NAME, KEY = "JUDGES_API_KEY", "key-of-the-provider"
KEYS = {"CONCORD_KEY_VARIABLES": KEY_NAME, KEY_NAME: KEY}
ASK_FOR_A_TEST = """
INSERT INTO jobs_endpoint (name, base_url, model, key_env, currency, concurrency, timeout_s, active,
                           allow_private, from_environment, test_asked, test_error, reply_form,
                           family, batch_most)
VALUES ('fake', '{url}', 'fake-1', '{key}', 'USD', 1, 30, true, true, false, now(), '', '', '', 50000)
"""
AS_USUAL = {"CONCORD_WEB_PROCESSES": ""}


@pytest.fixture(scope="module")
def server(home):
    with running(ready.fill(home), **KEYS, **AS_USUAL) as started:
        query(home, "CREATE TABLE kept AS SELECT 42 AS n")
        yield started


@pytest.fixture(scope="module")
def next_server(server):
    """The start after `kill -9` of the supervisor."""
    os.kill(server.process.pid, signal.SIGKILL)
    server.stop()
    started = Running(server.home)
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.stop()


def test_everything_runs_and_health_is_told(server):
    assert {"web", "keeper", "postgres", "supervisor"} <= processes(server.home).keys()
    assert status_of(server.port) == 200
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/readyz") as answer:
            told = json.load(answer)
    except urllib.error.HTTPError as error:
        told = json.load(error)
    assert told["database"]
    assert told["migrations"]
    assert told["workers"].keys() == {"calls", "metrics", "jobs"}


def test_the_first_start_prints_a_link_that_makes_the_administrator(server):
    wait_until(lambda: any("/link/" in line for line in server.lines))
    address = next(line.strip() for line in server.lines if "/link/" in line)
    assert address.startswith(f"http://127.0.0.1:{server.port}/link/")
    with urllib.request.urlopen(address) as page:
        assert page.status == 200
        assert "no-store" in page.headers["Cache-Control"]
        assert "Make the account" in page.read().decode()


def has_database(port: int | str) -> bool:
    """Whether /readyz says that the database is there; while it is not, that is told at once."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(json.load(answer)["database"])
    except urllib.error.HTTPError as error:
        return bool(json.load(error)["database"])
    except OSError:
        return False


@pytest.mark.parametrize("kind", ["postgres", "keeper", "worker-calls", "worker-metrics"])
def test_a_part_that_is_killed_comes_back_with_its_data(server, kind):
    before = kill_every(kind, server)
    is_back_with_its_data(server, kind, before)


def kill_every(kind: str, server: Running) -> set[int]:
    """`kill -9` for all processes of a kind; returns their numbers."""
    victims = processes(server.home)[kind]
    for process in victims:
        process.kill()
    return {process.pid for process in victims}


def is_back_with_its_data(server: Running, kind: str, before: set[int]) -> None:
    def back() -> bool:
        now = {process.pid for process in processes(server.home).get(kind, [])}
        return bool(now - before) and status_of(server.port) == 200 and has_database(server.port)

    wait_until(back)
    assert query(server.home, "SELECT n FROM kept") == [(42,)]


def test_another_process_answers_while_one_is_killed(server):
    wait_until(lambda: len(processes(server.home)["web"]) == 2)
    server.process.send_signal(signal.SIGSTOP)  # nobody starts another one meanwhile
    try:
        processes(server.home)["web"][0].kill()
        assert [status_of(server.port) for _ in range(20)] == [200] * 20
    finally:
        server.process.send_signal(signal.SIGCONT)
    wait_until(lambda: len(processes(server.home)["web"]) == 2)


def test_the_socket_stays_open_while_every_process_is_away(server):
    wait_until(lambda: len(processes(server.home)["web"]) == 2)
    before = kill_every("web", server)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    is_back_with_its_data(server, "web", before)


def test_a_second_one_in_the_same_home_is_refused_in_one_line(server):
    second = Running(server.home)
    assert second.process.wait(300) == 1
    second.stop()
    assert len(second.lines) == 1
    assert f"already runs in {server.home}" in second.lines[0]
    assert status_of(server.port) == 200


def test_the_key_of_an_endpoint_reaches_only_the_processes_that_make_calls(server):
    """After the kills above, so that what was started again is looked at, too."""
    wait_until(lambda: len(processes(server.home)["web"]) == 2)
    found = processes(server.home)
    assert found.keys() == {"supervisor", "web", "keeper", "postgres", *WORKERS}
    holders = {
        kind
        for kind, some in found.items()
        for one in some
        if KEY in Path(f"/proc/{one.pid}/environ").read_text()
    }
    assert holders == {"supervisor", "worker-calls"}, "the supervisor hands it on"


def test_an_endpoint_is_tested_with_its_key_by_the_worker_that_the_page_and_the_api_ask(server):
    with FakeLLM() as fake:
        query(server.home, ASK_FOR_A_TEST.format(url=fake.url, key=KEY_NAME))
        wait_until(lambda: query(server.home, "SELECT count(test_done) FROM jobs_endpoint") == [(1,)])
        assert fake.keys == {f"Bearer {KEY}"}


def test_after_kill_9_of_the_supervisor_the_next_start_is_clean_and_nothing_is_lost(next_server):
    assert query(next_server.home, "SELECT n FROM kept") == [(42,)]


def test_sigterm_stops_all_of_it_within_seconds(next_server):
    started = time.monotonic()
    assert next_server.stop() == 0
    assert time.monotonic() - started < 60
    assert not processes(next_server.home)
    assert status_of(next_server.port) is None
    assert next_server.lines[-1] == "Stopped."
