"""Databases in other states, beside the one that all tests use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


def on_server(*statements: str) -> None:
    """Run statements that no database of ours is needed for."""
    with connection._nodb_cursor() as cursor:  # starts the server, where no test has done so yet
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def database(name: str, *, like: str = "template0") -> Iterator[str]:
    """A database of this name, a copy of another one; gone at the end."""
    name = f"test_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_{name}"
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    on_server(drop, f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
    try:
        yield name
    finally:
        on_server(drop)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Within this, Django's connection is to that database."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def rows() -> dict[str, list[dict[str, object]]]:
    """All rows of all tables, each as a mapping of its columns, in the order of their ids."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        found = {}
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT to_jsonb(t)::text FROM \"{table}\" t ORDER BY to_jsonb(t) -> 'id'")
            found[table] = [row for (row,) in cursor.fetchall()]
    return {table: [json.loads(row) for row in lines] for table, lines in found.items()}
