"""Base class of commands that need the database's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.core.management.base import CommandParser
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor

# Prepared statements for the few queries that every request, or every annotator's request, makes.
#
# PostgreSQL spends more time planning these small queries than running them (0.5 ms against 0.05 ms for the
# head of a task); prepared, each is planned once per connection. Django's own cursors send values inside the
# query text, so they cannot prepare.

EXECUTIONS_BEFORE = 2


class _Prepared(psycopg.Cursor[tuple[Any, ...]]):
    """Prepares what it executes, at its first execution on the connection."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> _Prepared:
        super().execute(query, params, prepare=True)
        return self


class _LoggedPrepared(_Prepared):
    """Keeps the executed statement for the query log: psycopg sends only its name."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> _LoggedPrepared:
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
    wrapper: Any = _LoggedPrepared(raw) if logged else _Prepared(raw)
    return connection.make_debug_cursor(wrapper) if logged else connection.make_cursor(wrapper)


ADDRESS = "http://localhost:8000"
"""Default base URL in links that a command prints."""
LOCK = 0x636F6E636F7264
"""Advisory lock for preparing tables: "concord" in ASCII."""


class DatabaseCommand(BaseCommand):
    """A command that first ensures that the database has this release's tables.

    The embedded database is migrated if needed; an external one must be migrated by its administrator.
    """

    requires_system_checks: list[str] = []
    """System checks load every page, which takes longer than most commands; `manage.py check` runs them."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Prepare the database, then run the command."""
        prepare_tables()
        return super().execute(*args, **options)


def refuse_unused(options: Mapping[str, Any], names: Iterable[str], reason: str) -> None:
    """Raise CommandError for the first of these options that was given although it would have no effect."""
    for name in names:
        value = options.get(name)
        if value is not None and value is not False and value not in ("", [], ()):
            raise CommandError(f"--{name.replace('_', '-')}: {reason}")


def acts_of(parser: CommandParser) -> Callable[..., CommandParser]:
    """Add subcommands to a command: call the result as `act(name, help_text, *arguments)`.

    The option `act` holds the selected name. Each takes --json and its `arguments`; more may be added.
    """
    acts = parser.add_subparsers(dest="act", required=True, metavar="ACT", parser_class=CommandParser)

    def act(name: str, help_text: str, *arguments: str) -> CommandParser:
        subparser: CommandParser = acts.add_parser(name, help=help_text, description=help_text)
        subparser.add_argument(
            "--json", action="store_true", help="say it as one JSON value, on the last line"
        )
        for argument in arguments:
            subparser.add_argument(argument)
        return subparser

    return act


def migrations_wait() -> bool:
    """Whether a migration of this release is unapplied."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@cache
def prepare_tables() -> None:
    """Apply pending migrations to the embedded database; raise CommandError if an external one has any.

    Checked once per process: applied migrations stay applied.
    """
    try:
        waiting = migrations_wait()
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"The database cannot be reached: {reason}. Check DATABASE_URL.") from None
    if not waiting:
        return
    if settings.DATABASE_URL:
        raise CommandError("The database lacks this release's tables. Run `manage.py migrate` first.")
    with connection.cursor() as cursor:  # two commands at once: one prepares, the other waits
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        try:
            call_command("migrate", interactive=False, verbosity=0)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
