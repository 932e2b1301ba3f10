"""The next start recovers from whatever a kill leaves behind."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import stat
import subprocess
import threading
import time
from itertools import cycle, islice
from pathlib import Path

import psutil
import pytest

from config.embedded import server as leftovers
from config.embedded.layout import Layout, layout
from config.embedded.logs import open_log, rotate
from config.embedded.server import Account, stop_leftovers
from tests.platform.running import (
    MANAGE,
    NOBODY,
    Running,
    as_ordinary_user,
    environment,
    manage,
    processes,
    running,
    status_of,
    wait_until,
)

KILLS = int(os.environ.get("CONCORD_KILLS") or 2)
LOOK = "from django.db import connection as c; c.ensure_connection(); print('ready', flush=True)"
HOLD = f"{LOOK}; input()"


@pytest.fixture
def places(tmp_path: Path) -> Layout:
    found = Layout(tmp_path, as_root=False)
    (found.root / "data.new").mkdir(parents=True)
    return found


def left_over(program: str, folder: Path, tmp_path: Path) -> subprocess.Popen[bytes]:
    """A process that looks like one of PostgreSQL's and works in `folder`."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    copy = shutil.copy("/bin/sleep", tmp_path / "bin" / program)
    return subprocess.Popen([copy, "60"], cwd=folder)


def test_an_initdb_left_over_is_ended_before_its_folder_is_made_anew(places, tmp_path):
    left = left_over("initdb", places.root, tmp_path)
    began = time.monotonic()
    stop_leftovers_while_reaping(places, left)
    assert left.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 30, "not when it ends by itself"


@pytest.mark.parametrize("folder", ["data.new", "data"])
def test_parts_of_a_killed_server_are_waited_for_and_then_ended(places, tmp_path, monkeypatch, folder):
    monkeypatch.setattr(leftovers, "PATIENCE", 0.3)
    (places.root / folder).mkdir(exist_ok=True)
    left = left_over("postgres", places.root / folder, tmp_path)
    stop_leftovers_while_reaping(places, left)
    assert left.returncode == -signal.SIGKILL


def test_the_lock_of_a_socket_is_forgotten_though_another_program_has_the_number_of_its_server(places):
    places.socket.mkdir(parents=True, exist_ok=True)
    lock = places.socket / leftovers.LOCK_FILE
    lock.write_text(f"{os.getpid()}\n{places.data}\n")
    stop_leftovers(places)
    assert not lock.exists()


def test_other_programs_in_the_folder_are_left_alone(places, tmp_path):
    bystander = left_over("editor", places.root, tmp_path)
    stop_leftovers(places)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def stop_leftovers_while_reaping(places: Layout, left: subprocess.Popen[bytes]) -> None:
    """As `stop_leftovers`; a killed child stays visible until its parent, this test, waits for it."""
    waiting = threading.Thread(target=left.wait)
    waiting.start()
    stop_leftovers(places)
    waiting.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_that_a_killed_start_did_not_give_away_is_given_away_now(tmp_path):
    path = tmp_path / "data"
    path.mkdir()
    leftovers.own_folder(path, Account(NOBODY, NOBODY))
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (NOBODY, 0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps data outside the home")
def test_a_start_killed_while_it_noted_the_home_does_not_set_the_data_aside(new_home, monkeypatch):
    places = layout(new_home)
    leftovers.set_aside_removed_home(places)
    places.root.mkdir()

    def killed(path: Path, text: str) -> int:
        path.open("w").close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", killed)
    with contextlib.suppress(KeyboardInterrupt):
        leftovers.set_aside_removed_home(places)
    monkeypatch.undo()
    leftovers.set_aside_removed_home(places)
    assert places.root.exists()


def test_logs_are_for_their_owner_alone(home):
    assert manage(home, "showmigrations", "--plan", "--skip-checks").returncode == 0
    for folder in (home / "logs", home / "run"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for log in (home / "logs").iterdir():
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_log_is_cut_while_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("config.embedded.logs.LARGEST", 100)
    path = tmp_path / "postgres.log"
    with open_log(path) as log:
        log.write(b"x" * 200)
        log.flush()
        rotate(path)
        log.write(b"after")
    assert path.read_bytes() == b"after"
    assert (tmp_path / "postgres.log.1").read_bytes() == b"x" * 200
    assert stat.S_IMODE((tmp_path / "postgres.log.1").stat().st_mode) == 0o600


def test_a_refused_row_is_not_in_the_log(home):
    code = (
        "from django.db import connection as c, Error\n"
        "with c.cursor() as cursor:\n"
        "    cursor.execute('CREATE TEMP TABLE person (name text, password text CHECK (name > password))')\n"
        "    try: cursor.execute(\"INSERT INTO person VALUES ('a', 'pbkdf2-secret-hash')\")\n"
        "    except Error: print('refused')\n"
    )
    done = manage(home, "shell", "--no-imports", "-c", code)
    assert "refused" in done.stdout, done.stderr
    log = (home / "logs" / "postgres.log").read_text()
    assert "violates check constraint" in log
    assert "pbkdf2-secret-hash" not in log


@pytest.mark.exhaustive
@pytest.mark.parametrize("ordinary", [False, True])
def test_every_start_recovers_from_kills_at_random_moments(new_home, ordinary_home, ordinary):
    """`CONCORD_KILLS=100` makes a campaign of it: first starts and later, as root and as another user."""
    home = ordinary_home if ordinary else new_home
    prefix = as_ordinary_user() if ordinary else []
    places = Layout(home.resolve(), as_root=os.geteuid() == 0 and not ordinary)
    chance = random.Random(KILLS + ordinary)
    # So that two kills, by root and by another user, are one of each kind.
    kinds = islice(cycle(KINDS[2 * ordinary :] + KINDS[: 2 * ordinary]), KILLS)
    for number, (first, kill) in enumerate(kinds):
        if first or not home.exists():
            leftovers.remove_home(places)
            home.mkdir()
            os.chown(home, *((NOBODY, NOBODY) if ordinary and os.geteuid() == 0 else (-1, -1)))
        did = kill(home, places, prefix, chance)
        what = f"kill {number}: {'first' if first else 'later'} start, {did}"
        done = manage(home, "shell", "--no-imports", "-c", LOOK, prefix=prefix)
        log = (home / "logs" / "postgres.log").read_text()[-2000:]
        assert "ready" in done.stdout, (what, done.stderr, log)
        wait_until(lambda: not processes(home, places))
    if KILLS > 2:
        with running(home, prefix=prefix) as server:
            assert status_of(server.port) == 200


def kill_a_command(home: Path, places: Layout, prefix: list[str], chance: random.Random) -> str:
    """Start, and kill the starter with the keeper, with or without the server, at a random moment."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(
        [*prefix, *MANAGE, "shell", "--no-imports", "-c", HOLD],
        env=environment(home),
        start_new_session=True,
        **pipes,
    )
    wait_until(lambda: processes(home, places).get("keeper"))
    pause = chance.uniform(0, 3)
    time.sleep(pause)
    kinds = chance.choice([["keeper"], ["keeper", "postgres"], ["postgres", "keeper"]])
    victims = processes(home, places)
    started.kill()
    kill_all(victims, kinds)
    started.communicate()
    return f"a command and its {kinds} after {pause:.2f} s"


def kill_serve(home: Path, places: Layout, prefix: list[str], chance: random.Random) -> str:
    """Start all of it, and kill the supervisor with or without others at a random moment."""
    server = Running(home, prefix=prefix)
    wait_until(lambda: processes(home, places).get("keeper"))
    pause = chance.choice([chance.uniform(0, 2), chance.uniform(0, 15)])
    until = time.monotonic() + pause
    while time.monotonic() < until and not any("is ready" in line for line in list(server.lines)):
        time.sleep(0.02)
    kinds = chance.choice([[], ["keeper"], ["keeper", "postgres"], ["postgres", "keeper"], ["postgres"]])
    victims = processes(home, places)
    server.process.kill()
    kill_all(victims, kinds)
    server.stop()
    return f"serve and its {kinds} after {pause:.2f} s, {server.lines[-1:]}"


def kill_all(victims: dict[str, list[psutil.Process]], kinds: list[str]) -> None:
    """`kill -9` in the order of `kinds`; some may have ended already."""
    for victim in (process for kind in kinds for process in victims.get(kind, [])):
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()


# Whether it is the home's first start, and what is killed.
KINDS = [(True, kill_a_command), (False, kill_serve), (True, kill_serve), (False, kill_a_command)]
