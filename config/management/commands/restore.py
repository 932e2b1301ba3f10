"""`manage.py restore PATH`: replace the database by a backup."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from config.backup import BackupError, restore


class Command(BaseCommand):
    help = (
        "Put what `backup` wrote in the place of the database, embedded or outside. Stop Concord first. The "
        "file is restored into a new database and checked there (rows, indexes, constraints) before the "
        "names are swapped; a database that holds something is refused unless told with --replace."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the path, and the option to replace existing content."""
        parser.add_argument("path", type=Path, help="a file that `manage.py backup` wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="delete what the database holds and put the backup in its place",
        )

    def handle(self, *args: Any, path: Path, replace: bool, **options: Any) -> None:
        """Restore the backup; the last line is one JSON object."""
        try:
            manifest = restore(path, replace=replace)
        except BackupError as error:
            raise CommandError(str(error)) from None
        figures = {"path": str(path), "made": manifest.made, "rows": sum(manifest.rows.values())}
        self.stdout.write(json.dumps(figures))
