"""Export of labels as a ratings file."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from calibration.exports.labels import labels
from calibration.exports.notes import notes
from calibration.management import options as command_options
from calibration.ratings.scope import scope_of
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """Write the current labels of a corpus or campaign, one row per label, in a fixed order."""

    help = (
        "Write the labels of a corpus or campaign as CSV, JSONL or Parquet. The CSV is what import_corpus "
        "--format ratings-csv and agree read. Of a corpus that is split dev is written; test and all need a "
        "--purpose, which is logged as a look at test. The last line is one JSON object with rows and sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for place, format and output."""
        command_options.add_place_arguments(parser)
        command_options.add_export_arguments(parser)
        parser.add_argument(
            "--notes",
            action="store_true",
            help="write comments and flags on turns and tasks instead of labels",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
        selection = command_options.take_part(corpus, campaign, options)
        facts = {
            "corpus": corpus.name,
            "campaign": campaign.name if campaign else None,
            "part": selection.part or "all",
        }
        if options["notes"]:
            facts["what"] = "notes"
        read = notes if options["notes"] else labels
        command_options.export_query(
            self, read(scope_of(corpus, campaign, selection.part), selection), options, facts
        )
