"""The upgrade itself: one transaction, so that a kill at any moment leaves the database as it was."""

from __future__ import annotations

from django.db import DatabaseError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import LockNotAvailable

from config.commands import LOCK
from config.upgrade.chain import APPS, ChainExecutor
from config.upgrade.states import INITIAL, UpgradeError, is_earlier

PATIENCE = "20s"
"""How long a step waits for a table that somebody else uses."""


def needs_upgrade(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database is of an earlier release; UpgradeError where its state is unknown."""
    try:
        return is_earlier(MigrationRecorder(connection).applied_migrations())
    except UpgradeError as error:
        raise UpgradeError(f"The database cannot be upgraded. {error}") from None


def upgrade(connection: BaseDatabaseWrapper) -> bool:
    """Bring a database of an earlier release to this one's tables, and tell whether there was anything to do.

    All rows stay, but those of two tables that this release has no use for: workers once seen and
    computations of reports. Everything happens in one transaction, under a lock that a second upgrade waits
    for: whatever ends it early, the database is as before and the upgrade can be started again. Raises
    UpgradeError, having changed nothing, where the state is unknown or a step fails.
    """
    if not needs_upgrade(connection):
        return False
    try:
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            if not needs_upgrade(connection):
                return False
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [PATIENCE])
            _follow_chain(connection)
            _record_initial(connection)
    except InconsistentMigrationHistory as error:
        raise UpgradeError(
            f"The database cannot be upgraded: its migrations were applied in an order that no release had "
            f"({error}). Use the copy of Concord that made it, or restore a backup."
        ) from None
    except DatabaseError as error:
        raise UpgradeError(_reason(error)) from error
    return True


def _follow_chain(connection: BaseDatabaseWrapper) -> None:
    executor = ChainExecutor(connection)
    executor.loader.check_consistent_history(connection)
    executor.migrate(executor.end())


def _record_initial(connection: BaseDatabaseWrapper) -> None:
    """Record the initial set in place of the chain."""
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app__in=APPS).delete()
    for app, name in INITIAL:
        recorder.record_applied(app, name)


def _reason(error: DatabaseError) -> str:
    if isinstance(error.__cause__, LockNotAvailable):
        return "Nothing was changed: the database is in use. Stop the web server and the workers first."
    line = str(error).strip().splitlines()[0]
    return f"Nothing was changed: the database could not be upgraded ({line})."
