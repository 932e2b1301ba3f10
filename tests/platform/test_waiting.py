"""A start may take any time: the supervisor shows its progress, and gives up only if a process dies."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from config.embedded import postgres, supervisor
from config.embedded.layout import EmbeddedError, layout, make_home
from config.embedded.supervisor import Child, Program, Supervisor
from tests.platform.running import free_port

LATE = """
import http.server, sys, time
time.sleep(2)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


class Started:
    """A supervisor whose web server is a program of the test's own."""

    def __init__(self, home: Path, *command: str) -> None:
        self.said: list[str] = []
        self.port = free_port()
        places = layout(home)
        make_home(places)
        self.supervisor = Supervisor(places, host="127.0.0.1", port=self.port, say=self.said.append)
        program = Program("web-1", (sys.executable, "-c", *command, str(self.port)))
        self.child = Child(program, places, Path(home))

    def wait(self) -> None:
        self.child.start()
        try:
            self.supervisor.wait_for_answer([self.child])
        finally:
            self.child.stop(time.monotonic())


def test_a_slow_start_is_waited_for_and_said_again_and_again(monkeypatch, tmp_path):
    real = time.monotonic
    clock = SimpleNamespace(monotonic=lambda: real() * 100, sleep=time.sleep)  # two seconds are minutes
    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "SAY_EVERY", 30.0)
    started = Started(tmp_path, LATE)
    started.wait()
    assert len(started.said) >= 3
    assert all(
        line.startswith("Waiting for the web server to answer (web-1 started), ") for line in started.said
    )
    assert int(started.said[-1].split(", ")[-1].split()[0]) > 60, "longer than anyone would guess"


def test_a_web_server_that_ends_is_given_up_with_its_last_lines(tmp_path):
    started = Started(tmp_path, "import sys; print('no such module'); print('named x'); sys.exit(3)")
    with pytest.raises(EmbeddedError) as given_up:
        started.wait()
    assert str(given_up.value).splitlines() == [
        "The web server did not start: web-1 ended (status 3):",
        "  no such module",
        "  named x",
        f"(see {started.child.log})",
    ]


def test_a_web_server_that_ends_without_a_word_is_said_to(tmp_path):
    started = Started(tmp_path, "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(EmbeddedError, match=r"web-1 ended \(signal 9\), without a word"):
        started.wait()


def test_a_database_that_takes_long_is_waited_for_and_its_failure_told(monkeypatch, tmp_path):
    keeper = tmp_path / "code" / "config" / "embedded" / "keeper.py"
    keeper.parent.mkdir(parents=True)
    keeper.write_text("import time; time.sleep(1); print('PostgreSQL did not start: no room')")
    monkeypatch.setattr(postgres, "PROJECT", tmp_path / "code")
    monkeypatch.setattr(postgres, "LOOK_EVERY", 0.1)
    monkeypatch.setattr(postgres, "START_SECONDS", 0.0)
    looks: list[None] = []
    used = postgres.Use(layout(tmp_path / "home"))
    with pytest.raises(EmbeddedError, match=r"^PostgreSQL did not start: no room$"):
        used.ensure(waiting=lambda: looks.append(None))
    used.release()
    assert len(looks) >= 3
