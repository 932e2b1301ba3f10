"""How many more double-rated dialogues a study needs, printed."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.errors import CalibrationError
from calibration.management import options as places
from calibration.management.options import give_out, study_named
from calibration.studies.plan_texts import FORMS
from calibration.studies.plans import GOALS, POWER, Choices, compute, pilot_of, read
from config.commands import DatabaseCommand, refuse_unused


class Command(DatabaseCommand):
    """Plan a study from the labels it has: its interval's width, or the judge's test."""

    help = (
        "Say how many more double-rated dialogues a study (by its NAME, or the automatic one of --corpus or "
        "--campaign) needs until the interval of a figure is as narrow as --width or --half-width asks, or "
        "with --goal power until the alternative annotator test passes with --power. Without them: the "
        "study's headline figure, and half its present width. Reads dev where the corpus is split."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name, place, what is wanted, form."""
        parser.add_argument("name", nargs="?", help="the study's name")
        places.add_arguments(parser)
        parser.add_argument("--goal", choices=GOALS, default="width", help="a width (default) or power")
        parser.add_argument("--question", default="", metavar="REF", help="scheme@version/key")
        parser.add_argument("--rater", default="", metavar="NAME", help="people, a judge or a metric")
        parser.add_argument(
            "--statistic", default="", metavar="KEY", help="such as cohen_kappa, or gap_cohen_kappa"
        )
        parser.add_argument("--width", default="", metavar="W", help="high less low of the interval wanted")
        parser.add_argument("--half-width", default="", metavar="W", help="half of it: the W of ± W")
        parser.add_argument(
            "--power", default="", metavar="P", help=f"share of studies that are to pass ({POWER:g})"
        )
        parser.add_argument("--pay", default="", metavar="P", help="what an hour of rating costs")
        parser.add_argument(
            "--part", default="", choices=["dev", "test"], help="test once it was opened (dev)"
        )
        parser.add_argument("--format", choices=list(FORMS), default="text", help="form of the plan (text)")
        parser.add_argument("--json", action="store_const", const="json", dest="format", help="as JSON")
        parser.add_argument("--csv", action="store_const", const="csv", dest="format", help="as CSV")
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on a mistake."""
        if options["goal"] == "power":
            refuse_unused(options, ["statistic", "width", "half_width"], "it goes with --goal width")
        else:
            refuse_unused(options, ["power"], "it goes with --goal power")
        try:
            study = study_named(options)
            query = read(options, study)
            choices = Choices(study)
            asked, ratings = pilot_of(study=study, query=query, choices=choices, by=None)
            found = compute(
                study=study,
                query=query,
                choices=choices,
                plan_question=asked,
                ratings=ratings,
                progress=self._progress,
            )
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        text = FORMS[options["format"]].write(found)
        give_out(self, text, options["output"])

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done} of {total} steps", ending="\n" if done == total else "")
