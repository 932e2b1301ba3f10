"""SQL statements as any program with a database connection could run them."""

from __future__ import annotations

from typing import Any

from django.db import connection


def execute(sql: str, *values: Any) -> None:
    """Run a statement and check deferred constraints at once."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(sql, values)
