"""Labels in the form of another tool: Label Studio, Hugging Face, the alternative annotator test."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from calibration.exports.downloads import ZIP, Order
from calibration.exports.packages import PACKAGES
from calibration.management import options as exporting
from calibration.management import options as places
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """`manage.py export_package KIND --corpus NAME --output PATH`"""

    help = (
        "Write labels in the form of another tool: "
        + "; ".join(f"{key} ({package.hint})" for key, package in PACKAGES.items())
        + " PATH.zip becomes a zip, any other PATH a new folder; each holds a manifest of its files. Of a "
        "corpus that is split dev is written; test and all need a --purpose, which is logged as a look at "
        "test. The last line is one JSON object with rows and, of a zip, sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Kind, place, questions, part, output."""
        parser.add_argument("kind", choices=list(PACKAGES), help="for which tool")
        places.add_arguments(parser)
        parser.add_argument(
            "--question",
            action="append",
            default=[],
            metavar="REF",
            help="for alt-test: a question, as scheme@version/key; may be given several times (all)",
        )
        exporting.add_part(parser)
        parser.add_argument("--output", metavar="PATH", required=True, help="a new folder, or PATH.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the package."""
        corpus, campaign = places.place(options["corpus"], options["campaign"])
        taken = exporting.taken(corpus, campaign, options)
        choice = {"questions": sorted(set(options["question"]))} if options["question"] else {}
        order = Order(options["kind"], corpus, campaign, taken, ZIP, choice=choice)
        exporting.export_order(self, order, options["output"])
