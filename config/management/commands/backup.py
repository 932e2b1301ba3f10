"""`manage.py backup PATH`: the whole database as one file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from config.backup import BackupError, make
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Write the whole database, embedded or outside, to one file that `restore` reads. Concord may run "
        "meanwhile. The file holds password hashes and everything that was annotated: keep it as you keep "
        "the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the path, and the option to overwrite it."""
        parser.add_argument("path", type=Path, help="the file to write, such as concord.backup")
        parser.add_argument("--replace", action="store_true", help="write over a file that is there")

    def handle(self, *args: Any, path: Path, replace: bool, **options: Any) -> None:
        """Make the backup; the last line is one JSON object."""
        try:
            manifest = make(path, replace=replace)
        except BackupError as error:
            raise CommandError(str(error)) from None
        figures = {"path": str(path), "bytes": path.stat().st_size, "sha256": manifest.sha256}
        self.stdout.write(json.dumps(figures | {"rows": sum(manifest.rows.values())}))
