"""A backup of an earlier release is restored and upgraded; one of an unknown state is refused before that."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from django.db import connection

from config.backup import making, restoring
from config.backup.manifest import DUMP, MANIFEST, check_migrations, read_manifest
from config.backup.programs import BackupError
from config.commands import migrations_wait
from config.upgrade.states import INITIAL
from config.upgrade.upgrading import upgrade
from tests.upgrade.databases import rows


def test_a_backup_from_before_the_upgrade_is_restored_with_all_its_rows(old, tmp_path) -> None:
    before = rows()
    path = tmp_path / "earlier.backup"
    making.make(path)
    assert upgrade(connection)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM calibration_goldlabel")
    restoring.restore(path, replace=True)
    assert not migrations_wait()
    after = rows()
    for table in ("annotation_label", "calibration_goldlabel", "auth_user"):
        columns = before[table][0].keys()  # later migrations add columns
        assert [{column: row[column] for column in columns} for row in after[table]] == before[table]
    assert len(after["jobs_call"]) == len(before["judges_call"])


def backup_of(folder: Path, migrations: list[tuple[str, str]]) -> Path:
    """A file whose manifest names these migrations."""
    path = folder / "some.backup"
    manifest = {"format": 1, "made": "", "sha256": "", "migrations": migrations, "rows": {}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(DUMP, b"")
        archive.writestr(MANIFEST, json.dumps(manifest))
    return path


def test_a_backup_of_an_unknown_state_is_refused_in_one_line(tmp_path) -> None:
    for odd, sentence in (
        (("jobs", "0009_later"), "does not know the migration jobs.0009_later"),
        (("annotation", "0004_upload"), "are of two releases"),
    ):
        found = read_manifest(backup_of(tmp_path, [*INITIAL, odd]))
        with pytest.raises(BackupError, match=sentence) as refused:
            check_migrations(found)
        assert str(refused.value).startswith("The backup cannot be restored. ")
        assert len(str(refused.value).splitlines()) == 1
    check_migrations(read_manifest(backup_of(tmp_path, INITIAL)))
