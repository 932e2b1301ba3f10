"""Starting: with the demo, repeatedly, and with obstacles."""

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
from tests.platform.running import Running, processes, query, running, wait_until

DEMO_LINES = ("Loading the demo", "annotator", "researcher", "Concord is ready")


@pytest.fixture(scope="module")
def demo(home: Path) -> Iterator[Running]:
    """A start with the demo."""
    server = Running(ready.fill(home), options=["--demo"])
    try:
        server.wait_until_ready(1200)
        yield server
    finally:
        server.stop()


@pytest.mark.exhaustive
def test_the_demo_shows_its_accounts_and_then_the_address(demo):
    found = [next(i for i, line in enumerate(demo.lines) if word in line) for word in DEMO_LINES]
    assert found == sorted(found)


@pytest.mark.exhaustive
def test_the_demo_runs_a_fake_model_on_this_machine_alone(demo):
    rows = query(demo.home, "SELECT base_url, active FROM jobs_endpoint WHERE name LIKE 'fake model%'")
    [(url, active)] = rows
    assert active
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{url}/models", timeout=5) as response:
        assert json.loads(response.read())["data"][0]["id"].startswith("fake")


@pytest.mark.exhaustive
def test_a_later_start_takes_seconds_and_ends_with_its_supervisor(demo):
    demo.stop()
    started = time.monotonic()
    with running(demo.home) as server:
        # A few seconds on an idle machine; what else runs beside it takes its share of the processors.
        share = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        assert time.monotonic() - started < 25 * share
        fakes = "SELECT active FROM jobs_endpoint WHERE name LIKE 'fake model%'"
        assert query(demo.home, fakes) == [(False,)], "the fake model ended with its demo"
        os.kill(server.process.pid, signal.SIGKILL)
    wait_until(lambda: not processes(demo.home))


@pytest.mark.exhaustive
def test_a_port_in_use_is_told_in_one_line(new_home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = Running(new_home, port=taken.getsockname()[1])
        assert server.process.wait(300) == 1
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
