"""Backup and restore: one command each, verified, atomic, for the embedded and an external database."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import stat
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from config.backup import DUMP, MANIFEST
from config.embedded import postgres
from tests.platform import forking, ready
from tests.platform.running import MANAGE, environment, manage, query

NAMES = "SELECT username FROM auth_user ORDER BY 1"
ADD = "from django.contrib.auth.models import User; User.objects.create_user({name!r})"
KEEP = (
    "from django.db import connection as c; c.ensure_connection(); c.close()\n"
    "print('ready', flush=True); input()"
)
FILLER = "CREATE TABLE filler AS SELECT n, repeat('x', 500) AS t FROM generate_series(1, {rows}) AS n"
KILLS = int(os.environ.get("CONCORD_KILLS") or 5)
OBJECTS = """
SELECT (SELECT count(*) FROM pg_index WHERE indisvalid),
       (SELECT count(*) FROM pg_constraint WHERE convalidated), (SELECT count(*) FROM pg_trigger),
       (SELECT count(*) FROM pg_class), (SELECT count(*) FROM filler),
       (SELECT count(*) FROM django_migrations),
       (SELECT string_agg(username, ',' ORDER BY username) FROM auth_user)
"""
LIST = "from django.contrib.auth.models import User; print(*User.objects.values_list('username', flat=True))"
DATABASES = "SELECT datname FROM pg_database WHERE datname LIKE 'concord%' ORDER BY 1"


@pytest.fixture(scope="module")
def kept(home: Path) -> Iterator[Path]:
    """A home with all tables, whose database runs while the tests do."""
    ready.fill(home)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(
        [*MANAGE, "shell", "--no-imports", "-c", KEEP], env=environment(home), text=True, **pipes
    )
    assert process.stdout.readline() == "ready\n"
    yield home
    process.communicate("\n")


@pytest.fixture(scope="module")
def run(kept: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs a command of `manage.py` in that home."""
    with forking.commands(kept) as commands:
        yield commands.run


@pytest.fixture(scope="module")
def saved(kept: Path, run) -> Path:
    """A backup of a database with one account."""
    assert run("shell", "-c", ADD.format(name="ada")).returncode == 0
    path = kept / "one.backup"
    done = run("backup", str(path))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["bytes"] == path.stat().st_size
    return path


def names(home: Path) -> list[str]:
    return [name for (name,) in query(home, NAMES)]


def test_a_backup_is_for_its_owner_alone_and_is_not_written_over(run, saved):
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    before = saved.read_bytes()
    refused = run("backup", str(saved))
    assert refused.returncode == 1
    assert "exists: choose another name" in refused.stderr
    assert saved.read_bytes() == before


def test_a_database_that_holds_something_is_refused_unless_told(kept, run, saved):
    assert run("shell", "-c", ADD.format(name="grace")).returncode == 0
    refused = run("restore", str(saved))
    assert refused.returncode == 1
    assert "not empty (annotation_username has rows)" in refused.stderr
    assert names(kept) == ["ada", "grace"]
    done = run("restore", str(saved), "--replace")
    assert done.returncode == 0, done.stderr
    assert names(kept) == ["ada"]
    second = str(saved.with_name("second.backup"))
    assert run("backup", second).returncode == 0
    again = run("restore", second, "--replace")
    assert again.returncode == 0, again.stderr


@pytest.mark.exhaustive
def test_an_outside_database_is_restored_from_an_embedded_one(kept, saved):
    query(kept, "CREATE DATABASE outside")
    found = postgres.connection_settings(kept)
    url = f"postgres://{found['USER']}@{quote(found['HOST'], safe='')}:{found['PORT']}/outside"
    with forking.commands(kept, DATABASE_URL=url) as outside:
        done = outside.run("restore", str(saved))
        assert done.returncode == 0, done.stderr
        again = outside.run("backup", str(kept / "outside.backup"))
        assert again.returncode == 0, again.stderr
    first, second = (
        json.loads(zipfile.ZipFile(kept / n).read(MANIFEST)) for n in ("one.backup", "outside.backup")
    )
    assert first["rows"] == second["rows"]
    assert first["migrations"] == second["migrations"]


def address(home: Path) -> dict[str, str]:
    """How a driver reaches the database of a home."""
    found = postgres.connection_settings(home)
    return {"host": found["HOST"], "port": found["PORT"], "user": found["USER"], "dbname": found["NAME"]}


def altered(saved: Path, name: str, **changes: object) -> Path:
    """A copy of a backup with another manifest."""
    path = saved.with_name(name)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as target:
        target.writestr(DUMP, source.read(DUMP))
        target.writestr(MANIFEST, json.dumps(json.loads(source.read(MANIFEST)) | changes))
    return path


@pytest.mark.exhaustive
def test_a_damaged_backup_and_one_of_a_later_release_change_nothing(kept, run, saved):
    cut = saved.with_name("cut.backup")
    cut.write_bytes(saved.read_bytes()[:-200])
    rows = json.loads(zipfile.ZipFile(saved).read(MANIFEST))["rows"]
    cases = {
        cut: "not a complete backup",
        altered(saved, "hash.backup", sha256="0" * 64): "is damaged",
        altered(saved, "later.backup", migrations=[["auth", "9999_later"]]): "does not know auth.9999_later",
        altered(
            saved, "rows.backup", rows=rows | {"auth_user": 2}
        ): "the backup has 2 rows of auth_user, but 1",
        altered(saved, "index.backup", objects={"indexes": 9999}): "the backup has 9,999 indexes, but",
        altered(
            saved, "constraint.backup", objects={"constraints": 9999}
        ): "the backup has 9,999 constraints",
        saved.with_name("none.backup"): "cannot be read",
    }
    for path, sentence in cases.items():
        refused = run("restore", str(path), "--replace")
        assert refused.returncode == 1
        assert sentence in refused.stderr, (path, refused.stderr)
        assert len(refused.stderr.splitlines()) == 1
        assert "ada" in names(kept)


@pytest.mark.skipif(os.geteuid() != 0, reason="as root the data lies outside the home")
def test_a_backup_that_cannot_be_written_is_told_in_one_line(run):
    refused = run("backup", "/proc/nowhere.backup")
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.exhaustive
def test_a_restore_killed_anywhere_leaves_the_old_or_the_new_database_whole(kept, run, saved):
    query(kept, FILLER.format(rows=1000))
    other = str(saved.with_name("other.backup"))
    assert run("backup", other).returncode == 0
    assert run("restore", str(saved), "--replace").returncode == 0
    query(kept, FILLER.format(rows=30_000))
    old = str(saved.with_name("old.backup"))
    assert run("backup", old).returncode == 0
    states = {}
    for path in (other, old):
        began = time.monotonic()
        done = run("restore", path, "--replace")
        assert done.returncode == 0, done.stderr
        states[path] = query(kept, OBJECTS)
    assert states[other] != states[old]
    seconds, endings = time.monotonic() - began, []
    for position in range(KILLS):
        path = other if query(kept, OBJECTS) == states[old] else old
        done = run("restore", path, "--replace", kill_after=seconds * (position + 1) / KILLS)
        endings.append(done.returncode)
        assert query(kept, OBJECTS) in states.values(), f"killed at position {position + 1} of {KILLS}"
    assert -signal.SIGKILL in endings
    assert run("restore", str(saved), "--replace").returncode == 0
    assert query(kept, DATABASES) == [("concord",)], "what killed restores left is gone"


def is_whole(path):
    """Whether the archive opens and its dump is the one that its manifest names."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        if MANIFEST not in archive.namelist():
            return False
        digest = hashlib.sha256(archive.read(DUMP)).hexdigest()
        return digest == json.loads(archive.read(MANIFEST))["sha256"]


@pytest.mark.exhaustive
def test_a_killed_backup_leaves_nothing_under_a_name_that_looks_whole(kept, run, saved):
    query(kept, FILLER.format(rows=30_000))
    path = saved.with_name("killed.backup")
    began = time.monotonic()
    assert run("backup", str(path)).returncode == 0
    seconds = time.monotonic() - began
    for position in range(KILLS):
        run("backup", str(path), "--replace", kill_after=seconds * (position + 1) / (KILLS + 1))
        assert is_whole(path)
        assert {file.name for file in path.parent.glob("*killed*")} <= {path.name, f".{path.name}.part"}
        partial = path.with_name(f".{path.name}.part")
        # A backup killed between its last byte and its name left everything: that one restores.
        if partial.exists() and not is_whole(partial):
            refused = run("restore", str(partial), "--replace")
            assert "is not a complete backup" in refused.stderr
    assert run("backup", str(path), "--replace").returncode == 0
    assert not path.with_name(f".{path.name}.part").exists()
    query(kept, "DROP TABLE filler")


@pytest.mark.exhaustive
def test_two_backups_to_one_name_do_not_mix(run, saved):
    path = saved.with_name("shared.backup")
    with path.with_name(f".{path.name}.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        refused = run("backup", str(path))
        assert refused.returncode == 1
        assert "Another backup is being written to shared.backup" in refused.stderr
    assert run("backup", str(path)).returncode == 0


@pytest.mark.exhaustive
def test_a_database_in_use_is_left_as_it_is(kept, run, saved):
    with psycopg.connect(**address(kept)) as reader:
        reader.execute("SELECT 1")
        refused = run("restore", str(saved), "--replace")
    assert refused.returncode == 1
    assert "the database is in use. Stop the web server" in refused.stderr
    assert "ada" in names(kept)


@pytest.mark.exhaustive
def test_an_account_that_may_not_make_databases_is_told_before_anything_is_loaded(kept, saved):
    query(kept, "DROP DATABASE IF EXISTS narrow")
    query(kept, "CREATE ROLE plain LOGIN")
    query(kept, "CREATE DATABASE narrow OWNER plain")
    found = postgres.connection_settings(kept)
    url = f"postgres://plain@{quote(found['HOST'], safe='')}:{found['PORT']}/narrow"
    with forking.commands(kept, DATABASE_URL=url) as narrow:
        refused = narrow.run("restore", str(saved))
        assert refused.returncode == 1
        assert "give it CREATEDB and the database" in refused.stderr
        query(kept, "ALTER ROLE plain CREATEDB")
        done = narrow.run("restore", str(saved))
        assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_a_stopped_embedded_instance_is_started_for_the_restore(new_home, saved):
    ready.fill(new_home)
    done = manage(new_home, "restore", str(saved), "--replace")
    assert done.returncode == 0, done.stderr
    shown = manage(new_home, "shell", "--no-imports", "-c", LIST)
    assert shown.stdout.split() == ["ada"]
