"""A home with all tables, created once and copied for every test that does not check a first start."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from config.embedded import logs, server
from config.embedded.layout import layout, make_home
from config.embedded.server import postgres_account
from tests.platform.running import NOBODY, PROJECT, manage, processes, wait_until


def fill(home: Path, *, ordinary: bool = False) -> Path:
    """Give `home` the database of a home that was started before, as root's or as an ordinary user's."""
    template = _template()
    places = layout(home)
    if ordinary and os.geteuid() == 0:
        (home / "postgres").mkdir(mode=0o700)
        subprocess.run(["cp", "-a", template, home / "postgres" / "data"], check=True)
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", home / "postgres"], check=True)
        return home
    make_home(places)
    if places.as_root:
        server.set_aside_removed_home(places)
    server.own_folder(places.root, postgres_account(places))
    subprocess.run(["cp", "-a", template, places.data], check=True)
    return home


def _template() -> Path:
    """Return the database to copy, created by the first test of a run that needs it."""
    digest = hashlib.sha256()
    for path in sorted([*PROJECT.glob("*/migrations/*.[ps]*"), *PROJECT.glob("suites/*/migrations/*.[ps]*")]):
        digest.update(path.read_bytes())
    kept = Path(os.environ["CONCORD_TEST_HOME"]) / f"ready-{digest.hexdigest()[:16]}"
    kept.mkdir(parents=True, exist_ok=True)
    lock = logs.acquire(kept / "lock")
    try:
        if not (kept / "data").exists():
            _make(kept / "data")
    finally:
        if lock is not None:
            os.close(lock)
    return kept / "data"


def _make(data: Path) -> None:
    home = Path(tempfile.mkdtemp(prefix="concord-ready-"))
    done = manage(home, "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: not processes(home))
    subprocess.run(["cp", "-a", layout(home).data, f"{data}.new"], check=True)
    server.remove_home(layout(home))
    shutil.rmtree(data, ignore_errors=True)
    Path(f"{data}.new").rename(data)
