"""Export of labels as a ratings file."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from calibration.exports.downloads import LABELS, NOTES, SHAPES, ZIP, Order
from calibration.exports.packages import PACKAGES
from calibration.management import options as command_options
from config.commands import DatabaseCommand, refuse_unused


class Command(DatabaseCommand):
    """Write the current labels of a corpus or campaign, in a fixed order."""

    help = (
        "Write the labels of a corpus or campaign as CSV, Excel, JSONL or Parquet: one row per label, or "
        "with --shape wide one column per rater; or as a zip for another tool. import_corpus reads all of "
        "them but the zips, agree those with one row per label. Of a corpus that is split dev is written; "
        "test and all need a --purpose, logged as a look at test. The last line is one JSON object with "
        "rows and sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for place, format and output."""
        command_options.add_place_arguments(parser)
        command_options.add_export_arguments(parser, PACKAGES)
        parser.add_argument(
            "--shape",
            choices=list(SHAPES),
            help="long (default): a row for each label; wide: a row for each item and question, a column for "
            "each rater",
        )
        parser.add_argument(
            "--notes",
            action="store_true",
            help="write comments and flags on turns and tasks instead of labels",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
        selection = command_options.take_part(corpus, campaign, options)
        facts: dict[str, Any] = {
            "corpus": corpus.name,
            "campaign": campaign.name if campaign else None,
            "part": selection.part or "all",
        }
        if selection.left_out:
            facts["excluded"] = selection.left_out.as_json()
        form = options["format"]
        contents = form if form in PACKAGES else NOTES if options["notes"] else LABELS
        if contents != LABELS:
            facts["what"] = contents
            refuse_unused(options, ["shape"], "it is the shape of a file of labels")
        if contents in PACKAGES:
            refuse_unused(options, ["notes"], "notes are written as rows")
        choice = {}
        if options["shape"]:
            facts["shape"] = choice["shape"] = options["shape"]
        order = Order(
            contents, corpus, campaign, selection, ZIP if contents in PACKAGES else form, choice=choice
        )
        command_options.export_file(self, order.write, form, options["output"], facts)
