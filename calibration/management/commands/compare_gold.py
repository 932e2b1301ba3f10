"""Two golds of the same corpus and questions, side by side."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.errors import CalibrationError
from calibration.gold.difference import as_json, difference, query, shared_questions
from calibration.management import options as exporting
from calibration.management.options import stored
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """Write two golds side by side, with what they differ by on the last line."""

    help = (
        "Compare two golds of the same corpus and questions: one row an item and question, with both values "
        "and whether they differ, as CSV, JSONL or Parquet. The last line is one JSON object: per question "
        "the items by status, the share that changed, how far the values are apart, and which value became "
        "which. That line leaves out the test part of a split corpus until somebody has opened it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which two golds; format, output."""
        parser.add_argument("first", type=int, metavar="GOLD", help="the number of a gold")
        parser.add_argument("second", type=int, metavar="OTHER", help="the number of another one")
        exporting.add_export_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare, and write."""
        first, second = stored(options["first"]), stored(options["second"])
        try:
            shared_questions(first, second)
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        taken = exporting.taken(first.corpus, first, options)
        facts = as_json(difference(first, second))
        exporting.export(self, query(first, second, taken), options, facts)
