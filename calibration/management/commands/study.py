"""Print a study's report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.text.display import moment
from calibration.errors import CalibrationError, StudyError
from calibration.management import options as command_options
from calibration.management.options import find_study, write_output
from calibration.models import Report, Study
from calibration.reports import requirements, verdicts
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of, to_json
from calibration.reports.view import SECTIONS
from calibration.statistics.core.engine import second_opinions
from calibration.studies import inputs
from calibration.studies import study_actions as studies
from calibration.studies.computing import Progress, result_of
from config import request_json
from config.commands import DatabaseCommand, refuse_unused

# Verification: recompute a stored report from its labels and compare every figure.


@dataclass(frozen=True, slots=True)
class Verification:
    """Number of figures in a report, and every value that differs after recomputation.

    `second_opinions` of them were also computed by a library, with the same result.
    """

    figures: int
    second_opinions: int
    different: tuple[str, ...]


def verify(report: Report, progress: Progress | None = None) -> Verification:
    """Recompute a report and compare all of its content, digit for digit. Stores and logs nothing.

    Kappa and MCC of two raters are also computed by scikit-learn; a difference raises Disagreement. Raises
    OlderFormat for a report of an older format, and StudyError if its inputs have changed: new or changed
    labels, or another definition or split.
    """
    snapshot = snapshot_of(report)
    read = inputs.read(report.study, report.part)
    if read.hash != report.inputs_hash:
        raise StudyError(
            f"the report of {moment(report.created_at)} was made from inputs "
            f"{report.inputs_hash[:16]}, and they are {read.hash[:16]} now: labels, definition or split "
            "changed, so there is nothing to hold it against"
        )
    with second_opinions() as opinions:
        now = result_of(read, progress)
    figures = sum(len(question.figures) for question in snapshot.questions)
    figures += sum(1 for section in SECTIONS for _ in section.lines(snapshot))
    return Verification(
        figures, opinions.n_requested, tuple(_find_differences("", report.result, to_json(now)))
    )


def _find_differences(place: str, before: Any, now: Any) -> Iterator[str]:
    """Yield each place where two JSON values differ, with both."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _find_differences(f"{place}.{key}" if place else key, before.get(key), now.get(key))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from _find_differences(f"{place}[{number}]", old, new)
    elif before != now:
        yield f"{place} was {before!r} and is {now!r}"


MOST = 20


class Command(DatabaseCommand):
    """Compute a study on the current labels (or reuse the report of the same labels) and print it."""

    help = (
        "Print the report of a study: by its NAME, or the automatic one of a corpus (--corpus) or campaign "
        "(--campaign). --definition FILE makes the study first. Shows dev where the corpus is split; test "
        "needs --purpose, which is logged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for name, format, place and part."""
        parser.add_argument("name", nargs="?", help="the study's name")
        parser.add_argument("--format", choices=list(RENDERINGS), help="form of the report (md)")
        command_options.add_place_arguments(parser)
        parser.add_argument(
            "--definition",
            metavar="FILE",
            help="make the study NAME of --corpus or --campaign first, as this JSON file defines it",
        )
        parser.add_argument(
            "--everyone",
            action="store_true",
            help="in an automatic report, count who is left out of gold, too (a study says leave_out)",
        )
        parser.add_argument("--part", choices=["dev", "test"], help="part of the split (dev)")
        parser.add_argument(
            "--purpose", default="", help="for what test is opened: logged and printed on the report"
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="compute the newest report again from its labels and say whether all digits are the same; "
            "scikit-learn computes kappa and MCC of two raters as well",
        )
        parser.add_argument("--output", metavar="PATH", help="write into a file instead of standard output")
        requirements.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute and print; exit with one line on an error."""
        if options["everyone"] and options["name"]:
            raise CommandError(
                "--everyone is for automatic reports: a study says leave_out in its definition"
            )
        if options["verify"]:
            unused = ["format", "output", "purpose", "require", "junit"]
            refuse_unused(options, unused, "--verify writes no report")
        command_options.refuse_purpose(options)
        required = requirements.requested(options)
        try:
            study = _create_study(options) if options["definition"] else find_study(options)
            if options["verify"]:
                self._verify(study, options)
                return
            report = self._report(study, options)
        except CalibrationError as error:
            raise CommandError(str(error)) from error
        text = RENDERINGS[options["format"] or "md"].write(report)
        write_output(self, text, options["output"])
        snapshot = snapshot_of(report)
        requirements.require(
            options,
            required,
            verdicts=verdicts.payloads(snapshot),
            statistics=[
                {**figure.as_dict(), "raters": list(figure.raters), "question": question.title}
                for question in snapshot.questions
                for figure in question.figures
            ],
            name=study.name,
        )

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
        verification = verify(report, self._progress)
        name = f"the report of {study.name} ({part}, {moment(report.created_at)})"
        if verification.different:
            first = "\n  ".join(verification.different[:MOST])
            raise CommandError(f"{name} differs in {len(verification.different):,} places:\n  {first}")
        message = f"{name[0].upper()}{name[1:]}: {verification.figures:,} figures, all digits the same."
        if verification.second_opinions:
            message += (
                f" scikit-learn gives the same {verification.second_opinions:,} values of kappa and MCC."
            )
        self.stdout.write(message)

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done} of {total} questions", ending="\n" if done == total else "")


def _create_study(options: dict[str, Any]) -> Study:
    """Create the study defined by a file. Raises CommandError if the file is unreadable."""
    path = options["definition"]
    if not options["name"]:
        raise CommandError('--definition makes a study: give it a name, as in: study "table 4"')
    try:
        definition = request_json.parse(Path(path).read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except request_json.BadJSON as error:
        raise CommandError(f"{path}: {error}".replace("The request", "the file")) from error
    if not isinstance(definition, dict):
        raise CommandError(f"{path}: a definition is a JSON object")
    corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
    name = options["name"]
    return studies.create(name=name, corpus=corpus, campaign=campaign, definition=definition, by=None)
