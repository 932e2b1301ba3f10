"""What a backup says of itself, and what a database says of itself."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from config.backup.programs import BackupError

DUMP, MANIFEST = "database.dump", "manifest.json"
FORMAT = 1
OBJECTS = """
SELECT 'indexes', count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'public'::regnamespace AND i.indisvalid
UNION ALL SELECT 'constraints', count(*) FROM pg_constraint
 WHERE connamespace = 'public'::regnamespace AND convalidated AND contype <> 'n'
UNION ALL SELECT 'triggers', count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal
UNION ALL SELECT 'functions', count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""
"""Whether a column may be null is no constraint of its own before PostgreSQL 18, so it is not counted."""
# Tables that are filled without anybody's doing.
FILLED = {"django_migrations", "django_content_type", "auth_permission", "auth_group", "django_session"}


@dataclass(frozen=True)
class Manifest:
    """The contents of `manifest.json`.

    `rows` is by table, `made` an ISO time with its zone, `objects` the numbers of indexes and the like.
    """

    format: int
    made: str
    sha256: str
    migrations: list[list[str]]
    rows: dict[str, int]
    objects: dict[str, int]

    def as_json(self) -> str:
        """The manifest as it is written."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)


def read_manifest(path: Path) -> Manifest:
    """The manifest of a backup. BackupError where the file is not a backup, or is of a later release."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = Manifest(**json.loads(archive.read(MANIFEST)))
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError):
        raise BackupError(f"{path} is not a complete backup made by `manage.py backup`.") from None
    if found.format != FORMAT:
        raise BackupError(f"{path} was made by a later release of Concord: restore it with that one.")
    return found


def applied() -> list[list[str]]:
    """The migrations that the database has, sorted."""
    return sorted([app, name] for app, name in MigrationRecorder(connection).applied_migrations())


def check_migrations(manifest: Manifest) -> None:
    """BackupError where this release does not know a migration of the backup."""
    known = set(MigrationLoader(None).disk_migrations or {})
    apps = {app for app, _ in known}
    recorded = {(app, name) for app, name in manifest.migrations if app in apps}
    if unknown := sorted(recorded - known):
        raise BackupError(
            f"The backup is of another release: this one does not know {'.'.join(unknown[0])}. "
            "Restore it with the release that made it, or with a later one."
        )


def tables() -> list[str]:
    """The tables of the database, sorted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [name for (name,) in cursor.fetchall()]


def count_rows() -> dict[str, int]:
    """How many rows each table has."""
    quote = connection.ops.quote_name
    counts = {}
    with connection.cursor() as cursor:
        for name in tables():
            cursor.execute(f"SELECT count(*) FROM {quote(name)}")  # noqa: S608 (a table's own name, quoted)
            counts[name] = cursor.fetchone()[0]
    return counts


def count_objects() -> dict[str, int]:
    """How many valid indexes, constraints, triggers and functions the database has."""
    with connection.cursor() as cursor:
        cursor.execute(OBJECTS)
        return dict(cursor.fetchall())


def holds_something() -> str | None:
    """A table with rows that somebody made; None in a database that is as good as new."""
    return next((name for name, rows in count_rows().items() if rows and name not in FILLED), None)
