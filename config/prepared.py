"""Prepared statements for the few queries that every request, or every annotator's request, makes.

PostgreSQL spends more time planning these small queries than running them (0.5 ms against 0.05 ms for the
head of a task); prepared, each is planned once per connection. Django's own cursors send values inside the
query text, so they cannot prepare.
"""

from __future__ import annotations

from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper

EXECUTIONS_BEFORE = 2


class _Prepared(psycopg.Cursor[tuple[Any, ...]]):
    """Prepares what it executes, at its first execution on the connection."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> _Prepared:
        super().execute(query, params, prepare=True)
        return self


class _Told(_Prepared):
    """Knows what it executed, for the log of queries: psycopg sends no more than a name."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> _Told:
        super().execute(query, params)
        self._query = self._convert_query(query, params)
        return self


def cursor() -> CursorWrapper:
    """Return a cursor on the default connection whose statements are prepared and whose values are typed.

    It logs, wraps errors and takes part in transactions as Django's own cursors do. A parameter's type must
    follow from where it stands in the statement: write a cast where it does not.
    """
    connection.ensure_connection()
    raw = connection.connection
    if raw.prepare_threshold is None:
        raw.prepare_threshold = EXECUTIONS_BEFORE
    logged: Any = connection.queries_logged
    made: Any = _Told(raw) if logged else _Prepared(raw)
    return connection.make_debug_cursor(made) if logged else connection.make_cursor(made)
