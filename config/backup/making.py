"""Making a backup: of one moment, while Concord may be running."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from config.backup.manifest import DUMP, FORMAT, MANIFEST, Manifest, applied, count_rows
from config.backup.programs import BackupError, environment, program, reason

BLOCK = 2**20


def make(path: Path, *, replace: bool = False) -> Manifest:
    """Write a backup to `path`, readable by its owner alone; the file is there whole or not at all."""
    if path.exists() and not replace:
        raise BackupError(f"{path} exists: choose another name, or add --replace.")
    partial = path.with_name(f".{path.name}.part")
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            manifest = _fill(file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return manifest


def _fill(file: object) -> Manifest:
    """Dump and count the same snapshot of the database."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        snapshot = cursor.fetchone()[0]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
            digest = _dump(archive, snapshot)
            manifest = Manifest(FORMAT, timezone.now().isoformat(), digest, applied(), count_rows())
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
        said = dumping.stderr.read()
    if dumping.returncode:
        raise BackupError(f"The database could not be dumped: {reason(said)}")
    return digest.hexdigest()
