"""Connections to the embedded database: a lost server is detected without a query."""

from __future__ import annotations

import select
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql import base

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def another() -> Iterator[BaseDatabaseWrapper]:
    """A second connection, open."""
    found = connection.copy()
    found.ensure_connection()
    yield found
    found.close()


def _end(other: BaseDatabaseWrapper) -> None:
    """Have the server end a connection, and wait until its goodbye is there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [other.connection.info.backend_pid])
    assert select.select([other.connection], [], [], 10)[0]


def test_a_server_that_is_there_is_not_asked(
    another: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", lambda _: pytest.fail("it was asked"))
    assert another.is_usable()


def test_a_connection_that_the_server_ended_is_not_usable(another: BaseDatabaseWrapper) -> None:
    _end(another)
    assert not another.is_usable()


def test_a_notice_is_no_goodbye(another: BaseDatabaseWrapper) -> None:
    another.cursor().execute("LISTEN something")
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY something")
    assert select.select([another.connection], [], [], 10)[0]
    assert another.is_usable()


def test_what_was_closed_here_is_not_usable(another: BaseDatabaseWrapper) -> None:
    another.connection.close()
    assert not another.is_usable()
    another.connection = None
    assert not another.is_usable()


def test_a_request_after_the_server_ended_its_connection_gets_a_new_one(another: Any) -> None:
    _end(another)
    another.health_check_enabled, another.health_check_done = True, False
    another.close_if_health_check_failed()
    with another.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
