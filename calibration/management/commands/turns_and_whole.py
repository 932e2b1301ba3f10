"""Turns and whole, printed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.comparisons.turn_vs_dialogue import FILES, as_text, compute, read
from calibration.errors import CalibrationError
from calibration.management import options as places
from config.commands import DatabaseCommand

FORMS = ("table", *FILES)


class Command(DatabaseCommand):
    """Put people's labels of turns beside their labels of whole continuations."""

    help = (
        "Print where people's mean of a continuation's turns and their label of the whole disagree: the "
        "continuations whose rank in their dialogue changes most, and each dialogue's inversions."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Scope, questions, form."""
        places.add_arguments(parser)
        parser.add_argument("--turns", default="", metavar="Q", help="scheme@version/key of a turn question")
        parser.add_argument(
            "--whole", default="", metavar="Q", help="scheme@version/key of a dialogue question"
        )
        parser.add_argument(
            "--format", choices=FORMS, default="table", help="table (default), csv, dialogues (CSV) or json"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on a mistake."""
        corpus, campaign = places.place(options["corpus"], options["campaign"])
        given = {name: options[name] for name in ("turns", "whole") if options[name]}
        try:
            found = compute(read(corpus, campaign, given))
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        form = options["format"]
        self.stdout.write(as_text(found) if form == "table" else FILES[form].write(found), ending="")
