"""Run as root or as an ordinary user, Concord changes no folders except its own."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from config.embedded.layout import Layout
from config.embedded.server import PACKAGE, remove_home
from tests.platform.running import NOBODY, PROJECT, Running, as_ordinary_user, manage, running, status_of


def modes(*tops: Path) -> dict[Path, tuple[int, int, int]]:
    """Mode, owner and group of every folder above `tops`, and of everything in PostgreSQL's package."""
    import importlib.util

    package = Path(importlib.util.find_spec(PACKAGE).origin).parent
    paths = {
        parent for top in (*tops, package, PROJECT, Path("/var/lib/x")) for parent in top.resolve().parents
    }
    paths |= {PROJECT, package, *package.rglob("*"), *package.parent.glob(f"{PACKAGE}.libs/*")}
    found = {path: path.lstat() for path in paths}
    return {
        path: (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) for path, status in found.items()
    }


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can show what root does")
def test_as_root_a_closed_parent_stays_closed_and_the_data_belongs_to_another(new_home):
    home = new_home / "closed" / "home"
    home.mkdir(parents=True)
    home.parent.chmod(0o700)
    before = modes(home)
    assert manage(home, "showmigrations", "--plan", "--skip-checks").returncode == 0
    places = Layout(home, as_root=True)
    assert modes(home) == before
    owner = places.data.stat()
    assert owner.st_uid != 0
    assert stat.S_IMODE(places.root.stat().st_mode) == 0o700
    assert not (home / "postgres").exists()
    remove_home(places)


@pytest.mark.exhaustive
def test_an_ordinary_user_runs_all_of_it_inside_the_home(ordinary_home):
    before = modes(ordinary_home)
    with running(ordinary_home, prefix=as_ordinary_user()) as server:
        assert status_of(server.port) == 200
    assert modes(ordinary_home) == before
    data = ordinary_home / "postgres" / "data"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert data.stat().st_uid == (NOBODY if os.geteuid() == 0 else os.geteuid())


def test_a_folder_that_cannot_be_written_is_told_in_one_line(ordinary_home):
    ordinary_home.chmod(0o555)
    server = Running(ordinary_home, prefix=as_ordinary_user())
    assert server.process.wait(300) == 1
    server.stop()
    ordinary_home.chmod(0o755)
    assert len(server.lines) == 1
    assert server.lines[0].startswith(f"Cannot write to {ordinary_home}")


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another user's home to refuse")
def test_root_refuses_the_home_of_an_ordinary_user_in_one_line(ordinary_home):
    (ordinary_home / "postgres" / "data").mkdir(parents=True)
    done = manage(ordinary_home, "showmigrations", "--plan", "--skip-checks")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{ordinary_home} holds the database of an ordinary user")
    assert len(done.stderr.splitlines()) == 1
