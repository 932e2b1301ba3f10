"""Backup and restore of the whole database as one file."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import signal
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import Error as ServerError
from psycopg import errors, sql

from config.embedded import logs, server
from config.embedded.layout import EmbeddedError, layout
from config.embedded.processes import die_with_parent

# Making a backup: a snapshot of one moment, while Concord may be running.

# PostgreSQL's own programs for dump and restore, on Concord's database.

VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
}


class BackupError(Exception):
    """A backup cannot be made or restored. The message is one line that says what to do."""


def program(name: str) -> str:
    """Return the path of `pg_dump` or `pg_restore` of the embedded PostgreSQL."""
    return str(Path(server.programs(layout(settings.HOME))) / name)


def environment() -> dict[str, str]:
    """Return the environment in which these programs find the database."""
    parameters = connection.get_connection_params()
    variables = {variable: str(parameters[key]) for key, variable in VARIABLES.items() if parameters.get(key)}
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **variables}


def reason(output: bytes) -> str:
    """Return the first line of a program's error output."""
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return next(
        (line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason given"
    )


# Manifest of a backup, and the same facts of a database.

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
"""Before PostgreSQL 18, NOT NULL is no separate constraint, so it is not counted."""
# Tables that are filled automatically.
FILLED = {"django_migrations", "django_content_type", "auth_permission", "auth_group", "django_session"}


@dataclass(frozen=True)
class Manifest:
    """Contents of `manifest.json`.

    `rows` is by table, `made` an ISO time with time zone, `objects` the numbers of indexes and the like.
    """

    format: int
    made: str
    sha256: str
    migrations: list[list[str]]
    rows: dict[str, int]
    objects: dict[str, int]

    def as_json(self) -> str:
        """Return the manifest as JSON data."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a backup. BackupError for a file that is no backup, or of a later release."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = Manifest(**json.loads(archive.read(MANIFEST)))
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError):
        raise BackupError(f"{path} is not a complete backup made by `manage.py backup`.") from None
    if manifest.format != FORMAT:
        raise BackupError(f"{path} was made by a later release of Concord: restore it with that one.")
    return manifest


def applied() -> list[list[str]]:
    """Return the applied migrations, sorted."""
    return sorted([app, name] for app, name in MigrationRecorder(connection).applied_migrations())


def check_migrations(manifest: Manifest) -> None:
    """Raise BackupError if this release does not know a migration of the backup."""
    on_disk = set(MigrationLoader(None).disk_migrations or {})
    apps = {app for app, _ in on_disk}
    recorded = {(app, name) for app, name in manifest.migrations if app in apps}
    if unknown := sorted(recorded - on_disk):
        raise BackupError(
            f"The backup is of another release: this one does not know {'.'.join(unknown[0])}. "
            "Restore it with the release that made it, or with a later one."
        )


def tables() -> list[str]:
    """Return the tables of the database, sorted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [name for (name,) in cursor.fetchall()]


def count_rows() -> dict[str, int]:
    """Return the number of rows of each table."""
    quote = connection.ops.quote_name
    counts = {}
    with connection.cursor() as cursor:
        for name in tables():
            cursor.execute(f"SELECT count(*) FROM {quote(name)}")  # noqa: S608 (a table's own name, quoted)
            counts[name] = cursor.fetchone()[0]
    return counts


def count_objects() -> dict[str, int]:
    """Return the number of valid indexes, constraints, triggers and functions of the database."""
    with connection.cursor() as cursor:
        cursor.execute(OBJECTS)
        return dict(cursor.fetchall())


def holds_something() -> str | None:
    """Return a table with rows created by users; None in a database that is as good as new."""
    return next((name for name, rows in count_rows().items() if rows and name not in FILLED), None)


# Restore: into a new database next to the old one, verified there and then swapped in.

logger = logging.getLogger(__name__)
BLOCK = 2**20
PATIENCE = "20s"
"""Maximum wait for another restore of the same database."""
GOODBYE = 5.0
"""Seconds that a closing session gets to end."""
MAINTENANCE = "postgres"
"""Database for connections that create, rename and drop others."""
RIGHTS = """
SELECT r.rolsuper OR (r.rolcreatedb AND pg_has_role(d.datdba, 'USAGE'))
  FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = %s
"""
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"
IN_USE = (
    "Nothing was restored: the database is in use. Stop the web server, the workers and whatever else is "
    "connected to it first."
)
LIKE = "SELECT pg_encoding_to_char(encoding), to_jsonb(d)::text FROM pg_database d WHERE datname = %s"
PROVIDERS = {"b": "builtin", "c": "libc", "i": "icu"}


def restore(path: Path, *, replace: bool = False) -> Manifest:
    """Replace the database by a backup. On BackupError nothing has changed.

    A database with content is refused unless `replace`; then its content is lost. Migrations newer than the
    backup are applied before the swap. A kill at any moment leaves the old or the new database, complete;
    leftovers on the server are removed by the next restore.
    """
    _check_stopped()
    manifest = read_manifest(path)
    check_migrations(manifest)
    with tempfile.TemporaryFile() as dump:
        _unpack(path, manifest, dump)
        try:
            if (table := holds_something()) and not replace:
                raise BackupError(
                    f"The database is not empty ({table} has rows): make a backup of it, "
                    "and add --replace to lose what it holds."
                )
            _restore(dump, manifest)
        except Error as error:
            raise BackupError(f"Nothing was restored: {_line(error)}") from error
        except EmbeddedError as error:
            raise BackupError(f"Nothing was restored: {error}") from error
    return manifest


def _check_stopped() -> None:
    """Refuse if Concord runs in this home: its processes would continue during the swap."""
    if settings.DATABASE_URL:
        return
    serving = layout(settings.HOME).run / "serve.lock"
    if serving.exists() and not logs.is_free(serving):
        raise BackupError(f"Concord runs in {settings.HOME}: stop it first, restore, and start it again.")


def _unpack(path: Path, manifest: Manifest, dump: IO[bytes]) -> None:
    """Copy the dump out of the archive; BackupError if it differs from what was written."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive, archive.open(DUMP) as member:
            while block := member.read(BLOCK):
                digest.update(block)
                dump.write(block)
    except (zipfile.BadZipFile, KeyError, EOFError):
        digest = hashlib.sha256()
    except OSError as error:
        raise BackupError(f"{path} cannot be unpacked: {error.strerror or error}.") from None
    if digest.hexdigest() != manifest.sha256:
        raise BackupError(f"{path} is damaged: its content does not have the hash that was written with it.")
    dump.seek(0)


def _restore(dump: IO[bytes], manifest: Manifest) -> None:
    name = str(connection.settings_dict["NAME"])
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    fresh, replaced = f"concord_restoring_{digest}", f"concord_replaced_{digest}"
    connection.close()
    with _maintenance() as server:
        _lock(server, fresh)
        _check_free(server, name)
        _drop(server, fresh, replaced)
        try:
            _create(server, fresh, like=name)
            _load(dump, fresh)
            with _connected_to(fresh):
                _check(manifest)
                _migrate()
            _swap(server, name, fresh, replaced)
        finally:
            try:
                _drop(server, fresh, replaced)
            except ServerError as error:  # the restore is decided; the next one removes leftovers
                logger.warning("what a restore needed for a while stays on the server: %s", _line(error))


def _lock(server: Any, name: str) -> None:
    """Wait briefly for another restore, such as one that was just killed."""
    server.execute("SELECT set_config('lock_timeout', %s, false)", [PATIENCE])
    try:
        server.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
    except errors.LockNotAvailable:
        raise BackupError("Nothing was restored: another restore of this database is under way.") from None


@contextmanager
def _maintenance() -> Iterator[Any]:
    """Return a connection to the server outside our database; starts the embedded server if needed."""
    parameters = connection.get_connection_params() | {"dbname": MAINTENANCE}
    with connection.wrap_database_errors:
        server = connection.get_new_connection(parameters)
        try:
            server.autocommit = True
            yield server
        finally:
            server.close()


def _check_free(server: Any, name: str) -> None:
    """Raise BackupError if the final swap would fail: better now than after an hour of loading."""
    if not server.execute(RIGHTS, [name]).fetchone()[0]:
        raise BackupError(
            "Nothing was restored: a backup is restored into a new database first, and the account of "
            f"DATABASE_URL may not make one or does not own {name}: give it CREATEDB and the database."
        )
    deadline = time.monotonic() + GOODBYE
    while server.execute(SESSIONS, [name]).fetchone()[0]:
        if time.monotonic() > deadline:
            raise BackupError(IN_USE)
        time.sleep(0.1)


def _drop(server: Any, *names: str) -> None:
    for name in names:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _create(server: Any, name: str, *, like: str) -> None:
    """Create an empty database with the encoding and collation of another."""
    encoding, described = server.execute(LIKE, [like]).fetchone()
    row = json.loads(described)
    provider = PROVIDERS[row["datlocprovider"]]
    options = {
        "ENCODING": encoding,
        "LOCALE_PROVIDER": provider,
        "LC_COLLATE": row["datcollate"],
        "LC_CTYPE": row["datctype"],
    }
    if provider != "libc":
        options[f"{provider.upper()}_LOCALE"] = row.get("datlocale") or row.get("daticulocale")
    clauses = sql.SQL(" ").join(
        sql.SQL("{} = {}").format(sql.SQL(option), sql.Literal(value)) for option, value in options.items()
    )
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    server.execute(statement.format(sql.Identifier(name), clauses))


def _load(dump: IO[bytes], name: str) -> None:
    """Fill an empty database; BackupError at the first error."""
    command = [program("pg_restore"), "--exit-on-error", "--no-owner", "--no-privileges", f"--dbname={name}"]
    done = subprocess.run(
        command, env=environment(), stdin=dump, capture_output=True, check=False,
        preexec_fn=die_with_parent(signal.SIGKILL),
    )  # fmt: skip
    if done.returncode:
        raise BackupError(f"Nothing was restored: {reason(done.stderr)}")


@contextmanager
def _connected_to(name: str) -> Iterator[None]:
    """Connect Django to that database within the context."""
    before = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def _check(manifest: Manifest) -> None:
    """Raise BackupError if the new database lacks a row, an index or a constraint of the backup."""
    rows, objects = count_rows(), count_objects()
    for kind, expected, counted in (
        *((f"rows of {table}", count, rows.get(table, 0)) for table, count in manifest.rows.items()),
        *((kind, count, objects.get(kind, 0)) for kind, count in manifest.objects.items()),
    ):
        if counted != expected:
            raise BackupError(
                f"Nothing was restored: the backup has {expected:,} {kind}, but {counted:,} came out of it."
            )


def _migrate() -> None:
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except CommandError as error:
        raise BackupError(f"Nothing was restored: {error}") from error


def _swap(server: Any, name: str, fresh: str, replaced: str) -> None:
    """Swap the names of the old and the new database in one transaction."""
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    try:
        with server.transaction():
            for old, new in ((name, replaced), (fresh, name)):
                server.execute(rename.format(sql.Identifier(old), sql.Identifier(new)))
    except errors.ObjectInUse:
        raise BackupError(IN_USE) from None
    except errors.OperationalError as error:
        if not server.closed:
            raise
        raise BackupError(
            f"The server was lost at the last step ({_line(error)}). The database is the old or the new one, "
            "whole: restore it again."
        ) from None


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def make(path: Path, *, replace: bool = False) -> Manifest:
    """Write a backup to `path`, readable only by its owner; the file appears complete or not at all."""
    if path.exists() and not replace:
        raise BackupError(f"{path} exists: choose another name, or add --replace.")
    try:
        return _write(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from None


def _write(path: Path) -> Manifest:
    """Write next to `path`, and rename once every byte is on the disk."""
    partial = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as file:
        _claim(file, partial)
        try:
            file.truncate()
            manifest = _fill(file)
            file.flush()
            os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return manifest


def _claim(file: IO[bytes], partial: Path) -> None:
    """Lock a file for one writing process at a time; leftovers of a killed process are overwritten."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mine = os.path.samestat(os.fstat(file.fileno()), partial.stat())
    except (BlockingIOError, FileNotFoundError):
        mine = False
    if not mine:
        raise BackupError(f"Another backup is being written to {partial.name[1:-5]}: wait for it.")


def _fill(file: IO[bytes]) -> Manifest:
    """Dump and count the same snapshot of the database."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        snapshot = cursor.fetchone()[0]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            digest = _dump(archive, snapshot)
            created_at = timezone.now().isoformat()
            manifest = Manifest(FORMAT, created_at, digest, applied(), count_rows(), count_objects())
            archive.writestr(MANIFEST, manifest.as_json())
    return manifest


def _dump(archive: zipfile.ZipFile, snapshot: str) -> str:
    """Write the dump into the archive and return its hash."""
    command = [
        program("pg_dump"),
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={snapshot}",
    ]
    digest = hashlib.sha256()
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as dumping, archive.open(DUMP, "w", force_zip64=True) as member:  # fmt: skip
        assert dumping.stdout is not None
        assert dumping.stderr is not None
        while block := dumping.stdout.read(BLOCK):
            digest.update(block)
            member.write(block)
        error_output = dumping.stderr.read()
    if dumping.returncode:
        raise BackupError(f"The database could not be dumped: {reason(error_output)}")
    return digest.hexdigest()
