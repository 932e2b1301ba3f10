"""The supervisor: one command runs everything, and nothing survives it or is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request

import pytest

from tests.platform.running import Running, processes, query, running, status_of, wait_until

pytestmark = pytest.mark.slow
DEMO_LINES = ("Loading the demo", "annotator", "researcher", "Concord is ready")


@pytest.fixture(scope="module")
def server(home):
    with running(home) as started:
        query(home, "CREATE TABLE kept AS SELECT 42 AS n")
        yield started


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


def has_database(port: int | str) -> bool:
    """Whether /readyz says that the database is there; while it is not, that is told at once."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(json.load(answer)["database"])
    except urllib.error.HTTPError as error:
        return bool(json.load(error)["database"])
    except OSError:
        return False


@pytest.mark.parametrize("kind", ["web", "postgres", "keeper", "worker-calls", "worker-metrics"])
def test_a_part_that_is_killed_comes_back_with_its_data(server, kind):
    before = {process.pid for process in processes(server.home)[kind]}
    for process in processes(server.home)[kind]:
        process.kill()

    def back() -> bool:
        now = {process.pid for process in processes(server.home).get(kind, [])}
        return bool(now - before) and status_of(server.port) == 200 and has_database(server.port)

    wait_until(back, 30)
    assert query(server.home, "SELECT n FROM kept") == [(42,)]


def test_another_process_answers_while_one_is_killed(server):
    wait_until(lambda: len(processes(server.home)["web"]) == 2, 30)
    processes(server.home)["web"][0].kill()
    began = time.monotonic()
    assert [status_of(server.port) for _ in range(20)] == [200] * 20
    assert time.monotonic() - began < 3
    wait_until(lambda: len(processes(server.home)["web"]) == 2, 30)


def test_the_socket_stays_open_while_every_process_is_away(server):
    wait_until(lambda: len(processes(server.home)["web"]) == 2, 30)
    for process in processes(server.home)["web"]:
        process.kill()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_a_second_one_in_the_same_home_is_refused_in_one_line(server):
    second = Running(server.home)
    assert second.process.wait(30) == 1
    second.stop()
    assert len(second.lines) == 1
    assert f"already runs in {server.home}" in second.lines[0]
    assert status_of(server.port) == 200


def test_sigterm_stops_all_of_it_within_seconds(new_home):
    with running(new_home) as server:
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 20
        assert not processes(new_home)
        assert status_of(server.port) is None
        assert server.lines[-1] == "Stopped."
    started = time.monotonic()
    with running(new_home):
        # A few seconds on an idle machine; here other tests run beside it.
        assert time.monotonic() - started < 25


def test_after_kill_9_of_the_supervisor_the_next_start_is_clean_and_nothing_is_lost(new_home):
    server = Running(new_home)
    server.wait_until_ready()
    query(new_home, "CREATE TABLE kept AS SELECT 42 AS n")
    os.kill(server.process.pid, signal.SIGKILL)
    server.stop()
    with running(new_home):
        assert query(new_home, "SELECT n FROM kept") == [(42,)]
    assert not processes(new_home)


def test_all_of_it_ends_after_kill_9_of_the_supervisor(new_home):
    server = Running(new_home)
    server.wait_until_ready()
    os.kill(server.process.pid, signal.SIGKILL)
    server.stop()
    wait_until(lambda: not processes(new_home), 30)


def test_the_demo_shows_its_accounts_and_then_the_address(new_home):
    server = Running(new_home, options=["--demo"])
    server.wait_until_ready()
    assert server.stop() == 0
    found = [next(i for i, line in enumerate(server.lines) if word in line) for word in DEMO_LINES]
    assert found == sorted(found)


def test_the_first_start_prints_a_link_that_makes_the_administrator(new_home):
    with running(new_home) as server:
        wait_until(lambda: any("/link/" in line for line in server.lines), 10)
        address = next(line.strip() for line in server.lines if "/link/" in line)
        assert address.startswith(f"http://127.0.0.1:{server.port}/link/")
        with urllib.request.urlopen(address) as page:
            assert page.status == 200
            assert "no-store" in page.headers["Cache-Control"]
            assert "Make the account" in page.read().decode()


def test_a_port_in_use_is_told_in_one_line(new_home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = Running(new_home, port=taken.getsockname()[1])
        assert server.process.wait(30) == 1
        server.stop()
    assert len(server.lines) == 1
    assert f"Port {server.port} on 127.0.0.1 is in use" in server.lines[0]
    assert not processes(new_home)


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_is_none_is_told_in_one_line(new_home, port):
    server = Running(new_home, port=port)
    assert server.process.wait(30) == 1
    server.stop()
    assert server.lines == [
        f"CommandError: PORT={port} is not a port number: choose one between 1 and 65535."
    ]
