"""What PostgreSQL's planner knows of tables that have just grown."""

from __future__ import annotations

from django.db import connection
from psycopg import sql

WORTH_TELLING = 1_000
"""Rows from which on a bulk write ends with the planner's statistics: it takes up to a second."""


def tell_planner(*tables: str) -> None:
    """Gather the planner's statistics of tables that have just grown, the transaction's own rows included.

    Until the server gathers them by itself, up to a minute later, it plans with the size that a table had
    before: after a first import that is none, and a report over such tables takes minutes.
    """
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))
