"""Stopping and starting again: in order, after a kill, and when something is in the way."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.management.commands.serve import Command
from tests.platform import ready
from tests.platform.running import Running, processes, query, running, status_of, wait_until

DEMO_LINES = ("Loading the demo", "annotator", "researcher", "Concord is ready")


@pytest.fixture(scope="module")
def killed(home: Path) -> Path:
    """A home whose supervisor was killed a moment ago."""
    server = Running(ready.fill(home))
    server.wait_until_ready()
    query(home, "CREATE TABLE kept AS SELECT 42 AS n")
    os.kill(server.process.pid, signal.SIGKILL)
    server.stop()
    return home


@pytest.fixture(scope="module")
def next_one(killed: Path) -> Iterator[Running]:
    """The start that follows, with the demo."""
    server = Running(killed, options=["--demo"])
    server.wait_until_ready()
    yield server
    server.stop()


@pytest.mark.exhaustive
def test_after_kill_9_of_the_supervisor_the_next_start_is_clean_and_nothing_is_lost(next_one):
    assert query(next_one.home, "SELECT n FROM kept") == [(42,)]


@pytest.mark.exhaustive
def test_the_demo_shows_its_accounts_and_then_the_address(next_one):
    found = [next(i for i, line in enumerate(next_one.lines) if word in line) for word in DEMO_LINES]
    assert found == sorted(found)


@pytest.mark.exhaustive
def test_the_demo_runs_a_fake_model_on_this_machine_alone(next_one):
    rows = query(next_one.home, "SELECT base_url, active FROM jobs_endpoint WHERE name LIKE 'fake model%'")
    [(url, active)] = rows
    assert active
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{url}/models", timeout=5) as response:
        assert json.loads(response.read())["data"][0]["id"].startswith("fake")


@pytest.mark.exhaustive
def test_sigterm_stops_all_of_it_within_seconds(next_one):
    started = time.monotonic()
    assert next_one.stop() == 0
    assert time.monotonic() - started < 60
    assert not processes(next_one.home)
    assert status_of(next_one.port) is None
    assert next_one.lines[-1] == "Stopped."


@pytest.mark.exhaustive
def test_a_later_start_takes_seconds_and_ends_with_its_supervisor(next_one):
    next_one.stop()
    started = time.monotonic()
    with running(next_one.home) as server:
        # A few seconds on an idle machine; what else runs beside it takes its share of the processors.
        share = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        assert time.monotonic() - started < 25 * share
        fakes = "SELECT active FROM jobs_endpoint WHERE name LIKE 'fake model%'"
        assert query(next_one.home, fakes) == [(False,)], "the fake model ended with its demo"
        os.kill(server.process.pid, signal.SIGKILL)
    wait_until(lambda: not processes(next_one.home))


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


@pytest.mark.parametrize("number", ["0", "65", "two"])
def test_a_number_of_web_processes_that_is_none_is_told_in_one_line(capfd, monkeypatch, number):
    monkeypatch.setenv("CONCORD_WEB_PROCESSES", number)
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "serve"])
    assert ended.value.code == 1
    said = capfd.readouterr()
    assert (said.out + said.err).splitlines() == [
        f"CommandError: CONCORD_WEB_PROCESSES={number}: choose a number between 1 and 64."
    ]


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_is_none_is_told_in_one_line(capfd, port):
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "serve", "--port", port])
    assert ended.value.code == 1
    said = capfd.readouterr()
    assert (said.out + said.err).splitlines() == [
        f"CommandError: PORT={port} is not a port number: choose one between 1 and 65535."
    ]
