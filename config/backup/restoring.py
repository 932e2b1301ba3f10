"""Restoring a backup: checked before anything is touched, then in one transaction."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config.backup.manifest import DUMP, Manifest, check_migrations, holds_something, read_manifest
from config.backup.programs import BackupError, environment, program, reason
from config.embedded import locks
from config.embedded.layout import layout

BLOCK = 2**20
BEGIN = b"""SET lock_timeout = '20s';
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
ALTER SCHEMA public OWNER TO pg_database_owner;
GRANT USAGE ON SCHEMA public TO PUBLIC;
COMMENT ON SCHEMA public IS 'standard public schema';
"""


def restore(path: Path, *, replace: bool = False) -> Manifest:
    """Fill the database from a backup. Everything or, with BackupError, nothing of it is restored.

    A database that holds something is refused unless `replace`; then what it holds is gone. A backup of an
    earlier release is upgraded afterwards; where that fails, or is cut off, `migrate` does it later.
    """
    _check_stopped()
    manifest = read_manifest(path)
    check_migrations(manifest)
    _check_hash(path, manifest)
    if not replace and (table := holds_something()):
        raise BackupError(
            f"The database is not empty ({table} has rows): make a backup of it, "
            "and add --replace to lose what it holds."
        )
    connection.close()
    _fill(path, manifest)
    call_command("migrate", interactive=False, verbosity=0)
    return manifest


def _check_stopped() -> None:
    """Refuse where Concord runs in this home: its processes would work on while the ground moves."""
    if settings.DATABASE_URL:
        return
    serving = layout(settings.HOME).run / "serve.lock"
    if serving.exists() and not locks.is_free(serving):
        raise BackupError(f"Concord runs in {settings.HOME}: stop it first, restore, and start it again.")


def _check_hash(path: Path, manifest: Manifest) -> None:
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive, archive.open(DUMP) as member:
            while block := member.read(BLOCK):
                digest.update(block)
    except (zipfile.BadZipFile, KeyError, OSError):
        digest = hashlib.sha256()
    if digest.hexdigest() != manifest.sha256:
        raise BackupError(f"{path} is damaged: its content does not have the hash that was written with it.")


def _fill(path: Path, manifest: Manifest) -> None:
    """Turn the dump into SQL and run it in one transaction that ends with a count of all rows."""
    run = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with tempfile.TemporaryFile() as said, subprocess.Popen(
        [program("psql"), *run], env=environment(), stdin=subprocess.PIPE, stderr=said
    ) as running:  # fmt: skip
        assert running.stdin is not None
        try:
            running.stdin.write(BEGIN)
            _write_dump(path, running.stdin)
            running.stdin.write(_counts(manifest).encode())
        except BrokenPipeError:
            pass  # it has ended, and says why
        except BaseException:
            running.kill()  # never let it take an end for the end of the transaction
            raise
        running.communicate()
        said.seek(0)
        why = said.read()
    if running.returncode:
        hint = " Stop the web server and the workers first." if b"lock timeout" in why else ""
        raise BackupError(f"Nothing was restored: {reason(why)}{hint}")


def _write_dump(path: Path, target: IO[bytes]) -> None:
    """Write the dump as SQL. BackupError where it cannot be read to its end."""
    command = [program("pg_restore"), "--no-owner", "--no-privileges", "--file=-"]
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryFile() as dump:
        with archive.open(DUMP) as member:
            while block := member.read(BLOCK):
                dump.write(block)
        dump.seek(0)
        with subprocess.Popen(command, stdin=dump, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reading:
            assert reading.stdout is not None
            assert reading.stderr is not None
            while block := reading.stdout.read(BLOCK):
                target.write(block)
            why = reading.stderr.read()
    if reading.returncode:
        raise BackupError(f"The dump cannot be read: {reason(why)}")


def _counts(manifest: Manifest) -> str:
    """SQL that fails, and with it the transaction, where a table has not the rows that it had."""
    template = "IF (SELECT count(*) FROM public.{}) <> {} THEN RAISE EXCEPTION 'a table lacks rows'; END IF;"
    names = {table: '"' + table.replace('"', '""') + '"' for table in manifest.rows}
    checks = [template.format(names[table], int(rows)) for table, rows in manifest.rows.items()]
    return "\nDO $counts$ BEGIN\n" + "\n".join(checks) + "\nEND $counts$;\n"
