"""Every test run has its own home and PostgreSQL server, started by the first test that needs it.

`CONCORD_TEST_NAME=x` names the home (`.concord/test-x`) and keeps it, so that the next run starts faster and
several people can run tests in one checkout. With `-n 2` each worker has its own database.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from config.setup.common import keep_bytecode

if TYPE_CHECKING:
    from pytest_django.plugin import DjangoDbBlocker

PROJECT = Path(__file__).resolve().parent.parent
OWN_HOME = "CONCORD_TEST_HOME"
# The database need not survive a crash, so nothing needs to reach the disk. Autovacuum's statistics would
# depend on its timing: between two tests every table is empty, and a plan made for that takes minutes over a
# full one.
POSTGRES_OPTIONS = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off"


def _choose_home() -> None:
    """Point the environment to this run's home, before anything reads the settings."""
    if OWN_HOME not in os.environ:
        name = os.environ.get("CONCORD_TEST_NAME")
        kept = PROJECT / ".concord" / f"test-{name}"
        os.environ[OWN_HOME] = str(kept) if name else tempfile.mkdtemp(prefix="concord-test-")
    os.environ["CONCORD_HOME"] = os.environ[OWN_HOME]
    os.environ["CONCORD_POSTGRES_OPTIONS"] = POSTGRES_OPTIONS
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "CONCORD_DEBUG"):
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ.setdefault("MKL_CBWR", "AUTO")  # as the metrics require, before another test loads torch


_choose_home()
keep_bytecode()  # dozens of tests start programs


def pytest_configure(config: pytest.Config) -> None:
    """Load the project now that the environment is right."""
    import django
    from django.conf import settings

    django.setup()
    from django.test import TransactionTestCase

    from tests import emptying

    # Accounts are created by the hundred, and none needs a hash that resists guessing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    TransactionTestCase._fixture_teardown = lambda self: emptying.empty()
    # Files of jobs are named by their rows, and each of several test processes has its own database.
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        settings.HOME = Path(settings.HOME) / f"files-{worker}"
        settings.HOME.mkdir(exist_ok=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--part`, with which `make test` runs the core's tests alone, without the suites."""
    parser.addoption("--part", choices=["core", "rest"], help="only the core's tests, or only the others")


CORE = [Path(__file__).parent / folder for folder in ("annotation", "judges", "calibration")]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Select the core's tests: those in its folders that use nothing of a suite."""
    part = config.getoption("part")
    if part is None or collection_path.is_dir():
        return None
    in_core = any(collection_path.is_relative_to(folder) for folder in CORE)
    is_core = in_core and "suites." not in collection_path.read_text("utf-8")
    return True if is_core != (part == "core") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the longest first, browser journeys last: the browser leaves an event loop in its process."""
    items.sort(key=lambda item: (bool(item.get_closest_marker("browser")), "platform" not in item.nodeid))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt loaded objects from garbage collection, so that it does not traverse them repeatedly."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)


@pytest.fixture(autouse=True)
def nothing_of_another_database() -> None:
    """Clear the cache of questionnaires: a process of the product serves one database, a test's several."""
    asked = sys.modules.get("annotation.scheme_store")
    if asked is not None:
        asked.questionnaire_of.cache_clear()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Once all workers are done, wait until the server is down, and remove a nameless run's home."""
    from config.embedded import postgres
    from config.embedded.server import remove_home

    home = postgres.use(os.environ[OWN_HOME])
    home.release()
    if hasattr(config, "workerinput") or os.environ.get("CONCORD_TEST_NAME"):
        return
    remove_home(home.places)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Create this process's database; close all connections before it is removed."""
    yield
    if helpers := sys.modules.get("tests.judges.helpers"):
        helpers.let_go()


@pytest.fixture(scope="module")
def module_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep the objects created by a module's fixtures for all of its tests, each of which is rolled back.

    Only for modules whose tests run in a transaction: a test that commits would not see the objects.
    """
    from django.db import transaction

    with django_db_blocker.unblock():
        world = transaction.atomic()
        world._from_testcase = True  # as in a test: the product's outermost blocks stay outermost
        with world:
            yield
            transaction.set_rollback(True)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of public data sets; skip the test if it is absent."""
    folder = PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the data folder {folder} is absent")
    return folder
