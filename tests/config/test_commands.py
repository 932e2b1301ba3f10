"""Commands that need tables prepare the embedded database, and require migration of an external one."""

from collections.abc import Iterator

import pytest
from django.core.management import CommandError
from django.db import OperationalError
from pytest_django import Settings

from config import commands

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _looked_at_anew() -> Iterator[None]:
    commands.prepare_tables.cache_clear()
    yield
    commands.prepare_tables.cache_clear()


@pytest.fixture
def migrated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    called: list[str] = []
    monkeypatch.setattr(commands, "call_command", lambda name, **options: called.append(name))
    return called


def test_an_outside_database_without_this_releases_tables_is_one_clear_line(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, migrated: list[str]
) -> None:
    settings.DATABASE_URL = "postgres://elsewhere/concord"
    monkeypatch.setattr(commands, "migrations_wait", lambda: True)
    with pytest.raises(CommandError, match=r"Run `manage.py migrate` first"):
        commands.prepare_tables()
    assert migrated == []


def test_the_embedded_database_is_prepared(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, migrated: list[str]
) -> None:
    settings.DATABASE_URL = ""
    monkeypatch.setattr(commands, "migrations_wait", lambda: True)
    commands.prepare_tables()
    assert migrated == ["migrate"]


def test_a_prepared_database_is_left_alone(migrated: list[str]) -> None:
    assert not commands.migrations_wait()
    commands.prepare_tables()
    assert migrated == []


def test_a_database_that_cannot_be_reached_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> bool:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(commands, "migrations_wait", refused)
    with pytest.raises(CommandError, match=r"cannot be reached: connection refused. Check DATABASE_URL"):
        commands.prepare_tables()
