"""A full disk, too few open files: one clear line each, no confirmed data lost, automatic recovery."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest

from config.embedded.layout import Layout
from config.embedded.processes import FEWEST_FILES
from config.embedded.supervisor import Child, Program, Supervisor
from tests.platform import ready
from tests.platform.running import (
    NOBODY,
    Running,
    as_ordinary_user,
    manage,
    processes,
    running,
    status_of,
    wait_until,
)
from tests.platform.web import send

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PREPARE = f"""
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from annotation.models import ApiToken
from annotation.people.accounts import hash_of
ApiToken.objects.create(
    user=User.objects.create_superuser("root"), name="tests", scope="write", key_hash=hash_of("{TOKEN}"),
    expires_at=timezone.now() + timedelta(days=1),
)
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


def mounted(size: str) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="concord-disk-"))
    options = f"size={size},mode=0755,uid={NOBODY},gid={NOBODY}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    yield folder
    wait_until(lambda: not processes(folder / "home", Layout(folder / "home", as_root=False)))
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A disk on which a small database fits, which belongs to an ordinary user."""
    yield from mounted("300m")


@pytest.fixture(scope="module")
def server(disk: Path) -> Iterator[Running]:
    """All of it on that disk, with as few files as it starts with."""
    home = disk / "home"
    home.mkdir()
    os.chown(ready.fill(home, ordinary=True), NOBODY, NOBODY)
    prefix = ["prlimit", f"--nofile={FEWEST_FILES}:{FEWEST_FILES}", *as_ordinary_user()]
    with running(home, prefix=prefix) as started:
        yield started
    assert not processes(home, Layout(home, as_root=False))


@pytest.fixture
def tiny_disk() -> Iterator[Path]:
    """A disk on which no database fits."""
    yield from mounted("20m")


def fill(disk: Path) -> Path:
    """Leave no room at all."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - 4096)
    return filler


def test_a_disk_without_room_for_a_database_is_told_in_one_line(tiny_disk):
    server = Running(tiny_disk / "home", prefix=as_ordinary_user())
    assert server.process.wait(300) == 1
    server.stop()
    assert "a new database needs" in server.lines[-1]
    assert not any("Traceback" in line for line in server.lines)


def test_too_few_open_files_are_told_in_one_line(new_home):
    server = Running(new_home, prefix=["prlimit", "--nofile=64:64"])
    assert server.process.wait(300) == 1
    server.stop()
    assert len(server.lines) == 1
    assert "Only 64 files may be open at once" in server.lines[0]


def test_a_program_that_cannot_be_started_is_told_once_and_tried_again(new_home, monkeypatch):
    told: list[str] = []
    places = Layout(new_home, as_root=False)
    supervisor = Supervisor(places, host="127.0.0.1", port=1, say=told.append)
    child = Child(Program("web-1", ("/bin/true",)), places, new_home)
    for _ in range(3):
        supervisor._look_after(child)  # there is no folder for its log
    assert told == ["web-1 cannot be started now: No such file or directory."]
    places.logs.mkdir()
    supervisor._look_after(child)
    assert child.process is not None
    child.process.wait()


@pytest.mark.exhaustive
def test_a_disk_that_fills_up_loses_nothing_and_goes_on_once_there_is_room(disk, server):
    connect = ordinary_query(server.home)
    connect("CREATE TABLE kept (n int PRIMARY KEY, filling text)")
    filler = fill(disk)
    confirmed = write_until_refused(connect)
    assert status_of(server.port) == 200
    assert status_of(server.port, "sign-in/") in {200, 503}
    filler.unlink()
    wait_until(lambda: goes_on(connect), 90)
    found = connect("SELECT count(*) FROM kept WHERE n <= " + str(confirmed))
    assert found == [(confirmed,)]
    assert status_of(server.port, "sign-in/") == 200
    assert server.process.poll() is None


@pytest.mark.exhaustive
def test_more_connections_than_files_cost_nothing_that_was_confirmed_and_it_goes_on(server):
    made = manage(server.home, "shell", "--no-imports", "-c", PREPARE, prefix=as_ordinary_user())
    assert made.returncode == 0, made.stderr
    statuses = [save(server, 0)]
    with ExitStack() as held:
        for _ in range(2 * FEWEST_FILES):
            held.enter_context(send(int(server.port), b"GET / HTTP/1.1\r\n"))
        statuses += [save(server, number) for number in range(1, 6)]
    wait_until(lambda: status_of(server.port, "sign-in/") == 200)
    statuses.append(save(server, 6))
    assert statuses[0] == statuses[-1] == 201
    assert None in statuses or 503 in statuses, "there were too many"
    assert set(statuses) <= {201, 503, None}
    (found,) = ordinary_query(server.home)("SELECT count(*) FROM jobs_endpoint")
    assert found[0] >= statuses.count(201)
    (line,) = (server.home / "logs" / "web-1.log").read_text().splitlines()[-1:]
    assert "connections are taken that the limit of open files allows" in line


def save(server: Running, number: int) -> int | None:
    """Add an endpoint over the API; the status of the answer, None where there is none."""
    body = json.dumps({"name": f"e{number}", "base_url": "http://localhost:9/v1", "model": "m"})
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
    address = f"http://127.0.0.1:{server.port}/api/v1/endpoints/"
    try:
        with urlopen(Request(address, body.encode(), headers), timeout=20) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except OSError:
        return None


def ordinary_query(home: Path):
    """As `query`, for a home of an ordinary user, whose socket root may use, too."""
    settings = {"host": str(home / "postgres" / "socket"), "user": "postgres", "dbname": "concord"}

    def run(statement: str):
        with psycopg.connect(**settings, port=5432, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    return run


def write_until_refused(connect) -> int:
    """Write rows until the disk is full; returns the number of the last that was confirmed."""
    for number in range(1, 20_000):
        try:
            connect(f"INSERT INTO kept VALUES ({number}, repeat(md5(random()::text), 10000))")
        except psycopg.Error:
            return number - 1
    raise AssertionError("the disk never filled up")


def goes_on(connect) -> bool:
    """Whether a row can be written."""
    try:
        connect("INSERT INTO kept VALUES (1000000, '') ON CONFLICT DO NOTHING")
    except psycopg.Error:
        return False
    return True
