"""Statistics of PostgreSQL's planner for tables that have just grown."""

from __future__ import annotations

from django.db import connection
from psycopg import sql

WORTH_TELLING = 1_000
"""Number of rows from which a bulk write updates the planner's statistics, which takes up to a second."""


def analyse_tables(*tables: str) -> None:
    """Update the planner's statistics of tables that have just grown, including the transaction's own rows.

    Until the server does so by itself, up to a minute later, it plans with a table's previous size: after a
    first import that is zero, and a report over such tables takes minutes. A table that another transaction
    is updating so is skipped: its lock lasts until that transaction ends, and a small request would wait for
    a large import, or meet a deadlock with it.
    """
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(sql.SQL("ANALYZE (SKIP_LOCKED) {}").format(sql.Identifier(table)))
