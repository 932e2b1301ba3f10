"""A study's report, printed."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.errors import CalibrationError
from calibration.management import scope_options as places
from calibration.management.studies import study_named
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.studies import actions as studies
from calibration.studies.verifying import verify
from config.commands import DatabaseCommand

MOST = 20


class Command(DatabaseCommand):
    """Compute a study on the labels of now (or reuse the report of the same labels) and print it."""

    help = (
        "Print the report of a study: by its NAME, or the automatic one of a corpus (--corpus) or campaign "
        "(--campaign). Shows dev where the corpus is split; test needs --purpose, which is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name, form, place, part."""
        parser.add_argument("name", nargs="?", help="the study's name")
        parser.add_argument(
            "--format", choices=list(RENDERINGS), default="md", help="form of the report (md)"
        )
        places.add_arguments(parser)
        parser.add_argument("--part", choices=["dev", "test"], help="part of the split (dev)")
        parser.add_argument(
            "--purpose", default="", help="for what test is opened: logged and printed on the report"
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="compute the newest report again from its labels and say whether all digits are the same",
        )
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on a mistake."""
        try:
            if options["verify"]:
                self._verify(study_named(options), options)
                return
            report = self._report(study_named(options), options)
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        text = RENDERINGS[options["format"]].write(report)
        if not options["output"]:
            self.stdout.write(text, ending="")
            return
        try:
            with open(options["output"], "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise CommandError(f"{options['output']}: {error.strerror}") from error

    def _report(self, study: Study, options: dict[str, Any]) -> Report:
        part = options["part"] or studies.default_part(study)
        if part == "test":
            studies.open_test(study=study, by=None, purpose=options["purpose"])
        return studies.compute(study=study, part=part, by=None, progress=self._progress)

    def _verify(self, study: Study, options: dict[str, Any]) -> None:
        part = options["part"] or studies.default_part(study)
        report = studies.latest(study, part)
        if report is None:
            raise CommandError(
                f"the study {study.name} has no report on {part} yet: there is nothing to verify"
            )
        found = verify(report, self._progress)
        name = f"the report of {study.name} ({part}, {report.created_at:%d %B %Y %H:%M} UTC)"
        if found.different:
            first = "\n  ".join(found.different[:MOST])
            raise CommandError(f"{name} differs in {len(found.different):,} places:\n  {first}")
        self.stdout.write(f"{name[0].upper()}{name[1:]}: {found.figures:,} figures, all digits the same.")

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done} of {total} questions", ending="\n" if done == total else "")
