"""Making a backup: of one moment, while Concord may be running."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import zipfile
from pathlib import Path
from typing import IO

from django.db import connection, transaction
from django.utils import timezone

from config.backup.manifest import DUMP, FORMAT, MANIFEST, Manifest, applied, count_objects, count_rows
from config.backup.programs import BackupError, environment, program, reason

BLOCK = 2**20


def make(path: Path, *, replace: bool = False) -> Manifest:
    """Write a backup to `path`, readable by its owner alone; the file is there whole or not at all."""
    if path.exists() and not replace:
        raise BackupError(f"{path} exists: choose another name, or add --replace.")
    try:
        return _write(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from None


def _write(path: Path) -> Manifest:
    """Write beside `path`, and give it the name once every byte is on the disk."""
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
    """Let one process at a time write a file; what a killed one left is written over."""
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
            made = timezone.now().isoformat()
            manifest = Manifest(FORMAT, made, digest, applied(), count_rows(), count_objects())
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
