"""Labels as a ratings file."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from calibration.exports import labels
from calibration.management import exporting, places
from calibration.scope import scope_of
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """Write the live labels of a corpus or campaign, one row a label, in a fixed order."""

    help = (
        "Write the labels of a corpus or campaign as CSV, JSONL or Parquet. The CSV is what import_corpus "
        "--format ratings-csv and agree read. The last line is one JSON object with rows and sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Place, format, output."""
        places.add_arguments(parser)
        exporting.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        corpus, campaign = places.place(options["corpus"], options["campaign"])
        facts = {"corpus": corpus.name, "campaign": campaign.name if campaign else None}
        exporting.export(self, labels(scope_of(corpus, campaign)), options, facts)
