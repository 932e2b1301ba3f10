"""Backup and restore: one command each, checked, atomic, of the embedded database and of an outside one."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from config.backup.manifest import DUMP, MANIFEST
from config.embedded import postgres
from tests.platform import forking, ready
from tests.platform.running import MANAGE, environment, query

NAMES = "SELECT username FROM auth_user ORDER BY 1"
ADD = "from django.contrib.auth.models import User; User.objects.create_user({name!r})"
KEEP = "from django.db import connection as c; c.ensure_connection(); print('ready', flush=True); input()"


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


def altered(saved: Path, name: str, **changes: object) -> Path:
    """A copy of a backup with another manifest."""
    path = saved.with_name(name)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as target:
        target.writestr(DUMP, source.read(DUMP))
        target.writestr(MANIFEST, json.dumps(json.loads(source.read(MANIFEST)) | changes))
    return path


def test_a_damaged_backup_and_one_of_a_later_release_change_nothing(kept, run, saved):
    cut = saved.with_name("cut.backup")
    cut.write_bytes(saved.read_bytes()[:-200])
    rows = json.loads(zipfile.ZipFile(saved).read(MANIFEST))["rows"]
    cases = {
        cut: "not a complete backup",
        altered(saved, "hash.backup", sha256="0" * 64): "is damaged",
        altered(saved, "later.backup", migrations=[["auth", "9999_later"]]): "does not know auth.9999_later",
        altered(saved, "rows.backup", rows=rows | {"auth_user": 2}): "Nothing was restored: ",
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
