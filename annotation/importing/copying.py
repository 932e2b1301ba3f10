"""COPY into tables, ids reserved beforehand, and temporary tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from psycopg import sql


def copy_rows(
    table: str, columns: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows into a table through COPY in binary form, with the given PostgreSQL types."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def reserve_ids(table: str, count: int) -> list[int]:
    """Return so many ids of a table that nobody else will get."""
    if not count:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
        )
        return [row[0] for row in cursor.fetchall()]


def fresh_table(name: str, definition: str) -> None:
    """Make a temporary table that ends with the transaction, instead of one of the same name."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP TABLE IF EXISTS pg_temp.{}").format(sql.Identifier(name)))
        cursor.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} {} ON COMMIT DROP").format(
                sql.Identifier(name),
                sql.SQL(definition),
            )
        )
